package ledger

import (
	"errors"

	"github.com/dynafin/dynafin/txn"
)

// stand is where a refused balance stands, as its record said, and after the members that stay.
type stand struct {
	reason txn.Reason // of the shared write
	met    *metBalance
	after  Balance
	slots  int64 // that those who stay take
	room   int64 // that there is for them in one bucket
}

// judge gives each member of a cancelled group its own outcome, in order.
func (g *group) judge(canceled *txn.CanceledError, v *verdicts) {
	stands := g.stands(canceled)
	for i, m := range g.members {
		own := canceled.Only(g.first[i], g.first[i+1])
		if own != nil {
			if err, decided := decides(own); decided {
				if posted := (Posted{Repeated: true}); Repeated(err) {
					v.decide(m, posted, nil)
				} else {
					v.decide(m, Posted{}, err)
				}
				continue
			}
		}
		refused, fits := g.judgeBalances(m, stands)
		switch {
		case own == nil && len(refused) > 0:
			v.decide(m, Posted{}, &txn.CanceledError{Reasons: refused, Unsettled: canceled.Unsettled})
		case own == nil && !fits:
			v.later = append(v.later, m)
		default:
			v.stay = append(v.stay, m)
			for _, c := range m.plan.changes {
				stands[c.ref].take(c)
			}
		}
	}
}

// stands collects the records that refused balances showed.
func (g *group) stands(canceled *txn.CanceledError) map[ref]*stand {
	all := make(map[ref]*stand)
	for _, reason := range canceled.Reasons {
		at := reason.Position - g.first[len(g.members)]
		var met *metBalance
		if at >= 0 && errors.As(reason.Err, &met) {
			all[g.changes[at].ref] = &stand{reason: reason, met: met, after: met.balance}
		}
	}
	return all
}

// decides says whether what a member's own writes had to say is its outcome. While one of them is busy it is not,
// unless another settles the matter: the busy one might.
func decides(own *txn.CanceledError) (error, bool) {
	var settler txn.Settler
	if errors.As(own, &settler) && settler.SettlesCommit() {
		return own, true
	}
	for _, reason := range own.Reasons {
		if errors.Is(reason.Err, txn.ErrContention) {
			return nil, false
		}
	}
	for _, reason := range own.Reasons {
		if errors.Is(reason.Err, txn.ErrRefused) {
			return reason.Err, true
		}
	}
	return own, true
}

// judgeBalances holds a member against the records that refused the batch. It is refused by a record that does not take it
// either alone or after those that stay. What takes it alone, and not after those, decides nothing yet: it does not fit.
func (g *group) judgeBalances(m *submission, stands map[ref]*stand) (refused []txn.Reason, fits bool) {
	fits = true
	for i, c := range m.plan.changes {
		s := stands[c.ref]
		if s == nil {
			continue
		}
		err := s.met.err
		if err == nil {
			if err = g.book.rule(c, s.after); err == nil {
				fits = fits && s.holds(c)
				continue
			}
			fits = false
			err = g.book.rule(c, s.met.balance)
		}
		if err != nil {
			reason := s.reason
			reason.Err, reason.Position = err, m.own+i
			refused = append(refused, reason)
		}
	}
	return refused, fits
}

// rule judges a change by everything but the bucket, which the next plan will know.
func (l *Ledger) rule(c *change, b Balance) error {
	if err := l.judge(c, b); !errors.Is(err, ErrRolled) {
		return err
	}
	return nil
}

// holds says whether one bucket takes a change besides those that stay.
func (s *stand) holds(c *change) bool {
	if s.slots == 0 {
		s.room = s.met.balance.month(c.month).Room
		if s.room < c.slots {
			s.room = s.met.balance.Slots // of the next bucket
		}
	}
	return s.slots+c.slots <= s.room
}

// take moves the balance on by a change that stays. An unknown balance does not move.
func (s *stand) take(c *change) {
	if s == nil || s.met.err != nil {
		return
	}
	moved, err := c.moved()
	if err != nil {
		return
	}
	if available, err := s.after.Available.Add(s.after.Side.own(moved)); err == nil {
		s.after.Available = available
	}
	if signed, err := s.after.Signed.Add(c.posted); err == nil {
		s.after.Signed = signed
	}
	s.slots += c.slots
}

// hold says whether the bucket, as far as it is known, takes all of a change that several members share.
func (h *hints) hold(c *change) bool {
	known, ok := h.get(hintKey{c.ref, c.month})
	return !ok || c.rolls || known.bucket != c.bucket || c.slots <= known.room
}
