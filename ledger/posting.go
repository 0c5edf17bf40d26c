package ledger

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// Placed says where a posting is stored.
type Placed struct {
	// Tenant and Account say whose it is, Stripe and Lane how far it is spread.
	Tenant, Account string
	Stripe, Lane    int
	// Month is that of the effective time, Bucket the sub-bucket within it.
	Month  Month
	Bucket int
}

func (p Placed) partition() (string, error) {
	if p.Stripe == 0 && p.Lane == 0 {
		return keys.PostingPartition(p.Tenant, p.Account, string(p.Month), p.Bucket)
	}
	return keys.StripePostingPartition(p.Tenant, p.Account, p.Stripe, p.Lane, string(p.Month), p.Bucket)
}

func (p Placed) key(at time.Time, transaction string, line int) (keys.Key, error) {
	k := keys.Posting{Tenant: p.Tenant, Account: p.Account, Month: string(p.Month), Bucket: p.Bucket, At: at, Transaction: transaction, Line: line}
	if p.Stripe == 0 && p.Lane == 0 {
		return k.Key()
	}
	return keys.StripePosting{Posting: k, Stripe: p.Stripe, Lane: p.Lane}.Key()
}

// times are the two times of a transaction as text.
type times struct{ effective, recorded string }

// postingItem returns the record of one line. Everything in it is part of its digest.
func (l *Ledger) postingItem(tx *Transaction, line int, at Placed, t times, v *values) (txn.Item, error) {
	key, err := at.key(tx.EffectiveAt, tx.ID, line)
	if err != nil {
		return nil, invalidKey("transaction", tx.ID, err)
	}
	p := &tx.Postings[line]
	c := p.Amount.Currency()
	item := v.key(l.config.Table, key, 14)
	item[attrFormat] = formatValue
	item[attrAccount] = v.text(p.Account)
	item[attrAsset], item[attrClass], item[attrScale] = v.text(c.Code()), v.text(classOf(c)), v.integer(int64(c.Scale()))
	item[attrAmount] = v.number(p.Amount.MinorUnits())
	item[attrTransaction], item[attrLine] = v.text(tx.ID), v.integer(int64(line))
	item[attrEffective], item[attrRecorded] = v.text(t.effective), v.text(t.recorded)
	if tx.Source != "" {
		item[attrSource] = v.text(tx.Source)
	}
	return item, nil
}

// Line is one stored posting, read back.
type Line struct {
	Posting
	// Tenant and Transaction say whose it is, Line which one, from 0.
	Tenant, Transaction string
	Line                int
	// EffectiveAt is when it counts, RecordedAt when the writer's clock recorded it.
	EffectiveAt, RecordedAt time.Time
	// Source is that of the transaction.
	Source string
	// Bucket is where it is stored within its month.
	Bucket int
}

// Place says which balance the posting is part of.
func (l Line) Place() Place {
	return Place{Tenant: l.Tenant, Account: l.Account, Asset: l.Amount.Currency().Code(), Stripe: l.Stripe}
}

// decodePosting reads a stored posting and holds its attributes against its key.
func (l *Ledger) decodePosting(item txn.Item) (Line, error) {
	pk, _ := item[l.config.Table.PK].(*types.AttributeValueMemberS)
	sk, _ := item[l.config.Table.SK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return Line{}, &RecordError{Record: "posting", Attribute: l.config.Table.PK}
	}
	key := keys.Key{PK: pk.Value, SK: sk.Value}
	at, err := keys.ParseStripePosting(key)
	if err != nil {
		if at.Posting, err = keys.ParsePosting(key); err != nil {
			return Line{}, &RecordError{Record: "posting " + key.PK + " / " + key.SK, Attribute: l.config.Table.PK}
		}
		at.Stripe, at.Lane = 0, 0
	}
	d := decode("posting "+key.PK+" / "+key.SK, item)
	c := d.currency()
	line := Line{
		Posting: Posting{Account: d.text(attrAccount), Amount: d.amount(attrAmount, c), Stripe: at.Stripe, Lane: at.Lane},
		Tenant:  at.Tenant, Transaction: d.text(attrTransaction), Line: int(d.count(attrLine)),
		EffectiveAt: d.time(attrEffective), RecordedAt: d.time(attrRecorded), Source: d.optionalText(attrSource), Bucket: at.Bucket,
	}
	for _, same := range []struct {
		holds     bool
		attribute string
	}{
		{line.Account == at.Account, attrAccount}, {line.Transaction == at.Transaction, attrTransaction}, {line.Line == at.Line, attrLine},
		{line.EffectiveAt.Equal(at.At) && MonthOf(at.At) == Month(at.Month), attrEffective},
	} {
		if !same.holds {
			d.fail(same.attribute)
		}
	}
	return line, d.err
}
