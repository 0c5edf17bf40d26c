package reference_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/dynafin/dynafin/capacity"
)

// call is what one request was charged.
type call struct {
	operation string
	read      bool // the units are read units
	table     capacity.Units
	index     capacity.Units
}

// meter notes the units of every request of a client, by asking DynamoDB for them.
type meter struct {
	mu    sync.Mutex // a relay sends several requests at a time
	calls []call
}

// on makes a client of which every request is noted.
func (m *meter) on(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("meter", m.note), middleware.After)
	})
}

func (m *meter) note(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error) {
	ask(in.Parameters)
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.calls = append(m.calls, charged(out.Result))
	}
	return out, metadata, err
}

// ask asks for the units of every table and index.
func ask(parameters any) {
	const indexes = types.ReturnConsumedCapacityIndexes
	switch in := parameters.(type) {
	case *dynamodb.PutItemInput:
		in.ReturnConsumedCapacity = indexes
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = indexes
	case *dynamodb.DeleteItemInput:
		in.ReturnConsumedCapacity = indexes
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = indexes
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = indexes
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = indexes
	}
}

func charged(result any) call {
	switch out := result.(type) {
	case *dynamodb.PutItemOutput:
		return sum("PutItem", *out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		return sum("UpdateItem", *out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		return sum("DeleteItem", *out.ConsumedCapacity)
	case *dynamodb.GetItemOutput:
		return sum("GetItem", *out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		return sum("Query", *out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		return sum("TransactWriteItems", out.ConsumedCapacity...)
	}
	return call{operation: fmt.Sprintf("%T", result)}
}

func sum(operation string, all ...types.ConsumedCapacity) call {
	c := call{operation: operation, read: operation == "GetItem" || operation == "Query"}
	for _, one := range all {
		if one.Table != nil {
			c.table += capacity.FromWire(*one.Table.CapacityUnits)
		}
		for _, index := range one.GlobalSecondaryIndexes {
			c.index += capacity.FromWire(*index.CapacityUnits)
		}
	}
	return c
}

// writes adds up the write units.
func writes(calls []call) (table, index capacity.Units) {
	for _, c := range calls {
		if !c.read {
			table, index = table+c.table, index+c.index
		}
	}
	return table, index
}

// only returns the calls of one operation, in their order.
func only(operation string, calls []call) (found []call) {
	for _, c := range calls {
		if c.operation == operation {
			found = append(found, c)
		}
	}
	return found
}

// padding is text that fills an item up to a planned number of bytes.
func padding(bytes int) string { return strings.Repeat("x", max(bytes, 0)) }
