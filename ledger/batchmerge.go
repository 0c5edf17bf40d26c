package ledger

import (
	"math"

	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// draw is where a series of changes stands after the one of them that takes most from an account of one side, counted
// from where the series began. A change that only adds needs nothing, so it is no draw.
type draw struct {
	taken bool
	to    money.Amount
}

// draws returns how far the change goes below and above its beginning, each on taking: downwards it takes from a debit account,
// upwards from a credit account.
func (c *change) draws(moved money.Amount) (low, high draw) {
	if c.merged {
		return c.low, c.high
	}
	return draw{moved.Sign() < 0, moved}, draw{moved.Sign() > 0, moved}
}

// merge returns the change that does what c does and then what next does, in one write. What must be available is what
// the two need one after the other, not what is left of them in the end: two payments to and fro come to nothing, and
// yet the first of them needs funds. ok is false if one write cannot do both.
func (c *change) merge(next *change) (both *change, ok bool) {
	if c.currency != next.currency || c.month != next.month || c.bucket != next.bucket || c.rolls != next.rolls ||
		c.expect != 0 || next.expect != 0 || c.takes != next.takes || c.anytime != next.anytime {
		return nil, false
	}
	moved, err := c.moved()
	if err != nil {
		return nil, false
	}
	then, err := next.moved()
	if err != nil {
		return nil, false
	}
	sum := *c
	sum.merged = true
	sum.postings, sum.opened, sum.slots = c.postings+next.postings, c.opened+next.opened, c.slots+next.slots
	sum.lane, sum.x, sum.y = max(c.lane, next.lane), c.x.add(next.x), c.y.add(next.y)
	if sum.posted, err = c.posted.Add(next.posted); err != nil || tooLong(sum.posted) {
		return nil, false
	}
	if sum.reserved, err = c.reserved.Add(next.reserved); err != nil || tooLong(sum.reserved) {
		return nil, false
	}
	sum.low, sum.high = c.draws(moved)
	low, high := next.draws(then)
	if sum.low, ok = sum.low.further(moved, low, -1); !ok {
		return nil, false
	}
	sum.high, ok = sum.high.further(moved, high, 1)
	return &sum, ok
}

// further returns the one of two draws that goes further in a direction. The second begins where the first series ends.
func (d draw) further(end money.Amount, next draw, direction int) (draw, bool) {
	if !next.taken {
		return d, true
	}
	to, err := end.Add(next.to)
	if err != nil {
		return d, false
	}
	if d.taken {
		if order, err := to.Cmp(d.to); err != nil || order != direction {
			return d, err == nil
		}
	}
	return draw{true, to}, true
}

// metBalance is what the write of a shared balance met: the stored record, from which each transaction can be judged.
type metBalance struct {
	balance Balance
	err     error // if set, why there is none
}

// Error implements error. It reaches nobody: judge replaces it.
func (m *metBalance) Error() string {
	if m.err != nil {
		return m.err.Error()
	}
	return "ledger: " + m.balance.ref().place().String() + ": refused a batch"
}

// meet reads the record that the write of a shared balance met, and remembers the bucket that it shows.
func (l *Ledger) meet(c *change, old txn.Item) error {
	if old == nil {
		return &metBalance{err: l.explain(c, old)}
	}
	b, err := decodeAuthority(c.ref, old)
	if err != nil {
		return &metBalance{err: err}
	}
	l.learn(b, c)
	return &metBalance{balance: b}
}

// spent keeps what is known of a bucket true after a change was written.
func (h *hints) spent(c *change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := hintKey{c.ref, c.month}
	known, ok := h.known[key]
	switch {
	case !ok:
	case c.rolls && known.bucket < c.bucket: // nobody knows how much room the new bucket has; it is all of it
		h.known[key] = hint{bucket: c.bucket, room: math.MaxInt64}
	case !c.rolls && known.bucket == c.bucket && known.room != math.MaxInt64:
		h.known[key] = hint{bucket: c.bucket, room: max(known.room-c.slots, 0)}
	}
}
