package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// refund reverses an amount of a transfer.
func refund(id, amount string) ledger.Reversal {
	a := dollars(amount)
	return ledger.Reversal{ID: id, EffectiveAt: day, Parts: []ledger.ReversedPart{{Line: 0, Amount: a}, {Line: 1, Amount: a.Neg()}}}
}

func TestAFullReversalHappensOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	original := b.entry(t, "t-1")
	full := ledger.Reversal{ID: "rev-1", EffectiveAt: day}
	b.commit(t, b.book.Reverse(original, full))
	b.has(t, "ann-", "0.00", "0.00", "0.00")
	if err := b.untouched(t, "the same again", ledger.ErrDuplicate, b.book.Reverse(original, full)); !ledger.Repeated(err) {
		t.Errorf("%v", err)
	}
	full.ID = "rev-2"
	b.untouched(t, "a second full reversal", ledger.ErrExceeds, b.book.Reverse(original, full))
	b.untouched(t, "a cent more", ledger.ErrExceeds, b.book.Reverse(original, refund("rev-3", "0.01")))
	if e := b.entry(t, "rev-1"); e.Reverses != "t-1" || e.Postings[0].Amount != dollars("-100.00") {
		t.Errorf("%+v", e)
	}
	b.commit(t, b.book.Reverse(b.entry(t, "rev-1"), ledger.Reversal{ID: "again-1", EffectiveAt: day})) // a reversal is a transaction too
	b.has(t, "ann-", "100.00", "0.00", "100.00")
}

// Two equal refunds with two identifiers are two (L5); together they never exceed a line.
func TestPartialReversalsAddUp(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	original := b.entry(t, "t-1")
	b.commit(t, b.book.Reverse(original, refund("rev-1", "30.00")))
	b.commit(t, b.book.Reverse(original, refund("rev-2", "30.00")))
	err := b.untouched(t, "more than is left", ledger.ErrExceeds, b.book.Reverse(original, refund("rev-3", "40.01")))
	var exceeds *ledger.ExceedsError
	if !errors.As(err, &exceeds) || exceeds.Left != dollars("40.00") || exceeds.Asked != dollars("40.01") || exceeds.Line != 0 || exceeds.ID != "t-1" {
		t.Errorf("%+v", exceeds)
	}
	b.untouched(t, "all of it", ledger.ErrExceeds, b.book.Reverse(original, ledger.Reversal{ID: "rev-3", EffectiveAt: day}))
	b.commit(t, b.book.Reverse(original, refund("rev-3", "40.00")))
	b.has(t, "ann-", "0.00", "0.00", "0.00")
	links, err := b.book.Links(t.Context(), b.client, original)
	if err != nil || !slices.Equal(links.ReversedBy, []string{"rev-1", "rev-2", "rev-3"}) ||
		!slices.Equal(links.Reversed, []money.Amount{dollars("100.00"), dollars("-100.00")}) {
		t.Errorf("%+v, %v", links, err)
	}
}

func TestConcurrentReversalsNeverExceedALine(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "fees", "10.00")))
	original := b.entry(t, "t-1")
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, errs[i] = impatient(b.client).Commit(t.Context(), b.book.Reverse(original, refund(fmt.Sprintf("rev-%d", i), "3.00")))
		}()
	}
	wg.Wait()
	done := 0
	for _, err := range errs {
		switch {
		case err == nil:
			done++
		case !errors.Is(err, ledger.ErrExceeds):
			t.Errorf("%v", err)
		}
	}
	if done != 3 {
		t.Errorf("%d refunds of 3.00 of 10.00", done)
	}
	b.has(t, "bank", "1.00", "0.00", "1.00")
}

func TestAReversalObeysTheRulesOfATransaction(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-", "bob-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	b.commit(t, b.book.Post(transfer("t-2", "ann-", "bob-", "50.00")))
	original := b.entry(t, "t-1")
	b.untouched(t, "funds are gone", ledger.ErrInsufficient, b.book.Reverse(original, ledger.Reversal{ID: "rev-1", EffectiveAt: day}))
	for what, spoil := range map[string]func(*ledger.Reversal){
		"no time":         func(r *ledger.Reversal) { r.EffectiveAt = time.Time{} },
		"before":          func(r *ledger.Reversal) { r.EffectiveAt = day.Add(-1) },
		"a line too many": func(r *ledger.Reversal) { r.Parts[1].Line = 2 },
		"a negative line": func(r *ledger.Reversal) { r.Parts[1].Line = -1 },
		"one line twice":  func(r *ledger.Reversal) { r.Parts[1] = r.Parts[0] },
		"the wrong sign":  func(r *ledger.Reversal) { r.Parts[0].Amount = r.Parts[0].Amount.Neg() },
		"zero":            func(r *ledger.Reversal) { r.Parts[0].Amount = money.Zero(usd) },
		"other currency":  func(r *ledger.Reversal) { r.Parts[0].Amount = euros("1.00") },
		"no identifier":   func(r *ledger.Reversal) { r.ID = "" },
	} {
		r := refund("rev-2", "1.00")
		spoil(&r)
		b.untouched(t, what, ledger.ErrInvalid, b.book.Reverse(original, r))
	}
	r := refund("rev-2", "1.00")
	r.Parts[1].Amount = dollars("-2.00")
	b.untouched(t, "unbalanced", ledger.ErrUnbalanced, b.book.Reverse(original, r))
	b.untouched(t, "more than the line", ledger.ErrExceeds, b.book.Reverse(original, refund("rev-2", "100.01")))
}

func TestACorrectionIsLinkedBothWays(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	original := b.entry(t, "t-1")
	b.commit(t, b.book.Correct(original, transfer("fix-1", "ann-", "bank", "1.00")))
	links, err := b.book.Links(t.Context(), b.client, original)
	if err != nil || !slices.Equal(links.CorrectedBy, []string{"fix-1"}) || links.ReversedBy != nil || !links.Reversed[0].IsZero() {
		t.Errorf("%+v, %v", links, err)
	}
	if e := b.entry(t, "fix-1"); e.Corrects != "t-1" {
		t.Errorf("%+v", e)
	}
	b.has(t, "ann-", "99.00", "0.00", "99.00")
	early := transfer("fix-2", "ann-", "bank", "1.00")
	early.EffectiveAt = day.Add(-1)
	b.untouched(t, "a correction before the original", ledger.ErrInvalid, b.book.Correct(original, early))
}

// As many lines as a transaction can have are reversed by one expression.
func TestALongTransactionIsReversedWhole(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank")
	tx := ledger.Transaction{Tenant: tenant, ID: "t-1", EffectiveAt: day}
	for range 48 {
		tx.Postings = append(tx.Postings, ledger.Debit("bank", dollars("1.00")), ledger.Credit("bank", dollars("1.00")))
	}
	b.commit(t, b.book.Post(tx))
	b.commit(t, b.book.Reverse(b.entry(t, "t-1"), ledger.Reversal{ID: "rev-1", EffectiveAt: day}))
	b.untouched(t, "again", ledger.ErrExceeds, b.book.Reverse(b.entry(t, "t-1"), ledger.Reversal{ID: "rev-2", EffectiveAt: day}))
	b.has(t, "bank", "0.00", "0.00", "0.00")

	tx.ID, tx.Postings = "t-2", append(tx.Postings, tx.Postings[:2]...) // a hundred writes
	b.commit(t, b.book.Post(tx))
	whole := b.entry(t, "t-2")
	b.untouched(t, "more than a hundred writes", ledger.ErrLimit, b.book.Reverse(whole, ledger.Reversal{ID: "rev-3", EffectiveAt: day}))
	for i, half := range [][2]int{{0, 48}, {48, 98}} {
		r := ledger.Reversal{ID: fmt.Sprint("half-", i), EffectiveAt: day}
		for line := half[0]; line < half[1]; line++ {
			r.Parts = append(r.Parts, ledger.ReversedPart{Line: line, Amount: whole.Postings[line].Amount})
		}
		b.commit(t, b.book.Reverse(whole, r))
	}
	b.untouched(t, "and once more", ledger.ErrExceeds, b.book.Reverse(whole, refund("rev-4", "0.01")))
}

func TestLinksAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "fees", "100.00")))
	original := b.entry(t, "t-1")
	for i := range ledger.MaxLinks {
		b.commit(t, b.book.Reverse(original, refund(fmt.Sprintf("rev-%d", i), "0.01")))
	}
	b.untouched(t, "one more", ledger.ErrLimit, b.book.Reverse(original, refund("rev-more", "0.01")))
}
