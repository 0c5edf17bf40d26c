package change

import (
	"context"
	"math/big"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/txn"
)

// pace keeps a run at or below a number of write units a second, from its first change on.
type pace struct {
	limit  int
	now    func() time.Time
	sleep  func(ctx context.Context, d time.Duration) error
	start  time.Time
	spent  capacity.Units
	waited time.Duration
}

// wait returns when what was spent so far fits the limit.
func (p *pace) wait(ctx context.Context) error {
	if p.start.IsZero() {
		p.start = p.now()
		return nil
	}
	if wait := p.due().Sub(p.now()); wait > 0 {
		p.waited += wait
		return p.sleep(ctx, wait)
	}
	return nil
}

// due is when the units spent so far have been earned.
func (p *pace) due() time.Time {
	const halves = 2 // of a unit
	ns := new(big.Int).Mul(big.NewInt(int64(p.spent)), big.NewInt(int64(time.Second)))
	ns.Div(ns, big.NewInt(int64(halves*p.limit)))
	return p.start.Add(time.Duration(ns.Int64()))
}

// patience is how a run waits between the attempts of one transaction: by its own clock, and without chance, because it is one
// process and not many.
func (r *run) patience(ctx context.Context) txn.Config {
	return txn.Config{
		Now:      r.set.Clock,
		Jitter:   func(limit time.Duration) time.Duration { return limit / 2 },
		NewTimer: func() backoff.Timer { return &timer{ctx: ctx, set: r.set, c: make(chan time.Time, 1)} },
	}
}

// timer is a timer that waits by the patience of a run.
type timer struct {
	ctx context.Context
	set Settings
	c   chan time.Time
}

// Start waits. If the context ends first, whoever waits for the timer sees that too.
func (t *timer) Start(d time.Duration) {
	if t.set.Sleep(t.ctx, d) == nil {
		t.c <- t.set.Clock()
	}
}

// Stop has nothing to stop: nobody waits while Start does.
func (t *timer) Stop() {}

// C says when the wait is over.
func (t *timer) C() <-chan time.Time { return t.c }
