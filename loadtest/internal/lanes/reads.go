package lanes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/loadtest"
	"github.com/dynafin/dynafin/txn"
)

// tenant is whose everything is.
const tenant = "acme"

// collection is a read of one page of one key: what the lanes of orders, trades and positions do.
type collection struct {
	table, index string // the index's key attributes are index+"PK" and index+"SK"
	// at is the key of item i of key k in the route that is read.
	at func(k, i int) (keys.Key, error)
	// items are on a page, each of so many bytes; projected to the index, if there is one.
	items, bytes int
	strong, get  bool
}

// lane stores a page for each of n keys and reads them.
func (c collection) lane(n int) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		var indexes []types.GlobalSecondaryIndex
		if c.index != "" {
			indexes = append(indexes, types.GlobalSecondaryIndex{IndexName: &c.index, KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String(c.index + "PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(c.index + "SK"), KeyType: types.KeyTypeRange}},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"summary"}}})
		}
		if err := s.DB.CreateTable(c.table, indexes...); err != nil {
			return nil, err
		}
		pages := make([]keys.Key, n)
		for k := range n {
			if err := c.store(s, k); err != nil {
				return nil, err
			}
			var err error
			if pages[k], err = c.at(k, 0); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context, op loadtest.Op) error { return c.read(ctx, s.Client, pages[op.Key]) }, nil
	}
}

func (c collection) read(ctx context.Context, client *dynamodb.Client, at keys.Key) error {
	if c.get {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &c.table, Key: txn.Table{}.WithDefaults("").Key(at.PK, at.SK), ConsistentRead: &c.strong})
		return err
	}
	in := &dynamodb.QueryInput{TableName: &c.table, ConsistentRead: &c.strong, Limit: aws.Int32(int32(c.items)),
		KeyConditionExpression: aws.String("PK = :pk"), ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(at.PK)}}
	if c.index != "" {
		in.IndexName, in.KeyConditionExpression = &c.index, aws.String(c.index+"PK = :pk")
	}
	_, err := client.Query(ctx, in)
	return err
}

// store writes one page, in batches and with pauses, so that no key of the index is written too fast.
func (c collection) store(s *loadtest.Stage, k int) error {
	var requests []types.WriteRequest
	for i := range c.items {
		item, err := c.item(k, i)
		if err != nil {
			return err
		}
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	for len(requests) > 0 {
		batch := requests[:min(25, len(requests))]
		requests = requests[len(batch):]
		out, err := s.Client.BatchWriteItem(context.Background(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{c.table: batch}})
		if err != nil {
			return err
		}
		if left := len(out.UnprocessedItems); left > 0 {
			return fmt.Errorf("%s: a page of key %d cannot be stored at once", c.table, k)
		}
	}
	return nil
}

// item is one with the planned size of what the route shows of it.
func (c collection) item(k, i int) (txn.Item, error) {
	key, err := c.at(k, i)
	if err != nil {
		return nil, err
	}
	table := txn.Table{}.WithDefaults("")
	item := table.Key(key.PK, key.SK)
	if c.index != "" { // the table's own keys are short, and do not matter
		item = table.Key(fmt.Sprintf("K%d", k), fmt.Sprintf("I%d", i))
		item[c.index+"PK"], item[c.index+"SK"] = text(key.PK), text(key.SK)
	}
	item["summary"] = text("")
	item["summary"] = text(padding(c.bytes - capacity.ItemSize(item)))
	return item, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func padding(bytes int) string { return strings.Repeat("x", max(bytes, 0)) }

// at is the planned size of hundredths of a KiB.
func at(hundredths int) int { return hundredths * 1024 / 100 }

// noon is when everything in the lanes happened, before any run begins; seconds after it keep things in order.
var noon = time.Date(2025, 12, 31, 12, 0, 0, 0, time.UTC)

func after(i int) time.Time { return noon.Add(time.Duration(i) * time.Second) }

func name(kind string, n int) string { return fmt.Sprintf("%s-%05d", kind, n) }

// The reads of the reference that are the service's own.
var (
	orders = collection{table: "Orders", items: 1, bytes: at(120), strong: true, get: true,
		at: func(k, _ int) (keys.Key, error) { return keys.Order(tenant, name("order", k)) }}
	accountOrders = collection{table: "Orders", index: "GSI1", items: 100, bytes: at(45),
		at: func(k, i int) (keys.Key, error) {
			return keys.AccountOrder(tenant, name("account", k), after(i), name("order", i))
		}}
	statusOrders = collection{table: "Orders", index: "GSI2", items: 1, bytes: at(35),
		at: func(k, i int) (keys.Key, error) {
			return keys.StatusOrder{Tenant: tenant, Account: name("account", k), Status: "OPEN", At: after(i), Order: name("order", i)}.Key()
		}}
	orderTrades = collection{table: "Execution", items: 20, bytes: at(90), strong: true,
		at: func(k, i int) (keys.Key, error) {
			return keys.OrderTrade(tenant, name("order", k), after(i), name("trade", i))
		}}
	accountTrades = collection{table: "Execution", index: "GSI1", items: 100, bytes: at(50),
		at: func(k, i int) (keys.Key, error) {
			return keys.AccountTrade(tenant, name("account", k), after(i), name("trade", i))
		}}
	symbolTrades = collection{table: "Execution", index: "GSI2", items: 100, bytes: at(40),
		at: func(k, i int) (keys.Key, error) {
			return keys.SymbolTrade(tenant, name("SYM", k), after(i), name("trade", i))
		}}
	positions = collection{table: "Portfolio", items: 1, bytes: at(80),
		at: func(k, i int) (keys.Key, error) {
			return keys.Position(tenant, name("account", k), name("SYM", i))
		}}
)
