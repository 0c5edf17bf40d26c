package outbox_test

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func TestLagNamesTheShardsThatAreBehind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if lags, err := b.events.Lag(t.Context(), b.client, day); err != nil || len(lags) != 0 {
		t.Errorf("%v, %v; want no lag", lags, err)
	}
	oldest := map[int]time.Duration{}
	for i := range 60 {
		e := accepted(fmt.Sprint("order-", i))
		e.Due = day.Add(-time.Duration(i%7) * time.Minute)
		if i == 3 {
			e.Due = day.Add(time.Nanosecond) // is not due yet
		}
		b.commit(t, b.events.Create(e))
		if shard := b.get(t, e.ID).Placement.Shard; i != 3 {
			oldest[shard] = max(oldest[shard], day.Sub(e.Due))
		}
	}
	meter := &meter{Client: b.client}
	lags, err := b.events.Lag(t.Context(), meter, day)
	if err != nil || len(lags) != len(oldest) || meter.calls != 13 || meter.evaluated > 13 {
		t.Fatalf("%d shards, %v; want %d, with %+v", len(lags), err, len(oldest), meter)
	}
	for _, lag := range lags {
		if lag.Behind != oldest[lag.Shard] || lag.Oldest.EventID == "" {
			t.Errorf("%+v, want %v behind", lag, oldest[lag.Shard])
		}
	}
}

func TestReportsOfABrokenStoreOrConfigurationAreErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	broken := &meter{Client: b.client, err: context.DeadlineExceeded}
	for _, c := range []struct {
		events *outbox.Outbox
		want   error
	}{{b.events, outbox.ErrRead}, {outbox.New(outbox.Config{}), outbox.ErrInvalid}} {
		_, lagErr := c.events.Lag(t.Context(), broken, day)
		_, auditErr := c.events.Audits(t.Context(), broken, "evt-1")
		all := map[string]error{"lag": lagErr, "audits": auditErr}
		for _, err := range c.events.Parked(t.Context(), broken) {
			all["parked"] = err
		}
		for _, err := range c.events.Stuck(t.Context(), broken, day) {
			all["stuck"] = err
		}
		for what, err := range all {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", what, err, c.want)
			}
		}
		if len(all) != 4 {
			t.Errorf("%v", all)
		}
	}
}

// An operator says who he is and why, and what he cannot mean is refused before anything is sent.
func TestADecisionNeedsAName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parked := b.in(t, "order-1", outbox.Parked)
	for field, spoil := range map[string]func(*outbox.Audit){
		"Audit.By": func(a *outbox.Audit) { a.By = "" }, "Audit.Reason": func(a *outbox.Audit) { a.Reason = "\xff" },
		"Audit.At": func(a *outbox.Audit) { a.At = time.Time{} },
	} {
		bad := note
		spoil(&bad)
		for _, part := range []txn.Part{b.events.Redrive(parked, day, bad), b.events.Pass(parked, bad)} {
			var invalid *outbox.InvalidError
			if err := part.Err(); !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
	ready := b.in(t, "order-2", outbox.Ready)
	if _, err := impatient(b.client).Commit(t.Context(), b.events.Pass(ready, note)); !errors.Is(err, outbox.ErrStale) {
		t.Errorf("a READY event was passed: %v", err)
	}
	var stale *outbox.StaleError
	if err := b.events.Reschedule(t.Context(), b.client, parked, day); !errors.As(err, &stale) || stale.State != outbox.Parked || stale.Step != "reschedule" {
		t.Errorf("%v", err)
	}
	if err := b.events.Reschedule(t.Context(), b.client, outbox.Record{Event: outbox.Event{ID: "nothing"}}, day); !errors.Is(err, outbox.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// Services may share a table. Nobody decides about the events of another by mistake: its own relays would lose them.
func TestAServiceDecidesAboutItsOwnEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parked, ready := b.in(t, "order-1", outbox.Parked), b.in(t, "order-2", outbox.Ready)
	other := outbox.New(outbox.Config{Service: "payments", Table: b.orders})
	for step, part := range map[string]txn.Part{
		"redrive": other.Redrive(parked, day, note), "pass": other.Pass(parked, note), "hold": other.Hold(ready, note),
	} {
		if _, err := impatient(b.client).Commit(t.Context(), part); !errors.Is(err, outbox.ErrStale) {
			t.Errorf("%s: %v", step, err)
		}
	}
	if err := other.Reschedule(t.Context(), b.client, ready, day); !errors.Is(err, outbox.ErrStale) {
		t.Errorf("reschedule: %v", err)
	}
	if p, r := b.get(t, parked.Event.ID), b.get(t, ready.Event.ID); p.Version != parked.Version || r.Version != ready.Version {
		t.Errorf("%+v, %+v", p, r)
	}
}

// An event goes on on the shard that it has: on one that somebody made up no relay would look for it.
func TestAMadeUpShardHidesNoEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parked, ready := b.in(t, "order-1", outbox.Parked), b.in(t, "order-2", outbox.Ready)
	for _, shard := range []int{(parked.Placement.Shard + 1) % b.events.Shards(), b.events.Shards() + 7} {
		made := parked
		made.Placement.Shard = shard
		if _, err := impatient(b.client).Commit(t.Context(), b.events.Redrive(made, day, note)); !errors.Is(err, outbox.ErrStale) {
			t.Errorf("redriven on shard %d: %v", shard, err)
		}
		made = ready
		made.Placement.Shard += shard
		if err := b.events.Reschedule(t.Context(), b.client, made, day); !errors.Is(err, outbox.ErrStale) {
			t.Errorf("rescheduled on shard %d: %v", made.Placement.Shard, err)
		}
		if _, err := impatient(b.client).Commit(t.Context(), b.events.Hold(made, note)); !errors.Is(err, outbox.ErrStale) {
			t.Errorf("held on shard %d: %v", made.Placement.Shard, err)
		}
	}
	if listed := b.ready(t, day.Add(time.Hour)); len(listed) != 1 {
		t.Errorf("%v", listed)
	}
	b.commit(t, b.events.Redrive(parked, day, note))
	if listed := b.ready(t, day.Add(time.Hour)); len(listed) != 2 {
		t.Errorf("%v", listed)
	}
}

// An event stays on the shard that placed it, so relays of a new map read the shards of the old one, too.
func TestADrainingMapIsReadToItsEnd(t *testing.T) {
	inBubble(t, outbox.Config{Map: shardmap.Fixed(17)}, noLag, func(s *station) {
		ids := s.orders(100)
		config := outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}, Map: shardmap.Map{Version: 2, HashVersion: 1, Shards: 5}}
		if shards := outbox.New(config).Shards(); shards != 5 {
			s.Errorf("%d shards", shards)
		}
		config.Draining = []shardmap.Map{shardmap.Fixed(17)}
		s.events = outbox.New(config)
		failed := map[string]bool{}
		s.bus.Refuse = func(m outbox.Message) outbox.Result {
			first := !failed[m.Event.ID]
			failed[m.Event.ID] = true
			return map[bool]outbox.Result{true: {Err: errors.New("busy")}}[first]
		}
		before := map[string]int{}
		for _, id := range ids {
			before[id] = s.get(id).Placement.Shard
		}
		relay := s.relay(nil, outbox.RelayConfig{}, nil)
		s.once(relay)
		s.sleep(time.Second)
		s.once(relay)
		if counts := s.states(ids); counts[outbox.Completed] != 100 {
			s.Errorf("%v", counts)
		}
		for _, id := range ids {
			if shard := s.get(id).Placement.Shard; shard != before[id] {
				s.Errorf("%s moved from shard %d to %d", id, before[id], shard)
			}
		}
	})
	if err := outbox.New(outbox.Config{Service: "orders", Draining: []shardmap.Map{{}}}).Create(accepted("order-1")).Err(); !errors.Is(err, outbox.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// A compressed payload that would be larger than any that was stored is damage, and is not unpacked.
func TestAPayloadIsNeverUnpackedBeyondItsLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := accepted("order-1")
	b.commit(t, b.events.Create(e))
	var bomb bytes.Buffer
	w, err := flate.NewWriter(&bomb, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 64<<20)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for encoding, payload := range map[string][]byte{"deflate": bomb.Bytes(), "deflate ": {}, "zstd": {}} {
		item := b.item(t, e.ID)
		item["payload"] = &types.AttributeValueMemberB{Value: payload}
		item["encoding"] = &types.AttributeValueMemberS{Value: encoding}
		b.commit(t, txn.Put(b.orders, item))
		if _, err := b.events.Get(t.Context(), b.client, e.ID); !errors.Is(err, outbox.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", encoding, err)
		}
	}
	compressing := outbox.New(outbox.Config{Service: "orders", Compress: true})
	e.Payload = make([]byte, outbox.MaxPayloadBytes+1)
	if err := compressing.Create(e).Err(); !errors.Is(err, outbox.ErrInvalid) {
		t.Errorf("%v, want ErrInvalid", err)
	}
}

// A record that cannot be read is not published: it is tried again, and parked with the reason.
func TestADamagedEventIsParkedAndNeverPublished(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(2)
		s.damage(ids[0])
		relay := s.relay(nil, outbox.RelayConfig{MaxAttempts: 2, RetryMin: time.Second, RetryMax: time.Second}, nil)
		s.once(relay)
		s.sleep(time.Second)
		if round := s.once(relay); round.Parked != 1 || len(s.bus.Messages()) != 1 {
			s.Errorf("%+v, published %v", round, s.bus.Messages())
		}
		for r, err := range s.events.Parked(s.Context(), s.client) {
			if !errors.Is(err, outbox.ErrCorrupt) {
				s.Errorf("%+v, %v", r, err)
			}
		}
	})
}

// Many relays meet at the queue; they learn to leave events to one another.
func TestManyRelaysShareTheWork(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		const relays, events = 6, 900
		ids := s.orders(events)
		ctx, stop := context.WithCancel(s.Context())
		done := make(chan error)
		for range relays {
			go func() {
				done <- s.relay(nil, outbox.RelayConfig{Batch: 10, Batches: 2, Concurrency: 8}, s.slow()).Run(ctx)
			}()
		}
		s.sleep(30 * time.Second)
		stop()
		for range relays {
			if err := <-done; err != nil {
				s.Error(err)
			}
		}
		lost := s.counted("AP16.claim", observe.Stale)
		if counts := s.states(ids); counts[outbox.Completed] != events || len(s.bus.Messages()) != events || lost > events {
			s.Errorf("%v, %d messages, %d claims lost", counts, len(s.bus.Messages()), lost)
		}
		s.Logf("%d relays lost %d claims on %d events", relays, lost, events)
	})
}
