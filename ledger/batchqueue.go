package ledger

import (
	"cmp"
	"slices"

	"github.com/dynafin/dynafin/txn"
)

// state says where a submission is.
type state uint8

const (
	waiting state = iota
	underway
	ended
)

// maxPassed is how many batches of its own balances a waiting submission lets pass. Then it claims them.
const maxPassed = 16

// spot is one balance as a batcher sees it: who waits for it, and which batch writes it.
type spot struct {
	ref     ref
	waiting []*submission // in order
	writes  int           // of those that wait: what a batch of them would need besides this balance
	batch   *batch
	claimed int64 // in which pass a submission that was passed too often claimed it
}

// batch is a set of submissions on their way together, and the balances that nobody else writes meanwhile.
type batch struct {
	members []*submission
	spots   []*spot
	writes  int
}

// queue holds the submissions that wait. Its methods are called under the batcher's lock.
type queue struct {
	waiting []*submission // in order
	spots   map[ref]*spot
	last    int64 // number of the newest
	ripe    int64 // number up to which nobody lingers any more
	pass    int64
}

// add puts a submission in its place: a new one at the end, one that comes back where it was.
func (q *queue) add(sub *submission) {
	sub.state = waiting
	if sub.number == 0 {
		q.last++
		sub.number = q.last
	}
	q.waiting = inserted(q.waiting, sub)
	if sub.spots == nil {
		sub.spots = make([]*spot, 0, len(sub.plan.changes))
		for _, c := range sub.plan.changes {
			s := q.spots[c.ref]
			if s == nil {
				s = &spot{ref: c.ref}
				q.spots[c.ref] = s
			}
			sub.spots = append(sub.spots, s)
		}
	}
	for _, s := range sub.spots {
		s.waiting = inserted(s.waiting, sub)
		s.writes += sub.own + len(sub.spots) - 1
	}
}

func inserted(list []*submission, sub *submission) []*submission {
	if n := len(list); n == 0 || list[n-1].number < sub.number {
		return append(list, sub)
	}
	at, _ := slices.BinarySearchFunc(list, sub, func(a, b *submission) int { return cmp.Compare(a.number, b.number) })
	return slices.Insert(list, at, sub)
}

// remove takes out a submission that leaves.
func (q *queue) remove(sub *submission) {
	same := func(other *submission) bool { return other == sub }
	q.waiting = slices.DeleteFunc(q.waiting, same)
	for _, s := range sub.spots {
		s.waiting = slices.DeleteFunc(s.waiting, same)
		q.left(s, sub)
	}
}

// left accounts for a submission that no longer waits for a balance. A balance of nobody is forgotten; the submissions
// that come back in a batch keep it until the batch ends.
func (q *queue) left(s *spot, sub *submission) {
	s.writes -= sub.own + len(sub.spots) - 1
	q.forget(s)
}

func (q *queue) forget(s *spot) {
	if len(s.waiting) == 0 && s.batch == nil {
		delete(q.spots, s.ref)
	}
}

// drain takes out all.
func (q *queue) drain() []*submission {
	all := q.waiting
	q.waiting = nil
	for _, sub := range all {
		for _, s := range sub.spots {
			s.waiting, s.writes = nil, 0
			q.forget(s)
		}
	}
	return all
}

// take lets a submission wait for its batch, and sends the batch if it is full.
func (b *Batcher) take(sub *submission) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return sub.unfinished(false)
	case b.held >= b.config.Queue:
		return &QueueFullError{Tenant: sub.tx.Tenant, Transaction: sub.tx.ID, Max: b.config.Queue}
	}
	b.held++
	b.queue.add(sub)
	sub.due = b.config.Linger < 0 || b.due(sub)
	if !sub.due && b.timer == nil {
		b.timer = b.config.AfterFunc(b.config.Linger, b.tick)
	}
	if b.opens(sub) {
		b.dispatch()
	}
	return nil
}

// opens says whether a new submission lets a batch go. Usually one of its balances is busy, and looking through all
// that wait for it would be in vain.
func (b *Batcher) opens(sub *submission) bool {
	busy, full := false, false
	for _, s := range sub.spots {
		busy = busy || s.batch != nil
		full = full || s.batch == nil && b.full(s)
	}
	return full || sub.due && !busy
}

// tick ends the wait of all that linger.
func (b *Batcher) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer, b.queue.ripe = nil, b.queue.last
	b.dispatch()
}

// due says whether a submission need not linger: its time is over, or a batch would be full.
func (b *Batcher) due(sub *submission) bool {
	return sub.due || b.closed || sub.number <= b.queue.ripe || slices.ContainsFunc(sub.spots, b.full)
}

// full says whether those who wait for a balance fill a batch.
func (b *Batcher) full(s *spot) bool {
	return s.writes >= txn.MaxItems-1 || len(s.waiting) >= b.config.MaxTransactions
}

// dispatch sends as many batches as are due and may be on their way.
func (b *Batcher) dispatch() {
	for b.running < b.config.Concurrency {
		seed := b.next()
		if seed == nil {
			return
		}
		batch := b.gather(seed)
		b.running++
		go b.run(batch)
	}
}

// next returns the oldest submission that is due and whose balances are free.
func (b *Batcher) next() *submission {
	q := &b.queue
	q.pass++
	for _, sub := range q.waiting {
		if !b.due(sub) {
			continue
		}
		if !slices.ContainsFunc(sub.spots, func(s *spot) bool { return s.batch != nil || s.claimed == q.pass }) {
			return sub
		}
		if sub.passed >= maxPassed {
			for _, s := range sub.spots {
				s.claimed = q.pass
			}
		}
	}
	return nil
}

// gather makes the batch of a submission: those that wait with it for the busiest of its balances, in order, as many as
// fit, and whose other balances are free too.
func (b *Batcher) gather(seed *submission) *batch {
	all := &batch{}
	b.join(all, seed)
	busiest := slices.MaxFunc(seed.spots, func(a, b *spot) int { return cmp.Compare(len(a.waiting), len(b.waiting)) })
	for _, sub := range busiest.waiting {
		if seed.alone || len(all.members) >= b.config.MaxTransactions || all.writes >= txn.MaxItems {
			break
		}
		if sub != seed {
			b.join(all, sub)
		}
	}
	slices.SortFunc(all.members, func(a, b *submission) int { return cmp.Compare(a.number, b.number) })
	b.queue.depart(all)
	all.pass()
	return all
}

// join adds a submission to a batch if it fits, and reserves its balances.
func (b *Batcher) join(all *batch, sub *submission) {
	if sub.alone && len(all.members) > 0 {
		return
	}
	writes := sub.own
	for _, s := range sub.spots {
		switch {
		case s.batch == all:
		case s.batch != nil || s.claimed == b.queue.pass:
			return
		default:
			writes++
		}
	}
	if all.writes+writes > txn.MaxItems {
		return
	}
	for _, s := range sub.spots {
		if s.batch == nil {
			s.batch = all
			all.spots = append(all.spots, s)
		}
	}
	all.members, all.writes = append(all.members, sub), all.writes+writes
	sub.state = underway
}

// pass counts the batch for those that it leaves behind.
func (all *batch) pass() {
	newest := all.members[len(all.members)-1].number
	for _, s := range all.spots {
		for _, sub := range s.waiting {
			if sub.number > newest {
				break
			}
			sub.passed++
		}
	}
}

// depart takes the members of a batch out of the queue.
func (q *queue) depart(all *batch) {
	gone := func(sub *submission) bool { return sub.state != waiting }
	q.waiting = slices.DeleteFunc(q.waiting, gone)
	for _, s := range all.spots {
		s.waiting = slices.DeleteFunc(s.waiting, gone)
	}
	for _, sub := range all.members {
		for _, s := range sub.spots {
			q.left(s, sub)
		}
	}
}

// land frees the balances of a batch.
func (q *queue) land(all *batch) {
	for _, s := range all.spots {
		s.batch = nil
		q.forget(s)
	}
}
