package ledger_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

func TestATransactionMovesEveryBalanceItTouches(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-", "bob-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	b.commit(t, b.book.Post(transfer("t-2", "ann-", "bob-", "30.01")))
	b.has(t, "bank", "100.00", "0.00", "100.00")
	b.has(t, "ann-", "69.99", "0.00", "69.99")
	b.has(t, "bob-", "30.01", "0.00", "30.01")
	if totals := b.balance(t, "ann-").Totals(); totals.Count != 2 || totals.Sum.Text() != "-69.99" {
		t.Errorf("control totals of ann: %+v", totals)
	}
	entry := b.entry(t, "t-2")
	if len(entry.Postings) != 2 || entry.Postings[0].Account != "ann-" || entry.Postings[1].Amount.Text() != "-30.01" ||
		!entry.EffectiveAt.Equal(day) || !entry.RecordedAt.Equal(b.now) || entry.Source != "order-t-2" {
		t.Errorf("transaction: %+v", entry)
	}
}

// Funds are refused only with proof (E7), a refusal changes nothing (E4), and the identifier stays free (L7).
func TestInsufficientFundsAreProvedAndLeaveNoTrace(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-", "cash+")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "10.00")))
	err := b.untouched(t, "debit of a credit account", ledger.ErrInsufficient, b.book.Post(transfer("t-2", "ann-", "bank", "10.01")))
	var poor *ledger.InsufficientError
	if !errors.As(err, &poor) || poor.Available != dollars("10.00") || poor.Need != dollars("10.01") || poor.Account != "ann-" || poor.Asset != "USD" {
		t.Errorf("%+v", poor)
	}
	b.untouched(t, "credit of a debit account", ledger.ErrInsufficient, b.book.Post(transfer("t-3", "bank", "cash+", "0.01")))
	b.commit(t, b.book.Post(transfer("t-4", "bank", "ann-", "0.01")))
	b.commit(t, b.book.Post(transfer("t-2", "ann-", "bank", "10.01")))
	b.has(t, "ann-", "0.00", "0.00", "0.00")
}

func TestAMinimumHoldsToTheLastUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minimum, spend string
		fits           bool
	}{
		{"0.00", "100.00", true}, {"0.00", "100.01", false},
		{"25.00", "75.00", true}, {"25.00", "75.01", false},
		{"-50.00", "150.00", true}, {"-50.00", "150.01", false},
	} {
		b := setup(t, ledger.Config{})
		b.open(t, "bank")
		for _, side := range []ledger.Side{ledger.DebitSide, ledger.CreditSide} {
			name := "line-" + side.String()
			b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: name, Side: side}, ledger.Asset{Currency: usd, Minimum: dollars(c.minimum)}))
			from, to := "bank", name
			if side == ledger.DebitSide {
				from, to = to, from
			}
			first := dollars("100.00")
			if dollars(c.minimum).Sign() > 0 { // an account that starts below its minimum takes what brings it up
				if available := b.balance(t, name).Available; available != dollars(c.minimum).Neg() {
					t.Errorf("%s: %s available in an empty account with minimum %s", name, available, c.minimum)
				}
			}
			b.commit(t, b.book.Post(transfer("in-"+name, from, to, first.Text())))
			_, err := b.try(t, b.book.Post(transfer("out-"+name, to, from, c.spend)))
			if fits := err == nil; fits != c.fits || !fits && !errors.Is(err, ledger.ErrInsufficient) {
				t.Errorf("%s with minimum %s: spend %s of 100.00: %v", name, c.minimum, c.spend, err)
			}
		}
	}
}

// The identifier decides, whatever month the repeat lands in and whatever became of the funds (L1, L7).
func TestAnIdentifierNamesOneTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "10.00")))
	spend := transfer("t-1", "ann-", "bank", "10.00")
	b.commit(t, b.book.Post(spend))

	again := b.untouched(t, "a repeat without funds", ledger.ErrDuplicate, b.book.Post(spend))
	if !ledger.Repeated(again) || errors.Is(again, ledger.ErrInsufficient) {
		t.Errorf("a repeat is not told apart from poverty: %v", again)
	}
	b.now = b.now.Add(time.Hour)
	if err := b.untouched(t, "a repeat an hour later", ledger.ErrDuplicate, b.book.Post(spend)); !ledger.Repeated(err) {
		t.Errorf("the time of recording makes another transaction: %v", err)
	}
	for what, change := range map[string]func(*ledger.Transaction){
		"another amount":   func(tx *ledger.Transaction) { *tx = transfer("t-1", "ann-", "bank", "9.99") },
		"another month":    func(tx *ledger.Transaction) { tx.EffectiveAt = tx.EffectiveAt.AddDate(0, 1, 0) },
		"another source":   func(tx *ledger.Transaction) { tx.Source = "order-2" },
		"other metadata":   func(tx *ledger.Transaction) { tx.Metadata = map[string]string{"note": "rent"} },
		"other order":      func(tx *ledger.Transaction) { tx.Postings[0], tx.Postings[1] = tx.Postings[1], tx.Postings[0] },
		"a nanosecond off": func(tx *ledger.Transaction) { tx.EffectiveAt = tx.EffectiveAt.Add(1) },
	} {
		tx := transfer("t-1", "ann-", "bank", "10.00")
		change(&tx)
		if err := b.untouched(t, what, ledger.ErrDuplicate, b.book.Post(tx)); ledger.Repeated(err) {
			t.Errorf("%s passes for the same: %v", what, err)
		}
	}
}

func TestARefusalForGoodTakesTheIdentifier(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	spend := transfer("t-1", "ann-", "bank", "10.00")
	b.commit(t, b.book.Refuse(spend, "no funds"))
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "10.00")))
	err := b.untouched(t, "a refused transaction", ledger.ErrRefused, b.book.Post(spend))
	var refused *ledger.RefusedError
	if !errors.As(err, &refused) || refused.Reason != "no funds" || !refused.At.Equal(day) {
		t.Errorf("%+v", refused)
	}
	b.untouched(t, "a second refusal", ledger.ErrRefused, b.book.Refuse(spend, "still no funds"))
	b.untouched(t, "another transaction of that name", ledger.ErrDuplicate, b.book.Post(transfer("t-1", "ann-", "bank", "9.00")))
	b.untouched(t, "the refusal of what is posted", ledger.ErrDuplicate, b.book.Refuse(transfer("in-1", "bank", "ann-", "10.00"), "late"))
	if _, err := b.book.Transaction(t.Context(), b.client, tenant, "t-1"); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("read: %v", err)
	}
}

// Two postings of one transaction on one account and asset are two lines and one write of the balance (L2).
func TestPostingsOnOneBalanceCollapse(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	tx := ledger.Transaction{Tenant: tenant, ID: "t-1", EffectiveAt: day, Postings: []ledger.Posting{
		ledger.Debit("bank", dollars("100.00")), ledger.Credit("bank", dollars("100.00")),
		ledger.Debit("bank", dollars("7.00")), ledger.Credit("fees", dollars("3.00")), ledger.Credit("fees", dollars("4.00")),
	}}
	receipt := b.commit(t, b.book.Post(tx))
	if receipt.Items != 1+5+2 {
		t.Errorf("%d items, want a header, five postings and two balances", receipt.Items)
	}
	b.has(t, "bank", "7.00", "0.00", "7.00")
	if totals := b.balance(t, "bank").Totals(); totals.Count != 3 || totals.Sum != dollars("7.00") {
		t.Errorf("bank: %+v", totals)
	}
	only := ledger.Transaction{Tenant: tenant, ID: "t-2", EffectiveAt: day, Postings: []ledger.Posting{
		ledger.Debit("bank", dollars("5.00")), ledger.Credit("bank", dollars("5.00")),
	}}
	b.commit(t, b.book.Post(only))
	b.has(t, "bank", "7.00", "0.00", "7.00")
	if now := b.balance(t, "bank"); now.Totals().Count != 5 || now.Version != 3 {
		t.Errorf("bank after a transaction with itself: %+v", now)
	}
}

func TestAnExpectedVersionMustBeTheStoredOne(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	read := b.balance(t, "ann-")
	expecting := func(id string) ledger.Transaction {
		tx := transfer(id, "bank", "ann-", "1.00")
		tx.Expect = []ledger.Expected{{Account: "ann-", Currency: usd, Version: read.Version}}
		return tx
	}
	b.commit(t, b.book.Post(expecting("t-1")))
	err := b.untouched(t, "a version that has passed", ledger.ErrVersion, b.book.Post(expecting("t-2")))
	var stale *ledger.VersionError
	if !errors.As(err, &stale) || stale.Expected != 1 || stale.Stored != 2 {
		t.Errorf("%+v", stale)
	}
	foreign := transfer("t-3", "bank", "ann-", "1.00")
	foreign.Expect = []ledger.Expected{{Account: "bob-", Currency: usd, Version: 1}}
	b.untouched(t, "a balance that is not posted to", ledger.ErrInvalid, b.book.Post(foreign))
}

// Every status is on the balance itself, so no posting needs to read an account.
func TestFrozenAndClosedAccountsTakeNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "5.00")))
	status := func(to ledger.Status) error {
		account, err := b.book.Account(t.Context(), b.client, tenant, "ann-")
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.try(t, b.book.SetStatus(account, to, b.balance(t, "ann-")))
		return err
	}
	if err := status(ledger.StatusFrozen); err != nil {
		t.Fatal(err)
	}
	b.untouched(t, "a posting to a frozen account", ledger.ErrFrozen, b.book.Post(transfer("t-1", "ann-", "bank", "1.00")))
	b.untouched(t, "a reservation in a frozen account", ledger.ErrFrozen, b.book.Reserve(hold("r-1", "ann-", "1.00")))
	if err := status(ledger.StatusClosed); !errors.Is(err, ledger.ErrNotEmpty) {
		t.Errorf("close an account with a balance: %v", err)
	}
	if err := status(ledger.StatusOpen); err != nil {
		t.Fatal(err)
	}
	b.commit(t, b.book.Post(transfer("t-1", "ann-", "bank", "5.00")))
	if err := status(ledger.StatusClosed); err != nil {
		t.Fatal(err)
	}
	b.untouched(t, "a posting to a closed account", ledger.ErrClosed, b.book.Post(transfer("t-2", "bank", "ann-", "1.00")))
	if err := status(ledger.StatusOpen); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("open a closed account: %v", err)
	}
}

// N writers who want more than there is: exactly as much as there is goes out, and each other is told why.
func TestConcurrentWritersNeverSpendTwice(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "10.00")))
	var wg sync.WaitGroup
	errs := make([]error, 25)
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, errs[i] = impatient(b.client).Commit(t.Context(), b.book.Post(transfer(fmt.Sprintf("t-%d", i), "ann-", "bank", "1.00")))
		}()
	}
	wg.Wait()
	paid := 0
	for _, err := range errs {
		switch {
		case err == nil:
			paid++
		case !errors.Is(err, ledger.ErrInsufficient):
			t.Errorf("neither paid nor refused for funds: %v", err)
		}
	}
	if paid != 10 {
		t.Errorf("%d of 10 dollars were paid out", paid)
	}
	b.has(t, "ann-", "0.00", "0.00", "0.00")
}

func TestAssetsAndTenantsAreApart(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	share, err := money.Define("ACME", 4, money.KindSecurity)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"house", "ann"} {
		b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: name, Side: ledger.DebitSide, Assets: 3},
			ledger.Asset{Currency: usd, NoMinimum: true}, ledger.Asset{Currency: eur, NoMinimum: true}, ledger.Asset{Currency: share, NoMinimum: true}))
	}
	half, err := money.Parse("0.5000", share)
	if err != nil {
		t.Fatal(err)
	}
	tx := ledger.Transaction{Tenant: tenant, ID: "t-1", EffectiveAt: day, Postings: []ledger.Posting{
		ledger.Debit("ann", half), ledger.Credit("house", half), ledger.Credit("ann", dollars("9.00")), ledger.Debit("house", dollars("9.00")),
	}}
	if receipt := b.commit(t, b.book.Post(tx)); receipt.Items != 1+4+4 {
		t.Errorf("%d items", receipt.Items)
	}
	for currency, want := range map[money.Currency]string{usd: "-9.00", eur: "0.00", share: "0.5000"} {
		now, err := b.book.Balance(t.Context(), b.client, tenant, "ann", currency)
		if err != nil || now.Posted.Text() != want || now.Currency != currency {
			t.Errorf("%s: %s, %v; want %s", currency, now.Posted, err, want)
		}
	}
	tx.Tenant, tx.ID = "other", "t-2"
	b.untouched(t, "another tenant's accounts", ledger.ErrNotFound, b.book.Post(tx))
}
