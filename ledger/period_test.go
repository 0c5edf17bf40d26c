package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
)

// in is a transfer in a month of 2026.
func in(month time.Month, id, debit, credit, amount string) ledger.Transaction {
	tx := transfer(id, debit, credit, amount)
	tx.EffectiveAt = time.Date(2026, month, 15, 12, 0, 0, 0, time.UTC)
	return tx
}

func TestAClosedPeriodIsSealedAndRefusesWhatComesLate(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	b.commit(t, b.book.Post(in(time.September, "t-1", "bank", "fees", "9.00")))
	b.commit(t, b.book.Post(in(time.October, "t-2", "bank", "fees", "10.00")))
	b.commit(t, b.book.Post(in(time.October, "t-3", "bank", "fees", "0.10")))
	b.commit(t, b.book.Post(in(time.November, "t-4", "bank", "fees", "11.00")))
	before := b.balance(t, "bank")
	b.commit(t, b.book.ClosePeriod(before, "2026-10"))

	after := b.balance(t, "bank")
	if after.ClosedThrough != "2026-10" || len(after.Open) != 1 || after.Closed.Count != 3 || after.Closed.Sum != dollars("19.10") {
		t.Errorf("%+v", after)
	}
	if after.Totals() != before.Totals() {
		t.Errorf("closing changed the totals from %+v to %+v", before.Totals(), after.Totals())
	}
	seal, err := b.book.Seal(t.Context(), b.client, after, "2026-10")
	if err != nil || seal.Count != 2 || seal.Sum != dollars("10.10") || seal.Through != after.Closed || seal.Digest != before.Open[1].Digest {
		t.Errorf("%+v, %v", seal, err)
	}
	if seal, err := b.book.Seal(t.Context(), b.client, after, "2026-09"); err != nil || seal.Through.Sum != dollars("9.00") {
		t.Errorf("%+v, %v", seal, err)
	}
	if _, err := b.book.Seal(t.Context(), b.client, after, "2026-08"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("seal of a month without postings: %v", err)
	}
	for _, month := range []time.Month{time.August, time.September, time.October} {
		err := b.untouched(t, month.String(), ledger.ErrPeriodClosed, b.book.Post(in(month, "late", "bank", "fees", "1.00")))
		var closed *ledger.PeriodClosedError
		if !errors.As(err, &closed) || closed.Account != "bank" || closed.ClosedThrough != "2026-10" {
			t.Errorf("%+v", closed)
		}
	}
	b.commit(t, b.book.Post(in(time.November, "t-5", "bank", "fees", "1.00")))
	b.has(t, "bank", "31.10", "0.00", "31.10")
}

func TestClosingMissesNoPosting(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	b.commit(t, b.book.Post(in(time.October, "t-1", "bank", "fees", "1.00")))
	read := b.balance(t, "bank")
	b.commit(t, b.book.Post(in(time.October, "t-2", "bank", "fees", "1.00")))
	b.untouched(t, "a posting since the balance was read", ledger.ErrVersion, b.book.ClosePeriod(read, "2026-10"))
	read = b.balance(t, "bank")
	b.commit(t, b.book.Post(in(time.September, "t-3", "bank", "fees", "1.00")))
	b.untouched(t, "a month that was empty when the balance was read", ledger.ErrVersion, b.book.ClosePeriod(read, "2026-10"))
	b.commit(t, b.book.Post(in(time.November, "t-4", "bank", "fees", "1.00")))
	read = b.balance(t, "bank")
	b.commit(t, b.book.Post(in(time.November, "t-5", "bank", "fees", "1.00"))) // in a later month: no matter
	b.commit(t, b.book.ClosePeriod(read, "2026-10"))
	if err := b.untouched(t, "closed again", ledger.ErrDuplicate, b.book.ClosePeriod(read, "2026-10")); !ledger.Repeated(err) {
		t.Errorf("%v", err)
	}
	b.untouched(t, "an earlier month", ledger.ErrDuplicate, b.book.ClosePeriod(b.balance(t, "bank"), "2026-09"))
	for _, month := range []ledger.Month{"", "2026-13", "2026-1", "november", "2026-11-01"} {
		b.untouched(t, "no month: "+string(month), ledger.ErrInvalid, b.book.ClosePeriod(b.balance(t, "bank"), month))
	}
	empty := b.balance(t, "fees")
	b.commit(t, b.book.ClosePeriod(empty, "2026-08")) // nothing to seal
	b.untouched(t, "a closed month without postings", ledger.ErrPeriodClosed, b.book.Post(in(time.August, "t-6", "bank", "fees", "1.00")))
}

// The months that are open at a time are bounded, so the balance's record is; closing makes room.
func TestOpenMonthsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	at := time.Date(2010, 1, 15, 0, 0, 0, 0, time.UTC)
	post := func(i int) ledger.Transaction {
		tx := transfer(fmt.Sprintf("t-%d", i), "bank", "fees", "1.00")
		tx.EffectiveAt = at.AddDate(0, i, 0)
		return tx
	}
	for i := range ledger.MaxOpenMonths {
		b.commit(t, b.book.Post(post(i)))
	}
	b.untouched(t, "one month more", ledger.ErrLimit, b.book.Post(post(ledger.MaxOpenMonths)))
	again := post(5)
	again.ID = "again"
	b.commit(t, b.book.Post(again))
	b.untouched(t, "more seals than fit", ledger.ErrLimit, b.book.ClosePeriod(b.balance(t, "bank"), "2013-05"))
	for _, name := range []string{"bank", "fees"} {
		b.commit(t, b.book.ClosePeriod(b.balance(t, name), "2013-04"))
	}
	if now := b.balance(t, "bank"); len(now.Open) != ledger.MaxOpenMonths-ledger.MaxSealed || now.Closed.Count != ledger.MaxSealed+1 {
		t.Errorf("%d open months, %d closed postings", len(now.Open), now.Closed.Count)
	}
	b.commit(t, b.book.Post(post(ledger.MaxOpenMonths)))
}
