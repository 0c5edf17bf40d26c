package ledger_test

import (
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
)

// A transaction that is not stored as it is said to be has nothing that could be taken back.
func TestOnlyWhatIsStoredIsReversed(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	b.commit(t, b.book.Refuse(transfer("t-2", "bank", "ann-", "100.00"), "no"))
	stored := b.entry(t, "t-1")
	forged := func(change func(*ledger.Entry)) ledger.Entry {
		made := stored
		made.Postings = append([]ledger.Posting(nil), stored.Postings...)
		change(&made)
		return made
	}
	for what, c := range map[string]struct {
		kind error
		of   ledger.Entry
	}{
		"one that never was":   {ledger.ErrNotFound, ledger.Entry{Transaction: transfer("t-3", "bank", "ann-", "100.00")}},
		"one that was refused": {ledger.ErrRefused, ledger.Entry{Transaction: transfer("t-2", "bank", "ann-", "100.00")}},
		"one under another's identifier": {ledger.ErrInvalid, forged(func(e *ledger.Entry) {
			e.Postings = transfer("", "bank", "ann-", "1000.00").Postings
		})},
		"one from another account": {ledger.ErrInvalid, forged(func(e *ledger.Entry) { e.Postings[0].Account = "ann-" })},
		"one for another reason":   {ledger.ErrInvalid, forged(func(e *ledger.Entry) { e.Captures = "r-1" })},
		"one of another time":      {ledger.ErrInvalid, forged(func(e *ledger.Entry) { e.EffectiveAt = day.Add(-time.Hour) })},
	} {
		b.untouched(t, "reversing "+what, c.kind, b.book.Reverse(c.of, ledger.Reversal{ID: "v-1", EffectiveAt: day}))
		b.untouched(t, "correcting "+what, c.kind, b.book.Correct(c.of, transfer("f-1", "ann-", "bank", "1.00")))
	}
	b.commit(t, b.book.Reverse(forged(func(e *ledger.Entry) { e.RecordedAt, e.Buckets = time.Time{}, nil }), ledger.Reversal{ID: "v-1", EffectiveAt: day}))
	b.has(t, "ann-", "0.00", "0.00", "0.00")
}

// The record says what a reservation holds, and for whom; whoever says otherwise ends nothing and gives nothing back.
func TestOnlyWhatIsHeldIsGivenBack(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-", "bob-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	b.commit(t, b.book.Post(transfer("t-2", "bank", "bob-", "100.00")))
	due := hold("r-1", "ann-", "40.00")
	due.ExpiresAt = day.Add(time.Hour)
	b.commit(t, b.book.Reserve(due))
	b.commit(t, b.book.Reserve(hold("r-2", "bob-", "50.00")))
	stored := b.reservation(t, "r-1")
	for what, forge := range map[string]func(*ledger.Reservation){
		"of another account": func(r *ledger.Reservation) { r.Account = "bob-" },
		"of more":            func(r *ledger.Reservation) { r.Left = dollars("50.00") },
		"of less":            func(r *ledger.Reservation) { r.Left = dollars("30.00") },
		"of another stripe":  func(r *ledger.Reservation) { r.Stripe = 1 },
		"of another asset":   func(r *ledger.Reservation) { r.Amount, r.Left = euros("40.00"), euros("40.00") },
	} {
		made := stored
		forge(&made)
		kind := ledger.ErrInvalid
		b.now = day
		b.untouched(t, "a release "+what, kind, b.book.Release(made))
		pays := transfer("c-1", made.Account, "bank", "1.00")
		pays.Postings[0].Stripe = made.Stripe
		if made.Left.Currency() == eur {
			pays.Postings = []ledger.Posting{ledger.Debit(made.Account, euros("1.00")), ledger.Credit("bank", euros("1.00"))}
		}
		b.untouched(t, "a capture "+what, kind, b.book.Capture(made, ledger.Capture{Transaction: pays, Final: true}))
		b.now = due.ExpiresAt
		b.untouched(t, "an expiry "+what, kind, b.book.Expire(made))
	}
	for listed, err := range b.book.Held(t.Context(), b.client, tenant, "ann-") {
		if err != nil {
			t.Fatal(err)
		}
		b.commit(t, b.book.Expire(listed)) // an entry of the index says enough
	}
	b.has(t, "ann-", "100.00", "0.00", "100.00")
	b.has(t, "bob-", "100.00", "50.00", "50.00")
}

// An asset is opened in the account as it is stored, and an account is closed with all that it has.
func TestAnAccountIsTakenAsItIsStored(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank")
	stored, err := b.book.Account(t.Context(), b.client, tenant, "bank")
	if err != nil {
		t.Fatal(err)
	}
	for what, forge := range map[string]func(*ledger.Account){
		"side": func(a *ledger.Account) { a.Side = ledger.CreditSide }, "room": func(a *ledger.Account) { a.Assets = 5 },
		"stripes": func(a *ledger.Account) { a.Stripes = 2 }, "lanes": func(a *ledger.Account) { a.Lanes = 2 },
	} {
		made := stored
		forge(&made)
		b.untouched(t, "another "+what, ledger.ErrInvalid, b.book.OpenAsset(made, ledger.Asset{Currency: eur, NoMinimum: true}))
	}
	none := stored
	none.Opened = 0
	b.untouched(t, "closed without its balances", ledger.ErrInvalid, b.book.SetStatus(none, ledger.StatusClosed))
	b.commit(t, b.book.OpenAsset(stored, ledger.Asset{Currency: eur, NoMinimum: true}))
}

// The amount that a reservation was made for chooses no balance: what is left of it, in its own asset, is what is given back.
func TestAReservationGivesBackItsOwnAsset(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	for _, id := range []string{"bank", "ann-"} {
		account, err := b.book.Account(t.Context(), b.client, tenant, id)
		if err != nil {
			t.Fatal(err)
		}
		b.commit(t, b.book.OpenAsset(account, ledger.Asset{Currency: eur, NoMinimum: id == "bank"}))
	}
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	due := hold("r-1", "ann-", "40.00")
	due.ExpiresAt = day.Add(time.Hour)
	b.commit(t, b.book.Reserve(due))
	made := b.reservation(t, "r-1")
	made.Amount = euros("40.00")
	pays := ledger.Transaction{Tenant: tenant, ID: "c-1", EffectiveAt: day, Postings: []ledger.Posting{
		ledger.Debit("ann-", euros("1.00")), ledger.Credit("bank", euros("1.00")),
	}}
	b.untouched(t, "a release", ledger.ErrInvalid, b.book.Release(made))
	b.untouched(t, "a capture", ledger.ErrInvalid, b.book.Capture(made, ledger.Capture{Transaction: pays, Final: true}))
	b.now = due.ExpiresAt
	b.untouched(t, "an expiry", ledger.ErrInvalid, b.book.Expire(made))
	b.commit(t, b.book.Expire(b.reservation(t, "r-1")))
	b.has(t, "ann-", "100.00", "0.00", "100.00")
}

// An account has one of three statuses, also if it has no balance that could say so.
func TestAStatusIsOneOfTheThree(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: "empty", Side: ledger.DebitSide}))
	account, err := b.book.Account(t.Context(), b.client, tenant, "empty")
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []ledger.Status{"", "open", "GONE"} {
		b.untouched(t, "status "+string(status), ledger.ErrInvalid, b.book.SetStatus(account, status))
	}
}

// A frozen account stays frozen in every asset: none is opened in it that would take postings.
func TestNoAssetIsOpenedInAFrozenAccount(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank")
	read := func() ledger.Account {
		account, err := b.book.Account(t.Context(), b.client, tenant, "bank")
		if err != nil {
			t.Fatal(err)
		}
		return account
	}
	b.commit(t, b.book.SetStatus(read(), ledger.StatusFrozen, b.balance(t, "bank")))
	frozen, made := read(), read()
	made.Status = ledger.StatusOpen
	for _, account := range []ledger.Account{frozen, made} {
		b.untouched(t, "an asset in a frozen account", ledger.ErrFrozen, b.book.OpenAsset(account, ledger.Asset{Currency: eur, NoMinimum: true}))
	}
	b.commit(t, b.book.SetStatus(read(), ledger.StatusOpen, b.balance(t, "bank")))
	b.commit(t, b.book.OpenAsset(read(), ledger.Asset{Currency: eur, NoMinimum: true}))
}
