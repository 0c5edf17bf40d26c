package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// progressEvery is after how many transactions the progress is shown.
const progressEvery = 64

// outcome is what became of a transaction of the journal.
type outcome int

const (
	posted   outcome = iota // it is in the ledger now
	before                  // it was in the ledger before
	differs                 // it was in the ledger before, with another status, comment or secondary date
	nothing                 // all its amounts are zero
	bad                     // it cannot be posted, and nothing of it was
	outcomes = iota
)

// importer posts the transactions of files, several at a time.
type importer struct {
	books    *books
	workers  int
	complain func(error)
	progress func(done int, file *source)

	mu      sync.Mutex
	count   [outcomes]int
	next    int           // the first transaction of the file without an outcome
	waiting map[int]error // outcomes of later ones
}

// job is a transaction with the identifier that it has whenever it is imported. number is its place in the file.
type job struct {
	number int
	entry  *entry
	id     string
}

// run imports one file. An error ends the import, while a bad transaction is reported, counted and passed over.
func (im *importer) run(ctx context.Context, file *source) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	im.next, im.waiting = 0, map[int]error{}
	jobs := make(chan job) // nothing waits here, so no more is in memory than the workers have in hand
	var working sync.WaitGroup
	for range im.workers {
		working.Go(func() {
			for j := range jobs {
				if err := im.do(ctx, file, j); err != nil {
					stop(err)
				}
			}
		})
	}
	err := im.feed(ctx, file, jobs)
	close(jobs)
	working.Wait()
	im.flush()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// feed reads the file until it ends or the import stops.
func (im *importer) feed(ctx context.Context, file *source, jobs chan<- job) error {
	r, done, err := file.reader()
	if err != nil {
		return err
	}
	defer done()
	ids := identities{sorted: file.sorted}
	for n := 0; ; n++ {
		if n%progressEvery == 0 {
			im.progress(im.done(), file)
		}
		e, err := r.next()
		if err == nil {
			err = file.checkMarks(e)
		}
		var wrong *lineError
		switch {
		case errors.As(err, &wrong):
			im.end(n, bad, file.at(err))
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return file.at(err)
		}
		select {
		case jobs <- job{n, e, ids.of(e)}:
		case <-ctx.Done():
			return nil // run knows the cause
		}
	}
}

// do posts one transaction. What is begun is finished, also if the import is interrupted.
func (im *importer) do(ctx context.Context, file *source, j job) error {
	result, err := im.post(context.WithoutCancel(ctx), j)
	if err == nil {
		im.end(j.number, result, nil)
		return nil
	}
	if !refused(err) {
		return fmt.Errorf("%s:%d: %w", file.name, j.entry.line, err)
	}
	var wrong *lineError
	if !errors.As(err, &wrong) {
		err = &lineError{j.entry.line, err}
	}
	im.end(j.number, bad, file.at(err))
	return nil
}

func (im *importer) post(ctx context.Context, j job) (outcome, error) {
	parts, err := im.books.transactions(j.entry, j.id)
	if err != nil {
		return bad, err
	}
	result := nothing
	for i, tx := range parts {
		repeated, err := im.books.post(ctx, tx)
		now := posted
		switch {
		case repeated:
			now = before
		case errors.Is(err, ledger.ErrDuplicate):
			now = differs
		case err != nil:
			return bad, err
		}
		if i == 0 || now == posted || result == before {
			result = now
		}
	}
	return result, nil
}

// refused says whether an error is about the transaction, so that the next one may do better.
func refused(err error) bool {
	var wrong *lineError
	if errors.As(err, &wrong) {
		return true
	}
	for _, rule := range []error{
		ledger.ErrInvalid, ledger.ErrUnbalanced, ledger.ErrNotFound, ledger.ErrClosed, ledger.ErrFrozen, ledger.ErrScale,
		ledger.ErrPeriodClosed, ledger.ErrInsufficient, ledger.ErrLimit, ledger.ErrCap, ledger.ErrRefused, txn.ErrInvalid,
	} {
		if errors.Is(err, rule) {
			return true
		}
	}
	return false
}

// end counts an outcome, and complains in the order of the file.
func (im *importer) end(number int, o outcome, complaint error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.count[o]++
	im.waiting[number] = complaint
	for {
		complaint, ended := im.waiting[im.next]
		if !ended {
			return
		}
		delete(im.waiting, im.next)
		im.next++
		if complaint != nil {
			im.complain(complaint)
		}
	}
}

// flush makes the complaints that wait for a transaction which will have no outcome.
func (im *importer) flush() {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, number := range slices.Sorted(maps.Keys(im.waiting)) {
		if complaint := im.waiting[number]; complaint != nil {
			im.complain(complaint)
		}
	}
}

// done is how many transactions are dealt with.
func (im *importer) done() (n int) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, c := range im.count {
		n += c
	}
	return n
}

// summary says what became of the transactions.
func (im *importer) summary() string {
	im.mu.Lock()
	defer im.mu.Unlock()
	c := im.count
	total := 0
	for _, n := range c {
		total += n
	}
	text := fmt.Sprintf("%s: %d posted, %d there before, %d refused", plural(total, "transaction"), c[posted], c[before]+c[differs], c[bad])
	if c[nothing] > 0 {
		text += fmt.Sprintf(", %d of zero amounts only", c[nothing])
	}
	if c[differs] > 0 {
		text += fmt.Sprintf("; %d of those there before have another status, comment or secondary date now, and the first stands", c[differs])
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
