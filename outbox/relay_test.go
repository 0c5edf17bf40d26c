package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

var (
	plain   = outbox.Config{}
	ordered = outbox.Config{Ordered: true}
	noLag   = dynamosim.Options{}
)

func TestARelayPublishesEveryEventOnceAndStoresTheAnswer(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(120)
		ctx, stop := context.WithCancel(s.Context())
		done := make(chan error)
		go func() { done <- s.relay(nil, outbox.RelayConfig{Owner: "pod-1"}, nil).Run(ctx) }()
		time.Sleep(2 * time.Second)
		stop()
		if err := <-done; err != nil {
			s.Error(err)
		}
		for _, id := range ids {
			r := s.get(id)
			if r.State != outbox.Completed || r.Ack != "memory-"+id || r.Owner != "pod-1" || r.Attempt != 1 || !r.LeaseUntil.IsZero() ||
				r.CompletedAt.Before(s.began) || r.ExpiresAt.Sub(r.CompletedAt) < 30*24*time.Hour {
				s.Fatalf("%+v", r)
			}
			if n := s.published()[id]; n != 1 {
				s.Errorf("%s was published %d times", id, n)
			}
		}
		if n := s.journals(); n != 0 {
			s.Errorf("%d journals are left", n)
		}
		if lost := s.counted("AP16.claim", observe.Stale); lost != 0 {
			s.Errorf("%d claims failed", lost)
		}
	})
}

// One entry of a batch fails, and only that one is tried again (O4), after a wait that grows, with its reason.
func TestResultsAreHandledOneByOne(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(30)
		bad := ids[17]
		s.bus.Refuse = func(m outbox.Message) outbox.Result {
			if m.Event.ID == bad && m.Attempt < 3 {
				return outbox.Result{Err: errors.New("throttled")}
			}
			return outbox.Result{}
		}
		relay := s.relay(nil, outbox.RelayConfig{}, nil)
		if round := s.once(relay); round.Completed != 29 || round.Retried != 1 || s.journals() != 0 {
			s.Errorf("%+v, %d journals", round, s.journals())
		}
		for attempt, most := int64(1), time.Second; attempt < 3; attempt, most = attempt+1, 2*most {
			r := s.get(bad)
			wait := r.Event.Due.Sub(r.FailedAt)
			if r.State != outbox.Ready || r.Attempt != attempt || r.Failure != "throttled" || wait < most/2 || wait > most || r.Owner != "" || r.Claim != "" {
				s.Errorf("after attempt %d: %+v, waits for %v", attempt, r, wait)
			}
			if round := s.once(relay); round.Listed != 0 {
				s.Errorf("%+v before it is due", round)
			}
			time.Sleep(most)
			s.once(relay)
		}
		if r := s.get(bad); r.State != outbox.Completed || r.Attempt != 3 || s.published()[bad] != 1 {
			s.Errorf("in the end: %+v", r)
		}
	})
}

// Poison is parked with its reason, listed, redriven with a note, and never deleted; others go on (O5).
func TestPoisonIsParkedListedAndRedriven(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(5)
		broken := true
		s.bus.Refuse = func(m outbox.Message) outbox.Result {
			switch {
			case broken && m.Event.ID == ids[0]:
				return outbox.Result{Err: errors.New("no schema of this type")}
			case broken && m.Event.ID == ids[1]:
				return outbox.Result{Err: errors.New("larger than the broker takes"), Final: true}
			}
			return outbox.Result{}
		}
		relay := s.relay(nil, outbox.RelayConfig{MaxAttempts: 3}, nil)
		for range 20 {
			s.once(relay)
			time.Sleep(5 * time.Second)
		}
		reasons := map[string]string{}
		for r, err := range s.events.Parked(s.Context(), s.client) {
			if err != nil {
				s.Fatal(err)
			}
			reasons[r.Event.ID] = fmt.Sprint(r.Attempt, " ", r.Failure)
		}
		if len(reasons) != 2 || reasons[ids[0]] != "3 no schema of this type" || reasons[ids[1]] != "1 larger than the broker takes" {
			s.Errorf("parked: %v", reasons)
		}
		if counts := s.states(ids); counts[outbox.Completed] != 3 {
			s.Errorf("%v", counts)
		}
		broken = false
		parked := s.get(ids[0])
		note := outbox.Audit{By: "ops@acme", Reason: "schema registered", At: time.Now()}
		if _, err := txn.Commit(s.Context(), s.client, s.events.Redrive(parked, time.Now(), note)); err != nil {
			s.Fatal(err)
		}
		if _, err := txn.Commit(s.Context(), s.client, s.events.Pass(s.get(ids[1]), note)); err != nil {
			s.Fatal(err)
		}
		if _, err := txn.Commit(s.Context(), s.client, s.events.Redrive(parked, time.Now(), note)); !errors.Is(err, outbox.ErrStale) {
			s.Errorf("redriven twice: %v", err)
		}
		s.once(relay)
		r := s.get(ids[0])
		notes, err := s.events.Audits(s.Context(), s.client, ids[0])
		want := outbox.Audit{EventID: ids[0], Version: parked.Version + 1, Step: "redrive", By: note.By, Reason: note.Reason, At: note.At.UTC(),
			Failure: "no schema of this type", Attempt: 3}
		if err != nil || r.State != outbox.Completed || r.Attempt != 1 || len(notes) != 1 || notes[0] != want {
			s.Errorf("%+v\n%+v, %v, want\n%+v", r, notes, err, want)
		}
		if r := s.get(ids[1]); r.State != outbox.Passed || r.PassedAt.IsZero() || !r.ExpiresAt.IsZero() || s.published()[ids[1]] != 0 {
			s.Errorf("%+v", r)
		}
	})
}

func TestAPublisherThatAnswersShortIsAskedAgain(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(3)
		short := publisherFunc(func(_ context.Context, batch []outbox.Message) []outbox.Result {
			return []outbox.Result{{Ack: strings.Repeat("é", 2000)}}
		})
		if round := s.once(s.relay(short, outbox.RelayConfig{}, nil)); round.Completed != 1 || round.Retried != 2 {
			s.Errorf("%+v", round)
		}
		for _, id := range ids {
			if r := s.get(id); r.State == outbox.Completed && len(r.Ack) != outbox.MaxAckBytes {
				s.Errorf("an answer of %d bytes is stored", len(r.Ack))
			}
		}
	})
}

type publisherFunc func(context.Context, []outbox.Message) []outbox.Result

func (f publisherFunc) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	return f(ctx, batch)
}

// A slow broker keeps its lease, nobody else publishes its events, and a broker that never answers does not keep it for ever.
func TestLeasesAreRenewedForASlowBroker(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(10)
		slow := publisherFunc(func(ctx context.Context, batch []outbox.Message) []outbox.Result {
			time.Sleep(95 * time.Second) // more than three leases
			return s.bus.Publish(ctx, batch)
		})
		ctx, stop := context.WithCancel(s.Context())
		defer stop()
		go s.relay(slow, outbox.RelayConfig{}, nil).Run(ctx)
		other := s.relay(nil, outbox.RelayConfig{}, nil)
		for range 20 {
			time.Sleep(5 * time.Second)
			if round := s.once(other); round.Recovered+round.Claimed != 0 {
				s.Errorf("%v: taken away: %+v", time.Since(s.began), round)
			}
		}
		if counts := s.states(ids); counts[outbox.Completed] != 10 || len(s.bus.Messages()) != 10 || s.journals() != 0 {
			s.Errorf("%v, %d messages, %d journals", counts, len(s.bus.Messages()), s.journals())
		}
	})
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(1)
		hangs := publisherFunc(func(ctx context.Context, batch []outbox.Message) []outbox.Result {
			<-ctx.Done()
			return []outbox.Result{{Err: ctx.Err()}}
		})
		s.once(s.relay(hangs, outbox.RelayConfig{Lease: 30 * time.Second, Renewals: 4}, nil))
		r := s.get(ids[0])
		if took := time.Since(s.began); took != 50*time.Second || r.State != outbox.Ready || r.Failure != "context canceled" || s.journals() != 0 {
			s.Errorf("after %v: %+v", took, r)
		}
	})
}

// A publisher that does not heed its context holds up its own batch for as long as the lease lasts, and nothing else.
func TestAPublisherThatDoesNotReturnIsLeftBehind(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(3)
		stuck := ids[1]
		hangs := publisherFunc(func(ctx context.Context, batch []outbox.Message) []outbox.Result {
			if batch[0].Event.ID == stuck && batch[0].Attempt == 1 {
				time.Sleep(time.Hour)
			}
			return s.bus.Publish(ctx, batch)
		})
		relay := s.relay(hangs, outbox.RelayConfig{Batch: 1, Lease: 30 * time.Second, Renewals: 4}, nil)
		round := s.once(relay)
		r := s.get(stuck)
		if took := time.Since(s.began); took != 60*time.Second || round.Completed != 2 || round.Retried != 1 || r.State != outbox.Ready || s.journals() != 0 {
			s.Errorf("after %v: %+v, %+v", took, round, r)
		}
		s.sleep(time.Minute)
		if round := s.once(relay); round.Completed != 1 || s.published()[stuck] != 1 {
			s.Errorf("the next round: %+v, %d copies", round, s.published()[stuck])
		}
		s.sleep(time.Hour)
		if s.published()[stuck] != 2 || s.get(stuck).State != outbox.Completed {
			s.Errorf("%d copies", s.published()[stuck])
		}
	})
}

// Shutdown in the middle of a batch: nothing is claimed beyond the limit, even if the broker hangs.
func TestShutdownDrains(t *testing.T) {
	for name, heeds := range map[string]bool{"a broker that heeds its context": true, "a broker that answers in time": false} {
		inBubble(t, plain, noLag, func(s *station) {
			ids := s.orders(40)
			broker := publisherFunc(func(ctx context.Context, batch []outbox.Message) []outbox.Result {
				if heeds {
					<-ctx.Done()
					return nil
				}
				time.Sleep(3 * time.Second)
				return s.bus.Publish(ctx, batch)
			})
			ctx, stop := context.WithCancel(s.Context())
			done := make(chan error)
			go func() { done <- s.relay(broker, outbox.RelayConfig{Drain: 10 * time.Second}, nil).Run(ctx) }()
			time.Sleep(time.Second)
			stop()
			stopped := time.Now()
			if err := <-done; err != nil || time.Since(stopped) > 10*time.Second {
				s.Errorf("%s: %v after %v", name, err, time.Since(stopped))
			}
			want := map[bool]outbox.State{true: outbox.Ready, false: outbox.Completed}[heeds]
			if counts := s.states(ids); counts[want] != 40 || s.journals() != 0 {
				s.Errorf("%s: %v, %d journals", name, counts, s.journals())
			}
			if heeds {
				if r := s.get(ids[0]); r.Event.Due.After(time.Now()) {
					s.Errorf("%s: due at %v", name, r.Event.Due)
				}
			}
			synctest.Wait()
		})
	}
}

// The wait between rounds grows to its maximum; then an idle relay makes at most 13 read requests an interval, one for
// journals each half lease, and no writes at all (E9).
func TestAnIdleRelayCostsLittle(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		meter := newRelayMeter(s.client)
		ctx, stop := context.WithCancel(s.Context())
		done := make(chan error)
		go func() { done <- s.relay(nil, outbox.RelayConfig{}, meter).Run(ctx) }()
		time.Sleep(time.Minute)
		before := meter.reads()
		time.Sleep(10 * time.Minute)
		polls, journals := meter.reads().index-before.index, meter.reads().base-before.base
		if polls > 13*120 || journals > 80 || meter.writes() != 0 {
			s.Errorf("in 120 intervals: %d reads of shards, %d of journals, %d writes", polls, journals, meter.writes())
		}
		stop()
		<-done
	})
}

// Without a retention a record stays; with one it may go when it is over, and not a part of a second earlier (E5).
func TestRecordsMayGoWhenTheirRetentionIsOver(t *testing.T) {
	for retention, stays := range map[time.Duration]bool{-1: true, time.Hour: false} {
		inBubble(t, plain, noLag, func(s *station) {
			time.Sleep(time.Nanosecond)
			ids := s.orders(1)
			s.once(s.relay(nil, outbox.RelayConfig{Retention: retention}, nil))
			r := s.get(ids[0])
			if over := r.ExpiresAt.Sub(r.CompletedAt); r.ExpiresAt.IsZero() != stays || !stays && (over < time.Hour || over >= time.Hour+time.Second) {
				s.Errorf("retention %v: %+v", retention, r)
			}
		})
	}
}

// A clock that is set back stops neither the relay nor its leases.
func TestAClockThatIsSetBackStopsNothing(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		var off atomic.Int64
		config := outbox.RelayConfig{Now: func() time.Time { return time.Now().Add(time.Duration(off.Load())) }}
		ctx, stop := context.WithCancel(s.Context())
		done := make(chan error)
		go func() { done <- s.relay(nil, config, nil).Run(ctx) }()
		first := s.create("order-1", 1, 1)
		time.Sleep(time.Minute)
		off.Store(int64(-time.Second))
		second := s.create("order-1", 2, 2)
		time.Sleep(time.Minute)
		if counts := s.states(append(first, second...)); counts[outbox.Completed] != 2 {
			s.Errorf("%v", counts)
		}
		stop()
		<-done
	})
}

func TestARelayWithAWrongConfigurationDoesNotRun(t *testing.T) {
	t.Parallel()
	events := outbox.New(outbox.Config{Service: "orders"})
	for field, config := range map[string]outbox.RelayConfig{
		"Batch": {Batch: 101}, "Batches": {Batches: -1}, "Concurrency": {Concurrency: -1}, "MaxAttempts": {MaxAttempts: -1},
		"Renewals": {Renewals: -1}, "Lease": {Lease: -time.Second}, "Recover": {Recover: time.Hour}, "PollMin": {PollMin: time.Minute},
		"PollMax": {PollMax: -1}, "RetryMin": {RetryMin: time.Hour}, "RetryMax": {RetryMax: -1}, "Hold": {Hold: -1}, "Drain": {Drain: -1},
		"Retention": {Retention: time.Minute}, "Owner": {Owner: "\xff"},
	} {
		relay := outbox.NewRelay(events, nil, nil, config)
		_, err := relay.Once(t.Context())
		for what, err := range map[string]error{"Once": err, "Run": relay.Run(t.Context())} {
			if !errors.Is(err, outbox.ErrInvalid) || !strings.Contains(err.Error(), "RelayConfig."+field) {
				t.Errorf("%s with a bad %s: %v", what, field, err)
			}
		}
	}
	if err := outbox.NewRelay(outbox.New(outbox.Config{}), nil, nil, outbox.RelayConfig{}).Run(t.Context()); !errors.Is(err, outbox.ErrInvalid) {
		t.Errorf("a relay of an outbox without a service: %v", err)
	}
}
