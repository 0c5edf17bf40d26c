package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/ledger"
)

// together posts transactions through one Batcher, so that they meet in one request. It returns what became of each, and an
// error while one of them is open.
func (c *clerk) together(ctx context.Context, all []ledger.Transaction) ([]string, error) {
	b := c.book.Batcher(ctx, c.commits, ledger.BatchConfig{Linger: 50 * time.Millisecond, Concurrency: 1})
	words, errs, asks := make([]string, len(all)), make([]error, len(all)), make([]*asked, len(all))
	for i, tx := range all {
		asks[i] = c.begin(posted(tx)...)
	}
	var wg sync.WaitGroup
	for i, tx := range all {
		wg.Go(func() {
			if errs[i] = c.p.Sleep(ctx, time.Duration(i)*time.Millisecond); errs[i] != nil { // one after the other, in a known order
				return
			}
			// The batcher ends with its context. If its callers left at that very moment too, chance would say what they are told.
			p, err := b.Post(context.WithoutCancel(ctx), ledger.Submission{Transaction: tx})
			if p.Shared > 1 {
				c.shared()
			}
			words[i], errs[i] = asks[i].ended(err)
		})
	}
	wg.Wait()
	if ctx.Err() == nil { // with its context it closes by itself
		errs = append(errs, b.Close(ctx))
	}
	for i, a := range asks {
		if errs[i] == nil && !a.doubt {
			delete(c.open, fmt.Sprint(a.ops))
		}
	}
	return words, errors.Join(errs...)
}

// runBatches is the story of two processes that post in batches, some of it both, from accounts that have too little for all,
// while a third captures, releases and closes.
func runBatches(w *invariant.World) {
	book, clerks := openBank(w), newStaff()
	clerks.shared = func() { w.Sometimes("a batch is shared", true) }
	w.Sometimes("a batch is shared", false)
	var all []ledger.Transaction
	for i := range 3 + w.Choose("more transactions", 4) {
		at := []time.Time{january, december}[w.Choose("month", 2)]
		all = append(all, transaction(fmt.Sprint("t", i), at, routes[w.Choose("route", len(routes))]))
	}
	for i, half := range [][]ledger.Transaction{all[:len(all)-1], all[len(all)/2:]} {
		w.Worker(fmt.Sprint("batch", i), func(ctx context.Context, p *invariant.Process) error {
			words, err := clerks.clerk(p).together(ctx, half)
			p.Note("%q", words)
			return err
		})
	}
	t := drawTask(w, len(all))
	w.Command(t.name, func(ctx context.Context, p *invariant.Process) ([]byte, error) {
		word, err := t.do(ctx, clerks.clerk(p))
		return []byte(word), err
	})
	w.Always("the books hold", booksHold(w, book))
	w.Run()
	w.Settle()
	w.Check("each balance has one history", w.Linearizable(invariant.Authority()))
	nothingIsStuck(w, book)
	readsAgree(w, book)
}

func TestBatchesHoldWhateverHappens(t *testing.T) {
	t.Parallel()
	invariant.Check(t, invariant.Config{Timeout: 2 * time.Minute}, runBatches)
}
