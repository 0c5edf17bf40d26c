package fanout

import (
	"bytes"
	"context"
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"github.com/dynafin/dynafin/internal/watch"
)

const (
	// firstAsk is how many items a Run without an end in view asks of a branch at first.
	firstAsk = 100
	// maxAsk bounds every request.
	maxAsk = 1000
)

// Run is one pass over a query. It keeps what it has read ahead, so unlike a series of pages it reads nothing twice. It
// is not safe for concurrent use.
type Run struct {
	reader   *Reader
	plan     *plan
	branches []*branch
	front    front
	usage    Usage
	wanted   int // items that are still wanted, as far as that is known
}

// Start begins a pass behind a cursor, from the beginning if it is empty. It reads nothing yet. Errors: ErrInvalid,
// ErrCursor.
func (r *Reader) Start(q Query, cursor string) (*Run, error) {
	if r.err != nil {
		return nil, r.err
	}
	p, err := prepare(q)
	if err != nil {
		return nil, err
	}
	positions := make([]position, len(p.Branches))
	run := &Run{reader: r, plan: p, wanted: math.MaxInt}
	if cursor != "" {
		var reason CursorReason
		if positions, run.front, reason = p.decode(cursor, r.config.Secrets); reason != "" {
			return nil, &CursorError{Query: q.Name, Tenant: q.Tenant, Reason: reason}
		}
	}
	for i, at := range positions {
		run.branches = append(run.branches, &branch{plan: p, name: p.Branches[i].Name, partition: p.Branches[i].Partition,
			done: at, fetched: at, ask: firstAsk})
	}
	return run, nil
}

// expect says how many items will be wanted. A branch is then asked for its even share and a little more, because hashed
// keys spread evenly, but not perfectly.
func (run *Run) expect(limit int) {
	run.wanted = limit
	share := (limit + len(run.branches) - 1) / len(run.branches)
	slack := 0
	for slack*slack < share {
		slack++
	}
	for _, b := range run.branches {
		b.ask = share + 2*slack
	}
}

// Items returns the items from here to the end, in order. After a break, [Run.Cursor] stands behind the last item, and
// Items goes on from there; after an error it tries again. Errors: ErrRead, ErrItem.
//
// Cost: what the Queries evaluate, a page of each branch ahead: half a read unit for each 4 KiB begun, or a whole one if strongly
// consistent, and at least one request for each branch.
func (run *Run) Items(ctx context.Context) iter.Seq2[Item, error] {
	return watch.Each(ctx, &run.reader.watch, run.plan.Name, "", func(ctx context.Context, yield func(Item, error) bool) {
		for {
			item, ok, err := run.next(ctx)
			if err != nil {
				yield(Item{}, err)
				return
			}
			if !ok || !yield(item, nil) {
				return
			}
		}
	})
}

// Cursor returns where the pass stands, to go on in another process; empty at the end of the list.
func (run *Run) Cursor() string {
	positions := make([]position, len(run.branches))
	end := true
	for i, b := range run.branches {
		positions[i] = b.done
		end = end && b.done.status == finished
	}
	if end {
		return ""
	}
	var secret []byte
	if secrets := run.reader.config.Secrets; len(secrets) > 0 {
		secret = secrets[0]
	}
	return run.plan.encode(positions, run.front, secret)
}

// Usage returns what the pass has taken so far.
func (run *Run) Usage() Usage { return run.usage }

// next returns the next item of the merged list; ok is false at its end.
func (run *Run) next(ctx context.Context) (item Item, ok bool, err error) {
	for {
		if err := run.fill(ctx); err != nil {
			return Item{}, false, err
		}
		b := run.first()
		if b == nil {
			return Item{}, false, nil
		}
		e := b.take()
		if run.front.passed(run.plan, e) {
			continue // a copy, or written behind the front since
		}
		run.front.advance(e)
		run.wanted--
		return Item{Branch: b.name, Attributes: e.item}, true, nil
	}
}

// first returns the branch whose next item comes first, of equal ones the one named first, or nil.
func (run *Run) first() *branch {
	var found *branch
	for _, b := range run.branches {
		if len(b.ahead) == 0 {
			continue
		}
		if found == nil || run.plan.before(b.ahead[0].order, found.ahead[0].order) {
			found = b
		}
	}
	return found
}

// before says whether an item of order a comes before one of order b.
func (p *plan) before(a, b []byte) bool {
	if p.Descending {
		a, b = b, a
	}
	return bytes.Compare(a, b) < 0
}

// fill reads on in every branch whose next item is not known. All answers are waited for, whatever happens to one: what was
// read is kept, and which error is reported does not depend on their order.
func (run *Run) fill(ctx context.Context) error {
	var open []*branch
	for _, b := range run.branches {
		if len(b.ahead) == 0 && b.fetched.status != finished {
			open = append(open, b)
		}
	}
	if len(open) == 0 {
		return nil
	}
	answers := make([]answer, len(open))
	run.reader.parallel(len(open), func(i int) {
		answers[i] = open[i].fetch(ctx, run.reader.client, min(open[i].ask, run.wanted, maxAsk))
	})
	var failure error
	for i, b := range open {
		run.usage.add(answers[i].usage)
		if err := b.accept(answers[i]); err != nil && failure == nil {
			failure = err
		}
	}
	return failure
}

// parallel calls do with 0 to n-1, at most Concurrency at a time, and waits for all.
func (r *Reader) parallel(n int, do func(i int)) {
	var calls sync.WaitGroup
	var taken atomic.Int64
	for range min(n, r.config.Concurrency) {
		calls.Go(func() {
			for i := int(taken.Add(1)) - 1; i < n; i = int(taken.Add(1)) - 1 {
				do(i)
			}
		})
	}
	calls.Wait()
}

func (u *Usage) add(more Usage) {
	u.Requests += more.Requests
	u.Evaluated += more.Evaluated
	u.Units += more.Units
}
