package storetest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/storetest"
	"github.com/dynafin/dynafin/txn"
)

// newTable is a table with the given key attributes, and an index if there is one.
func newTable(name, pk, sk string, events *outbox.Outbox) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &pk, AttributeType: "S"}, {AttributeName: &sk, AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &pk, KeyType: "HASH"}, {AttributeName: &sk, KeyType: "RANGE"}},
	}
	if events != nil {
		in.AttributeDefinitions = append(in.AttributeDefinitions, events.IndexAttributes()...)
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{events.Index()}
	}
	return in
}

// requestTable is a table of requests with the index of those in need of repair.
func requestTable(pk, sk string, requests *idempotency.Requests) *dynamodb.CreateTableInput {
	in := newTable("Requests", pk, sk, nil)
	in.AttributeDefinitions = append(in.AttributeDefinitions, requests.IndexAttributes()...)
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{requests.Index()}
	return in
}

// Every primitive keeps its promises on the store that the tests run at, with its default names and with others.
func TestThePrimitivesKeepTheirPromisesHere(t *testing.T) {
	for _, names := range []struct{ pk, sk string }{{"PK", "SK"}, {"partition", "sort"}} {
		store := stores.Open(t)
		client, table := store.Client(), txn.Table{PK: names.pk, SK: names.sk}
		events := outbox.Config{Service: "orders", Index: "ready." + names.pk, IndexPK: "due." + names.pk, IndexSK: "due." + names.sk, Map: shardmap.Fixed(3)}
		table.Name = store.Table(t, newTable("Shared", names.pk, names.sk, outbox.New(events)))
		events.Table = table
		repair := idempotency.Config{Index: "repair." + names.pk, IndexPK: "due." + names.pk, IndexSK: "due." + names.sk, Map: shardmap.Fixed(2)}
		repair.Table = txn.Table{PK: names.pk, SK: names.sk, Name: store.Table(t, requestTable(names.pk, names.sk, idempotency.New(repair)))}
		for name, err := range map[string]error{
			"txn":         storetest.Txn(t.Context(), client, table),
			"idempotency": storetest.Idempotency(t.Context(), client, idempotency.Config{Table: table}),
			"repair":      storetest.Repair(t.Context(), client, repair),
			"sentinel":    storetest.Sentinel(t.Context(), client, sentinel.Config{Table: table}),
			"outbox":      storetest.Outbox(t.Context(), client, events),
			"projection":  storetest.Projection(t.Context(), client, projection.Config{Name: "portfolio", Table: table}),
			"inbox":       storetest.Inbox(t.Context(), client, inbox.Config{Consumer: "portfolio", Table: table}),
		} {
			if err != nil {
				t.Errorf("%s with the keys %v: %v", name, names, err)
			}
		}
	}
}

// A store without transactions, which applies each of their writes by itself, must not pass.
func TestAStoreThatAppliesHalfATransactionIsFound(t *testing.T) {
	store := stores.Open(t)
	table := txn.Table{Name: store.Table(t, newTable("Halves", "PK", "SK", nil))}
	client := store.Client(func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, splitTransactions(store.Client())) })
	err := storetest.Txn(t.Context(), client, table)
	if err == nil || !strings.Contains(err.Error(), "all writes of a transaction are applied, or none") {
		t.Errorf("the suite says: %v", err)
	}
}

// A table whose index has other keys than the configuration says is found before anybody relies on it.
func TestAnIndexWithOtherKeysIsFound(t *testing.T) {
	store := stores.Open(t)
	made := outbox.Config{Service: "orders", IndexPK: "otherPk"}
	table := txn.Table{Name: store.Table(t, newTable("Events", "PK", "SK", outbox.New(made)))}
	err := storetest.Outbox(t.Context(), store.Client(), outbox.Config{Service: "orders", Table: table})
	if err == nil || !strings.Contains(err.Error(), "a READY event is listed once, on its shard") {
		t.Errorf("the suite says: %v", err)
	}
}

// splitTransactions sends every action of a transaction in a transaction of its own.
func splitTransactions(plain *dynamodb.Client) func(*middleware.Stack) error {
	split := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		asked, ok := in.Parameters.(*dynamodb.TransactWriteItemsInput)
		if !ok {
			return next.HandleInitialize(ctx, in)
		}
		for _, action := range asked.TransactItems {
			alone := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{action}}
			if _, err := plain.TransactWriteItems(ctx, alone); err != nil {
				return middleware.InitializeOutput{}, middleware.Metadata{}, err
			}
		}
		return middleware.InitializeOutput{Result: &dynamodb.TransactWriteItemsOutput{}}, middleware.Metadata{}, nil
	}
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("SplitTransactions", split), middleware.Before)
	}
}
