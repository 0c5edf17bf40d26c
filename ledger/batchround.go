package ledger

import (
	"errors"
	"runtime/debug"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// The parts that a batch adds to those of its callers.
const (
	postLabel    = "AP10.post"
	balanceLabel = "AP12.balance"
)

// run commits a batch, round after round, until none of its members is left in it. What it calls is not all this
// library's: the client, the parts' own explanations, the clock. A panic there ends the batch as any other end does.
func (b *Batcher) run(all *batch) {
	returned := false
	defer func() {
		var broken *PanicError
		if !returned { // a panic, or runtime.Goexit, which leaves nothing to recover
			broken = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
		if !b.landed(all, broken) {
			panic(broken) // nobody is left to hear of it
		}
	}()
	for members := all.members; len(members) > 0; {
		members = b.round(members)
	}
	returned = true
}

// landed ends a batch. Members of a broken one that have no outcome yet get an error; the panic is raised in the Post of the
// oldest of them that still waits. It says whether somebody hears of it.
func (b *Batcher) landed(all *batch, broken *PanicError) (heard bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	heard = broken == nil || broken.Value == nil
	for _, m := range all.members {
		if m.state != underway {
			continue
		}
		if !heard && !m.gone {
			heard, m.panicked = true, broken
		}
		b.end(m, Posted{}, m.abandoned(true, ErrPanic))
	}
	b.queue.land(all)
	b.running--
	b.dispatch()
	b.settle()
	return heard
}

// round commits members together, gives an outcome to those that it decides, and returns those that are to be
// committed again at once. The others wait in the queue until the batch has ended.
func (b *Batcher) round(members []*submission) []*submission {
	for _, m := range members {
		b.book.refresh(m)
	}
	g, later := b.book.assemble(members)
	b.mu.Lock()
	for _, m := range g.members {
		m.sent = true
		m.rounds++
	}
	b.mu.Unlock()
	receipt, err := b.commit(g.parts)
	v := g.verdict(receipt, err)
	v.later = append(v.later, later...)
	stay := v.stay[:0]
	for _, m := range v.stay {
		switch {
		case m.rounds < b.config.MaxRounds, m.alone && m.rounds < b.config.MaxRounds+b.book.rolls():
			stay = append(stay, m)
		case m.alone:
			v.decide(m, Posted{}, g.of(m, v.err))
		default: // it goes on without company
			v.later = append(v.later, m)
		}
	}
	waiting := b.conclude(&v)
	b.book.watch.Measure(b.ctx, "AP10", observe.Backlog, int64(waiting))
	return stay
}

func (b *Batcher) commit(parts []txn.Part) (_ txn.Receipt, err error) {
	ctx, op := b.book.watch.Begin(b.ctx, "AP10.round")
	defer op.End(&err)
	watch.Outcome(ctx, observe.Failed) // if it panics
	receipt, err := b.committer.Commit(ctx, parts...)
	if !receipt.Recovered {
		watch.Outcome(ctx, observe.OK)
	}
	return receipt, err
}

// conclude gives the outcomes, and returns how many submissions wait.
func (b *Batcher) conclude(v *verdicts) (waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range v.decided {
		b.end(d.sub, d.posted, d.err)
	}
	for _, m := range v.later {
		switch {
		case b.ctx.Err() != nil:
			b.end(m, Posted{}, m.unfinished(true))
		case m.gone:
			b.end(m, Posted{}, nil)
		default:
			m.due, m.alone = true, m.alone || m.rounds >= b.config.MaxRounds
			b.queue.add(m)
		}
	}
	return len(b.queue.waiting)
}

// group is the members of a batch as one DynamoDB transaction: the writes of each, one after the other, and then the
// balances, one write for all that share it.
type group struct {
	book    *Ledger
	members []*submission
	first   []int // position of each member's first write, and behind the last
	changes []*change
	parts   []txn.Part
}

// assemble adds up the members' changes, in order. A member has to wait if one write cannot take its changes with those of
// the others, because it posts to another month or bucket, or if one of the others has its identifier.
func (l *Ledger) assemble(members []*submission) (g *group, later []*submission) {
	g = &group{book: l}
	index := make(map[ref]int, 2*len(members))
	taken := make(map[[2]string]bool, len(members))
	at := 0
	for _, m := range members {
		id := [2]string{m.tx.Tenant, m.tx.ID}
		if taken[id] || !g.add(m.plan.changes, index) {
			later = append(later, m)
			continue
		}
		taken[id] = true
		g.members, g.first = append(g.members, m), append(g.first, at)
		post := append(make([]txn.Write, 0, 1+len(m.plan.postings)), m.plan.header)
		g.parts = append(append(g.parts, m.parts...), txn.NewPart(postLabel, append(post, m.plan.postings...)...))
		at += m.own
	}
	g.first = append(g.first, at)
	g.parts = append(g.parts, g.balances())
	return g, later
}

// add adds changes to those of the group: all of them, or none if one does not fit.
func (g *group) add(changes []*change, index map[ref]int) bool {
	var space [8]*change
	sums := space[:0]
	for _, c := range changes {
		if at, shared := index[c.ref]; shared {
			sum, ok := g.changes[at].merge(c)
			if !ok || !g.book.hints.hold(sum) {
				return false
			}
			c = sum
		}
		sums = append(sums, c)
	}
	for _, c := range sums {
		if at, shared := index[c.ref]; shared {
			g.changes[at] = c
			continue
		}
		index[c.ref] = len(g.changes)
		g.changes = append(g.changes, c)
	}
	return true
}

// balances is the part that writes the balances. Its refusals show the records that they met.
func (g *group) balances() txn.Part {
	writes := make([]txn.Write, len(g.changes))
	v := newValues(len(g.changes)*changeTexts, len(g.changes)*changeNumbers)
	for i, c := range g.changes {
		w, err := g.book.write(c, v)
		if err != nil {
			return txn.BadPart(balanceLabel, err)
		}
		w.Explain = func(old txn.Item) error { return g.book.meet(c, old) }
		writes[i] = w
	}
	return txn.NewPart(balanceLabel, writes...)
}

// decision is the outcome of a member.
type decision struct {
	sub    *submission
	posted Posted
	err    error
}

// verdicts are what one Commit says about the members of a group.
type verdicts struct {
	decided []decision
	stay    []*submission // to be committed again at once
	later   []*submission // to wait until these are decided
	err     error
}

func (v *verdicts) decide(m *submission, posted Posted, err error) {
	v.decided = append(v.decided, decision{m, posted, err})
}

// verdict says what a Commit means for each member.
func (g *group) verdict(receipt txn.Receipt, err error) verdicts {
	v := verdicts{err: err}
	var ambiguous *txn.AmbiguousError
	var canceled *txn.CanceledError
	var contention *txn.ContentionError
	switch {
	case err == nil:
		for _, c := range g.changes {
			g.book.hints.spent(c)
		}
		for _, m := range g.members {
			v.decide(m, Posted{Shared: len(g.members), Receipt: receipt}, nil)
		}
	case errors.As(err, &ambiguous):
		for _, m := range g.members {
			v.decide(m, Posted{}, g.of(m, err))
		}
	case errors.As(err, &canceled):
		g.judge(canceled, &v)
	case errors.As(err, &contention):
		g.wait(contention, &v)
	case errors.Is(err, txn.ErrNotSent):
		for _, m := range g.members {
			v.decide(m, Posted{}, m.unfinished(m.rounds > 1))
		}
	case len(g.members) == 1:
		v.decide(g.members[0], Posted{}, err)
	default: // the one at fault is among them
		half := len(g.members) / 2
		v.stay, v.later = slices.Clone(g.members[:half]), g.members[half:]
	}
	return v
}

// wait gives up on the members whose items were busy for as long as the Committer tried; the others go on without them.
func (g *group) wait(contention *txn.ContentionError, v *verdicts) {
	busy := make(map[*submission]bool, len(g.members))
	var canceled *types.TransactionCanceledException
	if errors.As(contention.Err, &canceled) {
		for at, reason := range canceled.CancellationReasons {
			if code := reason.Code; code != nil && *code != "None" {
				g.concern(at, busy)
			}
		}
	}
	for _, m := range g.members {
		if len(busy) == 0 || busy[m] {
			v.decide(m, Posted{}, g.of(m, contention))
		} else {
			v.stay = append(v.stay, m)
		}
	}
}

// concern marks the members that a write belongs to.
func (g *group) concern(at int, marked map[*submission]bool) {
	balances := g.first[len(g.members)]
	for i, m := range g.members {
		if at >= g.first[i] && at < g.first[i+1] ||
			at >= balances && at < balances+len(g.changes) && m.plan.change(g.changes[at-balances].ref) != nil {
			marked[m] = true
		}
	}
}

// of is a member's own form of what the Commit says of all: it names the member's parts and no other's.
func (g *group) of(m *submission, err error) error {
	parts := make([]string, 0, len(m.parts)+2)
	for _, part := range m.parts {
		parts = append(parts, part.Label())
	}
	parts = append(parts, postLabel, balanceLabel)
	var ambiguous *txn.AmbiguousError
	var contention *txn.ContentionError
	var canceled *txn.CanceledError
	switch {
	case errors.As(err, &ambiguous):
		inside := ambiguous.Err
		if errors.As(inside, &canceled) {
			inside = errors.New("cancelled")
		}
		return &txn.AmbiguousError{Mark: ambiguous.Mark, Parts: parts, Attempts: ambiguous.Attempts, Err: inside}
	case errors.As(err, &contention):
		return &txn.ContentionError{Parts: parts, Attempts: contention.Attempts}
	}
	return err
}
