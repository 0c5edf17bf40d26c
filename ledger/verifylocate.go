package ledger

import (
	"context"
	"errors"
	"iter"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// locatePage holds a page of postings against their transactions.
func (v *verifier) locatePage(ctx context.Context) error {
	items, err := v.readItems(ctx)
	if err != nil {
		return err
	}
	for _, item := range items {
		if !v.balance.owns(item) {
			continue
		}
		v.unlocated--
		line, err := v.ledger.decodePosting(item)
		if err != nil {
			continue // it was found when it was counted
		}
		if err := v.holdAgainst(ctx, item, line); err != nil {
			return err
		}
	}
	if !v.at.End && v.unlocated > 0 { // others may post faster than transactions can be read
		return nil
	}
	return v.finish(ctx)
}

// holdAgainst compares a posting with its transaction, which was written with it and before it is read.
func (v *verifier) holdAgainst(ctx context.Context, item txn.Item, line Line) error {
	if v.entry.ID != line.Transaction || v.entry.Tenant != line.Tenant {
		entry, err := v.ledger.Transaction(ctx, v.reads(), line.Tenant, line.Transaction)
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrRefused):
			v.report.find(v.about(ExtraPostings, item, "its transaction was never posted"))
			return nil
		case errors.Is(err, ErrCorrupt):
			v.report.find(v.about(ChangedPostings, item, "its transaction cannot be read"))
			return nil
		case err != nil:
			return err
		}
		v.entry = entry
	}
	want, ok, err := v.ledger.postingOf(v.entry, line.Line)
	switch {
	case err != nil:
		return err
	case !ok || v.ledger.keyOf(want) != v.ledger.keyOf(item):
		v.report.find(v.about(ExtraPostings, item, "its transaction has no posting there"))
	case v.ledger.differ(want, item):
		v.report.find(v.about(ChangedPostings, item, "is not what its transaction says"))
	}
	return nil
}

// postingOf returns the record of a line as it was written; ok is false if the transaction has no such line.
func (l *Ledger) postingOf(e Entry, line int) (item txn.Item, ok bool, err error) {
	if line < 0 || line >= len(e.Postings) {
		return nil, false, nil
	}
	var t times
	if t.effective, err = keys.Time(e.EffectiveAt); err != nil {
		return nil, false, invalidKey("transaction", e.ID, err)
	}
	if t.recorded, err = keys.Time(e.RecordedAt); err != nil {
		return nil, false, invalidKey("transaction", e.ID, err)
	}
	p := e.Postings[line]
	item, err = l.postingItem(&e.Transaction, line, Placed{
		Tenant: e.Tenant, Account: p.Account, Stripe: p.Stripe, Lane: p.Lane, Month: MonthOf(e.EffectiveAt), Bucket: e.Buckets[line],
	}, t, newValues(postingTexts, postingNumbers))
	return item, err == nil, err
}

func (l *Ledger) differ(want, stored txn.Item) bool {
	a, _ := l.PostingDigest(want)
	b, ok := l.PostingDigest(stored)
	return !ok || a != b
}

// VerifyTransaction holds the postings of one transaction against its header, which has a fingerprint of its own: each
// that is missing or changed is a finding. It finds what [Verification.Locate] cannot, a missing posting, if the caller
// knows which transactions there must be. Errors: ErrNotFound, ErrRefused, ErrCorrupt (the header was changed), ErrRead.
//
// Cost: that of [Ledger.Transaction], and 1 read unit for each posting.
func (l *Ledger) VerifyTransaction(ctx context.Context, client Client, tenant, id string) (_ []Finding, err error) {
	ctx, op := l.watch.Begin(ctx, "AP14.verifytransaction")
	defer op.End(&err)
	e, err := l.Transaction(ctx, client, tenant, id)
	if err != nil {
		return nil, err
	}
	found := make([]*Finding, len(e.Postings))
	err = each(len(e.Postings), func(i int) error {
		want, _, err := l.postingOf(e, i)
		if err != nil {
			return err
		}
		key := l.keyOf(want)
		f := Finding{Month: MonthOf(e.EffectiveAt), Record: key.PK + " / " + key.SK, Transaction: id, Line: i}
		stored, err := l.get(ctx, client, "posting "+f.Record, key)
		switch {
		case err != nil:
			return err
		case len(stored) == 0:
			f.Kind, f.Detail = MissingPostings, "is not stored"
			found[i] = &f
		case l.differ(want, stored):
			f.Kind, f.Detail = ChangedPostings, "is not what its transaction says"
			found[i] = &f
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []Finding
	for _, f := range found {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all, nil
}

// checkTotals holds the seals against one another, and the balance against them and itself. The balance is read first: of
// months that are closed later the seals are left out.
func (v *verifier) checkTotals(ctx context.Context) error {
	if err := v.authority(ctx); err != nil {
		return err
	}
	b := v.balance
	v.checkBalance(b)
	seals := func(func(Seal, error) bool) {}
	if b.ClosedThrough != "" {
		seals = v.ledger.seals(ctx, v.reads(), b, firstMonth, b.ClosedThrough, span{})
	}
	if err := v.checkSeals(b, seals); err != nil {
		return err
	}
	v.phase = verifyDone
	return nil
}

// checkSeals holds the seals, in the order of their months, against one another and the balance.
func (v *verifier) checkSeals(b Balance, seals iter.Seq2[Seal, error]) error {
	chain := Totals{Sum: money.Zero(b.Currency)}
	for seal, err := range seals {
		if err != nil {
			return err
		}
		next, err := chain.Add(seal.Totals)
		if err != nil || next != seal.Through {
			v.report.find(Finding{
				Kind: BrokenSeal, Month: seal.Month, Expected: seal.Through, Found: next,
				Detail: "the seals up to it do not add up to what it says; a seal is missing, or one was changed",
			})
		}
		chain = seal.Through
	}
	if chain != b.Closed {
		v.report.find(Finding{
			Kind: BrokenSeal, Month: b.ClosedThrough, Expected: b.Closed, Found: chain,
			Detail: "the last seal is not what the balance says of closed months",
		})
	}
	return nil
}

// checkBalance holds the record of a balance against itself.
func (v *verifier) checkBalance(b Balance) {
	broken := func(month Month, detail string) {
		v.report.find(Finding{Kind: BrokenTotals, Month: month, Expected: b.Totals(), Detail: detail})
	}
	sum := b.Closed.Sum
	for _, m := range b.Open {
		var err error
		if sum, err = sum.Add(m.Sum); err != nil {
			broken(m.Month, "its months are out of range")
			return
		}
		if m.Month <= b.ClosedThrough {
			broken(m.Month, "the month is closed, and open as well")
		}
	}
	if sum != b.Signed {
		broken("", "its months do not add up to what was posted")
	}
	rest, err := b.Posted.Sub(b.Reserved)
	if err == nil && !b.NoMinimum {
		rest, err = rest.Sub(b.Minimum)
	}
	if err != nil || rest != b.Available {
		broken("", "what is available is not what was posted, less what is reserved and the minimum")
	}
}
