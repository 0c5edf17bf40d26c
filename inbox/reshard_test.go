package inbox_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/shardmap"
)

// A lane goes from 13 shards to 17. Every event is placed by its own time, is delivered before, between and after, once with
// a wrong time, and has one effect; receipts of both versions are found by both.
func TestAReshardOfAStoredMapRepeatsNoEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := day
	clock := func() time.Time { return now }
	store := shardmap.NewStore(b.client, shardmap.Config{Table: b.receipts.Name, Now: clock})
	versions, err := store.Create(t.Context(), "inbox", shardmap.Fixed(13), shardmap.Rules{}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	begins := day.Add(time.Hour)
	deliver := func(id string, at time.Time, duplicate bool) shardmap.Placement {
		t.Helper()
		if versions, err = store.Load(t.Context(), "inbox"); err != nil {
			t.Fatal(err)
		}
		placed, err := versions.Place(at, id)
		if err != nil {
			t.Fatal(err)
		}
		e := filled(id)
		e.MapVersion = placed.MapVersion
		outcome := b.process(t, b.received.Under(versions), e)
		if outcome.Duplicate != duplicate || b.counted(t, id) != 1 {
			t.Errorf("%s at %v: %+v, %d effects", id, at, outcome, b.counted(t, id))
		}
		return placed
	}
	early, late := begins.Add(-45*time.Minute), begins.Add(time.Minute)
	now = early.Add(time.Second)
	for i := range 20 {
		deliver(fmt.Sprint("early-", i), early, false)
	}
	if _, err = store.Propose(t.Context(), "inbox", shardmap.Proposal{Shards: 17, From: begins}, "ann"); err == nil {
		now = now.Add(10 * time.Minute)
		_, err = store.Admit(t.Context(), "inbox", 2, "ann")
	}
	if err != nil {
		t.Fatal(err)
	}
	now = late.Add(time.Second)
	for i := range 20 {
		if p := deliver(fmt.Sprint("early-", i), early, true); p.MapVersion != 1 {
			t.Errorf("a repeat is placed by version %d", p.MapVersion)
		}
		deliver(fmt.Sprint("early-", i), late, true) // somebody changed its time
		if p := deliver(fmt.Sprint("late-", i), late, false); p.MapVersion != 2 {
			t.Errorf("an event of the new window is placed by version %d", p.MapVersion)
		}
		deliver(fmt.Sprint("late-", i), early, true)
	}
	// A map that was read too long ago writes nothing.
	now = now.Add(time.Hour)
	old := b.received.Under(versions)
	if _, err := old.Process(t.Context(), impatient(b.client), inbox.Event{ID: "new"}, nil); !errors.Is(err, shardmap.ErrStale) {
		t.Errorf("by an old map: %v, want ErrStale", err)
	}
	if _, err := old.Lookup(t.Context(), b.client, inbox.Event{ID: "early-1"}); !errors.Is(err, shardmap.ErrStale) {
		t.Errorf("look up by an old map: %v, want ErrStale", err)
	}
}
