package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// atOnce is how many requests one call has under way at the same time.
const atOnce = 16

// each calls do with 0 to n-1, at most atOnce of them at the same time, waits for all, and returns the error of the lowest
// number, so that it does not depend on their order.
func each(n int, do func(i int) error) error {
	failures := make([]error, n)
	var calls sync.WaitGroup
	var taken atomic.Int64
	for range min(n, atOnce) {
		calls.Go(func() {
			for i := int(taken.Add(1)) - 1; i < n; i = int(taken.Add(1)) - 1 {
				failures[i] = do(i)
			}
		})
	}
	calls.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// span is a range of sort keys, both ends included, in one partition.
type span struct {
	record         string // for people
	partition      string
	first, last    string
	descending     bool
	limit          int32  // of one page; 0 for as much as DynamoDB returns
	behind         string // the sort key behind which to begin, if any
	reportCapacity bool
}

// page reads a part of a span, strongly consistent. The next page begins at the LastEvaluatedKey.
func (l *Ledger) page(ctx context.Context, client Client, s span, start txn.Item) (*dynamodb.QueryOutput, error) {
	in := &dynamodb.QueryInput{
		TableName: &l.config.Table.Name, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(!s.descending),
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk BETWEEN :first AND :last"),
		ExpressionAttributeNames: map[string]string{"#pk": l.config.Table.PK, "#sk": l.config.Table.SK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(s.partition), ":first": text(s.first), ":last": text(s.last),
		},
		ExclusiveStartKey: start,
	}
	if start == nil && s.behind != "" {
		in.ExclusiveStartKey = l.config.Table.Key(s.partition, s.behind)
	}
	if s.limit > 0 {
		in.Limit = aws.Int32(s.limit)
	}
	if s.reportCapacity {
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	}
	out, err := client.Query(ctx, in, watch.In(ctx)...)
	if err != nil {
		return nil, errRead.Wrap(err, "ledger: read %s: %v", s.record, err)
	}
	return out, nil
}

// records returns the items of a span, page by page while the caller ranges. After an error it ends.
func (l *Ledger) records(ctx context.Context, client Client, s span) iter.Seq2[txn.Item, error] {
	return func(yield func(txn.Item, error) bool) {
		var start txn.Item
		for {
			out, err := l.page(ctx, client, s, start)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range out.Items {
				if !yield(item, nil) {
					return
				}
			}
			if start = out.LastEvaluatedKey; len(start) == 0 {
				return
			}
		}
	}
}

// units are what a request was charged, if it asked.
func units(c *types.ConsumedCapacity) capacity.Units {
	if c == nil || c.CapacityUnits == nil {
		return 0
	}
	return capacity.FromWire(*c.CapacityUnits)
}

// keyOf returns the key of an item, empty if it is no text.
func (l *Ledger) keyOf(item txn.Item) (k keys.Key) {
	if pk, ok := item[l.config.Table.PK].(*types.AttributeValueMemberS); ok {
		k.PK = pk.Value
	}
	if sk, ok := item[l.config.Table.SK].(*types.AttributeValueMemberS); ok {
		k.SK = sk.Value
	}
	return k
}

// Balances reads an account with all of its balances (strongly consistent), stripe by stripe, and in each by class and
// code of the asset. Each balance is as it was at some moment during the call, and not all at the same one. If there is no
// account, the error is a [NotFoundError].
//
// Cost: one Query for each stripe: 1 read unit for each 4 KiB begun, where a balance has about 0.5 KiB.
func (l *Ledger) Balances(ctx context.Context, client Client, tenant, account string) (_ Account, _ []Balance, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.balances")
	defer op.End(&err)
	if err := l.unusable(); err != nil {
		return Account{}, nil, err
	}
	key, err := keys.Account(tenant, account)
	if err != nil {
		return Account{}, nil, invalidKey("account", account, err)
	}
	var a Account
	var all []Balance
	for item, err := range l.records(ctx, client, l.authorities(tenant, account, key.PK)) {
		switch {
		case err != nil:
		case l.keyOf(item) == key:
			a, err = decodeAccount(tenant, account, item)
		default:
			all, err = l.appendBalance(all, item)
		}
		if err != nil {
			return Account{}, nil, err
		}
	}
	if a.ID == "" {
		return Account{}, nil, missing(nil, "account", tenant, account, "")
	}
	stripes := make([][]Balance, a.Stripes)
	stripes[0] = all
	err = each(a.Stripes-1, func(i int) error {
		partition, err := keys.StripePartition(tenant, account, i+1)
		if err != nil {
			return invalidKey("account", account, err)
		}
		for item, err := range l.records(ctx, client, l.authorities(tenant, account, partition)) {
			if err == nil {
				stripes[i+1], err = l.appendBalance(stripes[i+1], item)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Account{}, nil, err
	}
	return a, slices.Concat(stripes...), nil
}

func (l *Ledger) authorities(tenant, account, partition string) span {
	return span{
		record: "balances of " + accountName(tenant, account), partition: partition,
		first: keys.FirstAuthority, last: keys.LastAuthority,
	}
}

func (l *Ledger) appendBalance(to []Balance, item txn.Item) ([]Balance, error) {
	key := l.keyOf(item)
	at, err := keys.ParseAuthority(key)
	if err != nil {
		return to, &RecordError{Record: "balance " + key.PK + " / " + key.SK, Attribute: l.config.Table.SK}
	}
	b, err := decodeAuthority(ref{tenant: at.Tenant, account: at.Account, class: at.Class, code: at.Asset, stripe: at.Stripe}, item)
	return append(to, b), err
}

// Seals returns the seals of a balance (strongly consistent), month by month, page by page while the caller ranges. A
// month without postings has none. After an error it ends.
//
// Cost: 1 read unit for each 4 KiB begun; a seal has about 0.3 KiB.
func (l *Ledger) Seals(ctx context.Context, client Client, b Balance) iter.Seq2[Seal, error] {
	return l.seals(ctx, client, b, firstMonth, lastMonth, span{})
}

// The first and the last month that there is.
const (
	firstMonth Month = "0001-01"
	lastMonth  Month = "9999-12"
)

// seals returns the seals of a range of months, both included, in the manner of the span.
func (l *Ledger) seals(ctx context.Context, client Client, b Balance, from, through Month, s span) iter.Seq2[Seal, error] {
	return watch.Each(ctx, &l.watch, "AP11.seals", "", func(ctx context.Context, yield func(Seal, error) bool) {
		first, err := sealKey(b.ref(), from)
		last, err2 := sealKey(b.ref(), through)
		if err = errors.Join(l.unusable(), err, err2); err != nil {
			yield(Seal{}, err)
			return
		}
		s.record, s.partition, s.first, s.last = "seals of "+b.ref().place().String(), first.PK, first.SK, last.SK
		for item, err := range l.records(ctx, client, s) {
			if err != nil {
				yield(Seal{}, err)
				return
			}
			sk := l.keyOf(item).SK
			month := Month(sk[max(0, len(sk)-len(firstMonth)):]) // the range has only keys of one length and beginning
			if seal, err := decodeSeal(b.ref(), month, item); !yield(seal, err) || err != nil {
				return
			}
		}
	})
}

// firstSeal returns the first seal of a range of months.
func (l *Ledger) firstSeal(ctx context.Context, client Client, b Balance, from, through Month) (seal Seal, ok bool, err error) {
	for seal, err := range l.seals(ctx, client, b, from, through, span{limit: 1}) {
		return seal, err == nil, err
	}
	return Seal{}, false, nil
}

// Held lists the open reservations of an account in all of its assets, those that expire first in front. They are what the
// index shows, which lags: the amount, the metadata and the captures are not part of it, and a reservation may have ended
// since. One whose time has come is listed until it is swept; see [Reservation.StateAt]. An entry that cannot be read is
// an error, and the next entry follows; after any other error the iteration ends.
//
// Cost: for each page half a read unit for each 4 KiB begun of index entries, about 0.3 KiB each.
func (l *Ledger) Held(ctx context.Context, client Client, tenant, account string) iter.Seq2[Reservation, error] {
	return watch.Each(ctx, &l.watch, "AP12.held", "", func(ctx context.Context, yield func(Reservation, error) bool) {
		partition, err := keys.AccountReservationPartition(tenant, account)
		switch {
		case l.unusable() != nil:
			err = l.unusable()
		case err != nil:
			err = invalidKey("account", account, err)
		}
		in := &dynamodb.QueryInput{
			TableName: &l.config.Table.Name, IndexName: &l.config.HeldIndex,
			KeyConditionExpression:    aws.String(attrHeldPK + " = :pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(partition)},
		}
		for more := err == nil; more; more = len(in.ExclusiveStartKey) > 0 {
			out, err := client.Query(ctx, in, watch.In(ctx)...)
			if err != nil {
				yield(Reservation{}, errRead.Wrap(err, "ledger: list open reservations of %s: %v", accountName(tenant, account), err))
				return
			}
			for _, item := range out.Items {
				if !yield(listed(tenant, item)) {
					return
				}
			}
			in.ExclusiveStartKey = out.LastEvaluatedKey
		}
		if err != nil {
			yield(Reservation{}, err)
		}
	})
}

// Place says which balance it is.
func (b Balance) Place() Place { return b.ref().place() }

// in says whether the balance is one of an asset, whatever its scale.
func (b Balance) in(class, code string) bool {
	return b.Currency.Code() == code && classOf(b.Currency) == class
}

// String returns the partition in words.
func (p Placed) String() string {
	return fmt.Sprintf("%s stripe %d lane %d bucket %d", p.Month, p.Stripe, p.Lane, p.Bucket)
}

// next is the month behind this one; the first one behind none.
func (m Month) next() Month {
	t, err := time.Parse("2006-01", string(m))
	if err != nil {
		return firstMonth
	}
	return MonthOf(t.AddDate(0, 1, 0))
}
