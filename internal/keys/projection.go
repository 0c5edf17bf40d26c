package keys

import "strconv"

// The routes of a projection beside IDX12. What belongs to a source lies in the partition of its checkpoint.
var (
	gapRoute    = newRoute("Gap", "PROJ#{projection}#V#{version}#SHARD#{shard}", "GAP#{source}")
	parkedRoute = newRoute("Parked", "PROJ#{projection}#V#{version}#SHARD#{shard}", "PARKED#{source}#{position}")
	forcedRoute = newRoute("Forced", "PROJ#{projection}#V#{version}#SHARD#{shard}", "FORCED#{source}#{position}")
	aliasRoute  = newRoute("Alias", "PROJ#{projection}", "ALIAS")
	buildRoute  = newRoute("Build", "PROJ#{projection}", "BUILD#{namespace}")
	bookRoute   = newRoute("Runbook", "PROJ#{projection}", "RUNBOOK#{namespace}")
)

// Prefixes of the sort keys of a projection's partitions, for a Query.
const (
	CheckpointPrefix = "SOURCE#"
	GapPrefix        = "GAP#"
	ForcedPrefix     = "FORCED#"
)

// MaxPosition is the largest position in a source that a key can hold.
const MaxPosition int64 = 999_999_999_999_999_999

// position writes what number writes, for the full range of positions on every machine.
func position(n int64) component {
	if n < 0 || n > MaxPosition {
		return component{reason: OutOfRange}
	}
	digits := strconv.FormatInt(n, 10)
	return component{text: zeros[:positionDigits-len(digits)] + digits}
}

const positionDigits = maxDigits

func (d *reader) position() int64 {
	return next(d, func(s string) (int64, Reason) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 || position(n).text != s {
			return 0, Malformed
		}
		return n, ""
	})
}

// Gap is the key of the record that a source of a projection has a gap (PRJ01).
func Gap(projection string, version, shard int, source string) (Key, error) {
	return gapRoute.key(text(projection), number(version, versionDigits), number(shard, shardDigits), text(source))
}

// ParseGap reads a key of [Gap].
func ParseGap(k Key) (projection string, version, shard int, source string, err error) {
	d := gapRoute.read(k)
	projection, version, shard, source = d.text(), d.number(versionDigits), d.number(shardDigits), d.text()
	return projection, version, shard, source, d.err
}

// InSource is the key of something at a position of a source of a projection. Version is that of the shard map.
type InSource struct {
	Projection     string
	Version, Shard int
	Source         string
	Position       int64
}

// Parked is the key of an event that waits behind a gap (PRJ02). Positions sort in order.
func (s InSource) Parked() (Key, error) { return s.key(parkedRoute) }

// ParseParked reads a key of [InSource.Parked].
func ParseParked(k Key) (InSource, error) { return readInSource(parkedRoute, k) }

// Forced is the key of the audit record of a checkpoint that was forced to a position (PRJ03).
func (s InSource) Forced() (Key, error) { return s.key(forcedRoute) }

// ParseForced reads a key of [InSource.Forced].
func ParseForced(k Key) (InSource, error) { return readInSource(forcedRoute, k) }

func (s InSource) key(r route) (Key, error) {
	return r.key(text(s.Projection), number(s.Version, versionDigits), number(s.Shard, shardDigits), text(s.Source), position(s.Position))
}

func readInSource(r route, k Key) (InSource, error) {
	d := r.read(k)
	s := InSource{Projection: d.text(), Version: d.number(versionDigits), Shard: d.number(shardDigits), Source: d.text(), Position: d.position()}
	return s, d.err
}

// ParkedPrefix begins the sort keys of all parked events of a source, and of no other.
func ParkedPrefix(source string) string { return "PARKED#" + escape(source) + separator }

// Alias is the key of the record that says which namespace of a projection is read (PRJ04).
func Alias(projection string) (Key, error) { return aliasRoute.key(text(projection)) }

// ParseAlias reads a key of [Alias].
func ParseAlias(k Key) (projection string, err error) {
	d := aliasRoute.read(k)
	projection = d.text()
	return projection, d.err
}

// Build is the key of the record of how a namespace of a projection is built (PRJ05).
func Build(projection string, namespace int) (Key, error) {
	return buildRoute.key(text(projection), number(namespace, versionDigits))
}

// ParseBuild reads a key of [Build].
func ParseBuild(k Key) (projection string, namespace int, err error) {
	d := buildRoute.read(k)
	projection, namespace = d.text(), d.number(versionDigits)
	return projection, namespace, d.err
}

// Runbook is the key of the record of the steps by which a namespace of a projection is rebuilt (PRJ06).
func Runbook(projection string, namespace int) (Key, error) {
	return bookRoute.key(text(projection), number(namespace, versionDigits))
}

// ParseRunbook reads a key of [Runbook].
func ParseRunbook(k Key) (projection string, namespace int, err error) {
	d := bookRoute.read(k)
	projection, namespace = d.text(), d.number(versionDigits)
	return projection, namespace, d.err
}
