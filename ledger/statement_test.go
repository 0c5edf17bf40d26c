package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// statement reads a whole statement as "transaction line amount".
func (b *bench) statement(t *testing.T, q ledger.StatementQuery) (lines []string) {
	t.Helper()
	q.Tenant = tenant
	for line, err := range b.book.Statement(t.Context(), b.client, q) {
		if err != nil {
			t.Fatalf("statement: %v", err)
		}
		lines = append(lines, fmt.Sprintf("%s %d %s", line.Transaction, line.Line, line.Amount))
	}
	return lines
}

func TestAStatementIsInTheOrderOfItsLines(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{BucketPostings: 4, MonthlyCap: 40}) // two of each asset in a bucket
	b.openWide(t, "cash", 2, 2)
	line := func(stripe, lane int, amount money.Amount) ledger.Posting {
		return ledger.Posting{Account: "cash", Amount: amount, Stripe: stripe, Lane: lane}
	}
	b.record(t, "t-5", day.Add(5), line(0, 0, dollars("5.00")), line(1, 1, dollars("-5.00")))
	b.record(t, "t-1", day.Add(1), line(1, 0, dollars("1.00")), line(0, 1, dollars("-1.00")))
	b.record(t, "t-b", day.Add(3), line(0, 0, dollars("3.00")), line(0, 0, dollars("-3.00")))
	b.record(t, "t-a", day.Add(3), line(1, 1, euros("3.50")), line(0, 0, euros("-3.50")))
	b.record(t, "t-4", day.Add(4), line(1, 1, dollars("4.00")), line(0, 0, dollars("-4.00")))
	b.record(t, "t-9", day.AddDate(0, 1, 0), line(0, 1, euros("9.00")), line(0, 1, euros("-9.00")))
	all := []string{
		"t-1 0 1.00 USD", "t-1 1 -1.00 USD", "t-a 0 3.50 EUR", "t-a 1 -3.50 EUR", "t-b 0 3.00 USD", "t-b 1 -3.00 USD",
		"t-4 0 4.00 USD", "t-4 1 -4.00 USD", "t-5 0 5.00 USD", "t-5 1 -5.00 USD", "t-9 0 9.00 EUR", "t-9 1 -9.00 EUR",
	}
	only := func(part string) (lines []string) {
		for _, line := range all {
			if strings.Contains(line, part) {
				lines = append(lines, line)
			}
		}
		return lines
	}
	for what, c := range map[string]struct {
		q    ledger.StatementQuery
		want []string
	}{
		"everything":    {ledger.StatementQuery{}, all},
		"a month":       {ledger.StatementQuery{Month: "2026-11"}, all[:10]},
		"another month": {ledger.StatementQuery{Month: "2026-12"}, all[10:]},
		"no month":      {ledger.StatementQuery{Month: "2026-10"}, nil},
		"dollars":       {ledger.StatementQuery{Asset: usd}, only("USD")},
		"euros":         {ledger.StatementQuery{Asset: eur}, only("EUR")},
		"from":          {ledger.StatementQuery{From: day.Add(4)}, all[6:]},
		"until":         {ledger.StatementQuery{Until: day.Add(4)}, all[:6]},
		"a nanosecond":  {ledger.StatementQuery{From: day.Add(3), Until: day.Add(4)}, all[2:6]},
		"one stripe":    {ledger.StatementQuery{Stripes: []int{1}}, []string{"t-1 0 1.00 USD", "t-a 0 3.50 EUR", "t-4 0 4.00 USD", "t-5 1 -5.00 USD"}},
		"both stripes":  {ledger.StatementQuery{Stripes: []int{1, 0}}, all},
	} {
		c.q.Account = "cash"
		if got := b.statement(t, c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// The last nanosecond of a month is in its statement, and the first of the next one is not; whatever the time zone.
func TestAMonthEndsAtTheNanosecond(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "cash", "sales")
	first := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	east := time.FixedZone("east", 14*3600)
	b.pay(t, "last", first.Add(-1).In(east), "cash", "sales", "1.00")
	b.pay(t, "first", first.In(east), "cash", "sales", "2.00")
	for _, c := range []struct {
		q    ledger.StatementQuery
		want string
	}{
		{ledger.StatementQuery{Month: "2026-11"}, "last 0 1.00 USD"}, {ledger.StatementQuery{Month: "2026-12"}, "first 0 2.00 USD"},
		{ledger.StatementQuery{Until: first.In(east)}, "last 0 1.00 USD"}, {ledger.StatementQuery{From: first}, "first 0 2.00 USD"},
		{ledger.StatementQuery{From: first.Add(-1), Until: first}, "last 0 1.00 USD"},
	} {
		c.q.Account = "cash"
		if got := b.statement(t, c.q); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
	for at, want := range map[time.Time]string{first.Add(-2): "0.00", first.Add(-1): "1.00", first: "3.00"} {
		if got := b.asOf(t, "cash", usd, ledger.AsOf{EffectiveAt: at.In(east)}).Posted.Text(); got != want {
			t.Errorf("as of %v: %s, want %s", at, got, want)
		}
	}
}

// pagesOf reads a statement in pages of one size, and notes the cursors.
func (b *bench) pagesOf(t *testing.T, q ledger.StatementQuery, limit int) (lines []ledger.Line, cursors []string) {
	t.Helper()
	for cursor := ""; ; {
		page, err := b.book.StatementPage(t.Context(), b.client, q, cursor, limit)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, page.Lines...)
		if cursor = page.Cursor; cursor == "" {
			return lines, cursors
		}
		cursors = append(cursors, cursor)
	}
}

// A cursor goes on where it was, although buckets fill up, months are closed and others post meanwhile.
func TestACursorGoesOnWhateverHappensMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{BucketPostings: 6, MonthlyCap: 60})
	b.openWide(t, "cash", 1, 1)
	b.openWide(t, "sales", 1, 1)
	for i := range 5 {
		b.pay(t, fmt.Sprint("nov-", i), day.Add(time.Duration(i)*time.Hour), "cash", "sales", "1.00")
		b.pay(t, fmt.Sprint("dec-", i), day.AddDate(0, 1, 0).Add(time.Duration(i)*time.Hour), "cash", "sales", "1.00")
	}
	q := ledger.StatementQuery{Tenant: tenant, Account: "cash", Asset: usd}
	page, err := b.book.StatementPage(t.Context(), b.client, q, "", 2)
	if err != nil || len(page.Lines) != 2 {
		t.Fatalf("%+v, %v", page, err)
	}
	for i := range 4 {
		b.pay(t, fmt.Sprint("more-", i), day.AddDate(0, 1, 0).Add(-time.Minute), "cash", "sales", "1.00")
	}
	b.closeBooks(t, "cash", "2026-11")
	var rest []string
	for page.Cursor != "" {
		if page, err = b.book.StatementPage(t.Context(), b.client, q, page.Cursor, 3); err != nil {
			t.Fatal(err)
		}
		for _, line := range page.Lines {
			rest = append(rest, line.Transaction)
		}
	}
	want := []string{"nov-2", "nov-3", "nov-4", "more-0", "more-1", "more-2", "more-3", "dec-0", "dec-1", "dec-2", "dec-3", "dec-4"}
	if !slices.Equal(rest, want) {
		t.Errorf("behind the cursor: %q, want %q", rest, want)
	}
}

func TestACursorContinuesNothingElse(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][][]byte{nil, {[]byte("sixteen bytes ..")}} {
		b := setup(t, ledger.Config{Secrets: secrets})
		b.open(t, "cash", "sales")
		for i := range 4 {
			b.pay(t, fmt.Sprint("t-", i), day.AddDate(0, i/2, i), "cash", "sales", "1.00")
		}
		q := ledger.StatementQuery{Tenant: tenant, Account: "cash"}
		_, cursors := b.pagesOf(t, q, 1)
		if len(cursors) < 3 {
			t.Fatalf("%d cursors", len(cursors))
		}
		refused := func(what string, q ledger.StatementQuery, cursor string) {
			t.Helper()
			page, err := b.book.StatementPage(t.Context(), &breaking{left: 1}, q, cursor, 5) // no request is made
			var refusal *ledger.CursorError
			if !errors.As(err, &refusal) || refusal.Reason == "" || len(page.Lines) > 0 || page.Cursor != "" {
				t.Errorf("%s: %+v, %v", what, page, err)
			}
		}
		for what, change := range map[string]func(*ledger.StatementQuery){
			"another tenant": func(q *ledger.StatementQuery) { q.Tenant = "other" }, "another account": func(q *ledger.StatementQuery) { q.Account = "sales" },
			"one asset": func(q *ledger.StatementQuery) { q.Asset = usd }, "a month": func(q *ledger.StatementQuery) { q.Month = "2026-10" },
			"a beginning": func(q *ledger.StatementQuery) { q.From = day.Add(-1) }, "an end": func(q *ledger.StatementQuery) { q.Until = day.AddDate(1, 0, 0) },
			"a stripe": func(q *ledger.StatementQuery) { q.Stripes = []int{1} },
		} {
			other := q
			change(&other)
			refused(what, other, cursors[1])
		}
		for _, cursor := range cursors {
			for i := range cursor {
				edited := []byte(cursor)
				edited[i]++
				refused(fmt.Sprintf("byte %d of %q", i, cursor), q, string(edited))
			}
		}
		for _, cursor := range []string{"x", "2026-11.1.1.1.", "2026-11.01.1.1." + cursors[0][len("2026-11.1.1.1."):], "2026-11.100.96.1000.x", "2026-11.-1.-1.1.x", "2026-13.1.1.1.x"} {
			refused(cursor, q, cursor)
		}
	}
}

// A posting that cannot be read does not hide the others, and nobody can overlook it.
func TestAnUnreadablePostingStandsBesideTheOthers(t *testing.T) {
	t.Parallel()
	b := books(t)
	setAttribute(novemberKey, 1, "amount", text("x"))(t, b)
	q := ledger.StatementQuery{Tenant: tenant, Account: "cash", Month: "2026-11"}
	page, err := b.book.StatementPage(t.Context(), b.client, q, "", 10)
	var odd *ledger.RecordError
	if !errors.As(err, &odd) || !strings.Contains(odd.Record, "nov-1") || len(page.Lines) != 3 || page.Cursor != "" {
		t.Errorf("page: %+v, %v", page, err)
	}
	lines, failures := 0, 0
	for _, err := range b.book.Statement(t.Context(), b.client, q) {
		if errors.Is(err, ledger.ErrCorrupt) {
			failures++
		} else if err == nil {
			lines++
		}
	}
	if lines != 3 || failures != 1 {
		t.Errorf("iterator: %d lines, %d failures", lines, failures)
	}
	if _, err := b.book.BalanceAt(t.Context(), b.client, tenant, "cash", usd, ledger.AsOf{EffectiveAt: day}); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("balance: %v", err)
	}
}

func TestAStatementThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	b := books(t)
	wide := ledger.Account{Tenant: tenant, ID: "very wide", Side: ledger.DebitSide, Stripes: 2, Lanes: ledger.MaxLanes}
	b.commit(t, b.book.OpenAccount(wide, ledger.Asset{Currency: usd, NoMinimum: true}))
	b.record(t, "wide", day, ledger.Posting{Account: "very wide", Amount: dollars("1.00"), Lane: 999}, ledger.Credit("cash", dollars("1.00")))
	cash := func(q ledger.StatementQuery) ledger.StatementQuery { q.Account = "cash"; return q }
	for what, c := range map[string]struct {
		q    ledger.StatementQuery
		kind error
	}{
		"no account":         {ledger.StatementQuery{}, ledger.ErrInvalid},
		"an unknown account": {ledger.StatementQuery{Account: "nobody"}, ledger.ErrNotFound},
		"an unknown asset":   {cash(ledger.StatementQuery{Asset: money.MustParse("1 JPY").Currency()}), ledger.ErrNotFound},
		"an unknown stripe":  {cash(ledger.StatementQuery{Stripes: []int{3}}), ledger.ErrNotFound},
		"one stripe twice":   {cash(ledger.StatementQuery{Stripes: []int{0, 0}}), ledger.ErrInvalid},
		"no month":           {cash(ledger.StatementQuery{Month: "2026-1"}), ledger.ErrInvalid},
		"month and range":    {cash(ledger.StatementQuery{Month: "2026-11", From: day}), ledger.ErrInvalid},
		"an empty range":     {cash(ledger.StatementQuery{From: day, Until: day}), ledger.ErrInvalid},
		"before all time":    {cash(ledger.StatementQuery{From: day.AddDate(-3000, 0, 0)}), ledger.ErrInvalid},
		"behind all time":    {cash(ledger.StatementQuery{Until: day.AddDate(9000, 0, 0)}), ledger.ErrInvalid},
		"too wide":           {ledger.StatementQuery{Account: "very wide"}, ledger.ErrLimit},
	} {
		c.q.Tenant = tenant
		if page, err := b.book.StatementPage(t.Context(), b.client, c.q, "", 5); !errors.Is(err, c.kind) || len(page.Lines) > 0 {
			t.Errorf("%s: page %+v, %v", what, page, err)
		}
		n := 0
		for _, err := range b.book.Statement(t.Context(), b.client, c.q) {
			if n++; !errors.Is(err, c.kind) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d results", what, n)
		}
	}
	for _, limit := range []int{0, -1, fanout.MaxLimit + 1} {
		if _, err := b.book.StatementPage(t.Context(), b.client, ledger.StatementQuery{Tenant: tenant, Account: "cash"}, "", limit); !errors.Is(err, ledger.ErrLimit) {
			t.Errorf("a page of %d: %v", limit, err)
		}
	}
	if got := b.statement(t, ledger.StatementQuery{Account: "very wide", Stripes: []int{0}}); !slices.Equal(got, []string{"wide 0 1.00 USD"}) {
		t.Errorf("one stripe of the wide account: %q", got)
	}
}

// A failed request is the AWS client's error under ErrRead, wherever it happens, and the same cursor can be used again.
func TestAFailedReadIsTold(t *testing.T) {
	t.Parallel()
	b := books(t)
	for what, read := range map[string]func(ledger.Client) error{
		"page": func(c ledger.Client) error {
			_, err := b.book.StatementPage(t.Context(), c, ledger.StatementQuery{Tenant: tenant, Account: "cash"}, "", 6)
			return err
		},
		"statement": func(c ledger.Client) error {
			for _, err := range b.book.Statement(t.Context(), c, ledger.StatementQuery{Tenant: tenant, Account: "cash"}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"as of": func(c ledger.Client) error {
			_, err := b.book.BalanceAt(t.Context(), c, tenant, "cash", usd, ledger.AsOf{EffectiveAt: day.AddDate(0, 0, -9), KnownAt: day})
			return err
		},
		"trial": func(c ledger.Client) error {
			_, err := b.book.TrialBalance(t.Context(), c, tenant, "cash")
			return err
		},
		"total": func(c ledger.Client) error {
			_, err := b.book.Total(t.Context(), c, tenant, "cash", usd)
			return err
		},
		"transaction": func(c ledger.Client) error {
			_, err := b.book.VerifyTransaction(t.Context(), c, tenant, "nov-1")
			return err
		},
		"held": func(c ledger.Client) error {
			for _, err := range b.book.Held(t.Context(), c, tenant, "cash") {
				return err
			}
			return nil
		},
	} {
		failures := 0
		for n := 1; ; n++ {
			err := read(&breaking{Client: b.client, left: n})
			if err == nil {
				break
			}
			if failures++; !errors.Is(err, ledger.ErrRead) || !strings.Contains(err.Error(), "broken line") || strings.Count(err.Error(), "[DFN-") != 1 {
				t.Errorf("%s, request %d: %v", what, n, err)
			}
		}
		if failures == 0 {
			t.Errorf("%s makes no request", what)
		}
	}
}
