package fanout

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/watch"
)

// branch is the state of one branch in a Run.
//
//	──── done ────┤ ahead, ahead, ahead ├──── not read yet
//	              ▲                     ▲
//	       goes into a cursor        fetched
type branch struct {
	plan      *plan
	name      string
	partition types.AttributeValue
	done      position // behind the last item that was given out
	fetched   position // behind the last item that was read
	ahead     []entry
	ask       int    // how many items to ask for next
	last      []byte // order of the last item that was read, nil before the first
}

// entry is an item that was read ahead.
type entry struct {
	item  Attributes
	key   []types.AttributeValue
	order []byte
	id    digest // of the identity
}

// answer is what came of reading on in a branch.
type answer struct {
	items []Attributes
	at    position
	usage Usage
	err   error // of the AWS client
	odd   string
}

// fetch reads on until there is an item or the end: a page without items is not the end. It changes nothing in the
// branch, because branches are fetched at the same time.
func (b *branch) fetch(ctx context.Context, client Client, limit int) (got answer) {
	text, names, values := b.plan.condition(Branch{Name: b.name, Partition: b.partition})
	for got.at = b.fetched; len(got.items) == 0 && got.at.status != finished; {
		in := &dynamodb.QueryInput{
			TableName:                 &b.plan.Table,
			KeyConditionExpression:    &text,
			ExpressionAttributeNames:  names,
			ExpressionAttributeValues: values,
			ExclusiveStartKey:         b.start(got.at),
			Limit:                     aws.Int32(int32(limit)),
			ScanIndexForward:          aws.Bool(!b.plan.Descending),
			ConsistentRead:            aws.Bool(b.plan.Strong),
			ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
		}
		if b.plan.Index != "" {
			in.IndexName = &b.plan.Index
		}
		out, err := client.Query(ctx, in, watch.In(ctx)...)
		if err != nil {
			got.err = err
			return got
		}
		got.usage.Requests++
		got.usage.Evaluated += int(out.ScannedCount)
		if c := out.ConsumedCapacity; c != nil && c.CapacityUnits != nil {
			got.usage.Units += capacity.FromWire(*c.CapacityUnits)
		}
		got.items = out.Items
		if got.at, got.odd = b.behind(out.LastEvaluatedKey); got.odd != "" {
			return got
		}
	}
	return got
}

// start is the key behind which to read on, nil at the beginning.
func (b *branch) start(at position) Attributes {
	if at.status != reading {
		return nil
	}
	key := Attributes{b.plan.pk: b.partition}
	for i, name := range b.plan.rest {
		key[name] = at.after[i]
	}
	return key
}

// behind is the position that DynamoDB says to continue from.
func (b *branch) behind(last Attributes) (position, string) {
	if len(last) == 0 {
		return position{status: finished}, ""
	}
	if len(last) != 1+len(b.plan.rest) {
		return position{}, "has other key attributes than the query says"
	}
	key, odd := b.key(last)
	return position{status: reading, after: key}, odd
}

// key returns the key attributes of an item that a start key needs beside the partition key.
func (b *branch) key(item Attributes) ([]types.AttributeValue, string) {
	values := make([]types.AttributeValue, len(b.plan.rest))
	for i, name := range b.plan.rest {
		if _, _, ok := keyValue(item[name]); !ok {
			return nil, "has no key attribute " + name
		}
		values[i] = item[name]
	}
	return values, ""
}

// accept takes what fetch has got. After an ItemError the branch stands where it stood.
func (b *branch) accept(got answer) error {
	odd := func(reason string, err error) error {
		return &ItemError{Query: b.plan.Name, Tenant: b.plan.Tenant, Branch: b.name, Reason: reason, Err: err}
	}
	if got.odd != "" {
		return odd(got.odd, nil)
	}
	entries := make([]entry, 0, len(got.items))
	last := b.last
	for _, item := range got.items {
		e, reason, err := b.entry(item)
		if reason == "" && last != nil && b.plan.before(e.order, last) {
			reason = "is not in the order that Order gives"
		}
		if reason != "" {
			return odd(reason, err)
		}
		entries, last = append(entries, e), e.order
	}
	b.ahead, b.fetched, b.last = entries, got.at, last
	if len(entries) == 0 {
		b.done = got.at
	}
	if got.err != nil {
		return &ReadError{Query: b.plan.Name, Tenant: b.plan.Tenant, Branch: b.name, Err: got.err}
	}
	b.ask = min(2*b.ask, maxAsk)
	return nil
}

func (b *branch) entry(item Attributes) (e entry, reason string, err error) {
	e.item = item
	if e.key, reason = b.key(item); reason != "" {
		return e, reason, nil
	}
	if b.plan.Order != nil {
		if e.order, err = b.plan.Order(item); err != nil {
			return e, "has no order", err
		}
	} else if order, ok := sortBytes(item[b.plan.sk]); ok {
		e.order = order
	} else {
		return e, "has no sort key that can be ordered", nil
	}
	if e.order == nil {
		e.order = []byte{} // nil means that there was none yet
	}
	identity, err := b.plan.identity(item)
	if err != nil {
		return e, "has no identity", err
	}
	e.id = digestOf(identity)
	return e, "", nil
}

func (p *plan) identity(item Attributes) (id []byte, err error) {
	if p.Identity != nil {
		return p.Identity(item)
	}
	for _, name := range p.table {
		id, _ = appendKey(id, item[name])
	}
	return id, nil
}

// take gives out the next item that was read ahead.
func (b *branch) take() entry {
	e := b.ahead[0]
	b.ahead = b.ahead[1:]
	b.done = position{status: reading, after: e.key}
	if len(b.ahead) == 0 {
		b.done = b.fetched
	}
	return e
}
