package inbox

import (
	"bytes"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/watch"
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
	places, err := in.places(e)
	if err != nil {
		return Receipt{}, err
	}
	for _, p := range places {
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName:      &in.config.Table.Name,
			Key:            in.config.Table.Key(p.key.PK, p.key.SK),
			ConsistentRead: aws.Bool(true),
		}, watch.In(ctx)...)
		if err != nil {
			return Receipt{}, errRead.Wrap(err, "inbox: look up %s: %v", business(in.config.Consumer, e.ID), err)
		}
		if len(out.Item) == 0 {
			continue
		}
		r, err := in.decode(e.ID, out.Item)
		if err != nil {
			return Receipt{}, err
		}
		if fingerprint := e.fingerprint(); !bytes.Equal(fingerprint[:], r.fingerprint) {
			return Receipt{}, in.judge(e, out.Item)
		}
		return r, nil
	}
	return Receipt{}, &NotFoundError{Consumer: in.config.Consumer, EventID: e.ID}
}
