package ledger

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// ref names one authority. It is a map key.
type ref struct {
	tenant, account string
	class, code     string
	stripe          int
}

func refOf(tenant, account string, c money.Currency, stripe int) ref {
	return ref{tenant: tenant, account: account, class: classOf(c), code: c.Code(), stripe: stripe}
}

func (r ref) place() Place {
	return Place{Tenant: r.tenant, Account: r.account, Asset: r.code, Stripe: r.stripe}
}

func (r ref) key() (keys.Key, error) {
	switch {
	case r.stripe != 0:
		return keys.StripeAuthority(r.tenant, r.account, r.stripe, r.class, r.code)
	case r.class == classSecurity:
		return keys.SecurityAuthority(r.tenant, r.account, r.code)
	default:
		return keys.CashAuthority(r.tenant, r.account, r.code)
	}
}

// Totals are the control totals of a set of postings.
type Totals struct {
	// Count is how many postings there are.
	Count int64
	// Sum is what they add up to, debits positive.
	Sum money.Amount
	// Digest stands for their content.
	Digest Digest
}

// Add returns the totals of both sets together. The error is a money.RangeError or a money.MismatchError.
func (t Totals) Add(other Totals) (Totals, error) {
	sum, err := t.Sum.Add(other.Sum)
	return Totals{Count: t.Count + other.Count, Sum: sum, Digest: t.Digest.Add(other.Digest)}, err
}

// MonthTotals are those of one month.
type MonthTotals struct {
	// Month is the month of the postings' effective times.
	Month Month
	Totals
	// Bucket is the current, and last, bucket of the month.
	Bucket int
	// Room is how many slots are left in it.
	Room int64
}

// Balance is one authority as it was read: what an account has of one asset (AP12), on one stripe.
type Balance struct {
	// Tenant and Account say whose it is.
	Tenant, Account string
	// Currency is the asset, with the scale that the account keeps.
	Currency money.Currency
	// Stripe is 0 but for a striped account, whose balance is the sum of its stripes.
	Stripe int
	// Side is the account's normal side, Status what it takes.
	Side   Side
	Status Status
	// Signed is the sum of all postings, debits positive.
	Signed money.Amount
	// Posted is the same as the account's own side sees it: positive for what it has.
	Posted money.Amount
	// Reserved is what open reservations hold, expired ones included until they are swept.
	Reserved money.Amount
	// Available is what may still be spent: posted less reserved less the minimum.
	Available money.Amount
	// Minimum is what must stay, unless NoMinimum.
	Minimum   money.Amount
	NoMinimum bool
	// Reservations is how many are open.
	Reservations int64
	// Version rises with every change. See [Transaction.Expect].
	Version int64
	// Slots is this asset's share of every bucket, Lanes over how many partitions each bucket may be spread.
	Slots int64
	Lanes int
	// ClosedThrough is the last closed month, empty if none is.
	ClosedThrough Month
	// Closed are the control totals of all closed months, Open those of each open month that has postings, in order.
	Closed Totals
	Open   []MonthTotals
}

// Totals returns the control totals of all postings.
func (b Balance) Totals() Totals {
	all := Totals{Count: b.Closed.Count, Sum: b.Signed, Digest: b.Closed.Digest}
	for _, m := range b.Open {
		all.Count += m.Count
		all.Digest = all.Digest.Add(m.Digest)
	}
	return all
}

func (b Balance) ref() ref { return refOf(b.Tenant, b.Account, b.Currency, b.Stripe) }

// month returns the totals of an open month, empty if it has no postings.
func (b Balance) month(m Month) MonthTotals {
	for _, open := range b.Open {
		if open.Month == m {
			return open
		}
	}
	return MonthTotals{Month: m, Totals: Totals{Sum: money.Zero(b.Currency)}, Room: b.Slots}
}

// authorityWrite creates an authority with nothing in it.
func (l *Ledger) authorityWrite(a Account, asset Asset, stripe int) (txn.Write, error) {
	if err := a.checkAsset(asset); err != nil {
		return txn.Write{}, err
	}
	r := refOf(a.Tenant, a.ID, asset.Currency, stripe)
	key, err := r.key()
	if err != nil {
		return txn.Write{}, invalidKey("account", a.ID, err)
	}
	item := l.config.Table.Key(key.PK, key.SK)
	item[attrFormat] = formatValue
	item[attrAsset] = text(r.code)
	item[attrClass] = text(r.class)
	item[attrScale] = integer(int64(asset.Currency.Scale()))
	item[attrSide] = text(string(a.Side))
	item[attrStatus] = openValue
	item[attrPosted] = zeroValue
	item[attrReserved] = zeroValue
	item[attrAvailable] = zeroValue
	item[attrOpenCount] = zeroValue
	item[attrVersion] = oneValue
	item[attrSlots] = integer(int64(l.config.BucketPostings / a.Assets))
	if !asset.NoMinimum {
		item[attrMinimum] = amount(asset.Minimum)
		item[attrAvailable] = amount(a.Side.own(asset.Minimum.Neg()))
	}
	if a.Lanes > 1 {
		item[attrLanes] = integer(int64(a.Lanes))
	}
	return txn.Write{
		Action: txn.ActionPut, Table: l.config.Table, Item: item,
		Condition: ifAbsent, Names: l.absent, Fence: true, Settles: true,
		Explain: func(old txn.Item) error {
			if old == nil {
				return nil
			}
			b, err := decodeAuthority(r, old)
			if err != nil {
				return err
			}
			same := b.Side == a.Side && b.Currency == asset.Currency && b.NoMinimum == asset.NoMinimum &&
				b.Minimum.MinorUnits() == asset.Minimum.MinorUnits()
			return &DuplicateError{What: "asset", Tenant: a.Tenant, ID: a.ID + " " + r.code, Same: same}
		},
	}, nil
}

// ifAbsent is the condition of a record that is put once.
const ifAbsent = "attribute_not_exists(#pk)"

// decodeAuthority reads an authority, whose key the caller knows.
func decodeAuthority(r ref, item txn.Item) (Balance, error) {
	d := decode("balance of "+r.place().String(), item)
	b := Balance{
		Tenant: r.tenant, Account: r.account, Stripe: r.stripe, Currency: d.currency(),
		Side: Side(d.text(attrSide)), Status: Status(d.text(attrStatus)),
		Reservations: d.count(attrOpenCount), Version: d.count(attrVersion), Slots: d.count(attrSlots), Lanes: 1,
	}
	if d.has(attrLanes) {
		b.Lanes = int(d.count(attrLanes))
	}
	if b.Lanes < 1 || b.Lanes > MaxLanes {
		d.fail(attrLanes)
	}
	if b.Side != DebitSide && b.Side != CreditSide {
		d.fail(attrSide)
	}
	if d.err == nil && (b.Currency.Code() != r.code || classOf(b.Currency) != r.class) {
		d.fail(attrAsset)
	}
	b.Signed = d.amount(attrPosted, b.Currency)
	b.Posted = b.Side.own(b.Signed)
	b.Reserved = b.Side.own(d.amount(attrReserved, b.Currency)).Neg()
	b.Available = b.Side.own(d.amount(attrAvailable, b.Currency))
	b.NoMinimum = !d.has(attrMinimum)
	b.Minimum = d.optionalAmount(attrMinimum, b.Currency)
	b.ClosedThrough = d.month(attrClosed)
	b.Closed = Totals{
		Count: d.optionalCount(attrBaseCount), Sum: d.optionalAmount(attrBaseSum, b.Currency),
		Digest: digestOf(d.half(attrBaseX), d.half(attrBaseY)),
	}
	b.Open = d.openMonths(b.Currency)
	return b, d.err
}

// month reads an optional month, such as the last closed one.
func (d *decoder) month(name string) Month {
	if !d.has(name) {
		return ""
	}
	m, ok := monthOfDigits(d.text(name))
	if !ok {
		d.fail(name)
	}
	return m
}

func (d *decoder) openMonths(c money.Currency) []MonthTotals {
	if !d.has(attrMonths) {
		return nil
	}
	set, ok := d.item[attrMonths].(*types.AttributeValueMemberSS)
	if !ok {
		d.fail(attrMonths)
		return nil
	}
	all := make([]MonthTotals, 0, len(set.Value))
	for _, digits := range set.Value {
		m, ok := monthOfDigits(digits)
		if !ok {
			d.fail(attrMonths)
			return nil
		}
		all = append(all, MonthTotals{
			Month: m,
			Totals: Totals{
				Count: d.count("n" + digits), Sum: d.optionalAmount("s"+digits, c),
				Digest: digestOf(d.half("x"+digits), d.half("y"+digits)),
			},
			Bucket: int(d.optionalCount("b" + digits)), Room: d.count("r" + digits),
		})
		if all[len(all)-1].Bucket >= MaxBuckets {
			d.fail("b" + digits)
		}
	}
	slices.SortFunc(all, func(a, b MonthTotals) int { return strings.Compare(string(a.Month), string(b.Month)) })
	return all
}
