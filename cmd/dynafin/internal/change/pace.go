package change

import (
	"context"
	"math/big"
	"time"

	"github.com/dynafin/dynafin/capacity"
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
