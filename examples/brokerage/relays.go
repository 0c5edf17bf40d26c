package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
)

// subscriber takes what the bus delivers; a late message comes when nothing else waits.
type subscriber func(e outbox.Event, late bool)

// relaysEach is how many relays each outbox has. They need not know of one another.
const relaysEach = 2

// relay runs the relays until there seems to be nothing left, and lets them finish what they have claimed.
func (b *backOffice) relay(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 2*relaysEach)
	var relays sync.WaitGroup
	for i := range relaysEach {
		relays.Go(func() { failed <- b.relayOn(running, b.orders, fmt.Sprint("orders-", i+1), b.accepted.put) })
		relays.Go(func() {
			failed <- b.relayOn(running, b.execution.events, fmt.Sprint("execution-", i+1), b.toPortfolio, b.settlements.put)
		})
	}
	var err error
	for quiet := false; !quiet && err == nil && running.Err() == nil; {
		if err = b.wait(running, b.pace.pollMax); err == nil {
			quiet, err = b.settledAll(context.WithoutCancel(ctx))
		}
	}
	stop()
	relays.Wait()
	close(failed)
	for relayErr := range failed {
		err = errors.Join(err, relayErr)
	}
	return err
}

// relayOn keeps a relay running. When it dies, another one with another name takes its place, and what the dead one has claimed is found
// when its lease has ended.
func (b *backOffice) relayOn(ctx context.Context, events *outbox.Outbox, owner string, subscribers ...subscriber) error {
	for n := 1; ; n++ {
		mine, one := b.lives.begin(ctx, "relay", fmt.Sprint(owner, n), 0)
		one.doomed = false // it dies with a batch, see bus
		err := b.newRelay(one, events, fmt.Sprintf("%s.%d", owner, n), subscribers).Run(mine)
		if !one.over() {
			return err
		}
	}
}

func (b *backOffice) newRelay(one *life, events *outbox.Outbox, owner string, subscribers []subscriber) *outbox.Relay {
	broker := b.faults
	broker.relay = one
	broker.unanswered = func() { b.change(func(a *aftermath) { a.Unanswered++ }) }
	broker.deliver = func(e outbox.Event, late bool) {
		for _, to := range subscribers {
			to(e, late)
		}
	}
	config := outbox.RelayConfig{
		Owner: owner, PollMin: b.pace.pollMin, PollMax: b.pace.pollMax, RetryMin: b.pace.retry, RetryMax: 10 * b.pace.retry,
		MaxAttempts: 100, // that relays die is no fault of the events they held
		Observer: observe.Func(func(_ context.Context, e observe.Event) {
			if e.Label() == "AP16.complete" && e.Outcome == observe.OK {
				b.change(func(a *aftermath) { a.Published++; a.Publish.n++ })
			}
		}),
	}
	if b.relayClock != nil {
		config.Now, config.Sleep = b.relayClock.now, b.relayClock.sleep
	}
	if b.turns != nil { // one batch after the other, and no chance
		config.Batch, config.Batches = 16, 1 // what fits one journal: more would be two batches at once
		config.Jitter = func(limit time.Duration) time.Duration { return limit / 2 }
		config.Sleep = func(ctx context.Context, _ time.Duration) error { // nobody waits within a turn: leases last longer
			<-ctx.Done()
			return ctx.Err()
		}
	}
	return outbox.NewRelay(events, &meter{Client: b.client, note: b.notePublish}, &broker, config)
}

// wait lets time pass, by the clock of the relays.
func (b *backOffice) wait(ctx context.Context, d time.Duration) error {
	if b.relayClock != nil {
		if err := b.relayClock.sleep(ctx, d); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return nil
}

// toPortfolio is the portfolio's subscription. It loses a few events for good, which the night finds out.
func (b *backOffice) toPortfolio(e outbox.Event, late bool) {
	if loses(e) {
		b.change(func(a *aftermath) {
			a.Swallowed.add(e.ID)
		})
		return
	}
	b.trades.put(e, late)
}

// loses says which: trades, because their IDs are the venue's and the same in every run.
func loses(e outbox.Event) bool { return e.Type == tradeExecuted && draw("portfolio "+e.ID)%150 == 0 }
