package outbox_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// sized commits an event whose record has a number of bytes, as the chapter plans with 1.6 KiB.
func (s *station) sized(id string, bytes int) {
	s.Helper()
	e := accepted(id)
	e.OccurredAt = s.now()
	probe := e
	probe.Payload = nil
	e.Payload = make([]byte, bytes-s.recordBytes(probe))
	if _, err := txn.Commit(s.Context(), s.client, s.events.Create(e)); err != nil {
		s.Fatal(err)
	}
}

// recordBytes is the size of an event's record, mark included, in a store of its own that lives in the bubble, too.
func (s *station) recordBytes(e outbox.Event) int {
	s.Helper()
	if s.probed == 0 {
		probe := newStation(s.tester, outbox.Config{}, dynamosim.Options{})
		if _, err := txn.Commit(s.Context(), probe.client, probe.events.Create(e)); err != nil {
			s.Fatal(err)
		}
		s.probed = capacity.ItemSize(itemOf(s.tester, probe.client, txn.Table{Name: "Orders"}.WithDefaults("Orders"), e.ID)) - len(e.AggregateID)
	}
	return s.probed + len(e.AggregateID)
}

// The units of claim, complete, retry and reschedule at the chapter's sizes (AMP15 to AMP18), and of the journal.
func TestStepsCostWhatTheChapterPlans(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		const n = 25
		for i := range n {
			s.sized(fmt.Sprintf("order-%04d", i), 1638)
		}
		meter := newRelayMeter(s.client)
		fails := true
		s.bus.Refuse = func(outbox.Message) outbox.Result {
			if fails {
				return outbox.Result{Err: errors.New("the broker is down")}
			}
			return outbox.Result{}
		}
		relay := s.relay(nil, outbox.RelayConfig{RetryMin: time.Second, RetryMax: time.Second}, meter)
		check := func(what string, base, index float64) {
			s.Helper()
			if gotBase, gotIndex := meter.units("UpdateItem"); gotBase != base || gotIndex != index {
				s.Errorf("%s of %d events: %v and %v units, want %v and %v", what, n, gotBase, gotIndex, base, index)
			}
		}
		s.once(relay)
		check("claim (3) and retry (3)", n*(2+2), n*(1+1))
		put, _ := meter.units("PutItem")
		drop, _ := meter.units("DeleteItem")
		if put+drop != 2 {
			s.Errorf("the journal of %d events costs %v + %v units, want 2: 0.08 an event", n, put, drop)
		}
		fails = false
		s.sleep(time.Second)
		s.once(relay)
		check("claim (3) and complete (2)", n*(2+2), n*1)

		s.sized("order-0025", 1638)
		e := accepted("order-0025")
		if err := s.events.Reschedule(s.Context(), meter, s.get(e.ID), s.now().Add(time.Hour)); err != nil {
			s.Error(err)
		}
		if base, index := meter.units("UpdateItem"); base != 2 || index != 2 {
			s.Errorf("reschedule: %v and %v units, want 2 and 2", base, index)
		}
	})
}

// The journal stays within one write unit whatever the IDs are, so it costs at most 0.1 unit an event in full batches.
func TestAJournalCostsOneUnitWhateverTheIDs(t *testing.T) {
	for _, length := range []int{1, 26, 32, 36, 64, 500} {
		inBubble(t, plain, noLag, func(s *station) {
			for i := range 110 {
				e := accepted("order-1")
				e.ID, e.OccurredAt = fmt.Sprintf("%0*d", length, i), s.now()
				if length == 1 {
					e.ID = string(rune('0' + i))
				}
				if _, err := txn.Commit(s.Context(), s.client, s.events.Create(e)); err != nil {
					s.Fatal(err)
				}
			}
			meter := newRelayMeter(s.client)
			round := s.once(s.relay(nil, outbox.RelayConfig{Owner: "relay-7f9c4b8d6-x2x5z"}, meter))
			put, _ := meter.units("PutItem")
			drop, _ := meter.units("DeleteItem")
			if round.Completed != 110 || length <= 36 && (put+drop)/110 > 0.1 || put != drop {
				s.Errorf("IDs of %d bytes: %+v, journals cost %v and %v", length, round, put, drop)
			}
		})
	}
}

// A payload that compression brings within 1 KiB is claimed and completed for one unit each, and comes out as it went in.
func TestCompressionHalvesTheCost(t *testing.T) {
	payload := []byte(`{"orderId":"order-1","lines":[`)
	chance := rand.New(rand.NewPCG(1, 2))
	for i := range 11 {
		payload = fmt.Appendf(payload, `{"line":%d,"symbol":"SYM%d","quantity":"%d","price":"%d.%02d","currency":"USD"},`, i, i, 100*i, chance.IntN(1000), chance.IntN(100))
	}
	payload = append(payload, "]}"...)
	for compress, want := range map[bool]float64{false: 2, true: 1} {
		inBubble(t, outbox.Config{Compress: compress}, noLag, func(s *station) {
			e := accepted("order-1")
			e.Payload, e.OccurredAt = payload, s.now()
			if _, err := txn.Commit(s.Context(), s.client, s.events.Create(e)); err != nil {
				s.Fatal(err)
			}
			meter := newRelayMeter(s.client)
			s.once(s.relay(nil, outbox.RelayConfig{}, meter))
			if base, index := meter.units("UpdateItem"); base != 2*want || index != 1 {
				s.Errorf("compressed %v: claim and complete cost %v and %v units, want %v and 1", compress, base, index, 2*want)
			}
			if got := s.bus.Messages(); len(got) != 1 || string(got[0].Event.Payload) != string(payload) {
				s.Errorf("compressed %v: published %v", compress, got)
			}
			if r := s.get(e.ID); string(r.Event.Payload) != string(payload) {
				s.Errorf("compressed %v: %q", compress, r.Event.Payload)
			}
		})
	}
}

// 5,000 events a second through 13 shards, 100 of them tried a second time and 20 rescheduled, in virtual time with partition
// heat on: no shard of the index needs more than 800 units a second, and nothing is throttled. The IDs are chosen to spread
// evenly, as the plan has it; TestStableIDsSpreadEvenlyOverTheShards has how evenly hashed ones do.
func TestThirteenShardsCarryFiveThousandEventsASecond(t *testing.T) {
	inBubble(t, plain, dynamosim.Options{Heat: &dynamosim.Heat{}}, func(s *station) {
		const seconds, rate, retried, moved, slices = 2, 5000, 100, 20, 20
		s.bus.Refuse = func(m outbox.Message) outbox.Result {
			if m.Attempt == 1 && m.Event.AggregateVersion == 2 {
				return outbox.Result{Err: errors.New("the broker is busy")}
			}
			return outbox.Result{}
		}
		relay := s.relay(nil, outbox.RelayConfig{Batches: 10, Concurrency: 64, RetryMin: 500 * time.Millisecond, RetryMax: 500 * time.Millisecond}, nil)
		n := 0
		for range seconds * slices {
			for range rate / slices {
				version := int64(1)
				if n%(rate/retried) == 0 {
					version = 2 // is refused once
				}
				e := onShard(n, version)
				e.OccurredAt = s.now()
				if n%(rate/moved) == 1 {
					e.Due = s.now().Add(time.Hour) // is rescheduled to now
				}
				if _, err := txn.Commit(s.Context(), s.client, s.events.Create(e)); err != nil {
					s.Fatal(err)
				}
				if !e.Due.IsZero() {
					if err := s.events.Reschedule(s.Context(), s.client, s.get(e.ID), s.now()); err != nil {
						s.Fatal(err)
					}
				}
				n++
			}
			s.once(relay)
			s.sleep(time.Second / slices)
		}
		for range 3 {
			s.sleep(time.Second)
			s.once(relay)
		}
		if got := len(s.bus.Messages()); got != n {
			s.Errorf("%d of %d events were published", got, n)
		}
		shards := 0
		var hottest capacity.Units
		for _, key := range s.db.Hottest(-1) {
			if key.Write.Throttled+key.Read.Throttled > 0 || key.Write.Peak > capacity.Whole(1000) {
				s.Errorf("%s %s: %+v", key.Index, key.Key, key)
			}
			if key.Index == "GSI3" {
				shards, hottest = shards+1, max(hottest, key.Write.Total/seconds)
			}
			if key.Index == "" && key.Write.Total > 100 && key.Write.Peak > capacity.Whole(420) {
				s.Errorf("journals: %+v", key.Write)
			}
		}
		if shards != 13 || hottest > capacity.Whole(800) {
			s.Errorf("%d shards, the hottest with %v units a second", shards, hottest)
		}
		s.Logf("hottest shard: %v units a second", hottest)
	})
}

// onShard returns an event whose ID lies on the shard of its number.
func onShard(n int, version int64) outbox.Event {
	for try := 0; ; try++ {
		e := accepted(fmt.Sprint("order-", n, "-", try))
		e.AggregateVersion = version
		e.ID = e.StableID()
		if place, err := shardmap.Default13().Place(e.ID); err == nil && place.Shard == n%13 {
			return e
		}
	}
}
