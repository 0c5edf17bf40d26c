package sentinel

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Client is the one call that Lookup makes. *dynamodb.Client satisfies it.
type Client interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Lookup reads who holds a name, with a strongly consistent read by key (AP17). If nobody does, the error is a
// [NotFoundError]. Do not decide by a Lookup that a name is free: Reserve decides.
//
// Cost: 1 read unit.
func (n *Names) Lookup(ctx context.Context, client Client, tenant, kind, name string) (_ Held, err error) {
	ctx, op := n.watch.Begin(ctx, "AP17.lookup")
	defer op.End(&err)
	key, err := n.nameKey(tenant, kind, name)
	if err != nil {
		return Held{}, err
	}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &n.table.Name,
		Key:            n.table.Key(key.PK, key.SK),
		ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return Held{}, errRead.Wrap(err, "sentinel: look up %s %q of tenant %q: %v", kind, name, tenant, err)
	}
	h, held, err := decode(tenant, kind, name, out.Item)
	switch {
	case err != nil:
		return Held{}, err
	case !held:
		return Held{}, &NotFoundError{tenant, kind, name}
	}
	return h, nil
}

// Decode reads an item of the table, as a table export has it: ok is false for a name that nobody holds, and for an item that
// is none of this package's. The error is an ErrCorrupt.
func (n *Names) Decode(item txn.Item) (h Held, ok bool, err error) {
	pk, _ := item[n.table.PK].(*types.AttributeValueMemberS)
	sk, _ := item[n.table.SK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return Held{}, false, nil
	}
	tenant, kind, name, err := keys.ParseName(keys.Key{PK: pk.Value, SK: sk.Value})
	if err != nil {
		return Held{}, false, nil
	}
	return decode(tenant, kind, name, item)
}
