package projection

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/shardmap"
)

// MaxSourceBytes is how long a source may be.
const MaxSourceBytes = 256

// Event is one version of a source: what happened to one aggregate, numbered without holes by its producer.
type Event struct {
	// Source names what is versioned, for example "acme/Order/order-1". Required; at most MaxSourceBytes.
	Source string
	// Version is the source's version that this event makes, from Config.First on, without holes. Required.
	Version int64
	// ID and Type are those of the business event, for View and for people. Optional.
	ID, Type string
	// OccurredAt is when the fact became true. Required; kept in UTC with nanoseconds.
	OccurredAt time.Time
	// Payload is the event's content.
	Payload []byte
	// Control is a figure of the event, in minor units for example, that is summed up for the proof of a rebuild. It must
	// follow from the event's content.
	Control int64
}

// digest identifies the content of an event.
func (e Event) digest() [sha256.Size]byte {
	fields := []string{"dynafin projection event 1", e.Source, strconv.FormatInt(e.Version, 10), e.ID, e.Type,
		e.OccurredAt.UTC().Format(time.RFC3339Nano), strconv.FormatInt(e.Control, 10), string(e.Payload)}
	var buf []byte
	for _, field := range fields {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(field)))
		buf = append(buf, field...)
	}
	return sha256.Sum256(buf)
}

// validate checks an event and returns where its source stands.
func (ns *Namespace) validate(ctx context.Context, e Event) (place, error) {
	at, err := ns.place(ctx, e.Source)
	if err == nil {
		err = ns.p.config.check(e)
	}
	return at, err
}

// check looks at an event by itself.
func (c Config) check(e Event) error {
	bad := func(field, reason string) error {
		return &InvalidError{Source: e.Source, Version: e.Version, Field: field, Reason: reason}
	}
	switch {
	case e.Source == "" || len(e.Source) > MaxSourceBytes || !utf8.ValidString(e.Source):
		return bad("Source", "is empty, not valid UTF-8, or longer than "+strconv.Itoa(MaxSourceBytes)+" bytes")
	case e.Version < c.First || e.Version > MaxVersion:
		return bad("Version", "is outside "+strconv.FormatInt(c.First, 10)+" to "+strconv.FormatInt(MaxVersion, 10))
	case !utf8.ValidString(e.ID):
		return bad("ID", "is not valid UTF-8")
	case !utf8.ValidString(e.Type):
		return bad("Type", "is not valid UTF-8")
	case e.OccurredAt.IsZero():
		return bad("OccurredAt", "is missing")
	case len(e.ID)+len(e.Type)+len(e.Payload)+maxParkedOverhead > capacity.MaxItemBytes:
		return bad("Payload", "is too large to be parked")
	}
	if _, err := keys.Time(e.OccurredAt); err != nil {
		return bad("OccurredAt", keyReason(err))
	}
	return nil
}

// maxParkedOverhead is more than a parked record has beside ID, type and payload.
const maxParkedOverhead = 4096

// place is where the records of a source stand.
type place struct {
	shardmap.Placement
	source string
	key    keys.Key // of the checkpoint
	gap    keys.Key
}

func (ns *Namespace) place(ctx context.Context, source string) (place, error) {
	m, err := ns.shards(ctx)
	if err != nil {
		return place{}, err
	}
	bad := func(reason string) (place, error) {
		return place{}, &InvalidError{Source: source, Field: "Source", Reason: reason}
	}
	if len(source) > MaxSourceBytes {
		return bad("has " + strconv.Itoa(len(source)) + " bytes, more than " + strconv.Itoa(MaxSourceBytes))
	}
	placed, err := m.Place(source)
	if err != nil {
		return bad("is empty or not valid UTF-8")
	}
	p := place{Placement: placed, source: source}
	if p.key, err = keys.Checkpoint(ns.keyed(), placed.MapVersion, placed.Shard, source); err != nil {
		return bad(keyReason(err))
	}
	if p.gap, err = keys.Gap(ns.keyed(), placed.MapVersion, placed.Shard, source); err != nil {
		return bad(keyReason(err))
	}
	return p, nil
}

// shards returns the map that places the sources of this namespace: of a stored lane, the version whose window holds the time
// when the build of the namespace was started.
func (ns *Namespace) shards(ctx context.Context) (shardmap.Map, error) {
	if ns.err != nil || ns.p.config.Maps == nil {
		return ns.p.config.Map, ns.err
	}
	versions, err := ns.p.config.Maps.Versions(ctx)
	if err == nil {
		var began time.Time
		if began, err = ns.began(ctx); err != nil {
			return shardmap.Map{}, err
		}
		var m shardmap.Map
		if m, err = versions.At(began); err == nil {
			return m, nil
		}
	}
	return shardmap.Map{}, fmt.Errorf("projection: shards of %q namespace %d: %w", ns.p.config.Name, ns.number, err)
}

// began returns the time that chooses the map of this namespace, which never changes. Namespace 1 was there before any build.
func (ns *Namespace) began(ctx context.Context) (time.Time, error) {
	if ns.number == 1 {
		return time.Time{}, nil
	}
	if at, known := ns.p.began.Load(ns.number); known {
		return at.(time.Time), nil
	}
	build, err := ns.Build(ctx)
	if err != nil {
		return time.Time{}, err
	}
	ns.p.began.Store(ns.number, build.StartedAt)
	return build.StartedAt, nil
}

// inSource is the key of something at a version of the source.
func (ns *Namespace) inSource(p place, version int64) keys.InSource {
	return keys.InSource{Projection: ns.keyed(), Version: p.MapVersion, Shard: p.Shard, Source: p.source, Position: version}
}
