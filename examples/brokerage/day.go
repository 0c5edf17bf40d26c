package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynafin/dynafin/txn"
)

// day feeds the lines of a source to workers and counts what becomes of them.
type day struct {
	source          source
	passes, workers int
	market          market
	accept          func(ctx context.Context, o order, submission string) (outcome, txn.Receipt, error)
	runID           string
	lives           *lives
	story           *story          // nil: nobody wants to know
	pause           func()          // after each order, if all take turns
	complain        func(err error) // told of every invalid line, in the order of the lines, in the first pass only

	fed      atomic.Int64 // bytes of the source, over all passes
	mu       sync.Mutex
	tally    tally
	accounts map[account]bool // of the orders that reached the books
}

// tally is where the day stands. Read is the sum of the outcomes and Unfinished.
type tally struct {
	Read       int
	Outcomes   map[outcome]int
	Unfinished int // read, and neither decided nor refused when the day had to stop

	// What the accepted orders cost whose receipt came with the answer to the write itself.
	// Reserve is the part of the books in it.
	Accept, Reserve cost
}

type job struct {
	order      order
	line       int
	submission string
	name       string // the same in every run
}

func newJob(runID string, o order, pass, line int) job {
	name := fmt.Sprintf("%d-%d", pass, line)
	return job{o, line, runID + "-" + name, name}
}

// run works until the source has ended, an order cannot be decided or ctx ends. In all cases the orders that are in
// work are finished first.
func (d *day) run(ctx context.Context) error {
	feeding, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := context.WithoutCancel(ctx)
	jobs := make(chan job)
	var workers sync.WaitGroup
	for range d.workers {
		workers.Go(func() {
			for j := range jobs {
				if feeding.Err() != nil {
					continue // the day has stopped; nothing was done about this line, so it does not count
				}
				decision, receipt, err := d.decide(work, j)
				if err != nil {
					stop(fmt.Errorf("line %d: undecided, submit it again: %w", j.line, err))
				}
				d.count(decision, receipt)
				d.visit(decision, j.order)
			}
		})
	}
	var err error
	for pass := 1; pass <= d.passes && err == nil; pass++ {
		err = d.feed(feeding, pass, jobs)
	}
	close(jobs)
	workers.Wait()
	if cause := context.Cause(feeding); cause != nil {
		return cause
	}
	return err
}

// decide submits an order. If the worker dies in the midst of it, the client gets no answer, and another worker the same submission.
func (d *day) decide(ctx context.Context, j job) (decision outcome, receipt txn.Receipt, err error) {
	for attempt := 1; ; attempt++ {
		mine, one := d.lives.begin(ctx, "order worker", j.name, attempt)
		decision, receipt, err = d.accept(mine, j.order, j.submission)
		died := one.over()
		d.story.submitted(j.order, decision, receipt, attempt, died)
		if d.pause != nil {
			d.pause()
		}
		if !died {
			return decision, receipt, err
		}
	}
}

// feed hands the orders of the source to the workers, once.
func (d *day) feed(ctx context.Context, pass int, jobs chan<- job) error {
	source, err := d.source.open()
	if err != nil {
		return err
	}
	lines := readLines(ctx, source, &d.fed)
	for {
		var l line
		more := false
		select {
		case l, more = <-lines:
		case <-ctx.Done():
		}
		if !more {
			return nil
		}
		o, ok, err := d.check(l, pass)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		select {
		case jobs <- newJob(d.runID, o, pass, l.number):
		case <-ctx.Done():
		}
	}
}

// check turns a line into an order, or counts it as invalid. An error ends the day: the source cannot be read on.
func (d *day) check(l line, pass int) (o order, ok bool, err error) {
	fault := l.err
	switch {
	case fault == nil:
		o, fault = d.market.parse(l.text)
	case fault != errOverlong:
		return o, false, fmt.Errorf("line %d: %w", l.number, fault)
	}
	if fault == nil {
		return o, true, nil
	}
	d.count(invalid, txn.Receipt{})
	if pass == 1 {
		d.complain(fmt.Errorf("line %d: %w", l.number, fault))
	}
	return o, false, nil
}

// line is one line of the source, or why there is none.
type line struct {
	number int
	text   []byte
	err    error
}

// readLines sends the lines of a source, and at last the error that ended it early. It reads in a goroutine of its own:
// a source that blocks, such as a terminal, must not keep an interrupted day from ending.
func readLines(ctx context.Context, source io.ReadCloser, bytesRead *atomic.Int64) <-chan line {
	lines := make(chan line, 64)
	go func() {
		defer close(lines)
		defer source.Close()
		in := bufio.NewReaderSize(&metered{source, bytesRead}, maxLine+1)
		for number := 1; ; number++ {
			text, err := readLine(in)
			if err == io.EOF {
				return
			}
			select {
			case lines <- line{number, bytes.Clone(text), err}:
			case <-ctx.Done():
				return
			}
			if err != nil && err != errOverlong {
				return
			}
		}
	}()
	return lines
}

var errOverlong = fmt.Errorf("the line has more than %d bytes", maxLine)

// readLine returns the next line without its end. It skips a line that does not fit the reader's buffer, so memory
// stays bounded whatever comes in.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		for err == bufio.ErrBufferFull {
			_, err = r.ReadSlice('\n')
		}
		if err == nil || err == io.EOF {
			err = errOverlong
		}
		return nil, err
	}
	if err == io.EOF && len(line) > 0 {
		err = nil // a last line without its newline
	}
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// count adds one line. An empty decision is an unfinished order.
func (d *day) count(decision outcome, receipt txn.Receipt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &d.tally
	t.Read++
	if decision == "" {
		t.Unfinished++
		return
	}
	if t.Outcomes == nil {
		t.Outcomes = map[outcome]int{}
	}
	t.Outcomes[decision]++
	if decision == accepted && len(receipt.Tables) > 0 {
		reserved := inTable(receipt, ledgerTable.Name)
		t.Reserve.add(reserved)
		t.Accept.add(receipt)
		t.Accept.base -= reserved.Base()
		t.Accept.index -= reserved.Index()
	}
}

// inTable is the part of a receipt that one table has.
func inTable(receipt txn.Receipt, name string) (part txn.Receipt) {
	for _, t := range receipt.Tables {
		if t.Table == name {
			part.Tables = append(part.Tables, t)
		}
	}
	return part
}

// visit notes the account of an order that reached the books, now or before.
func (d *day) visit(decision outcome, o order) {
	if decision != accepted && decision != replayed && decision != notCovered {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.accounts == nil {
		d.accounts = map[account]bool{}
	}
	d.accounts[account{o.Tenant, o.Account}] = true
}

// customers are the accounts that the books have, sorted.
func (d *day) customers() []account {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Keys(d.accounts), account.compare)
}

// snapshot returns a copy of the tally.
func (d *day) snapshot() tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tally
	t.Outcomes = maps.Clone(t.Outcomes)
	return t
}

// progress is the line on a terminal.
func (d *day) progress(elapsed time.Duration) string {
	return progressLine(d.snapshot(), d.percent(), elapsed)
}

// percent says how much of the input was fed; -1 if its size is not known.
func (d *day) percent() int {
	if d.source.size == 0 {
		return -1
	}
	return int(min(100, d.fed.Load()*100/(d.source.size*int64(d.passes))))
}

// metered counts the bytes that are read.
type metered struct {
	io.Reader
	total *atomic.Int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.total.Add(int64(n))
	return n, err
}
