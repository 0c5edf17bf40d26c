package sentinel

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Client is the one call that Lookup makes. *dynamodb.Client satisfies it.
type Client interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Lookup reads who holds a name, with a strongly consistent read by key (AP17). If nobody does, the error is a
// [NotFoundError]. Do not decide by a Lookup that a name is free: Reserve decides.
//
// Cost: 1 read unit.
func (n *Names) Lookup(ctx context.Context, client Client, tenant, kind, name string) (Held, error) {
	key, err := n.nameKey(tenant, kind, name)
	if err != nil {
		return Held{}, err
	}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &n.table.Name,
		Key:            n.table.Key(key.PK, key.SK),
		ConsistentRead: aws.Bool(true),
	})
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
