package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// lane is the stored map of the station's outbox.
type lane struct {
	*station
	maps *shardmap.Store
	down bool // the map cannot be read
}

var quick = shardmap.Rules{MaxAge: 10 * time.Second, MaxSkew: time.Second, Horizon: time.Minute}

func withLane(t *testing.T, config outbox.Config, shards int, test func(l *lane)) {
	t.Helper()
	inBubble(t, config, noLag, func(s *station) {
		if err := s.db.CreateTable(shardmap.DefaultTable); err != nil {
			s.Fatal(err)
		}
		l := &lane{station: s, maps: shardmap.NewStore(s.client, shardmap.Config{})}
		if _, err := l.maps.Create(s.Context(), "outbox/orders", shardmap.Fixed(shards), quick, "ann"); err != nil {
			s.Fatal(err)
		}
		test(l)
	})
}

// Versions makes the lane a source that can fail.
func (l *lane) Versions(ctx context.Context) (shardmap.Versions, error) {
	if l.down {
		return shardmap.Versions{}, shardmap.ErrStale
	}
	return l.maps.Load(ctx, "outbox/orders")
}

func (l *lane) versions() shardmap.Versions {
	l.Helper()
	v, err := l.Versions(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	return v
}

// reshard takes another version to the state in which it places events from a time on.
func (l *lane) reshard(shards int) (from time.Time) {
	l.Helper()
	from = l.now().Add(quick.Notice() + time.Second)
	v, err := l.maps.Propose(l.Context(), "outbox/orders", shardmap.Proposal{Shards: shards, From: from}, "ann")
	if err == nil {
		_, err = l.maps.Admit(l.Context(), "outbox/orders", len(v.All()), "ann")
	}
	if err != nil {
		l.Fatal(err)
	}
	return from
}

// accept commits n events that occur now and are due later.
func (l *lane) accept(kind string, n int, due time.Time) (all []outbox.Event) {
	l.Helper()
	for i := range n {
		e := accepted(fmt.Sprint(kind, "-", i))
		e.OccurredAt, e.Due = l.now(), due
		e.ID = e.OrderedID()
		if _, err := txn.Commit(l.Context(), l.client, l.events.Under(l.versions()).Create(e)); err != nil {
			l.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// A lane goes from 13 shards to 17 while a relay works on it: every event is published once, is on the shard where its own
// time puts it, and stays there when it is retried.
func TestAReshardInTheMiddleLosesAndDoublesNothing(t *testing.T) {
	for name, config := range map[string]outbox.Config{"plain": plain, "ordered": ordered} {
		withLane(t, config, 13, func(l *lane) {
			failed := map[string]bool{}
			l.bus.Refuse = func(m outbox.Message) outbox.Result {
				first := !failed[m.Event.ID]
				failed[m.Event.ID] = true
				return map[bool]outbox.Result{true: {Err: errors.New("busy")}}[first]
			}
			ctx, stop := context.WithCancel(l.Context())
			done := make(chan error)
			go func() { done <- l.relay(nil, outbox.RelayConfig{Maps: l}, nil).Run(ctx) }()
			from := l.reshard(17)
			l.sleep(from.Sub(l.now()) - time.Nanosecond)
			events := l.accept("before", 60, from.Add(time.Second))
			l.sleep(time.Nanosecond)
			events = append(events, l.accept("after", 60, from.Add(time.Second))...)
			l.sleep(10 * time.Second)
			high := 0
			for i, e := range events {
				r := l.get(e.ID)
				want, err := l.versions().Place(e.OccurredAt, map[bool]string{false: e.ID, true: "acme#Order#" + e.AggregateID}[config.Ordered])
				if err != nil || r.Placement != want || want.MapVersion != 1+i/60 || r.State != outbox.Completed || r.Attempt != 2 || l.published()[e.ID] != 1 {
					l.Fatalf("%s: %+v, want %+v, %v; %d copies", name, r, want, err, l.published()[e.ID])
				}
				if want.Shard > 12 {
					high++
				}
			}
			if high == 0 {
				l.Errorf("%s: no event is on a new shard", name)
			}
			stop()
			<-done
		})
	}
}

// Who does not know the map writes nothing and lists nothing, and says so. What was read of one event is enough to change it.
func TestWithoutAMapThatMayBeUsedNothingIsPlacedAndNothingListed(t *testing.T) {
	withLane(t, plain, 2, func(l *lane) {
		events := l.accept("order", 5, time.Time{})
		old := l.events.Under(l.versions())
		relay := l.relay(nil, outbox.RelayConfig{Maps: l}, nil)
		l.sleep(quick.MaxAge + 1)
		l.down = true
		_, lag := old.Lag(l.Context(), l.client, l.now())
		_, round := relay.Once(l.Context())
		var list, parked error
		for _, list = range old.Ready(l.Context(), l.client, 0, l.now(), 0) {
		}
		for _, parked = range old.Parked(l.Context(), l.client) {
		}
		late := accepted("late")
		late.OccurredAt = l.now()
		for what, err := range map[string]error{"create": old.Create(late).Err(), "lag": lag, "ready": list, "parked": parked, "relay": round} {
			if !errors.Is(err, shardmap.ErrStale) {
				l.Errorf("%s: %v, want ErrStale", what, err)
			}
		}
		if l.counted("AP16.map", observe.Failed) != 1 || len(l.bus.Messages()) != 0 {
			l.Errorf("a relay without a map: %v, %d messages", l.seen, len(l.bus.Messages()))
		}
		if err := old.Reschedule(l.Context(), l.client, l.get(events[0].ID), l.now()); err != nil {
			l.Error(err)
		}
		l.down = false
		if round := l.once(relay); round.Completed != 5 {
			l.Errorf("%+v", round)
		}
	})
}

// A lane shrinks, and its old version is retired with an event that is not published: its shard is visited still. A fact of a
// retired window is refused.
func TestWhatARetiredVersionPlacedIsFound(t *testing.T) {
	withLane(t, plain, 17, func(l *lane) {
		early := l.accept("order", 40, l.now().Add(time.Hour))
		from := l.reshard(3)
		l.sleep(from.Sub(l.now()) + quick.Horizon + 2*quick.MaxSkew)
		v, err := l.maps.Drain(l.Context(), "outbox/orders", 1, l.now(), "ann")
		if err == nil {
			v, err = l.maps.Retire(l.Context(), "outbox/orders", 1, shardmap.Evidence{Watermark: l.now()}, "ann")
		}
		if err != nil || v.All()[0].State != shardmap.Retired {
			l.Fatal(v, err)
		}
		late := early[0]
		late.AggregateID = "another"
		late.ID = late.OrderedID()
		if err := l.events.Under(v).Create(late).Err(); !errors.Is(err, shardmap.ErrRetired) {
			l.Errorf("a fact of a retired window: %v", err)
		}
		l.sleep(time.Hour)
		if round := l.once(l.relay(nil, outbox.RelayConfig{Maps: l}, nil)); round.Completed != 40 {
			l.Errorf("%+v", round)
		}
	})
}
