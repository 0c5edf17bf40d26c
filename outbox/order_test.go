package outbox_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// One round takes an aggregate through all of its versions, one after the other; the next is published when the one before
// is COMPLETED (O6).
func TestAnOrderedAggregateIsPublishedVersionByVersion(t *testing.T) {
	inBubble(t, ordered, noLag, func(s *station) {
		var want []string
		for version := 1; version <= 5; version++ {
			for _, order := range []string{"order-1", "order-2", "order-3"} {
				want = append(want, s.create(order, version, version)...)
			}
		}
		inFlight := map[string]bool{}
		s.bus.Refuse = func(m outbox.Message) outbox.Result {
			before := m.Event
			if before.AggregateVersion--; before.AggregateVersion > 0 {
				inFlight[m.Event.ID] = s.get(before.OrderedID()).State != outbox.Completed
			}
			return outbox.Result{}
		}
		round := s.once(s.relay(nil, outbox.RelayConfig{}, nil))
		for id, early := range inFlight {
			if early {
				s.Errorf("%s was published before its predecessor was completed", id)
			}
		}
		if round.Completed != len(want) || s.states(want)[outbox.Completed] != len(want) {
			s.Errorf("%+v, %v", round, s.states(want))
		}
	})
}

// A parked version stops its aggregate and no other, visibly; passed, or redriven and completed, it lets the next one go.
func TestAParkedVersionStopsItsAggregateAlone(t *testing.T) {
	for _, decision := range []string{"pass", "redrive"} {
		inBubble(t, ordered, noLag, func(s *station) {
			stopped, free := s.create("order-1", 1, 40), s.create("order-2", 1, 3)
			broken := true
			s.bus.Refuse = func(m outbox.Message) outbox.Result {
				return map[bool]outbox.Result{true: {Err: errors.New("no such schema"), Final: true}}[broken && m.Event.ID == stopped[1]]
			}
			relay := s.relay(nil, outbox.RelayConfig{Batch: 2, Batches: 2}, nil) // fewer than what waits
			for range 40 {
				s.once(relay)
				s.sleep(time.Second)
			}
			if counts := s.states(stopped); counts[outbox.Completed] != 1 || counts[outbox.Parked] != 1 || s.states(free)[outbox.Completed] != 3 {
				s.Errorf("%v, the other aggregate %v", counts, s.states(free))
			}
			broken = false
			note := outbox.Audit{By: "ops@acme", Reason: "decided", At: s.now()}
			for r, err := range s.events.Parked(s.Context(), s.client) {
				part := s.events.Pass(r, note)
				if decision == "redrive" {
					part = s.events.Redrive(r, s.now(), note)
				}
				if _, commitErr := txn.Commit(s.Context(), s.client, part); err != nil || commitErr != nil {
					s.Fatal(err, commitErr)
				}
			}
			for range 200 {
				s.once(relay)
				s.sleep(time.Second)
			}
			counts := s.states(stopped)
			if counts[outbox.Completed]+counts[outbox.Passed] != 40 {
				s.Errorf("after %s: %v", decision, counts)
			}
			var versions []int64
			for _, m := range s.bus.Messages() {
				if m.Event.AggregateID == "order-1" {
					versions = append(versions, m.Event.AggregateVersion)
				}
			}
			if !slices.IsSorted(versions) {
				s.Errorf("published in the order %v", versions)
			}
		})
	}
}

// A version that fails for a while keeps its successors waiting, even those that stand before it in the queue.
func TestARetriedVersionIsNotOvertaken(t *testing.T) {
	inBubble(t, ordered, noLag, func(s *station) {
		ids := s.create("order-1", 1, 10)
		s.bus.Refuse = func(m outbox.Message) outbox.Result {
			return map[bool]outbox.Result{true: {Err: errors.New("busy")}}[m.Event.ID == ids[0] && m.Attempt < 4]
		}
		relay := s.relay(nil, outbox.RelayConfig{Batch: 2, Batches: 1}, nil)
		for range 30 {
			s.once(relay)
			s.sleep(time.Second)
		}
		messages := s.bus.Messages()
		if len(messages) != 10 || !slices.IsSortedFunc(messages, func(a, b outbox.Message) int {
			return int(a.Event.AggregateVersion - b.Event.AggregateVersion)
		}) {
			s.Errorf("%v", messages)
		}
	})
}

// The records of completed versions are cleaned up after the retention; the next version does not wait for them for ever.
func TestAVersionWhosePredecessorWasCleanedUpIsPublished(t *testing.T) {
	inBubble(t, ordered, noLag, func(s *station) {
		if ids := s.create("order-1", 7, 7); s.once(s.relay(nil, outbox.RelayConfig{}, nil)).Completed != 1 {
			s.Errorf("%v", s.states(ids))
		}
	})
}

func TestAnOrderedOutboxWantsOrderedIDsAndKeepsAnAggregateOnOneShard(t *testing.T) {
	t.Parallel()
	events := outbox.New(outbox.Config{Service: "orders", Ordered: true})
	e := accepted("order-1")
	var invalid *outbox.InvalidError
	if err := events.Create(e).Err(); !errors.As(err, &invalid) || invalid.Field != "ID" {
		t.Errorf("%v", err)
	}
	b := setup(t)
	b.events = outbox.New(outbox.Config{Service: "orders", Table: b.orders, Ordered: true})
	shards := map[int]bool{}
	for version := range 20 {
		e.AggregateVersion = int64(version + 1)
		e.ID = e.OrderedID()
		b.commit(t, b.events.Create(e))
		shards[b.get(t, e.ID).Placement.Shard] = true
	}
	if len(shards) != 1 {
		t.Errorf("one aggregate is on the shards %v", shards)
	}
}
