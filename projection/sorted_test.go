package projection_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/projection"
)

func given(events ...projection.Event) func(context.Context) iter.Seq2[projection.Event, error] {
	return func(context.Context) iter.Seq2[projection.Event, error] {
		return func(yield func(projection.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func entries(s projection.Sorted, position string) (all []projection.Entry, err error) {
	for entry, err := range s.Entries(context.Background(), position) {
		if err != nil {
			return all, err
		}
		all = append(all, entry)
	}
	return all, nil
}

// Whatever the order in which events come, and however often: each is given once, the versions of a source in order; and behind
// any position comes exactly the rest, even if they come in another order by then.
func TestSortedGivesEachEventOnceInOrder(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		var events []projection.Event
		for source := range rapid.IntRange(0, 5).Draw(rt, "sources") {
			for version := range rapid.IntRange(1, 4).Draw(rt, "versions") {
				e := changed(fmt.Sprint("a:", source), int64(version+1))
				events = append(events, e)
				if rapid.IntRange(0, 3).Draw(rt, "again") == 0 {
					events = append(events, e)
					seen["again"]++
				}
			}
		}
		s := projection.Sorted{Events: given(rapid.Permutation(events).Draw(rt, "order")...), Passes: rapid.IntRange(0, 4).Draw(rt, "passes")}
		all, err := entries(s, "")
		if err != nil {
			rt.Fatal(err)
		}
		at := map[string]int64{}
		for _, entry := range all {
			if at[entry.Event.Source]++; entry.Event.Version != at[entry.Event.Source] {
				rt.Fatalf("version %d of %s after %d", entry.Event.Version, entry.Event.Source, at[entry.Event.Source]-1)
			}
		}
		distinct := map[string]bool{}
		for _, e := range events {
			distinct[e.ID] = true
		}
		if len(all) != len(distinct) {
			rt.Fatalf("%d of %d events", len(all), len(distinct))
		}
		if len(all) == 0 {
			return
		}
		behind := rapid.IntRange(0, len(all)-1).Draw(rt, "behind")
		s.Events = given(rapid.Permutation(events).Draw(rt, "another order")...)
		rest, err := entries(s, all[behind].Position)
		if err != nil || len(rest) != len(all)-behind-1 || len(rest) > 0 && !reflect.DeepEqual(rest, all[behind+1:]) {
			rt.Fatalf("behind %s: %d of %d, %v", all[behind].Position, len(rest), len(all)-behind-1, err)
		}
		if s.Passes > 1 && len(rest) > 0 {
			seen["resumed"]++
		}
	}, "again", "resumed")
}

func TestSortedRefuses(t *testing.T) {
	t.Parallel()
	other := changed("a", 1)
	other.Payload = []byte("another")
	failing := func(context.Context) iter.Seq2[projection.Event, error] {
		return func(yield func(projection.Event, error) bool) { yield(projection.Event{}, errBelow) }
	}
	for name, c := range map[string]struct {
		sorted   projection.Sorted
		position string
		kind     error
	}{
		"two events of one version":  {projection.Sorted{Events: given(changed("a", 1), other)}, "", projection.ErrMismatch},
		"nothing to read":            {projection.Sorted{}, "", projection.ErrInvalid},
		"more than may be kept":      {projection.Sorted{Events: given(changed("a", 1), changed("b", 1)), MaxBytes: 300}, "", projection.ErrInvalid},
		"what cannot be read":        {projection.Sorted{Events: failing}, "", errBelow},
		"a position of other passes": {projection.Sorted{Events: given(), Passes: 2}, "0/3:1:a", projection.ErrInvalid},
		"a position beyond":          {projection.Sorted{Events: given(), Passes: 2}, "2/2:1:a", projection.ErrInvalid},
		"no position":                {projection.Sorted{Events: given()}, "7", projection.ErrInvalid},
	} {
		if _, err := entries(c.sorted, c.position); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
