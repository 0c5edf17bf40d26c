package ledger_test

import (
	"errors"
	"testing"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/ledger"
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
	if len(entry.Postings) != 2 || entry.Postings[0].Account != "ann-" || entry.Postings[1].Amount.Text() != "-30.01" || !entry.EffectiveAt.Equal(day) {
		t.Errorf("transaction: %+v", entry)
	}
}

func TestInsufficientFundsAreProvedAndLeaveNoTrace(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-", "cash+")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "10.00")))
	before := b.dump(t)
	for id, debit := range map[string]string{"t-2": "ann-"} {
		_, err := b.try(t, b.book.Post(transfer(id, debit, "bank", "10.01")))
		var poor *ledger.InsufficientError
		if !errors.As(err, &poor) || poor.Available.Text() != "10.00" || poor.Need.Text() != "10.01" || poor.Account != debit || poor.Asset != "USD" {
			t.Errorf("%v", err)
		}
	}
	_, err := b.try(t, b.book.Post(transfer("t-3", "bank", "cash+", "0.01")))
	if !errors.Is(err, ledger.ErrInsufficient) {
		t.Errorf("credit of an empty debit account: %v", err)
	}
	if after := b.dump(t); len(after) != len(before) {
		t.Errorf("a refused transaction wrote %d records", len(after)-len(before))
	}
	b.commit(t, b.book.Post(transfer("t-4", "bank", "ann-", "0.01")))
	b.commit(t, b.book.Post(transfer("t-2", "ann-", "bank", "10.01")))
	b.has(t, "ann-", "0.00", "0.00", "0.00")
}

func TestCostOfPosting(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	receipt := b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "100.00")))
	if receipt.Items != 5 || receipt.Base() != capacity.Whole(10) || receipt.Index() != 0 {
		t.Errorf("%d items, %s base, %s index units; want 5, 10, 0", receipt.Items, receipt.Base(), receipt.Index())
	}
}
