package shardmap_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dynafin/dynafin/shardmap"
)

// The map of a time is the one that places the events of that time, on both sides of a window's end, and there is none where
// Place refuses.
func TestAtIsTheMapThatPlacesATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	from := b.reshard(t)
	b.now = from
	v, err := b.maps.Load(t.Context(), lane)
	must(t, v, err)
	for _, c := range []struct {
		at      time.Time
		version int
		err     error
	}{
		{time.Time{}, 1, nil}, {from.Add(-1), 1, nil}, {from, 2, nil}, {from.Add(1), 2, nil},
		{from.Add(rules.MaxAge + rules.MaxSkew), 0, shardmap.ErrStale},
	} {
		m, err := v.At(c.at)
		placed, refused := v.Place(c.at, "evt-1")
		if m.Version != c.version || !errors.Is(err, c.err) || placed.MapVersion != c.version || !errors.Is(refused, c.err) {
			t.Errorf("at %v: %+v, %v; placed at %+v, %v", c.at, m, err, placed, refused)
		}
	}
	b.now = b.now.Add(rules.MaxAge + 1)
	if _, err := v.At(from); !errors.Is(err, shardmap.ErrStale) {
		t.Errorf("of a map that is too old: %v", err)
	}
}
