package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// MaxSealed is how many months one [Ledger.ClosePeriod] can seal.
const MaxSealed = 40

// Seal is what a closed month leaves: the control totals of its postings, for ever.
type Seal struct {
	// Tenant, Account and Stripe say whose it is.
	Tenant, Account string
	Stripe          int
	MonthTotals
	// Through are the control totals of all postings up to and including the month: the balance at its end.
	Through Totals
	// SealedAt is when the writer's clock recorded it.
	SealedAt time.Time
}

// ClosePeriod returns the part that closes every month through the given one, for one balance as it was read: later
// postings with an effective time in them are refused with a [PeriodClosedError], and each month that has postings leaves
// a [Seal]. Postings in later months do not disturb it. The Commit fails with a [VersionError] if a month that would be
// closed got postings since, or a later month its first, and with a [DuplicateError] if the period is closed already. A striped account is closed stripe by
// stripe.
//
// Cost: 2 write units for the balance, and 2 for each month that is sealed.
func (l *Ledger) ClosePeriod(b Balance, through Month) txn.Part {
	const label = "AP12.close"
	writes, err := l.closePeriod(b, through)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, writes...)
}

func (l *Ledger) closePeriod(b Balance, through Month) ([]txn.Write, error) {
	invalid := func(field, reason string) error {
		return &InvalidError{What: "period", ID: b.Account, Field: field, Reason: reason}
	}
	switch {
	case l.unusable() != nil:
		return nil, l.unusable()
	case !through.Valid():
		return nil, invalid("through", `is not a month such as "2026-11"`)
	case b.Version < 1:
		return nil, invalid("Version", "is not one that was read")
	case b.ClosedThrough != "" && !b.ClosedThrough.Valid() || slices.ContainsFunc(b.Open, func(m MonthTotals) bool { return !m.Month.Valid() }):
		return nil, invalid("months", "are not those that were read")
	case through <= b.ClosedThrough:
		return nil, &DuplicateError{What: "period", Tenant: b.Tenant, ID: b.Account + " " + string(through), Same: true}
	}
	at, err := l.timestamp()
	if err != nil {
		return nil, err
	}
	base := b.Closed
	var sealed []MonthTotals
	writes := make([]txn.Write, 1)
	for _, m := range b.Open {
		if m.Month > through {
			break // in order
		}
		if base, err = base.Add(m.Totals); err != nil {
			return nil, invalid("balance", "is out of range")
		}
		seal, err := l.sealWrite(b, m, base, at)
		if err != nil {
			return nil, err
		}
		sealed, writes = append(sealed, m), append(writes, seal)
	}
	if len(sealed) > MaxSealed {
		return nil, &LimitError{What: "period", ID: b.Account, Limit: "months sealed at once", Max: MaxSealed}
	}
	writes[0], err = l.closeWrite(b, through, sealed, base)
	return writes, err
}

// closeWrite takes the months out of the authority and puts their totals into its base. Its condition names all open
// months, so that none slips through, and the counts of those that are closed, which only rise.
func (l *Ledger) closeWrite(b Balance, through Month, sealed []MonthTotals, base Totals) (txn.Write, error) {
	r := b.ref()
	key, err := r.key()
	if err != nil {
		return txn.Write{}, invalidKey("account", b.Account, err)
	}
	values := map[string]types.AttributeValue{":v": formatValue, ":one": oneValue, ":through": text(through.digits())}
	condition, update := "v = :v", "SET closed = :through, version = version + :one"
	if b.ClosedThrough == "" {
		condition += " AND attribute_not_exists(closed)"
	} else {
		condition += " AND closed = :closed"
		values[":closed"] = text(b.ClosedThrough.digits())
	}
	if len(b.Open) == 0 {
		condition += " AND attribute_not_exists(months)"
	} else {
		condition += " AND months = :months"
		values[":months"] = monthSet(b.Open)
	}
	if len(sealed) > 0 {
		x, y := base.Digest.halves()
		update += ", baseCount = :count, baseSum = :sum, baseX = :x, baseY = :y"
		values[":count"], values[":sum"] = integer(base.Count), amount(base.Sum)
		values[":x"], values[":y"] = number(x.decimal()), number(y.decimal())
		values[":sealed"] = monthSet(sealed)
		var gone []string
		for _, m := range sealed {
			digits := m.Month.digits()
			condition += " AND n" + digits + " = :n" + digits
			values[":n"+digits] = integer(m.Count)
			for _, letter := range [...]string{"n", "s", "x", "y", "r", "b"} {
				gone = append(gone, letter+digits)
			}
		}
		update += " REMOVE " + strings.Join(gone, ", ") + " DELETE months :sealed"
	}
	return txn.Write{
		Action: txn.ActionUpdate, Table: l.config.Table, Key: l.config.Table.Key(key.PK, key.SK),
		Update: update, Condition: condition, Values: values, Fence: true, Settles: true,
		Explain: func(old txn.Item) error {
			if old == nil {
				return &NotFoundError{What: "asset", Tenant: r.tenant, ID: r.account, Asset: r.code}
			}
			stored, err := decodeAuthority(r, old)
			switch {
			case err != nil:
				return err
			case stored.ClosedThrough >= through:
				return &DuplicateError{What: "period", Tenant: b.Tenant, ID: b.Account + " " + string(through), Same: true}
			}
			return &VersionError{What: "period", ID: "of " + r.place().String(), Expected: b.Version, Stored: stored.Version}
		},
	}, nil
}

func monthSet(months []MonthTotals) types.AttributeValue {
	set := make([]string, len(months))
	for i, m := range months {
		set[i] = m.Month.digits()
	}
	return &types.AttributeValueMemberSS{Value: set}
}

// sealWrite creates the seal of one month.
func (l *Ledger) sealWrite(b Balance, m MonthTotals, through Totals, at string) (txn.Write, error) {
	key, err := sealKey(b.ref(), m.Month)
	if err != nil {
		return txn.Write{}, invalidKey("period", b.Account, err)
	}
	item := l.config.Table.Key(key.PK, key.SK)
	item[attrFormat] = formatValue
	item[attrAsset], item[attrClass], item[attrScale] = text(b.Currency.Code()), text(classOf(b.Currency)), integer(int64(b.Currency.Scale()))
	x, y := m.Digest.halves()
	item[attrCount], item[attrSum], item[attrX], item[attrY] = integer(m.Count), amount(m.Sum), number(x.decimal()), number(y.decimal())
	x, y = through.Digest.halves()
	item[attrThroughCount], item[attrThroughSum] = integer(through.Count), amount(through.Sum)
	item[attrThroughX], item[attrThroughY] = number(x.decimal()), number(y.decimal())
	item[attrBucket] = integer(int64(m.Bucket))
	item[attrSealedAt] = text(at)
	return txn.Write{
		Action: txn.ActionPut, Table: l.config.Table, Item: item,
		Condition: ifAbsent, Names: l.absent, Fence: true,
	}, nil
}

func sealKey(r ref, m Month) (keys.Key, error) {
	seal := keys.Seal{Tenant: r.tenant, Account: r.account, Class: r.class, Asset: r.code, Month: string(m)}
	if r.stripe == 0 {
		return seal.Key()
	}
	return keys.StripeSeal{Seal: seal, Stripe: r.stripe}.Key()
}

func decodeSeal(r ref, m Month, item txn.Item) (Seal, error) {
	d := decode("seal of "+string(m)+" of "+r.place().String(), item)
	c := d.currency()
	s := Seal{
		Tenant: r.tenant, Account: r.account, Stripe: r.stripe,
		MonthTotals: MonthTotals{
			Month:  m,
			Totals: Totals{Count: d.count(attrCount), Sum: d.amount(attrSum, c), Digest: digestOf(d.half(attrX), d.half(attrY))},
			Bucket: int(d.count(attrBucket)),
		},
		Through: Totals{
			Count: d.count(attrThroughCount), Sum: d.amount(attrThroughSum, c), Digest: digestOf(d.half(attrThroughX), d.half(attrThroughY)),
		},
		SealedAt: d.time(attrSealedAt),
	}
	if s.Bucket >= MaxBuckets {
		d.fail(attrBucket)
	}
	return s, d.err
}
