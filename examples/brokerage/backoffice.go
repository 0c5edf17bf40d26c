package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// backOffice is what happens to orders after their acceptance. Its services hear of one another by events:
//
//	orders ─ outbox ─ relays ─ bus ─► execution ─► venue ─ reports ─► execution ─ outbox ─ relays ─ bus ─┬─► portfolio
//	                                                                                                  └─► settlement
type backOffice struct {
	client     *dynamodb.Client
	orders     *outbox.Outbox
	execution  *execution
	portfolio  *portfolio
	books      *books
	settled    *settlement
	clock      *clock
	lives      *lives
	lag        time.Duration // of indexes
	workers    int
	passes     int // how often the venue repeats itself
	faults     bus // what goes wrong on the bus
	pace       relayPace
	relayClock *clock // nil: the system's
	turns      *turns // nil: all work at the same time
	story      *story // nil: nobody wants to know

	accepted    *queue[outbox.Event]
	reports     *queue[reports]
	trades      *queue[outbox.Event] // of the portfolio
	settlements *queue[outbox.Event]

	mu    sync.Mutex
	count aftermath
}

// relayPace is how relays wait, by their clock.
type relayPace struct{ pollMin, pollMax, retry time.Duration }

// aftermath is what the back office has done. A fill, a trade or an event counts once, however often it came.
type aftermath struct {
	Fills           set // reports of the venue
	Trades, Refused int // what became of them
	Routed, Applied set // events that had their effect at execution, and at the portfolio, or wait there
	Settled         set // events that had their effect in the books, or wait there
	Swallowed       set // events that the bus lost on their way to the portfolio
	Cancelled       int // orders that the venue ended
	Expired         int // orders that the close ended
	Published       int
	Unanswered      int // messages that the bus took without saying so
	Duplicates      int // deliveries and reports whose effect was there already
	Waited          int // events that came before the one before them

	Route, Fill, Publish, Apply, Settle cost
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

func newBackOffice(s *service, pace txn.Config, l *lives, told *story, o options) *backOffice {
	b := &backOffice{
		client: s.client, orders: s.events, execution: newExecution(s.client, pace, s.books.market),
		portfolio: newPortfolio(s.client, pace, s.books.market), books: s.books, settled: newSettlement(s.books, pace), clock: s.books.clock,
		workers: o.workers, passes: o.passes, faults: bus{lose: o.lose, seed: o.seed, log: &busLog{}, story: told}, lives: l, story: told, lag: o.lag,
	}
	b.pace = relayPace{200 * time.Millisecond, time.Second, time.Second}
	if o.endpoint == "" {
		b.relayClock = s.books.clock
		b.execution.now = s.books.clock.now
	}
	event := func(kind string) func(context.Context, outbox.Event, int) (context.Context, *life) {
		return func(ctx context.Context, e outbox.Event, attempt int) (context.Context, *life) {
			return l.begin(ctx, kind, e.ID, attempt)
		}
	}
	b.accepted, b.trades, b.settlements = newQueue(b.route, event("router")), newQueue(b.apply, event("portfolio")), newQueue(b.settle, event("settlement"))
	b.reports = newQueue(b.record, func(ctx context.Context, r reports, attempt int) (context.Context, *life) {
		return l.begin(ctx, "fill recorder", r.of.ClientOrderID, attempt)
	})
	if told != nil {
		b.turns = newTurns(b, o.seed)
	}
	return b
}

// run works until every event is published and has had its effect, closes the market, and works on until all that has had its
// effect too; or until ctx ends. In all cases what is in work is finished first.
func (b *backOffice) run(ctx context.Context, tenants []string) error {
	work := context.WithoutCancel(ctx)
	var workers sync.WaitGroup
	for range b.workers * b.atOnce() {
		workers.Go(func() { b.accepted.work(work) })
		workers.Go(func() { b.reports.work(work) })
		workers.Go(func() { b.trades.work(work) })
		workers.Go(func() { b.settlements.work(work) })
	}
	err := b.flow(ctx)
	if err == nil && ctx.Err() == nil {
		b.clock.reach(marketCloses)
		err = b.closeMarket(work, tenants)
	}
	if err == nil {
		err = b.flow(ctx)
	}
	for _, close := range []func(){b.accepted.close, b.reports.close, b.trades.close, b.settlements.close} {
		close()
	}
	workers.Wait()
	return errors.Join(err, ctx.Err())
}

// atOnce is 0 if everybody takes turns.
func (b *backOffice) atOnce() int {
	if b.turns != nil {
		return 0
	}
	return 1
}

// flow relays events until nothing waits anywhere.
func (b *backOffice) flow(ctx context.Context) (err error) {
	if b.turns != nil {
		return b.turns.flow(ctx, b)
	}
	for done := false; !done && err == nil; {
		err = b.relay(ctx)
		if err == nil { // an index may not show yet what was written last
			err = b.wait(ctx, b.lag)
		}
		if err == nil {
			done, err = b.settledAll(context.WithoutCancel(ctx))
		}
		done = done || ctx.Err() != nil
	}
	return err
}

// settledAll says whether nothing waits anywhere: not in the queues, and not in an outbox. Relays may have claimed something all
// the same; what they do with it is seen the next time.
func (b *backOffice) settledAll(ctx context.Context) (bool, error) {
	if err := errors.Join(b.accepted.idle(), b.reports.idle(), b.trades.idle(), b.settlements.idle()); err != nil {
		return false, err
	}
	for _, events := range []*outbox.Outbox{b.orders, b.execution.events} {
		if waiting, err := waitingIn(ctx, b.client, events, 1); err != nil || waiting > 0 {
			return false, err
		}
		claimed := 0 // by the living or the dead
		for _, err := range events.Stuck(ctx, b.client, endOfTime) {
			if err != nil {
				return false, err
			}
			claimed++
		}
		if claimed > 0 {
			return false, nil
		}
	}
	return true, nil
}

// route, record, apply and settle handle the messages of the queues.

func (b *backOffice) route(ctx context.Context, e outbox.Event) error {
	w, outcome, err := b.execution.route(ctx, e)
	if err != nil {
		return err
	}
	found, err := fills(w) // the venue, which was told now or before
	if err != nil {
		return err
	}
	for range b.passes {
		b.reports.put(reports{w, found}, false)
	}
	b.change(func(a *aftermath) {
		a.Route.add(outcome.Commit)
		if !a.Routed.add(e.ID) {
			a.Duplicates++
		}
	})
	b.story.handled(w.OrderID, laneExecution, "receipt; the order goes to the venue", outcome.Duplicate)
	return nil
}

// reports are what the venue has to say about an order.
type reports struct {
	of    working
	fills []fill
}

func (b *backOffice) record(ctx context.Context, r reports) error {
	for _, f := range r.fills {
		decision, receipt, err := b.execution.record(ctx, f)
		if err != nil {
			return err
		}
		b.story.handled(r.of.OrderID, laneExecution, fmt.Sprintf("%s of %s: %s", f.Quantity.Text(), r.of.Symbol, decision), len(receipt.Tables) == 0)
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
	if r.of.Waits {
		return nil
	}
	cancelled, err := b.execution.closeOrder(ctx, r.of.Tenant, r.of.Account, r.of.OrderID, statusCancelled)
	if cancelled {
		b.change(func(a *aftermath) { a.Cancelled++ })
	}
	return err
}

func (b *backOffice) apply(ctx context.Context, e outbox.Event) error {
	outcome, err := b.portfolio.apply(ctx, e)
	if err != nil {
		return err
	}
	b.story.followed(e, outcome)
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

func (b *backOffice) settle(ctx context.Context, e outbox.Event) error {
	outcome, err := b.settled.apply(ctx, e)
	if err != nil {
		return err
	}
	b.story.handled(e.AggregateID, laneBooks, fmt.Sprintf("version %d: %s", e.AggregateVersion, settledAs(e, outcome)), outcome.Result == projection.Stale)
	b.change(func(a *aftermath) {
		if outcome.Result == projection.Applied && outcome.Drained == 0 && outcome.Units > 0 && e.Type == tradeExecuted {
			a.Settle.n++
			a.Settle.base += outcome.Units
		}
		if !a.Settled.add(e.ID) {
			a.Duplicates++
		} else if outcome.Result == projection.Parked {
			a.Waited++
		}
	})
	return nil
}

// settledAs says in words what the books did with a version.
func settledAs(e outbox.Event, o projection.Outcome) string {
	switch {
	case o.Result == projection.Parked:
		return "it waits"
	case e.Type == orderClosed:
		return "the rest is free"
	default:
		return "captured, posted"
	}
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
	return fmt.Sprintf("%s events published   %s trades   %s settled", grouped(a.Published), grouped(a.Trades), grouped(len(a.Settled)))
}
