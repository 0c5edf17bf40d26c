package engine

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Lag is how far global indexes are behind their tables. The zero value is not at all.
type Lag struct {
	// Max bounds how long a change takes to reach an index. Every change takes its own time.
	Max time.Duration
	// Stepped holds changes until Propagate is called, however long that takes.
	Stepped bool
}

// backlog is what global indexes have not heard of yet. One change makes one step, and two if the index key moves: the
// old entry and the new one are in different partitions and travel separately, so a read between them sees both entries or neither.
//
// Steps are taken by due time in one mode and by rank in the other. Neither is ever lower than that of an earlier change
// to the same item in the same index. So the steps of one item keep their order, and those of different items have any.
type backlog struct {
	lag    Lag
	chance chance
	steps  stepHeap
	made   uint64
	tails  map[entryOwner]tail
}

// entryOwner is an item as an index knows it.
type entryOwner struct {
	index *index
	base  string
}

// step puts one entry into an index, or takes it out if the row is empty.
type step struct {
	owner entryOwner
	key   string
	row   row
	// gone is the entry that is taken out.
	gone value.Item
	made time.Time
	due  time.Time
	rank uint64
	// number orders steps that nothing else orders.
	number uint64
}

// tail is the end of an item's line of steps.
type tail struct {
	due     time.Time
	rank    uint64
	waiting int
}

func newBacklog(lag Lag, seed uint64) backlog {
	return backlog{lag: lag, chance: newChance(seed, chanceLag), tails: map[entryOwner]tail{}}
}

// holds reports whether changes to an index wait. Local indexes are part of their table's partitions and never do. Without
// a lag they wait only behind what waited when the database was saved.
func (b *backlog) holds(ix *index) bool {
	return !ix.local && (b.lag.Max > 0 || b.lag.Stepped || len(b.steps) > 0)
}

// add takes a change that an index shall hear of.
func (b *backlog) add(now time.Time, base string, d indexChange) {
	owner := entryOwner{d.index, base}
	last, end := b.tails[owner], b.tails[owner]
	put := func(key string, r row, gone value.Item) {
		s := step{owner: owner, key: key, row: r, gone: gone, made: now, due: last.due, rank: last.rank, number: b.made}
		b.made++
		if b.lag.Stepped {
			s.rank = max(s.rank, b.chance.next())
		} else if due := now.Add(time.Duration(b.chance.upTo(int64(b.lag.Max)))); due.After(s.due) {
			s.due = due
		}
		heap.Push(&b.steps, s)
		end.rank, end.waiting = max(end.rank, s.rank), end.waiting+1
		if s.due.After(end.due) {
			end.due = s.due
		}
	}
	if d.before.exists() && d.beforeKey != d.afterKey {
		put(d.beforeKey, row{}, d.before.item)
	}
	if d.after.exists() {
		put(d.afterKey, d.after, value.Item{})
	}
	b.tails[owner] = end
}

// settle takes all steps that are due.
func (b *backlog) settle(now time.Time) {
	for !b.lag.Stepped && len(b.steps) > 0 && !b.steps[0].due.After(now) {
		b.take()
	}
}

// take takes the first step.
func (b *backlog) take() {
	s := heap.Pop(&b.steps).(step)
	s.owner.index.show(s.key, s.row)
	end := b.tails[s.owner]
	if end.waiting--; end.waiting == 0 {
		delete(b.tails, s.owner)
	} else {
		b.tails[s.owner] = end
	}
}

// show makes an index entry visible, or takes it out of sight.
func (ix *index) show(key string, r row) {
	var old row
	if r.exists() {
		old, _ = ix.rows.Set(key, r)
	} else {
		old, _ = ix.rows.Delete(key)
	}
	ix.bytes += r.size - old.size
}

// forget drops what indexes that are no more had to hear of.
func (b *backlog) forget(gone ...*index) {
	b.steps = slices.DeleteFunc(b.steps, func(s step) bool { return slices.Contains(gone, s.owner.index) })
	heap.Init(&b.steps)
	for owner := range b.tails {
		if slices.Contains(gone, owner.index) {
			delete(b.tails, owner)
		}
	}
}

// Propagate lets indexes hear of up to n waiting steps, or of all if n is negative, due or not, and returns of how many.
func (e *Engine) Propagate(n int) int {
	if n < 0 {
		n = math.MaxInt
	}
	n = min(n, len(e.backlog.steps))
	for range n {
		e.backlog.take()
	}
	return n
}

// Behind is how far one index is behind its table.
type Behind struct {
	Table, Index string
	// Waiting is the number of entries still to be put or deleted, Since the moment of the oldest change among them.
	Waiting int
	Since   time.Time
}

// Behind returns what waits at a moment, by table and index; indexes that are up to date are not in it.
func (e *Engine) Behind(now time.Time) []Behind {
	e.backlog.settle(now)
	waiting := map[*index]Behind{}
	for _, s := range e.backlog.steps {
		b := waiting[s.owner.index]
		if b.Waiting++; b.Waiting == 1 || s.made.Before(b.Since) {
			b.Since = s.made
		}
		waiting[s.owner.index] = b
	}
	var list []Behind
	e.tables.Scan(func(_ string, t *table) bool {
		for _, ix := range t.indexes {
			if b := waiting[ix]; b.Waiting > 0 {
				b.Table, b.Index = t.name, ix.name
				list = append(list, b)
			}
		}
		return true
	})
	return list
}

// stepHeap implements heap.Interface.
type stepHeap []step

func (h stepHeap) Len() int      { return len(h) }
func (h stepHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *stepHeap) Push(s any)   { *h = append(*h, s.(step)) }

func (h stepHeap) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	if order := a.due.Compare(b.due); order != 0 {
		return order < 0
	}
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number)) < 0
}

func (h *stepHeap) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = step{}
	*h = (*h)[:last]
	return s
}
