package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dynafin/dynafin/examples/brokerage/internal/page"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// story is what the page tells of a day, noted while it happens. All its methods may be called on nil: then nobody wants to know.
type story struct {
	clock *clock

	mu      sync.Mutex
	began   time.Time
	times   []time.Time // of the steps
	orders  map[string][]pastStep
	backlog []page.Backlog
	made    int // events by orders
	delays  []time.Duration
	acked   set
	marks   []page.Mark
	views   map[string]*viewStory
}

// pastStep is a step of an order, and when it was.
type pastStep struct {
	page.Step
	at time.Time
}

// viewStory is how the portfolio followed an order.
type viewStory struct {
	reached []page.Checkpoint
	gaps    []page.Gap
	waiting bool
}

// The lanes of the timeline.
const (
	laneClient = iota
	laneOrders
	laneBooks
	laneOutbox
	laneExecution
	lanePortfolio
)

var lanes = []string{"Client", "Orders", "Books", "Outboxes", "Execution", "Portfolio"}

func newStory(c *clock) *story {
	return &story{clock: c, began: c.now(), orders: map[string][]pastStep{}, views: map[string]*viewStory{}}
}

// note adds a step to the story of an order.
func (s *story) note(orderID string, from, to int, kind page.StepKind, format string, args ...any) {
	s.orders[orderID] = append(s.orders[orderID], pastStep{page.Step{From: from, To: to, Kind: kind, What: fmt.Sprintf(format, args...)}, s.clock.now()})
}

// step ends a step of the run.
func (s *story) step() { s.times = append(s.times, s.clock.now()) }

// mark notes a fault.
func (s *story) mark(name string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = append(s.marks, page.Mark{Step: len(s.times), Name: name})
}

// submitted is told of every submission of an order.
func (s *story) submitted(o order, decision outcome, receipt txn.Receipt, attempt int, died bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step()
	kind := page.Normal
	if attempt > 1 || decision == replayed {
		kind = page.Repeat
	}
	s.note(o.id(), laneClient, laneOrders, kind, "order %s, key %s", o.ClientOrderID, o.RequestKey)
	switch {
	case died:
		s.note(o.id(), laneOrders, laneOrders, page.Crashed, "the worker dies")
	case decision == accepted:
		s.made++
		s.note(o.id(), laneOrders, laneOrders, page.Stored, "order, name, result")
		s.note(o.id(), laneOrders, laneBooks, page.Stored, "what it may take is reserved")
		s.note(o.id(), laneOrders, laneOutbox, page.Stored, "%s READY", orderAccepted)
		if receipt.Recovered {
			s.note(o.id(), laneOrders, laneOrders, page.Lost, "the answer of the database is lost")
		}
		s.note(o.id(), laneOrders, laneClient, page.Normal, "ACCEPTED")
	default:
		s.note(o.id(), laneOrders, laneClient, page.Normal, "%s", decision)
	}
}

// published is told of every message that the bus takes, and whether its answer arrives.
func (s *story) published(m outbox.Message, lost bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := page.Normal
	if m.Attempt > 1 {
		kind = page.Repeat
	}
	to := laneExecution
	if m.Event.Type != orderAccepted {
		to = lanePortfolio
	}
	s.note(m.Event.AggregateID, laneOutbox, to, kind, "%s, version %d", m.Event.Type, m.Event.AggregateVersion)
	if lost {
		s.note(m.Event.AggregateID, laneOutbox, laneOutbox, page.Lost, "the answer of the bus is lost")
	} else if s.acked.add(m.Event.ID) {
		s.delays = append(s.delays, s.clock.now().Sub(m.Event.Due))
	}
}

// handled is told what a consumer did with an event.
func (s *story) handled(orderID string, lane int, what string, repeat bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if repeat {
		s.note(orderID, lane, lane, page.Repeat, "known: no effect")
		return
	}
	s.note(orderID, lane, lane, page.Stored, "%s", what)
}

// followed is told what the portfolio did with a version.
func (s *story) followed(e outbox.Event, o projection.Outcome) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[e.AggregateID]
	if v == nil {
		v = &viewStory{}
		s.views[e.AggregateID] = v
	}
	step := len(s.times)
	switch o.Result {
	case projection.Parked:
		if !v.waiting {
			v.waiting = true
			v.gaps = append(v.gaps, page.Gap{From: step, Missing: int(o.Version) + 1})
		}
		s.note(e.AggregateID, lanePortfolio, lanePortfolio, page.Stored, "version %d waits", e.AggregateVersion)
	case projection.Applied:
		if v.waiting && o.Drained > 0 {
			v.waiting = false
			v.gaps[len(v.gaps)-1].Until = step
		}
		v.reached = append(v.reached, page.Checkpoint{Step: step, Version: int(o.Version)})
		s.note(e.AggregateID, lanePortfolio, lanePortfolio, page.Stored, "version %d", o.Version)
	default:
		s.note(e.AggregateID, lanePortfolio, lanePortfolio, page.Repeat, "known: no effect")
	}
}

// turn is told how far the back office is, after each turn.
func (s *story) turn(a aftermath) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step()
	s.backlog = append(s.backlog, page.Backlog{Step: len(s.times), Pending: s.made + a.Trades + a.Cancelled + a.Expired - a.Published})
}

// stepAt is the step of the run at a time.
func (s *story) stepAt(t time.Time) int {
	n, _ := slices.BinarySearchFunc(s.times, t, func(one, t time.Time) int { return one.Compare(t) })
	return n
}

// timeline is the order to which most happened that fits a page.
func (s *story) timeline() page.Timeline {
	best, bestScore := "", -1
	for _, id := range slices.Sorted(maps.Keys(s.orders)) {
		steps := s.orders[id]
		kinds := map[page.StepKind]bool{}
		for _, one := range steps {
			kinds[one.Kind] = true
		}
		if score := 100*len(kinds) + len(steps); len(steps) <= 24 && score > bestScore {
			best, bestScore = id, score
		}
	}
	t := page.Timeline{Order: best, Lanes: lanes}
	for _, one := range s.orders[best] {
		one.At = one.at.Sub(s.orders[best][0].at)
		t.Steps = append(t.Steps, one.Step)
	}
	return t
}

// flow is how events went from outboxes to the portfolio.
func (s *story) flow() page.Flow {
	f := page.Flow{Backlog: thinned(s.backlog, 160)}
	slices.Sort(s.delays)
	if n := len(s.delays); n > 0 {
		f.P50, f.P99, f.Max = s.delays[n/2], s.delays[n*99/100], s.delays[n-1]
	}
	upTo := 10 * time.Second
	for at := 0; at < len(s.delays); upTo *= 2 {
		n := 0
		for ; at < len(s.delays) && s.delays[at] <= upTo; at++ {
			n++
		}
		f.Delays = append(f.Delays, page.Delay{UpTo: upTo, Count: n})
	}
	best := -1
	for _, id := range slices.Sorted(maps.Keys(s.views)) {
		v := s.views[id]
		if score := 10*len(v.gaps) + len(v.reached); !v.waiting && score > best {
			best = score
			f.Source, f.Checkpoints, f.Gaps = id, v.reached, v.gaps
		}
	}
	return f
}

// thinned is a list of at most about so many of its elements, the last one among them.
func thinned[T any](list []T, most int) (some []T) {
	every := max(1, cmp.Or(len(list)/most, 1))
	for i, one := range list {
		if i%every == 0 || i == len(list)-1 {
			some = append(some, one)
		}
	}
	return some
}
