package ledger

import (
	"context"
	"errors"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// begin goes on to the first month behind another one. If there is none, what is left is to check the totals. The balance
// was read before the month's postings are, so nothing that it counts can be overlooked.
func (v *verifier) begin(ctx context.Context, after Month) error {
	if after == "" {
		if err := v.authority(ctx); err != nil {
			return err
		}
		v.report.Recomputed.Sum = money.Zero(v.balance.Currency)
	}
	var month MonthTotals
	if after != lastMonth {
		var err error
		if month, err = v.next(ctx, max(v.From, after.next())); err != nil {
			return err
		}
	}
	v.month, v.seen, v.odd = month.Month, Totals{Sum: money.Zero(v.balance.Currency)}, nil
	if month.Month == "" {
		v.phase = verifyTotals
		return nil
	}
	v.phase, v.pass, v.tails = verifyRead, 1, 0
	v.restart(month)
	return nil
}

// restart begins to read the month.
func (v *verifier) restart(month MonthTotals) {
	v.before, v.at = month.Totals, verifyPosition{}
	v.sealed = month.Month <= v.balance.ClosedThrough
	v.seen, v.odd = Totals{Sum: money.Zero(v.balance.Currency)}, nil
	v.extend(month)
}

// extend says which is the last bucket to be read.
func (v *verifier) extend(month MonthTotals) {
	v.last = month.Bucket
	if v.Strays {
		v.last = max(v.last, v.ledger.buckets()-1)
	}
}

// next finds the month to be verified at or behind first.
func (v *verifier) next(ctx context.Context, first Month) (MonthTotals, error) {
	through := v.Through
	if through == "" {
		through = lastMonth
	}
	switch {
	case first > through:
		return MonthTotals{}, nil
	case v.Strays:
		return v.totals(ctx, first)
	default:
		return v.ledger.firstMonth(ctx, v.reads(), v.balance, first, through)
	}
}

// totals are the control totals of a month, from the balance as it was last read, or from the month's seal. A month that
// has none has no postings.
func (v *verifier) totals(ctx context.Context, m Month) (MonthTotals, error) {
	if m > v.balance.ClosedThrough {
		return v.balance.month(m), nil
	}
	seal, err := v.ledger.Seal(ctx, v.reads(), v.balance, m)
	if errors.Is(err, ErrNotFound) {
		return MonthTotals{Month: m, Totals: Totals{Sum: money.Zero(v.balance.Currency)}}, nil
	}
	return seal.MonthTotals, err
}

func (v *verifier) placed() Placed {
	return Placed{Tenant: v.Tenant, Account: v.Account, Stripe: v.Stripe, Lane: v.at.Lane, Month: v.month, Bucket: v.at.Bucket}
}

// readItems reads a page of postings and moves on behind it. In the last partition the position stays behind the last posting,
// where it can go on when there are more.
func (v *verifier) readItems(ctx context.Context) ([]txn.Item, error) {
	s, err := v.ledger.postings(v.placed())
	if err != nil {
		return nil, err
	}
	s.behind, s.limit = v.at.Behind, int32(v.PageSize)
	out, err := v.ledger.page(ctx, v.reads(), s, nil)
	if err != nil {
		return nil, err
	}
	if n := len(out.Items); n > 0 {
		v.at.Behind = v.ledger.keyOf(out.Items[n-1]).SK
	}
	if len(out.LastEvaluatedKey) > 0 {
		v.at.Behind = v.ledger.keyOf(out.LastEvaluatedKey).SK
		return out.Items, nil
	}
	switch {
	case v.at.Lane+1 < v.balance.Lanes:
		v.at = verifyPosition{Bucket: v.at.Bucket, Lane: v.at.Lane + 1}
	case v.at.Bucket < v.last:
		v.at = verifyPosition{Bucket: v.at.Bucket + 1}
	default:
		v.at.End = true
	}
	return out.Items, nil
}

func (v *verifier) readPage(ctx context.Context) error {
	if !v.at.End {
		items, err := v.readItems(ctx)
		if err != nil {
			return err
		}
		for _, item := range items {
			v.count(item)
		}
	}
	if !v.at.End {
		return nil
	}
	return v.settle(ctx)
}

// count adds a posting to what was seen.
func (v *verifier) count(item txn.Item) {
	if class, code, ok := assetOf(item); !ok {
		v.odd = v.appendOdd(item, "does not say of which asset it is") // it may have been one of ours
		return
	} else if !v.balance.in(class, code) {
		return
	}
	line, err := v.ledger.decodePosting(item)
	digest, ok := v.ledger.PostingDigest(item)
	sum := v.seen.Sum
	if err == nil {
		sum, err = sum.Add(line.Amount)
	}
	if err != nil || !ok {
		v.odd, sum = v.appendOdd(item, "cannot be read"), v.seen.Sum
	}
	v.seen = Totals{Count: v.seen.Count + 1, Sum: sum, Digest: v.seen.Digest.Add(digest)}
}

// appendOdd adds a finding about one posting, within bounds.
func (v *verifier) appendOdd(item txn.Item, detail string) []Finding {
	if len(v.odd) == MaxFindings {
		return v.odd
	}
	return append(v.odd, v.about(ChangedPostings, item, detail))
}

// about is a finding about one posting.
func (v *verifier) about(kind FindingKind, item txn.Item, detail string) Finding {
	key := v.ledger.keyOf(item)
	f := Finding{Kind: kind, Month: v.month, Record: key.PK + " / " + key.SK, Detail: detail}
	if at, err := keys.ParseStripePosting(key); err == nil {
		f.Transaction, f.Line = at.Transaction, at.Line
	} else if at, err := keys.ParsePosting(key); err == nil {
		f.Transaction, f.Line = at.Transaction, at.Line
	}
	return f
}

// settle compares what was read with the totals before and after, and says how to go on.
func (v *verifier) settle(ctx context.Context) error {
	after := MonthTotals{Totals: v.before}
	if !v.sealed { // or else nothing has changed
		if err := v.authority(ctx); err != nil {
			return err
		}
		var err error
		if after, err = v.totals(ctx, v.month); err != nil {
			return err
		}
	}
	outcome, finding := judgeMonth(v.before, after.Totals, v.seen)
	finding.Month = v.month
	switch outcome {
	case monthMoved:
		switch {
		case v.tails < verifyTails && v.balance.Lanes == 1 && !v.Strays:
			v.tails++
			v.at.End = false
			v.extend(after)
			return nil
		case v.pass < verifyPasses:
			v.pass, v.tails = v.pass+1, 0
			v.restart(after)
			return nil
		}
		v.report.Moved = append(v.report.Moved, v.month)
	case monthBroken:
		v.report.find(finding)
		if v.Locate {
			v.report.find(v.odd...)
			v.phase, v.at, v.unlocated = verifyLocate, verifyPosition{}, v.seen.Count
			return nil
		}
	default:
		if len(v.odd) == 0 {
			v.report.Months++
		}
	}
	v.report.find(v.odd...)
	return v.finish(ctx)
}

// finish takes over what was seen of a month, and goes on to the next one.
func (v *verifier) finish(ctx context.Context) error {
	all, err := v.report.Recomputed.Add(v.seen)
	if err != nil {
		all = v.report.Recomputed // of changed postings; they are findings
	}
	v.report.Recomputed = all
	v.report.Postings += v.seen.Count
	return v.begin(ctx, v.month)
}
