package ledger

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// Client are the calls that reading makes. *dynamodb.Client satisfies it.
type Client interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// get reads one record, strongly consistent. It is nil if there is none.
func (l *Ledger) get(ctx context.Context, client Client, record string, key keys.Key) (txn.Item, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &l.config.Table.Name, Key: l.config.Table.Key(key.PK, key.SK), ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return nil, errRead.Wrap(err, "ledger: read %s: %v", record, err)
	}
	return out.Item, nil
}

// Account reads an account (strongly consistent). If there is none, the error is a [NotFoundError].
//
// Cost: 1 read unit.
func (l *Ledger) Account(ctx context.Context, client Client, tenant, id string) (_ Account, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.account")
	defer op.End(&err)
	if err := l.unusable(); err != nil {
		return Account{}, err
	}
	key, err := keys.Account(tenant, id)
	if err != nil {
		return Account{}, invalidKey("account", id, err)
	}
	item, err := l.get(ctx, client, accountName(tenant, id), key)
	if err != nil || item == nil {
		return Account{}, missing(err, "account", tenant, id, "")
	}
	return decodeAccount(tenant, id, item)
}

// Balance reads one authority (AP12, IDX11, strongly consistent): what an account has of one asset, on stripe 0. If the
// asset is not open in it, the error is a [NotFoundError]; if the account keeps it with another scale, the balance has
// that scale.
//
// Cost: 1 read unit up to 4 KiB, which an authority of 30 open months reaches.
func (l *Ledger) Balance(ctx context.Context, client Client, tenant, account string, asset money.Currency) (Balance, error) {
	return l.StripeBalance(ctx, client, tenant, account, asset, 0)
}

// StripeBalance reads one stripe of a striped account's authority, as [Ledger.Balance] does.
//
// Cost and errors: those of [Ledger.Balance].
func (l *Ledger) StripeBalance(ctx context.Context, client Client, tenant, account string, asset money.Currency, stripe int) (_ Balance, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.balance")
	defer op.End(&err)
	if err := l.unusable(); err != nil {
		return Balance{}, err
	}
	r := refOf(tenant, account, asset, stripe)
	key, err := r.key()
	if err != nil {
		return Balance{}, invalidKey("account", account, err)
	}
	item, err := l.get(ctx, client, "balance of "+r.place().String(), key)
	if err != nil || item == nil {
		return Balance{}, missing(err, "asset", tenant, account, r.code)
	}
	return decodeAuthority(r, item)
}

// Transaction reads a transaction by its identifier (strongly consistent), all lines of it. If there is none, the error
// is a [NotFoundError]; if it was refused for good, a [RefusedError]. A header that was changed behind the ledger's back is a
// [RecordError].
//
// Cost: 1 read unit for each 4 KiB begun.
func (l *Ledger) Transaction(ctx context.Context, client Client, tenant, id string) (_ Entry, err error) {
	ctx, op := l.watch.Begin(ctx, "AP10.transaction")
	defer op.End(&err)
	if err := l.unusable(); err != nil {
		return Entry{}, err
	}
	key, err := keys.Transaction(tenant, id)
	if err != nil {
		return Entry{}, invalidKey("transaction", id, err)
	}
	item, err := l.get(ctx, client, headerName(tenant, id), key)
	if err != nil || item == nil {
		return Entry{}, missing(err, "transaction", tenant, id, "")
	}
	return decodeHeader(tenant, id, item)
}

// Links reads what became of a transaction (strongly consistent): what was reversed of each line, and by which
// transactions it was reversed or corrected.
//
// Cost: 1 read unit for each 4 KiB begun.
// Errors: [ErrInvalid], [ErrCorrupt], [ErrRead].
func (l *Ledger) Links(ctx context.Context, client Client, of Entry) (_ Links, err error) {
	ctx, op := l.watch.Begin(ctx, "AP10.links")
	defer op.End(&err)
	if err := l.unusable(); err != nil {
		return Links{}, err
	}
	key, err := keys.Links(of.Tenant, of.ID)
	if err != nil {
		return Links{}, invalidKey("transaction", of.ID, err)
	}
	item, err := l.get(ctx, client, "links of "+headerName(of.Tenant, of.ID), key)
	if err != nil {
		return Links{}, err
	}
	return decodeLinks(of, item)
}

// Reservation reads a reservation (strongly consistent). If there is none, the error is a [NotFoundError].
//
// Cost: 1 read unit for each 4 KiB begun.
func (l *Ledger) Reservation(ctx context.Context, client Client, tenant, id string) (_ Reservation, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.reservation")
	defer op.End(&err)
	if err := l.unusable(); err != nil {
		return Reservation{}, err
	}
	key, err := keys.Reservation(tenant, id)
	if err != nil {
		return Reservation{}, invalidKey("reservation", id, err)
	}
	item, err := l.get(ctx, client, reservationName(tenant, id), key)
	if err != nil || item == nil {
		return Reservation{}, missing(err, "reservation", tenant, id, "")
	}
	return decodeReservation(tenant, id, item)
}

// Seal reads the seal of a closed month (strongly consistent). If the month had no postings, or is not closed, the error is
// a [NotFoundError].
//
// Cost: 1 read unit.
func (l *Ledger) Seal(ctx context.Context, client Client, b Balance, m Month) (_ Seal, err error) {
	ctx, op := l.watch.Begin(ctx, "AP11.seal")
	defer op.End(&err)
	if err := l.unusable(); err != nil {
		return Seal{}, err
	}
	key, err := sealKey(b.ref(), m)
	if err != nil {
		return Seal{}, invalidKey("period", b.Account, err)
	}
	item, err := l.get(ctx, client, "seal of "+string(m)+" of "+b.ref().place().String(), key)
	if err != nil || item == nil {
		return Seal{}, missing(err, "seal", b.Tenant, b.Account+" "+string(m), "")
	}
	return decodeSeal(b.ref(), m, item)
}

func missing(err error, what, tenant, id, asset string) error {
	if err != nil {
		return err
	}
	return &NotFoundError{What: what, Tenant: tenant, ID: id, Asset: asset}
}

// Due lists open reservations of a tenant on one shard that expire at or before the cutoff, the earliest first, page by
// page while the caller ranges. They are what the index shows, which lags: the amount, the metadata and the captures are
// not part of it, and [Ledger.Expire] refuses what has changed since. An entry that cannot be read is an error, and the
// next entry follows; after any other error the iteration ends.
//
// Cost: for each page half a read unit for each 4 KiB begun of index entries, about 0.3 KiB each; half a unit for
// a shard with nothing due.
func (l *Ledger) Due(ctx context.Context, client Client, tenant string, shard int, cutoff time.Time) iter.Seq2[Reservation, error] {
	return watch.Each(ctx, &l.watch, "AP12.due", "", func(ctx context.Context, yield func(Reservation, error) bool) {
		in, err := l.dueQuery(tenant, shard, cutoff)
		for more := err == nil; more; more = len(in.ExclusiveStartKey) > 0 {
			out, err := client.Query(ctx, in, watch.In(ctx)...)
			if err != nil {
				yield(Reservation{}, errRead.Wrap(err, "ledger: list due reservations of tenant %q, shard %d: %v", tenant, shard, err))
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

func (l *Ledger) dueQuery(tenant string, shard int, cutoff time.Time) (*dynamodb.QueryInput, error) {
	if err := l.unusable(); err != nil {
		return nil, err
	}
	partition, err := keys.ReservationDuePartition(tenant, shard)
	if err != nil {
		return nil, invalidKey("reservation", fmt.Sprintf("shard %d", shard), err)
	}
	through, err := keys.DueThrough(cutoff)
	if err != nil {
		return nil, invalidKey("reservation", "cutoff", err)
	}
	return &dynamodb.QueryInput{
		TableName: &l.config.Table.Name, IndexName: &l.config.DueIndex,
		KeyConditionExpression:    aws.String("duePk = :pk AND dueSk < :through"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(partition), ":through": text(through)},
	}, nil
}

// listed reads an entry of an index of open reservations.
func listed(tenant string, item txn.Item) (Reservation, error) {
	id, _ := item[attrID].(*types.AttributeValueMemberS)
	if id == nil {
		return Reservation{}, &RecordError{Record: "listed reservation of tenant " + tenant, Attribute: attrID}
	}
	d := decode(reservationName(tenant, id.Value), item)
	r := d.reservation(tenant, id.Value)
	r.State = StateOpen
	return r, d.err
}
