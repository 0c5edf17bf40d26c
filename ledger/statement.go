package ledger

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/money"
)

// StatementQuery says which postings of an account a statement has.
type StatementQuery struct {
	// Tenant and Account say whose they are.
	Tenant, Account string
	// Asset chooses one asset by its code and kind. The zero Currency is all assets.
	Asset money.Currency
	// Month chooses one month. Or From and Until choose by effective time: at From or later, and before Until; the zero
	// Time is no bound.
	Month       Month
	From, Until time.Time
	// Stripes chooses stripes of a striped account. Empty for all.
	Stripes []int
}

// StatementPage is a part of a statement.
type StatementPage struct {
	// Lines are the postings, ascending by effective time, transaction and line.
	Lines []Line
	// Cursor continues behind them. It is empty at the end of the statement, and only there: a page may be short or empty
	// and have one.
	Cursor string
	// Usage is what reading the postings took. What finding their partitions took is not part of it.
	Usage fanout.Usage
}

// statement is a query that was checked.
type statement struct {
	StatementQuery
	ledger      *Ledger
	first, last Month  // months
	from, until string // sort keys
}

func (l *Ledger) statement(q StatementQuery) (*statement, error) {
	invalid := func(field, reason string) (*statement, error) {
		return nil, &InvalidError{What: "statement", ID: q.Account, Field: field, Reason: reason}
	}
	s := &statement{StatementQuery: q, ledger: l, first: firstMonth, last: lastMonth, from: keys.FirstPosting, until: keys.LastPosting}
	_, err := keys.Account(q.Tenant, q.Account)
	switch {
	case l.unusable() != nil:
		return nil, l.unusable()
	case err != nil:
		return nil, invalidKey("statement", q.Account, err)
	case q.Month != "" && !(q.From.IsZero() && q.Until.IsZero()):
		return invalid("Month", "is given beside From or Until")
	case q.Month != "" && !q.Month.Valid():
		return invalid("Month", `is not a month such as "2026-11"`)
	case !q.Until.IsZero() && !q.From.Before(q.Until):
		return invalid("Until", "is not after From")
	}
	for i, stripe := range q.Stripes {
		if stripe < 0 || stripe >= MaxStripes || slices.Contains(q.Stripes[:i], stripe) {
			return invalid("Stripes", "have one that no account has, or one twice")
		}
	}
	if q.Month != "" { // the same as its range, so that their cursors are the same
		first, _ := time.Parse("2006-01", string(q.Month))
		if q.From = first; q.Month != lastMonth {
			q.Until = first.AddDate(0, 1, 0)
		}
	}
	if !q.From.IsZero() {
		if s.from, err = keys.PostingsFrom(q.From); err != nil {
			return invalid("From", "is outside the years 1 to 9999")
		}
		s.first = MonthOf(q.From)
	}
	if !q.Until.IsZero() {
		if s.until, err = keys.PostingsFrom(q.Until); err != nil {
			return invalid("Until", "is outside the years 1 to 9999")
		}
		s.last = MonthOf(q.Until.Add(-1))
	}
	return s, nil
}

// Statement returns the postings of an account (AP11, strongly consistent), ascending by effective time; those of one
// moment come as their keys sort, by transaction and line. Every posting that was there when it began is in it once; one that
// is posted meanwhile is in it if its place was still to come.
//
// A posting that cannot be read is a [RecordError], and the next one follows; after any other error the iteration ends.
// Errors: ErrInvalid, ErrNotFound, ErrLimit, ErrCorrupt, ErrRead.
//
// Cost: for each month that has postings one [Ledger.Balances], and one more if the range goes on behind the last; 1 read
// unit for each balance and closed month; and the postings of all assets, 1 unit for each 4 KiB begun and for each partition
// at least. A posting has about 0.3 KiB.
func (l *Ledger) Statement(ctx context.Context, client Client, q StatementQuery) iter.Seq2[Line, error] {
	return watch.Each(ctx, &l.watch, "AP11.statement", "", func(ctx context.Context, yield func(Line, error) bool) {
		s, err := l.statement(q)
		var at stretch
		for err == nil {
			var run *fanout.Run
			if at, err = s.next(ctx, client, at.month); err != nil || at.month == "" {
				break
			}
			if run, err = s.start(client, at, ""); err != nil {
				break
			}
			for item, failure := range run.Items(ctx) {
				if failure != nil {
					err = s.explain(failure)
					break
				}
				line, mine, odd := s.line(item)
				if (mine || odd != nil) && !yield(line, odd) {
					return
				}
			}
		}
		if err != nil {
			yield(Line{}, err)
		}
	})
}

// StatementPage returns up to limit postings behind a cursor, from the beginning if it is empty, in the order of
// [Ledger.Statement]. A cursor continues the very query that it came from; of another tenant, account, asset or range, or
// if a byte of it was changed, it is a [CursorError]. It does not expire. With one asset of several chosen, the limit counts
// the postings of the others as well.
//
// If a posting cannot be read, the page comes with its other lines and its cursor beside the [RecordError]; after any other
// error it is empty. Errors: those of Statement, and ErrCursor.
//
// Cost: as [Ledger.Statement], and what fanout reads ahead; within a month, a page behind a cursor reads postings only.
func (l *Ledger) StatementPage(ctx context.Context, client Client, q StatementQuery, cursor string, limit int) (_ StatementPage, err error) {
	ctx, op := l.watch.Begin(ctx, "AP11.page")
	defer op.End(&err)
	s, err := l.statement(q)
	switch {
	case err != nil:
		return StatementPage{}, err
	case limit < 1 || limit > fanout.MaxLimit:
		return StatementPage{}, &LimitError{What: "statement", ID: q.Account, Limit: "lines of a page, and at least 1", Max: fanout.MaxLimit}
	}
	var at stretch
	rest := ""
	if cursor == "" {
		at, err = s.next(ctx, client, "")
	} else {
		at, rest, err = s.resume(cursor)
	}
	var page StatementPage
	var odd error
	for used := 0; err == nil && at.month != ""; rest = "" {
		if used == limit {
			page.Cursor, err = s.cursor(client, at, "")
			break
		}
		var part fanout.Page
		if part, err = s.page(ctx, client, at, rest, limit-used); err != nil {
			break
		}
		used += len(part.Items)
		page.Usage.Requests += part.Usage.Requests
		page.Usage.Evaluated += part.Usage.Evaluated
		page.Usage.Units += part.Usage.Units
		odd = errors.Join(odd, s.collect(&page, part.Items))
		if part.Cursor != "" {
			page.Cursor = at.prefix() + part.Cursor
			break
		}
		at, err = s.next(ctx, client, at.month)
	}
	if err != nil {
		return StatementPage{Usage: page.Usage}, err
	}
	return page, odd
}

// collect adds what is asked for to the page.
func (s *statement) collect(page *StatementPage, items []fanout.Item) (odd error) {
	for _, item := range items {
		line, mine, err := s.line(item)
		if err != nil {
			odd = errors.Join(odd, err)
		} else if mine {
			page.Lines = append(page.Lines, line)
		}
	}
	return odd
}

// line reads a posting; mine says whether it is of an asset that was asked for.
func (s *statement) line(item fanout.Item) (line Line, mine bool, err error) {
	line, err = s.ledger.decodePosting(item.Attributes)
	return line, err == nil && s.wants(line.Amount.Currency()), err
}

func (s *statement) wants(c money.Currency) bool {
	return s.Asset == (money.Currency{}) || c.Code() == s.Asset.Code() && c.Kind() == s.Asset.Kind()
}
