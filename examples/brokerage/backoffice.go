package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// backOffice is what happens to orders after their acceptance. Its services hear of one another by events:
//
//	orders ─ outbox ─ relays ─ bus ─► execution ─► venue ─ reports ─► execution ─ outbox ─ relays ─ bus ─► portfolio
type backOffice struct {
	client    *dynamodb.Client
	orders    *outbox.Outbox
	execution *execution
	portfolio *portfolio
	workers   int
	passes    int // how often the venue repeats itself
	faults    bus // what goes wrong on the bus
	pace      relayPace

	accepted *queue[outbox.Event]
	reports  *queue[[]fill]
	trades   *queue[outbox.Event]

	mu    sync.Mutex
	count aftermath
}

// relayPace is how relays wait. An embedded database and a bus in the process get no relief from relays that do.
type relayPace struct{ pollMin, pollMax, retry time.Duration }

// aftermath is what the back office has done. A fill, a trade or an event counts once, however often it came.
type aftermath struct {
	Fills           set // reports of the venue
	Trades, Refused int // what became of them
	Routed, Applied set // events that had their effect at execution, and at the portfolio, or wait there
	Published       int
	Duplicates      int // deliveries and reports whose effect was there already
	Waited          int // events that came before the one before them

	Route, Fill, Publish, Apply cost
}

type set map[string]bool

// add returns whether the name is new.
func (s *set) add(name string) bool {
	if *s == nil {
		*s = set{}
	}
	isNew := !(*s)[name]
	(*s)[name] = true
	return isNew
}

// cost are the write units of one step, over those whose units DynamoDB reported.
type cost struct {
	n           int
	base, index capacity.Units
}

func (c *cost) add(receipt txn.Receipt) {
	if len(receipt.Tables) > 0 {
		c.n++
		c.base += receipt.Base()
		c.index += receipt.Index()
	}
}

func newBackOffice(client *dynamodb.Client, orders *outbox.Outbox, pace txn.Config, m market, o options) *backOffice {
	b := &backOffice{
		client: client, orders: orders, execution: newExecution(client, pace, m), portfolio: newPortfolio(client, pace, m),
		workers: o.workers, passes: o.passes, faults: bus{lose: o.lose, seed: o.seed},
	}
	b.pace = relayPace{50 * time.Millisecond, time.Second, time.Second}
	if o.endpoint == "" {
		b.pace = relayPace{time.Millisecond, 16 * time.Millisecond, time.Millisecond}
	}
	b.accepted, b.reports, b.trades = newQueue(b.route), newQueue(b.record), newQueue(b.apply)
	return b
}

// run works until every event is published and has had its effect, or ctx ends. In all cases what is in work is finished
// first.
func (b *backOffice) run(ctx context.Context) error {
	work := context.WithoutCancel(ctx)
	var workers sync.WaitGroup
	for range b.workers {
		workers.Go(func() { b.accepted.work(work) })
		workers.Go(func() { b.reports.work(work) })
		workers.Go(func() { b.trades.work(work) })
	}
	var err error
	for done := false; !done && err == nil; {
		err = b.relay(ctx)
		if err == nil {
			done, err = b.settled(work)
		}
		done = done || ctx.Err() != nil
	}
	for _, close := range []func(){b.accepted.close, b.reports.close, b.trades.close} {
		close()
	}
	workers.Wait()
	return errors.Join(err, ctx.Err())
}

// relaysEach is how many relays each outbox has. They need not know of one another.
const relaysEach = 2

// relay runs the relays until there seems to be nothing left, and lets them finish what they have claimed.
func (b *backOffice) relay(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 2*relaysEach)
	var relays sync.WaitGroup
	for i := range relaysEach {
		for _, r := range []*outbox.Relay{
			b.newRelay(b.orders, b.accepted, fmt.Sprint("orders-", i+1)),
			b.newRelay(b.execution.events, b.trades, fmt.Sprint("execution-", i+1)),
		} {
			relays.Go(func() { failed <- r.Run(running) })
		}
	}
	var err error
	for quiet := false; !quiet && err == nil && running.Err() == nil; {
		time.Sleep(b.pace.pollMax)
		quiet, err = b.settled(context.WithoutCancel(ctx))
	}
	stop()
	relays.Wait()
	close(failed)
	for relayErr := range failed {
		err = errors.Join(err, relayErr)
	}
	return err
}

func (b *backOffice) newRelay(events *outbox.Outbox, to *queue[outbox.Event], owner string) *outbox.Relay {
	broker := b.faults
	broker.deliver = to.put
	return outbox.NewRelay(events, &meter{Client: b.client, note: b.notePublish}, &broker, outbox.RelayConfig{
		Owner: owner, PollMin: b.pace.pollMin, PollMax: b.pace.pollMax, RetryMin: b.pace.retry,
		Observer: observe.Func(func(_ context.Context, e observe.Event) {
			if e.Label() == "AP16.complete" && e.Outcome == observe.OK {
				b.change(func(a *aftermath) { a.Published++; a.Publish.n++ })
			}
		}),
	})
}

// settled says whether nothing waits anywhere: not in the queues, and not in an outbox. Relays may have claimed something all
// the same; what they do with it is seen the next time.
func (b *backOffice) settled(ctx context.Context) (bool, error) {
	if err := errors.Join(b.accepted.idle(), b.reports.idle(), b.trades.idle()); err != nil {
		return false, err
	}
	for _, events := range []*outbox.Outbox{b.orders, b.execution.events} {
		if waiting, err := ready(ctx, b.client, events, 1); err != nil || waiting > 0 {
			return false, err
		}
	}
	return true, nil
}

// route, record and apply handle the messages of the three queues.

func (b *backOffice) route(ctx context.Context, e outbox.Event) error {
	w, outcome, err := b.execution.route(ctx, e)
	if err != nil {
		return err
	}
	reports, err := fills(w) // the venue, which was told now or before
	if err != nil {
		return err
	}
	for range b.passes {
		b.reports.put(reports, false)
	}
	b.change(func(a *aftermath) {
		a.Route.add(outcome.Commit)
		if !a.Routed.add(e.ID) {
			a.Duplicates++
		}
	})
	return nil
}

func (b *backOffice) record(ctx context.Context, reports []fill) error {
	for _, f := range reports {
		decision, receipt, err := b.execution.record(ctx, f)
		if err != nil {
			return err
		}
		b.change(func(a *aftermath) {
			if !a.Fills.add(f.ID) {
				a.Duplicates++
				return
			}
			if decision == refused {
				a.Refused++
				return
			}
			a.Trades++
			a.Fill.add(receipt)
		})
	}
	return nil
}

func (b *backOffice) apply(ctx context.Context, e outbox.Event) error {
	outcome, err := b.portfolio.apply(ctx, e)
	if err != nil {
		return err
	}
	b.change(func(a *aftermath) {
		if outcome.Result == projection.Applied && outcome.Drained == 0 && outcome.Units > 0 {
			a.Apply.n++
			a.Apply.base += outcome.Units
		}
		if !a.Applied.add(e.ID) {
			a.Duplicates++
		} else if outcome.Result == projection.Parked {
			a.Waited++
		}
	})
	return nil
}

func (b *backOffice) change(edit func(*aftermath)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	edit(&b.count)
}

func (b *backOffice) notePublish(base, index capacity.Units) {
	b.change(func(a *aftermath) { a.Publish.base += base; a.Publish.index += index })
}

// snapshot returns a copy of what was counted; its sets are shared, and read when the work is over.
func (b *backOffice) snapshot() aftermath {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// progress is the line on a terminal.
func (b *backOffice) progress() string {
	a := b.snapshot()
	return fmt.Sprintf("%s events published   %s trades", grouped(a.Published), grouped(a.Trades))
}
