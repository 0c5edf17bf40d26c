package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
)

func TestBalancesAreListedByStripeAndAsset(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.openWide(t, "house", 2, 3)
	b.openWide(t, "house-2", 1, 1) // a neighbour by its name
	b.pay(t, "t-1", day, "house", "house-2", "5.00")
	b.closeBooks(t, "house", "2026-11")
	a, all, err := b.book.Balances(t.Context(), b.client, tenant, "house")
	if err != nil || a.ID != "house" || a.Stripes != 2 || a.Lanes != 3 || a.Opened != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	var got []string
	for _, balance := range all {
		got = append(got, fmt.Sprint(balance.Place().Account, " ", balance.Stripe, " ", balance.Posted))
		alone, err := b.book.StripeBalance(t.Context(), b.client, tenant, "house", balance.Currency, balance.Stripe)
		if err != nil || alone.Version != balance.Version || alone.Totals() != balance.Totals() || alone.ClosedThrough != "2026-11" {
			t.Errorf("%+v, %v; want %+v", alone, err, balance)
		}
	}
	if want := []string{"house 0 0.00 EUR", "house 0 5.00 USD", "house 1 0.00 EUR", "house 1 0.00 USD"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, _, err := b.book.Balances(t.Context(), b.client, tenant, "nobody"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
	if _, _, err := b.book.Balances(t.Context(), b.client, tenant, ""); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("no name: %v", err)
	}
}

func TestSealsAreListedByMonth(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.openWide(t, "house", 2, 1)
	for i, months := range []int{-3, 0, -1, 3} {
		line := ledger.Posting{Account: "house", Amount: dollars("1.00"), Stripe: 1}
		other := ledger.Credit("house", dollars("1.00"))
		b.record(t, fmt.Sprint("t-", i), day.AddDate(0, months, 0), line, other)
	}
	b.closeBooks(t, "house", "2026-12")
	balance, err := b.book.StripeBalance(t.Context(), b.client, tenant, "house", usd, 1)
	if err != nil {
		t.Fatal(err)
	}
	var months []ledger.Month
	for seal, err := range b.book.Seals(t.Context(), b.client, balance) {
		if err != nil || seal.Stripe != 1 || seal.Count != 1 || seal.Through.Count != int64(len(months)+1) {
			t.Errorf("%+v, %v", seal, err)
		}
		months = append(months, seal.Month)
	}
	if want := []ledger.Month{"2026-08", "2026-10", "2026-11"}; !slices.Equal(months, want) {
		t.Errorf("%v, want %v", months, want)
	}
}

func TestHeldListsOpenReservationsOfOneAccount(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-", "bob-")
	for _, name := range []string{"ann-", "bob-"} {
		b.pay(t, "in-"+name, day, "bank", name, "100.00")
	}
	for i, r := range []struct {
		account string
		expires time.Duration
	}{{"ann-", 3 * time.Hour}, {"ann-", 0}, {"bob-", time.Hour}, {"ann-", time.Hour}, {"ann-", 2 * time.Hour}} {
		hold := ledger.Reservation{Tenant: tenant, ID: fmt.Sprint("r-", i), Account: r.account, Amount: dollars("10.00")}
		if r.expires > 0 {
			hold.ExpiresAt = day.Add(r.expires)
		}
		b.commit(t, b.book.Reserve(hold))
	}
	b.commit(t, b.book.Capture(b.reservation(t, "r-0"), ledger.Capture{Transaction: transfer("c-1", "ann-", "bank", "4.00")}))
	b.commit(t, b.book.Release(b.reservation(t, "r-4")))
	list := func(account string) (all []string) {
		for r, err := range b.book.Held(t.Context(), b.client, tenant, account) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%s %s %s %s", r.ID, r.Account, r.Left, r.StateAt(day.Add(2*time.Hour))))
		}
		return all
	}
	if got, want := list("ann-"), []string{"r-3 ann- 10.00 USD EXPIRED", "r-0 ann- 6.00 USD OPEN", "r-1 ann- 10.00 USD OPEN"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := list("nobody"); len(got) > 0 {
		t.Errorf("nobody holds %q", got)
	}
	for _, err := range b.book.Held(t.Context(), b.client, tenant, "") {
		if !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("no name: %v", err)
		}
	}
}

// A ledger whose configuration breaks a rule reads nothing, and says why.
func TestABrokenConfigurationIsToldByEveryRead(t *testing.T) {
	t.Parallel()
	book := ledger.New(ledger.Config{MonthlyCap: 7})
	client := &breaking{left: 1}
	ctx := t.Context()
	for what, read := range map[string]func() error{
		"balances": func() error { _, _, err := book.Balances(ctx, client, tenant, "a"); return err },
		"total":    func() error { _, err := book.Total(ctx, client, tenant, "a", usd); return err },
		"as of":    func() error { _, err := book.BalanceAt(ctx, client, tenant, "a", usd, ledger.AsOf{}); return err },
		"trial":    func() error { _, err := book.TrialBalance(ctx, client, tenant, "a"); return err },
		"verify": func() error {
			_, err := book.Verify(ctx, client, ledger.Verification{Tenant: tenant, Account: "a", Asset: usd})
			return err
		},
		"transaction": func() error { _, err := book.VerifyTransaction(ctx, client, tenant, "t"); return err },
		"page": func() error {
			_, err := book.StatementPage(ctx, client, ledger.StatementQuery{Tenant: tenant, Account: "a"}, "", 1)
			return err
		},
		"statement": func() (err error) {
			for _, err = range book.Statement(ctx, client, ledger.StatementQuery{Tenant: tenant, Account: "a"}) {
			}
			return err
		},
		"held": func() (err error) {
			for _, err = range book.Held(ctx, client, tenant, "a") {
			}
			return err
		},
		"seals": func() (err error) {
			for _, err = range book.Seals(ctx, client, ledger.Balance{Tenant: tenant, Account: "a", Currency: usd}) {
			}
			return err
		},
	} {
		if err := read(); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
