package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
)

// Every time has a balance: zero before the first posting, everything after the last (L6).
func TestABalanceIsDefinedForEveryTime(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "cash", "owed-")
	b.now = day
	b.pay(t, "oct", day.AddDate(0, -1, 0), "cash", "owed-", "1.00")
	b.now = day.Add(time.Hour)
	b.pay(t, "nov", day, "cash", "owed-", "10.00")
	b.now = day.Add(2 * time.Hour)
	b.pay(t, "late", day.AddDate(0, -1, 1), "cash", "owed-", "100.00") // booked late, effective in October
	check := func(when string) {
		t.Helper()
		for _, c := range []struct {
			effective, known time.Time
			want             string
		}{
			{time.Time{}, time.Time{}, "0.00"}, {day.AddDate(-3000, 0, 0), time.Time{}, "0.00"}, {day.AddDate(9000, 0, 0), time.Time{}, "111.00"},
			{day.AddDate(0, -1, 0).Add(-1), time.Time{}, "0.00"}, {day.AddDate(0, -1, 0), time.Time{}, "1.00"},
			{day.AddDate(0, -1, 1).Add(-1), time.Time{}, "1.00"}, {day.AddDate(0, -1, 1), time.Time{}, "101.00"},
			{day.Add(-1), time.Time{}, "101.00"}, {day, time.Time{}, "111.00"},
			{day, day.Add(-1), "0.00"}, {day, day, "1.00"}, {day, day.Add(time.Hour - 1), "1.00"}, {day, day.Add(time.Hour), "11.00"},
			{day, day.Add(2 * time.Hour), "111.00"}, {day.AddDate(0, -1, 5), day.Add(time.Hour), "1.00"}, {day.AddDate(9000, 0, 0), day.Add(time.Hour), "11.00"},
		} {
			at := ledger.AsOf{EffectiveAt: c.effective, KnownAt: c.known}
			cash, owed := b.asOf(t, "cash", usd, at), b.asOf(t, "owed-", usd, at)
			if cash.Posted.Text() != c.want || owed.Posted != cash.Posted || owed.Signed != cash.Signed.Neg() {
				t.Errorf("%s, as of %v, known at %v: %s and %s, want %s", when, c.effective, c.known, cash.Posted, owed.Posted, c.want)
			}
		}
	}
	check("open")
	b.now = day.Add(3 * time.Hour)
	b.closeBooks(t, "cash", "2026-10")
	check("October closed")
	b.now = day.Add(4 * time.Hour)
	b.closeBooks(t, "cash", "2026-12")
	b.closeBooks(t, "owed-", "2026-11")
	check("all closed")
}

// A refused transaction changes no balance at any time (L6).
func TestARefusedTransactionIsInNoBalance(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "cash", "owed-")
	b.pay(t, "t-1", day, "cash", "owed-", "5.00")
	b.untouched(t, "overdraft", ledger.ErrInsufficient, b.book.Post(transfer("t-2", "owed-", "cash", "5.01")))
	for _, at := range []time.Time{day.Add(-1), day, day.AddDate(1, 0, 0)} {
		want := "5.00"
		if at.Before(day) {
			want = "0.00"
		}
		if got := b.asOf(t, "owed-", usd, ledger.AsOf{EffectiveAt: at}); got.Posted.Text() != want {
			t.Errorf("as of %v: %s", at, got.Posted)
		}
	}
}

// What is in a sealed month was known when it was sealed, even if its writer's clock was ahead.
func TestASealSettlesWhatWasKnown(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "cash", "sales")
	b.now = day.Add(time.Hour) // this writer's clock is ahead
	b.pay(t, "t-1", day, "cash", "sales", "5.00")
	b.now = day
	known := ledger.AsOf{EffectiveAt: day.AddDate(1, 0, 0), KnownAt: day.Add(time.Minute)}
	if got := b.asOf(t, "cash", usd, known).Posted.Text(); got != "0.00" {
		t.Errorf("before the seal: %s", got)
	}
	b.closeBooks(t, "cash", "2026-11")
	if got := b.asOf(t, "cash", usd, known).Posted.Text(); got != "5.00" {
		t.Errorf("behind the seal: %s", got)
	}
	known.KnownAt = day.Add(-1)
	if got := b.asOf(t, "cash", usd, known).Posted.Text(); got != "0.00" {
		t.Errorf("before it was sealed: %s", got)
	}
}

func TestTotalsAddUpStripes(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.openWide(t, "house", 3, 2)
	b.open(t, "ann-")
	for i := range 3 {
		b.record(t, fmt.Sprint("t-", i), day, ledger.Posting{Account: "house", Amount: dollars("2.00"), Stripe: i, Lane: i % 2}, ledger.Credit("ann-", dollars("2.00")))
	}
	b.commit(t, b.book.Reserve(ledger.Reservation{Tenant: tenant, ID: "r-1", Account: "house", Stripe: 1, Amount: dollars("-1.50")}))
	got, err := b.book.Total(t.Context(), b.client, tenant, "house", usd)
	want := ledger.Total{
		Tenant: tenant, Account: "house", Currency: usd, Side: ledger.DebitSide, Signed: dollars("6.00"), Posted: dollars("6.00"),
		Reserved: dollars("1.50"), Available: dollars("4.50"), Postings: 3, Reservations: 1,
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if ann, err := b.book.Total(t.Context(), b.client, tenant, "ann-", usd); err != nil || ann.Posted.Text() != "6.00" || ann.Signed.Text() != "-6.00" {
		t.Errorf("%+v, %v", ann, err)
	}
	for _, name := range []string{"nobody", "ann-"} {
		if _, err := b.book.Total(t.Context(), b.client, tenant, name, eur); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("euros of %s: %v", name, err)
		}
		if _, err := b.book.BalanceAt(t.Context(), b.client, tenant, name, eur, ledger.AsOf{}); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("euros of %s as of: %v", name, err)
		}
	}
}
