package outbox

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Client are the calls that reading makes. *dynamodb.Client satisfies it.
type Client interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Get reads one event with a strongly consistent read by key (AP16, IDX16) and checks its digest. If there is none,
// the error is a [NotFoundError].
//
// Cost: 1 read unit for each 4 KiB begun.
func (o *Outbox) Get(ctx context.Context, client Client, id string) (_ Record, err error) {
	ctx, op := o.watch.Begin(ctx, "AP16.get")
	defer op.End(&err)
	if o.err != nil {
		return Record{}, o.err
	}
	key, err := keys.Outbox(id)
	if err != nil {
		return Record{}, &InvalidError{EventID: id, Field: "id", Reason: keyReason(err)}
	}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &o.config.Table.Name,
		Key:            o.config.Table.Key(key.PK, key.SK),
		ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return Record{}, errRead.Wrap(err, "outbox: get event %q: %v", id, err)
	}
	if out.Item == nil {
		return Record{}, &NotFoundError{EventID: id}
	}
	return o.decode(id, out.Item)
}

// Decode reads an item of the table, as a table export has it: ok is false for an item that is no event of an outbox. The
// error is an ErrCorrupt.
func (o *Outbox) Decode(item txn.Item) (r Record, ok bool, err error) {
	if o.err != nil {
		return Record{}, false, o.err
	}
	pk, _ := item[o.config.Table.PK].(*types.AttributeValueMemberS)
	sk, _ := item[o.config.Table.SK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return Record{}, false, nil
	}
	id, err := keys.ParseOutbox(keys.Key{PK: pk.Value, SK: sk.Value})
	if err != nil {
		return Record{}, false, nil
	}
	r, err = o.decode(id, item)
	return r, err == nil, err
}

// Listed is a READY event as the index shows it. The index may lag behind the events: what is listed may have been
// claimed since, and what was created just now may not be listed yet.
type Listed struct {
	// EventID identifies the event; [Outbox.Get] reads the rest of it.
	EventID string
	// Due is the time before which it must not be published.
	Due time.Time
	// Version is that of the record when the index saw it.
	Version int64
	// Attempt counts the attempts to publish, from 0.
	Attempt int64
	// Tenant is whose fact it is.
	Tenant string
	// AggregateType, AggregateID and AggregateVersion say what changed, and to which version.
	AggregateType    string
	AggregateID      string
	AggregateVersion int64
	// Type names the fact.
	Type string
}

// Ready lists the READY events of one shard that are due at or before the cutoff, the earliest first (AP16, IDX17). It
// asks page by page while the caller ranges, up to limit events; a limit of 0 or less means all. An entry that cannot be
// read is an error and the next entry follows, so that it hides nobody else's event; after any other error the iteration
// ends. Items evaluated are items returned: the index holds nothing else.
//
// Cost: for each page half a read unit for each 4 KiB begun of index entries, about 0.3 KiB each; half a unit for a
// shard without due events.
func (o *Outbox) Ready(ctx context.Context, client Client, shard int, cutoff time.Time, limit int) iter.Seq2[Listed, error] {
	return watch.Each(ctx, &o.watch, "AP16.ready", "", func(ctx context.Context, yield func(Listed, error) bool) {
		query, err := o.readyQuery(shard, cutoff)
		if err != nil {
			yield(Listed{}, err)
			return
		}
		for left := limit; ; {
			if limit > 0 {
				query.Limit = aws.Int32(int32(min(left, math.MaxInt32)))
			}
			page, err := client.Query(ctx, query, watch.In(ctx)...)
			if err != nil {
				yield(Listed{}, errRead.Wrap(err, "outbox: list READY events of service %q, shard %d: %v", o.config.Service, shard, err))
				return
			}
			for _, item := range page.Items {
				listed, err := o.listed(item)
				if !yield(listed, err) {
					return
				}
			}
			left -= len(page.Items)
			if page.LastEvaluatedKey == nil || limit > 0 && left <= 0 {
				return
			}
			query.ExclusiveStartKey = page.LastEvaluatedKey
		}
	})
}

func (o *Outbox) readyQuery(shard int, cutoff time.Time) (*dynamodb.QueryInput, error) {
	if err := o.listable(); err != nil {
		return nil, err
	}
	if shard < 0 || shard >= o.Shards() {
		return nil, &InvalidError{Field: "shard", Reason: fmt.Sprintf("%d is none of the %d shards", shard, o.Shards())}
	}
	partition, err := keys.OutboxReadyPartition(o.config.Service, shard)
	if err != nil {
		return nil, &InvalidError{Field: "shard", Reason: keyReason(err)}
	}
	through, err := keys.DueThrough(cutoff)
	if err != nil {
		return nil, &InvalidError{Field: "cutoff", Reason: keyReason(err)}
	}
	return &dynamodb.QueryInput{
		TableName:                &o.config.Table.Name,
		IndexName:                &o.config.Index,
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk <= :through"),
		ExpressionAttributeNames: map[string]string{"#pk": o.config.IndexPK, "#sk": o.config.IndexSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(partition), ":through": text(through),
		},
	}, nil
}

// listed reads an index entry. Event and due time are in its key.
func (o *Outbox) listed(item txn.Item) (Listed, error) {
	in := reader{item: item}
	key := keys.Key{PK: in.text(o.config.IndexPK), SK: in.text(o.config.IndexSK)}
	if in.err != nil {
		return Listed{}, in.err
	}
	_, _, due, id, err := keys.ParseOutboxReady(key)
	if err != nil {
		return Listed{}, errCorrupt.Wrap(err, "outbox: the entry %s / %s of index %s is none of a READY event", key.PK, key.SK, o.config.Index)
	}
	in.id = id
	listed := Listed{
		EventID: id, Due: due, Version: in.number(attrVersion), Attempt: in.number(attrAttempt),
		Tenant: in.text(attrTenant), AggregateType: in.text(attrAggregateType), AggregateID: in.text(attrAggregateID),
		AggregateVersion: in.number(attrAggregateVersion), Type: in.text(attrType),
	}
	if in.err != nil {
		return Listed{}, in.err
	}
	return listed, nil
}
