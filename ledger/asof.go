package ledger

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// AsOf is a point in both times of a ledger.
type AsOf struct {
	// EffectiveAt counts what is effective then or earlier.
	EffectiveAt time.Time
	// KnownAt counts what was known then: what was recorded then or earlier by its writer's clock, and what is in a month
	// that was sealed by then. The zero Time counts everything that is stored.
	KnownAt time.Time
}

// Total is what an account has of one asset, all its stripes together.
type Total struct {
	// Tenant and Account say whose it is, Currency of what.
	Tenant, Account string
	Currency        money.Currency
	// Side is the account's normal side.
	Side Side
	// Signed is the sum of the postings, debits positive; Posted the same as the account's own side sees it.
	Signed, Posted money.Amount
	// Reserved and Available are as in [Balance]; a total as of some time has zero there.
	Reserved, Available money.Amount
	// Postings and Reservations are how many there are.
	Postings, Reservations int64
}

func (t *Total) add(b Balance) error {
	if t.Account == "" {
		zero := money.Zero(b.Currency)
		*t = Total{
			Tenant: b.Tenant, Account: b.Account, Currency: b.Currency, Side: b.Side,
			Signed: zero, Posted: zero, Reserved: zero, Available: zero,
		}
	}
	for _, sum := range []struct {
		to   *money.Amount
		more money.Amount
	}{{&t.Signed, b.Signed}, {&t.Posted, b.Posted}, {&t.Reserved, b.Reserved}, {&t.Available, b.Available}} {
		added, err := sum.to.Add(sum.more)
		if err != nil {
			return err
		}
		*sum.to = added
	}
	t.Postings += b.Totals().Count
	t.Reservations += b.Reservations
	return nil
}

// stripes reads all balances of an account in one asset.
func (l *Ledger) stripes(ctx context.Context, client Client, tenant, account string, asset money.Currency) ([]Balance, error) {
	a, err := l.Account(ctx, client, tenant, account)
	if err != nil {
		return nil, err
	}
	all := make([]Balance, a.Stripes)
	err = each(len(all), func(i int) (err error) {
		all[i], err = l.StripeBalance(ctx, client, tenant, account, asset, i)
		return err
	})
	return all, err
}

// Total returns what an account has of one asset: the sum of its stripes, each read strongly consistent at its own moment.
// If the account or the asset is not open, the error is a [NotFoundError].
//
// Cost: 1 read unit for the account and 1 for each stripe.
func (l *Ledger) Total(ctx context.Context, client Client, tenant, account string, asset money.Currency) (_ Total, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.total")
	defer op.End(&err)
	all, err := l.stripes(ctx, client, tenant, account, asset)
	if err != nil {
		return Total{}, err
	}
	var t Total
	for _, b := range all {
		if err := t.add(b); err != nil {
			return Total{}, err
		}
	}
	return t, nil
}

// BalanceAt returns the balance of an account as of an effective time, and as it was known at some time (strongly
// consistent). It is defined for every time: zero before the first posting, and what all postings add up to after the
// last. What was posted before the call began counts; what is posted during it may.
//
// What was known is by the clocks of the writers. Of two times, the later one never knows less.
//
// Cost: 1 read unit for the account and, for each stripe, 1 for its balance, 1 for its seals, and the postings of at most one month up
// to the effective time: 1 unit for each 4 KiB begun in each partition. Whole months take no reading of postings, but for
// a KnownAt every month that was not sealed by then does.
// Errors: [ErrInvalid], [ErrNotFound], [ErrCorrupt], [ErrRead].
func (l *Ledger) BalanceAt(ctx context.Context, client Client, tenant, account string, asset money.Currency, at AsOf) (_ Total, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.balanceat")
	defer op.End(&err)
	all, err := l.stripes(ctx, client, tenant, account, asset)
	if err != nil {
		return Total{}, err
	}
	return l.totalAt(ctx, client, all, at)
}

// totalAt adds up the stripes of an account as of a time.
func (l *Ledger) totalAt(ctx context.Context, client Client, stripes []Balance, at AsOf) (t Total, err error) {
	for _, b := range stripes {
		sum, err := l.sumAt(ctx, client, b, at)
		if err != nil {
			return Total{}, err
		}
		zero := money.Zero(b.Currency)
		b.Signed, b.Posted, b.Reserved, b.Available, b.Reservations = sum.Sum, b.Side.own(sum.Sum), zero, zero, 0
		b.Closed, b.Open = Totals{Count: sum.Count}, nil
		if err := t.add(b); err != nil {
			return Total{}, err
		}
	}
	return t, nil
}

// bounds says up to which sort key postings count, and which months count whole: those before split. The month at
// split counts in part.
func (at AsOf) bounds() (through string, split Month) {
	through, err := keys.PostingsThrough(at.EffectiveAt)
	switch {
	case err == nil:
		return through, MonthOf(at.EffectiveAt)
	case at.EffectiveAt.UTC().Year() < 1:
		return keys.FirstPosting, "" // before every month
	default:
		return keys.LastPosting, "~" // behind every month
	}
}

// knows says whether something was recorded by then.
func (at AsOf) knows(recorded time.Time) bool {
	return at.KnownAt.IsZero() || !recorded.After(at.KnownAt)
}

// sumAt adds up what a balance had: the last seal that was known, the totals of open months, and the postings of what is left.
func (l *Ledger) sumAt(ctx context.Context, client Client, b Balance, at AsOf) (Totals, error) {
	_, split := at.bounds()
	sum := Totals{Sum: money.Zero(b.Currency)}
	var read []MonthTotals // months whose postings must be read
	if b.ClosedThrough != "" && split != "" {
		for seal, err := range l.seals(ctx, client, b, firstMonth, min(b.ClosedThrough, split, lastMonth), span{descending: true}) {
			if err != nil {
				return Totals{}, err
			}
			if seal.Month < split && at.knows(seal.SealedAt) {
				sum = seal.Through
				break
			}
			read = append(read, seal.MonthTotals)
		}
	}
	for _, m := range b.Open {
		var err error
		switch {
		case m.Month > split:
		case m.Month < split && at.KnownAt.IsZero():
			sum, err = sum.Add(m.Totals)
		default:
			read = append(read, m)
		}
		if err != nil {
			return Totals{}, err
		}
	}
	for _, m := range read {
		part, err := l.sumPostings(ctx, client, b, m, at)
		if err == nil {
			sum, err = sum.Add(part)
		}
		if err != nil {
			return Totals{}, err
		}
	}
	return sum, nil
}

// sumPostings adds up the postings of a month that count.
func (l *Ledger) sumPostings(ctx context.Context, client Client, b Balance, m MonthTotals, at AsOf) (Totals, error) {
	through, _ := at.bounds()
	var partitions []Placed
	for bucket := range m.Bucket + 1 {
		for lane := range b.Lanes {
			partitions = append(partitions, Placed{Tenant: b.Tenant, Account: b.Account, Stripe: b.Stripe, Lane: lane, Month: m.Month, Bucket: bucket})
		}
	}
	sum := Totals{Sum: money.Zero(b.Currency)}
	var mu sync.Mutex
	err := each(len(partitions), func(i int) error {
		s, err := l.postings(partitions[i])
		if err != nil {
			return err
		}
		s.last = through
		for item, err := range l.records(ctx, client, s) {
			if err != nil {
				return err
			}
			if !b.owns(item) {
				continue
			}
			line, err := l.decodePosting(item)
			if err != nil {
				return err
			}
			if !at.knows(line.RecordedAt) {
				continue
			}
			mu.Lock()
			sum, err = sum.Add(Totals{Count: 1, Sum: line.Amount})
			mu.Unlock()
			if err != nil {
				return err
			}
		}
		return nil
	})
	return sum, err
}

// postings is the span of all postings of a partition.
func (l *Ledger) postings(p Placed) (span, error) {
	partition, err := p.partition()
	if err != nil {
		return span{}, invalidKey("account", p.Account, err)
	}
	return span{
		record: "postings of " + accountName(p.Tenant, p.Account) + ", " + p.String(), partition: partition,
		first: keys.FirstPosting, last: keys.LastPosting,
	}, nil
}

// owns says whether a posting of the account is of this balance's asset.
func (b Balance) owns(item txn.Item) bool {
	class, code, ok := assetOf(item)
	return ok && b.in(class, code)
}

// assetOf returns what a posting says it is of, if it does.
func assetOf(item txn.Item) (class, code string, ok bool) {
	a, _ := item[attrClass].(*types.AttributeValueMemberS)
	b, _ := item[attrAsset].(*types.AttributeValueMemberS)
	if a == nil || b == nil {
		return "", "", false
	}
	return a.Value, b.Value, true
}

// assets groups the balances of an account by asset, in the order of class and code, the stripes of each in order.
func assets(all []Balance) [][]Balance {
	var groups [][]Balance
	for _, b := range all {
		i := slices.IndexFunc(groups, func(g []Balance) bool { return g[0].in(classOf(b.Currency), b.Currency.Code()) })
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], b)
	}
	return groups
}
