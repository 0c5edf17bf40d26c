package idempotency

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/watch"
)

// Reader is the one call that Lookup makes. *dynamodb.Client satisfies it.
type Reader interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Lookup reads what became of a request, with a strong read: its result if it was completed, else one of the errors of
// [Requests.Once] (all but [*ReplayedError]), [*NotFoundError], or [ErrRead] with the AWS error inside.
//
// It is for people and reports, and for a caller that got a [txn.AmbiguousError] and cannot send the command again.
// Whoever can, sends it again instead: that costs no read when all went well, and it decides, whereas not found does
// not. A transaction that is still under way may create the record after the read.
//
// Cost: 1 read unit for each 4 KiB begun of the record.
func (r *Requests) Lookup(ctx context.Context, client Reader, request Request) (_ Result, err error) {
	ctx, op := r.watch.Begin(ctx, "AP08.lookup")
	defer op.End(&err)
	id, key, err := r.identify(request)
	if err != nil {
		return Result{}, err
	}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(r.config.Table.Name),
		Key:            key,
		ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return Result{}, errRead.Wrap(err, "idempotency: lookup of %s: %v", business(id.tenant, id.key), err)
	}
	if len(out.Item) == 0 {
		return Result{}, &NotFoundError{Tenant: id.tenant, Key: id.key}
	}
	stored, err := r.match(id, out.Item)
	if err != nil {
		return Result{}, err
	}
	if stored.State == Completed {
		return stored.Result, nil
	}
	return Result{}, stored.verdict(r.config.Now())
}
