package keys_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/keys"
)

// projectionRoutes are the routes of a projection beyond the chapter's.
func projectionRoutes() []route {
	const partition = "PROJ#s0#V#0001#SHARD#0002"
	write := func(key func(keys.InSource) (keys.Key, error)) func([]any) (keys.Key, error) {
		return func(c []any) (keys.Key, error) {
			return key(keys.InSource{Projection: str(c[0]), Version: num(c[1]), Shard: num(c[2]), Source: str(c[3]), Position: c[4].(int64)})
		}
	}
	read := func(parse func(keys.Key) (keys.InSource, error)) func(keys.Key) ([]any, error) {
		return func(k keys.Key) ([]any, error) {
			s, err := parse(k)
			return []any{s.Projection, s.Version, s.Shard, s.Source, s.Position}, err
		}
	}
	writeGap, readGap := placed(keys.Gap, keys.ParseGap)
	return []route{
		{"Gap", "PRJ01", "snns", partition, "GAP#s3", writeGap, readGap},
		{"Parked", "PRJ02", "snnsp", partition, "PARKED#s3#000000000000000004", write(keys.InSource.Parked), read(keys.ParseParked)},
		{"Forced", "PRJ03", "snnsp", partition, "FORCED#s3#000000000000000004", write(keys.InSource.Forced), read(keys.ParseForced)},
		{"Alias", "PRJ04", "s", "PROJ#s0", "ALIAS",
			func(c []any) (keys.Key, error) { return keys.Alias(str(c[0])) },
			func(k keys.Key) ([]any, error) { p, err := keys.ParseAlias(k); return []any{p}, err }},
		{"Build", "PRJ05", "sn", "PROJ#s0", "BUILD#0001",
			func(c []any) (keys.Key, error) { return keys.Build(str(c[0]), num(c[1])) },
			func(k keys.Key) ([]any, error) { p, n, err := keys.ParseBuild(k); return []any{p, n}, err }},
		{"Runbook", "PRJ06", "sn", "PROJ#s0", "RUNBOOK#0001",
			func(c []any) (keys.Key, error) { return keys.Runbook(str(c[0]), num(c[1])) },
			func(k keys.Key) ([]any, error) { p, n, err := keys.ParseRunbook(k); return []any{p, n}, err }},
	}
}

// The parked events of a source sort by position, and no other source's are among them.
func TestParkedEventsOfASourceAreOneOrderedRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		position := rapid.Int64Range(0, keys.MaxPosition)
		one, other := texts().Draw(t, "source"), texts().Draw(t, "other source")
		a := keys.InSource{Projection: "p", Source: one, Position: position.Draw(t, "a")}
		b := keys.InSource{Projection: "p", Source: other, Position: position.Draw(t, "b")}
		keyA, errA := a.Parked()
		keyB, errB := b.Parked()
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if prefix := keys.ParkedPrefix(one); !strings.HasPrefix(keyA.SK, prefix) || strings.HasPrefix(keyB.SK, prefix) != (one == other) {
			t.Fatalf("%q begins %q, not %q", prefix, keyA.SK, keyB.SK)
		}
		if one == other && (keyA.SK < keyB.SK) != (a.Position < b.Position) {
			t.Fatalf("%q and %q", keyA.SK, keyB.SK)
		}
	})
	for _, n := range []int64{-1, keys.MaxPosition + 1} {
		if _, err := (keys.InSource{Projection: "p", Source: "s", Position: n}).Parked(); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("position %d: %v", n, err)
		}
	}
}
