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
