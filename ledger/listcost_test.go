package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/ledger"
)

// What reading costs, in units that DynamoDB reported, is what the documentation says.
func TestReadingCosts(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.openWide(t, "cash", 1, 1)
	b.openWide(t, "wide", 3, 1)
	b.openWide(t, "sales", 1, 1)
	const n = 60
	for i := range n {
		b.pay(t, fmt.Sprintf("oct-%02d", i), day.AddDate(0, -1, 0).Add(time.Duration(i)*time.Minute), "cash", "sales", "1.00")
		b.pay(t, fmt.Sprintf("nov-%02d", i), day.Add(time.Duration(i)*time.Minute), "cash", "sales", "1.00")
	}
	b.closeBooks(t, "cash", "2026-10")
	bytes := capacity.ItemSize(b.stored(t, postingKey(t, "cash", "nov-00", 0, day)))
	if bytes < 250 || bytes > 350 {
		t.Errorf("a posting has %d bytes, and the documentation says about 0.3 KiB", bytes)
	}
	postings := func(n int) capacity.Units { return capacity.ReadUnits(n*bytes, capacity.Strong) }
	one := capacity.Whole(1)
	statement := ledger.StatementQuery{Tenant: tenant, Account: "cash", Month: "2026-11"}
	closed := ledger.StatementQuery{Tenant: tenant, Account: "cash", Asset: usd, Month: "2026-10"}
	first, err := b.book.StatementPage(t.Context(), b.client, statement, "", 20)
	if err != nil {
		t.Fatal(err)
	}
	all := func(q ledger.StatementQuery) func(c ledger.Client) error {
		return func(c ledger.Client) error {
			for _, err := range b.book.Statement(t.Context(), c, q) {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	page := func(q ledger.StatementQuery, cursor string, limit int) func(c ledger.Client) error {
		return func(c ledger.Client) error {
			_, err := b.book.StatementPage(t.Context(), c, q, cursor, limit)
			return err
		}
	}
	asOf := func(at ledger.AsOf) func(c ledger.Client) error {
		return func(c ledger.Client) error {
			_, err := b.book.BalanceAt(t.Context(), c, tenant, "cash", usd, at)
			return err
		}
	}
	verify := func(of ledger.Verification) func(c ledger.Client) error {
		of.Tenant, of.Account, of.Asset = tenant, "cash", usd
		return func(c ledger.Client) error {
			r, err := b.book.Verify(t.Context(), c, of)
			if m := c.(*meter); err == nil && r.Units != m.units {
				t.Errorf("the report says %v units, it took %v", r.Units, m.units)
			}
			return err
		}
	}
	for what, c := range map[string]struct {
		read func(c ledger.Client) error
		want capacity.Units
	}{
		"balances": {func(c ledger.Client) error {
			_, _, err := b.book.Balances(t.Context(), c, tenant, "cash")
			return err
		}, one},
		"balances of three stripes": {func(c ledger.Client) error {
			_, _, err := b.book.Balances(t.Context(), c, tenant, "wide")
			return err
		}, 3 * one},
		"total of three stripes": {func(c ledger.Client) error {
			_, err := b.book.Total(t.Context(), c, tenant, "wide", usd)
			return err
		}, 4 * one},
		"trial balance": {func(c ledger.Client) error {
			_, err := b.book.TrialBalance(t.Context(), c, tenant, "cash", "wide", "sales")
			return err
		}, 5 * one},
		"statement of an open month":     {all(statement), one + postings(n)},
		"statement of a closed month":    {all(closed), 2*one + postings(n)},
		"first page":                     {page(statement, "", 20), one + postings(20)},
		"next page":                      {page(statement, first.Cursor, 20), postings(20)},
		"balance at the end of October":  {asOf(ledger.AsOf{EffectiveAt: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}), 3*one + one},
		"balance after everything":       {asOf(ledger.AsOf{EffectiveAt: day.AddDate(1, 0, 0)}), 3 * one},
		"balance within November":        {asOf(ledger.AsOf{EffectiveAt: day.Add(19 * time.Minute)}), 3*one + postings(20)},
		"balance within October":         {asOf(ledger.AsOf{EffectiveAt: day.AddDate(0, -1, 0).Add(29 * time.Minute)}), 3*one + postings(30)},
		"what was known":                 {asOf(ledger.AsOf{EffectiveAt: day.AddDate(1, 0, 0), KnownAt: day}), 3*one + postings(n)},
		"what was known before the seal": {asOf(ledger.AsOf{EffectiveAt: day.AddDate(1, 0, 0), KnownAt: day.Add(-1)}), 3*one + 2*postings(n)},
		"verify":                         {verify(ledger.Verification{}), 5*one + 2*postings(n)},
		"verify an open month":           {verify(ledger.Verification{From: "2026-11"}), 4*one + postings(n)},
		"verify everywhere": {verify(ledger.Verification{From: "2026-10", Through: "2026-12", Strays: true}),
			6*one + 2*postings(n) + (7+7+8)*one},
		"verify a transaction": {func(c ledger.Client) error {
			_, err := b.book.VerifyTransaction(t.Context(), c, tenant, "nov-01")
			return err
		}, 3 * one},
	} {
		m := &meter{Client: b.client}
		if err := c.read(m); err != nil || m.units != c.want {
			t.Errorf("%s takes %v units, want %v (%v)", what, m.units, c.want, err)
		}
	}
}

// A seal has the size that the documentation says.
func TestASealIsSmall(t *testing.T) {
	t.Parallel()
	b := books(t)
	if bytes := capacity.ItemSize(b.stored(t, cashKey("SEAL#CASH#USD#2026-10"))); bytes < 240 || bytes > 340 {
		t.Errorf("a seal has %d bytes, and the documentation says about 0.3 KiB", bytes)
	}
}
