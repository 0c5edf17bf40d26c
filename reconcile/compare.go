package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/dynafin/dynafin/money"
)

// Rows is a source: one side's rows in any order. An error ends it, and the comparison with it.
type Rows = iter.Seq2[Row, error]

// Options bound what a comparison takes. The result depends on none of them.
type Options struct {
	// Memory is about how many bytes of rows are kept at a time; the rest waits in a temporary file. Default: 64 MiB.
	Memory int
	// Workers sort and match. Default: the number of CPUs.
	Workers int
	// Dir is where the temporary file is. Default: the system's directory for such files.
	Dir string
	// MaxGroup is how many rows may have one key, both sides together: they are matched in memory. More are a
	// [SourceError]: the key says too little. Default: 20,000.
	MaxGroup int
	// Progress is told now and then how many rows were read and how many are decided. It may be nil.
	Progress func(read, decided int64)
}

func (o Options) withDefaults() Options {
	o.Memory, o.Workers, o.MaxGroup = cmp.Or(o.Memory, 64<<20), cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), cmp.Or(o.MaxGroup, 20_000)
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	return o
}

func (o Options) check() (field, reason string) {
	switch {
	case o.Memory < 1<<16:
		return "Options.Memory", "is below 64 KiB"
	case o.Workers < 1 || o.Workers > 1024:
		return "Options.Workers", "is not from 1 to 1024"
	case o.MaxGroup < 2:
		return "Options.MaxGroup", "is below 2"
	}
	return "", ""
}

// progressEvery is how many rows pass between two calls of Progress.
const progressEvery = 1 << 15

// Comparison is both sides, read and sorted. Close it.
type Comparison struct {
	options     Options
	sorted      *sorter
	left, right Totals
	read        int64
}

// Load reads both sides to their ends and returns them sorted, with their totals. Nothing is decided yet, so that the totals
// can be held against a manifest before. Rows that come twice count once.
//
// It keeps at most about [Options.Memory] bytes of rows and writes the rest to a temporary file.
//
// Cost: no units but those of the Rows. Errors: [ErrInvalid], [ErrSource], [ErrTemporary].
func Load(ctx context.Context, options Options, left, right Rows) (*Comparison, error) {
	c := &Comparison{options: options.withDefaults()}
	if field, reason := c.options.check(); field != "" {
		return nil, &InvalidError{Field: field, Reason: reason}
	}
	c.sorted = newSorter(c.options)
	err := c.load(ctx, left, right)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Comparison) load(ctx context.Context, left, right Rows) error {
	for _, source := range []struct {
		side Side
		rows Rows
	}{{Left, left}, {Right, right}} {
		if err := c.take(ctx, source.side, source.rows); err != nil {
			return err
		}
	}
	if err := c.sorted.finish(); err != nil {
		return errTemporary.Wrap(err, "reconcile: sort the rows: %v", err)
	}
	totals := map[Side]*totaller{Left: newTotaller(), Right: newTotaller()}
	for e, err := range c.sorted.all(ctx) {
		if err != nil {
			return errTemporary.Wrap(err, "reconcile: add up the rows: %v", err)
		}
		if err := totals[e.side].add(e.Row); err != nil {
			return &SourceError{Side: e.side, ID: e.ID, Reason: "takes a sum beyond 38 digits", Err: err}
		}
	}
	c.left, c.right = totals[Left].totals(), totals[Right].totals()
	return nil
}

func (c *Comparison) take(ctx context.Context, side Side, rows Rows) error {
	if rows == nil {
		return &InvalidError{Field: side.String(), Reason: "is nil"}
	}
	for row, err := range rows {
		if err != nil {
			return errSource.Wrap(err, "reconcile: read the %s side: %v", side, err)
		}
		if reason := row.check(); reason != "" {
			return &SourceError{Side: side, ID: row.ID, Reason: reason}
		}
		if !row.At.IsZero() {
			row.At = row.At.UTC().Round(0)
		}
		if err := c.sorted.add(entry{row, side}); err != nil {
			return errTemporary.Wrap(err, "reconcile: sort the rows: %v", err)
		}
		if c.read++; c.read%progressEvery == 0 {
			c.options.Progress(c.read, 0)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Totals returns the control totals of both sides.
func (c *Comparison) Totals() (left, right Totals) { return c.left, c.right }

// Close removes the temporary file.
//
// An error is that of the file system.
func (c *Comparison) Close() error { return c.sorted.close() }

// Summary counts what became of the rows.
type Summary struct {
	// Left and Right are the totals of what was compared.
	Left, Right Totals
	// Outcomes counts the outcomes of each kind, and Rows the rows in them.
	Outcomes, Rows map[Kind]int64
	// Drifts has the signed sum of the drifts of each kind, by currency.
	Drifts map[Kind][]money.Amount
}

func newSummary() Summary {
	return Summary{Outcomes: map[Kind]int64{}, Rows: map[Kind]int64{}, Drifts: map[Kind][]money.Amount{}}
}

// Breaks is how many breaks there are.
func (s Summary) Breaks() int64 {
	return s.Outcomes[Missing] + s.Outcomes[Unexpected] + s.Outcomes[Mismatched]
}

// Match decides about all rows by the rules and gives each outcome, matched or not, in the order of the keys. The same rows
// give the same outcomes in the same order, whatever the [Options] and whatever order the rows came in. An error of
// the caller's function ends it and is returned as it is.
//
// Cost: no units; it reads the rows that [Load] has sorted.
func (c *Comparison) Match(ctx context.Context, rules Rules, window Window, give func(Outcome) error) (Summary, error) {
	summary := newSummary()
	summary.Left, summary.Right = c.left, c.right
	for _, check := range []func() (string, string){rules.check, window.check} {
		if field, reason := check(); field != "" {
			return summary, &InvalidError{Field: field, Reason: reason}
		}
	}
	drifts := map[Kind]sums{}
	var decided int64
	for batch, err := range c.decided(ctx, newMatcher(rules, window)) {
		if err != nil {
			return summary, err
		}
		for _, o := range batch {
			rows := int64(len(o.Left) + len(o.Right))
			summary.Outcomes[o.Kind]++
			summary.Rows[o.Kind] += rows
			if drifts[o.Kind] == nil {
				drifts[o.Kind] = sums{}
			}
			if err := drifts[o.Kind].add(o.Drift); err != nil {
				return summary, &SourceError{Side: Right, ID: o.Key, Reason: "takes the sum of drifts beyond 38 digits", Err: err}
			}
			if err := give(o); err != nil {
				return summary, err
			}
			if decided += rows; decided/progressEvery != (decided-rows)/progressEvery {
				c.options.Progress(c.read, decided)
			}
		}
	}
	for kind, sum := range drifts {
		summary.Drifts[kind] = sum.list()
	}
	c.options.Progress(c.read, decided)
	return summary, nil
}

// keyed are all rows of one key.
type keyed struct{ left, right []Row }

// groups gives the rows key by key.
func (c *Comparison) groups(ctx context.Context) iter.Seq2[keyed, error] {
	return func(yield func(keyed, error) bool) {
		var g keyed
		key, size := "", 0
		for e, err := range c.sorted.all(ctx) {
			if err != nil {
				yield(keyed{}, errTemporary.Wrap(err, "reconcile: match the rows: %v", err))
				return
			}
			if size > 0 && e.Key != key {
				if !yield(g, nil) {
					return
				}
				g, size = keyed{}, 0
			}
			if key = e.Key; size == c.options.MaxGroup {
				yield(keyed{}, &SourceError{Side: e.side, ID: e.ID, Reason: fmt.Sprintf("has a key that more than %d rows have", size)})
				return
			}
			size++
			if e.side == Left {
				g.left = append(g.left, e.Row)
			} else {
				g.right = append(g.right, e.Row)
			}
		}
		if size > 0 {
			yield(g, nil)
		}
	}
}

// uniqueIDs returns the ID that two different rows of one side share, if there is one.
func uniqueIDs(rows []Row) (id string, ok bool) {
	if len(rows) < 2 {
		return "", true
	}
	seen := make(map[string]bool, len(rows))
	for _, r := range rows {
		if seen[r.ID] {
			return r.ID, false
		}
		seen[r.ID] = true
	}
	return "", true
}
