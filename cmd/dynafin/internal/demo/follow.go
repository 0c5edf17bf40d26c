package demo

import (
	"context"
	"errors"
	"time"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// gap is the time between two orders.
func (w *world) gap() time.Duration { return time.Duration(1+w.draw(5000)) * time.Millisecond }

// roundsMax bounds how often relays look: a day's events take far fewer.
const roundsMax = 200

// publish lets relays work until nothing waits any more. Now and then one dies with its claims; another finds them when the lease has
// ended. The bus refuses some events for a while, and two for good.
func (w *world) publish(ctx context.Context, bus *outbox.Memory) (rounds int, err error) {
	relay := outbox.NewRelay(w.events, w.client, bus, outbox.RelayConfig{
		Owner: "relay-1", Concurrency: 1, Batches: 1, MaxAttempts: 6, Now: w.Now, NewID: func() string { return w.id("claim") },
		Jitter: func(time.Duration) time.Duration { return 0 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			if d < time.Second {
				return nil
			}
			<-ctx.Done() // a third of a lease: the bus answers sooner
			return ctx.Err()
		},
	})
	for rounds = 1; rounds <= roundsMax; rounds++ {
		w.mu.Lock()
		w.dying = rounds%7 == 3
		w.mu.Unlock()
		// What a round could not do is done by a later one; the checks say whether all of it was.
		_, _ = relay.Once(ctx)
		w.pass(20 * time.Second)
		waiting, err := w.waiting(ctx)
		if err != nil {
			return rounds, err
		}
		if waiting == 0 {
			return rounds, nil
		}
	}
	return rounds, errors.New("events still wait after all rounds")
}

// waiting counts events that are listed, or taken by a relay that is gone.
func (w *world) waiting(ctx context.Context) (n int, err error) {
	for shard := range w.events.Shards() {
		for _, err := range w.events.Ready(ctx, w.plain, shard, opening.AddDate(1, 0, 0), 0) {
			if err != nil {
				return n, err
			}
			n++
		}
	}
	for _, err := range w.events.Stuck(ctx, w.plain, opening.AddDate(1, 0, 0)) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// refuse is how the bus behaves: busy for one message in twelve, and two events are too large for it.
func (w *world) refuse(poison map[string]bool) func(outbox.Message) outbox.Result {
	return func(m outbox.Message) outbox.Result {
		if poison[m.Event.ID] {
			return outbox.Result{Final: true, Err: &outbox.PublishError{EventID: m.Event.ID, Broker: "bus", Reason: "payload over the limit of the bus", Final: true}}
		}
		if w.draw(12) == 0 {
			return outbox.Result{Err: &outbox.PublishError{EventID: m.Event.ID, Broker: "bus", Code: "503", Reason: "503 from the bus"}}
		}
		return outbox.Result{}
	}
}

// consume delivers every message to the portfolio, some of them twice, in an order that the bus does not promise.
func (w *world) consume(ctx context.Context, messages []outbox.Message) (delivered, duplicates int, err error) {
	for i, m := range messages {
		times := 1
		if w.draw(8) == 0 {
			times = 2
		}
		for range times {
			delivered++
			again, err := w.deliver(ctx, m.Event)
			if err != nil {
				return delivered, duplicates, err
			}
			if again {
				duplicates++
			}
		}
		if i%10 == 9 {
			w.pass(time.Second)
		}
	}
	return delivered, duplicates, nil
}

func (w *world) deliver(ctx context.Context, e outbox.Event) (again bool, err error) {
	for range 20 {
		outcome, err := w.received.Process(ctx, w.committer, inbox.Event{ID: e.ID, Type: e.Type, Source: e.AggregateID, SourceVersion: e.AggregateVersion, Payload: e.Payload},
			map[string]string{"customer": e.AggregateID})
		if errors.Is(err, txn.ErrAmbiguous) || errors.Is(err, txn.ErrContention) {
			continue
		}
		if err != nil {
			return false, err
		}
		_, err = w.positions.Apply(ctx, projection.Event{Source: e.AggregateID, Version: e.AggregateVersion, ID: e.ID, Type: e.Type, OccurredAt: e.OccurredAt, Payload: e.Payload, Control: 1})
		return outcome.Duplicate, err
	}
	return false, errors.New("the portfolio got no answer")
}
