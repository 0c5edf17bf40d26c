package inbox

import (
	"bytes"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Reader is the one call that Lookup makes. *dynamodb.Client satisfies it.
type Reader interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Lookup reads what became of an event at this consumer, with strong reads: its receipt, or [NotFoundError],
// [MismatchError], [RecordError], or [ErrRead] with the AWS error inside.
//
// It is for people and reports. Do not decide by a Lookup that an event is new: Process decides, and a transaction under way
// may create the receipt after the read.
//
// Cost: 1 read unit for each live version of the shard map until the receipt is found.
func (in *Inbox) Lookup(ctx context.Context, client Reader, e Event) (_ Receipt, err error) {
	ctx, op := in.watch.Begin(ctx, "AP09.lookup")
	defer op.End(&err)
	r, item, err := in.find(ctx, client, e)
	if err != nil {
		return Receipt{}, err
	}
	if fingerprint := e.fingerprint(); !bytes.Equal(fingerprint[:], r.fingerprint) {
		return Receipt{}, in.judge(e, item)
	}
	return r, nil
}

// Get reads the receipt of an event by its ID alone, with strong reads, for people who do not have the event: whether it is the
// receipt of that event and not of another one with its ID, only [Inbox.Lookup] can tell. Errors: [ErrInvalid], [ErrNotFound],
// [ErrCorrupt], [ErrRead].
//
// Cost: 1 read unit for each live version of the shard map until the receipt is found.
func (in *Inbox) Get(ctx context.Context, client Reader, eventID string) (_ Receipt, err error) {
	ctx, op := in.watch.Begin(ctx, "AP09.get")
	defer op.End(&err)
	r, _, err := in.find(ctx, client, Event{ID: eventID})
	return r, err
}

// find reads the receipt of an event under each live version of the shard map.
func (in *Inbox) find(ctx context.Context, client Reader, e Event) (Receipt, txn.Item, error) {
	places, err := in.places(e)
	if err != nil {
		return Receipt{}, nil, err
	}
	for _, p := range places {
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName:      &in.config.Table.Name,
			Key:            in.config.Table.Key(p.key.PK, p.key.SK),
			ConsistentRead: aws.Bool(true),
		}, watch.In(ctx)...)
		if err != nil {
			return Receipt{}, nil, errRead.Wrap(err, "inbox: look up %s: %v", business(in.config.Consumer, e.ID), err)
		}
		if len(out.Item) == 0 {
			continue
		}
		r, err := in.decode(e.ID, out.Item)
		return r, out.Item, err
	}
	return Receipt{}, nil, &NotFoundError{Consumer: in.config.Consumer, EventID: e.ID}
}

// Decode reads an item of the table, as a table export has it: ok is false for an item that is no receipt of this consumer.
// The error is a [RecordError].
func (in *Inbox) Decode(item txn.Item) (r Receipt, ok bool, err error) {
	pk, _ := item[in.config.Table.PK].(*types.AttributeValueMemberS)
	sk, _ := item[in.config.Table.SK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return Receipt{}, false, nil
	}
	consumer, _, _, eventID, err := keys.ParseInbox(keys.Key{PK: pk.Value, SK: sk.Value})
	if err != nil || consumer != in.config.Consumer {
		return Receipt{}, false, nil
	}
	r, err = in.decode(eventID, item)
	return r, true, err
}
