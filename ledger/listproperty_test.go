package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// library is a ledger of three accounts, one of them with stripes and two with lanes, and all lines that were posted.
type library struct {
	*bench
	lines   []ledger.Line
	entries []ledger.Entry
	posts   int
}

// Effective times are at the edges of three months; what is recorded is a second apart.
var edges = []time.Time{
	time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 31, 23, 59, 59, 999_999_999, time.UTC),
	time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 1, time.UTC),
	time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 30, 23, 59, 59, 999_999_999, time.UTC),
	time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 31, 23, 59, 59, 999_999_998, time.UTC),
}

var shelves = []struct {
	name           string
	stripes, lanes int
}{{"plain", 1, 1}, {"lanes", 1, 2}, {"wide#%", 2, 2}}

// Whatever was posted, reversed and closed: statements, pages, balances as of any time, trial balances and proofs are
// those of the list of all lines.
func TestReadsAgreeWithAListOfAllLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := &library{bench: setup(t, ledger.Config{BucketPostings: 6, MonthlyCap: 30})}
		for _, shelf := range shelves {
			l.openWide(t, shelf.name, shelf.stripes, shelf.lanes)
		}
		for range rapid.IntRange(1, 40).Draw(rt, "commands") {
			l.now = l.now.Add(time.Second)
			switch rapid.IntRange(0, 9).Draw(rt, "command") {
			case 0:
				l.closeSome(t, rt)
			case 1, 2:
				l.reverse(t, rt)
			default:
				l.postSome(t, rt)
			}
		}
		l.statements(t, rt)
		l.standings(t, rt)
		l.trials(t, rt)
		l.proofs(t)
	})
}

func (l *library) commitPart(t *testing.T, id string, build func() txn.Part) {
	t.Helper()
	_, err := l.book.Commit(t.Context(), impatient(l.client), func() []txn.Part { return []txn.Part{build()} })
	switch {
	case errors.Is(err, ledger.ErrCap), errors.Is(err, ledger.ErrPeriodClosed), errors.Is(err, ledger.ErrExceeds):
		return
	case err != nil:
		t.Fatalf("%s: %v", id, err)
	}
	entry := l.entry(t, id)
	l.entries, l.lines = append(l.entries, entry), append(l.lines, entry.Lines()...)
}

func (l *library) postSome(t *testing.T, rt *rapid.T) {
	l.posts++
	tx := ledger.Transaction{
		Tenant: tenant, ID: rapid.SampledFrom([]string{"t#", "t", "t!", "s%"}).Draw(rt, "id") + fmt.Sprint(l.posts),
		EffectiveAt: rapid.SampledFrom(edges).Draw(rt, "effective"), Source: rapid.SampledFrom([]string{"", "order-1"}).Draw(rt, "source"),
	}
	for range rapid.IntRange(1, 2).Draw(rt, "pairs") {
		amount := dollars("1.00")
		if rapid.Bool().Draw(rt, "euros") {
			amount = euros("1.00")
		}
		amount, _ = amount.MulInt(rapid.Int64Range(1, 1000).Draw(rt, "amount"))
		for _, signed := range []money.Amount{amount, amount.Neg()} {
			shelf := rapid.SampledFrom(shelves).Draw(rt, "account")
			tx.Postings = append(tx.Postings, ledger.Posting{
				Account: shelf.name, Amount: signed, Stripe: rapid.IntRange(0, shelf.stripes-1).Draw(rt, "stripe"),
				Lane: rapid.IntRange(0, shelf.lanes-1).Draw(rt, "lane"),
			})
		}
	}
	l.commitPart(t, tx.ID, func() txn.Part { return l.book.Post(tx) })
}

func (l *library) reverse(t *testing.T, rt *rapid.T) {
	if len(l.entries) == 0 {
		return
	}
	l.posts++
	original := rapid.SampledFrom(l.entries).Draw(rt, "original")
	r := ledger.Reversal{ID: fmt.Sprint("reversal-", l.posts), EffectiveAt: rapid.SampledFrom(edges).Draw(rt, "effective")}
	if r.EffectiveAt.Before(original.EffectiveAt) {
		r.EffectiveAt = original.EffectiveAt
	}
	l.commitPart(t, r.ID, func() txn.Part { return l.book.Reverse(original, r) })
}

func (l *library) closeSome(t *testing.T, rt *rapid.T) {
	through := ledger.MonthOf(rapid.SampledFrom(edges).Draw(rt, "through"))
	_, all, err := l.book.Balances(t.Context(), l.client, tenant, rapid.SampledFrom(shelves).Draw(rt, "account").name)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if b.ClosedThrough < through && rapid.IntRange(0, 3).Draw(rt, "close") > 0 {
			l.commit(t, l.book.ClosePeriod(b, through))
		}
	}
}

// wanted are the lines of a statement, in the order of their keys.
func (l *library) wanted(q ledger.StatementQuery) (lines []ledger.Line) {
	for _, line := range l.lines {
		if line.Account != q.Account || q.Asset.Code() != "" && line.Amount.Currency() != q.Asset || q.Month != "" && ledger.MonthOf(line.EffectiveAt) != q.Month ||
			line.EffectiveAt.Before(q.From) || !q.Until.IsZero() && !line.EffectiveAt.Before(q.Until) ||
			len(q.Stripes) > 0 && !slices.Contains(q.Stripes, line.Stripe) {
			continue
		}
		lines = append(lines, line)
	}
	order := func(line ledger.Line) string {
		id := strings.NewReplacer("%", "%25", "#", "%23").Replace(line.Transaction)
		return line.EffectiveAt.Format("2006-01-02T15:04:05.000000000") + "#" + id + "#" + fmt.Sprintf("%04d", line.Line)
	}
	slices.SortFunc(lines, func(a, b ledger.Line) int { return strings.Compare(order(a), order(b)) })
	return lines
}

func (l *library) statements(t *testing.T, rt *rapid.T) {
	for _, shelf := range shelves {
		q := ledger.StatementQuery{Tenant: tenant, Account: shelf.name, Asset: rapid.SampledFrom([]money.Currency{{}, usd, eur}).Draw(rt, "asset")}
		switch rapid.IntRange(0, 2).Draw(rt, "range") {
		case 0:
			q.Month = rapid.SampledFrom([]ledger.Month{"2026-10", "2026-11", "2026-12", "2027-01"}).Draw(rt, "month")
		case 1:
			q.From = rapid.SampledFrom(edges).Draw(rt, "from")
			q.Until = q.From.Add(time.Duration(rapid.Int64Range(1, 60*86400).Draw(rt, "seconds"))*time.Second + 1)
		}
		if shelf.stripes > 1 && rapid.Bool().Draw(rt, "one stripe") {
			q.Stripes = []int{1}
		}
		want := l.wanted(q)
		var got []ledger.Line
		for line, err := range l.book.Statement(t.Context(), l.client, q) {
			if err != nil {
				rt.Fatalf("statement %+v: %v", q, err)
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("statement %+v:\n%v\nwant\n%v", q, got, want)
		}
		if got = l.pages(t, rt, q); !slices.Equal(got, want) {
			rt.Fatalf("pages of %+v:\n%v\nwant\n%v", q, got, want)
		}
	}
}

// pages reads a statement in pages of any sizes.
func (l *library) pages(t *testing.T, rt *rapid.T, q ledger.StatementQuery) (lines []ledger.Line) {
	for cursor := ""; ; {
		limit := rapid.IntRange(1, 7).Draw(rt, "limit")
		page, err := l.book.StatementPage(t.Context(), l.client, q, cursor, limit)
		if err != nil || len(page.Lines) > limit {
			rt.Fatalf("page of %d: %d lines, %v", limit, len(page.Lines), err)
		}
		lines = append(lines, page.Lines...)
		if cursor = page.Cursor; cursor == "" {
			return lines
		}
	}
}

// sum adds up the lines that count as of a time.
func (l *library) sum(account string, asset money.Currency, at ledger.AsOf) (sum money.Amount, n int64) {
	sum = money.Zero(asset)
	for _, line := range l.lines {
		if line.Account == account && line.Amount.Currency() == asset && !line.EffectiveAt.After(at.EffectiveAt) &&
			(at.KnownAt.IsZero() || !line.RecordedAt.After(at.KnownAt)) {
			sum, _ = sum.Add(line.Amount)
			n++
		}
	}
	return sum, n
}

func (l *library) drawAsOf(rt *rapid.T) (at ledger.AsOf) {
	at.EffectiveAt = rapid.SampledFrom(append(edges, time.Time{}, day.AddDate(9000, 0, 0), day.AddDate(-3000, 0, 0))).Draw(rt, "as of").
		Add(time.Duration(rapid.IntRange(-1, 1).Draw(rt, "nanoseconds")))
	if rapid.Bool().Draw(rt, "known at some time") {
		at.KnownAt = day.Add(time.Duration(rapid.IntRange(0, 45).Draw(rt, "seconds"))*time.Second + time.Duration(rapid.IntRange(-1, 1).Draw(rt, "nanoseconds")))
	}
	return at
}

func (l *library) standings(t *testing.T, rt *rapid.T) {
	for range 20 {
		account, asset := rapid.SampledFrom(shelves).Draw(rt, "account").name, rapid.SampledFrom([]money.Currency{usd, eur}).Draw(rt, "asset")
		at := l.drawAsOf(rt)
		want, n := l.sum(account, asset, at)
		if got := l.asOf(t, account, asset, at); got.Signed != want || got.Posted != want || got.Postings != n {
			rt.Fatalf("%s as of %v: %s of %d postings, want %s of %d", account, at, got.Signed, got.Postings, want, n)
		}
	}
}

func (l *library) trials(t *testing.T, rt *rapid.T) {
	names := []string{"wide#%", "plain", "lanes", "plain"}
	at := l.drawAsOf(rt)
	for what, read := range map[string]func() (ledger.TrialBalance, error){
		"now": func() (ledger.TrialBalance, error) {
			return l.book.TrialBalance(t.Context(), l.client, tenant, names...)
		},
		"cut": func() (ledger.TrialBalance, error) {
			return l.book.TrialBalanceCut(t.Context(), l.client, tenant, names...)
		},
		"then": func() (ledger.TrialBalance, error) {
			return l.book.TrialBalanceAt(t.Context(), l.client, at, tenant, names...)
		},
	} {
		trial, err := read()
		if err != nil || !trial.Balanced() || len(trial.Rows) != 6 || len(trial.Sums) != 2 {
			rt.Fatalf("trial balance %s: %+v, %v", what, trial, err)
		}
		then := ledger.AsOf{EffectiveAt: day.AddDate(100, 0, 0)}
		if what == "then" {
			then = at
		}
		for _, row := range trial.Rows {
			if want, n := l.sum(row.Account, row.Currency, then); row.Signed != want || row.Postings != n {
				rt.Fatalf("%s: row %+v, want %s of %d postings", what, row, want, n)
			}
		}
	}
}

func (l *library) proofs(t *testing.T) {
	for _, shelf := range shelves {
		_, all, err := l.book.Balances(t.Context(), l.client, tenant, shelf.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			of := ledger.Verification{Account: shelf.name, Asset: b.Currency, Stripe: b.Stripe, PageSize: 2}
			if r := l.verify(t, of); r.Err() != nil || r.Recomputed != b.Totals() {
				t.Fatalf("%s: %v, recomputed %v, want %v", b.Place(), r.Err(), r.Recomputed, b.Totals())
			}
		}
	}
}
