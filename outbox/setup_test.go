package outbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

// bench is a store with a table that holds orders and their events.
type bench struct {
	store  *stores.Store
	client *dynamodb.Client
	orders txn.Table
	events *outbox.Outbox
}

func setup(t stores.TB, opts ...stores.Options) *bench {
	t.Helper()
	return setupMap(t, shardmap.Map{}, opts...)
}

// setupMap is setup with a shard map other than the default.
func setupMap(t stores.TB, shards shardmap.Map, opts ...stores.Options) *bench {
	t.Helper()
	config := outbox.Config{Service: "orders", Map: shards}
	store := stores.Open(t, opts...)
	b := &bench{store: store, client: store.Client(), orders: txn.Table{Name: store.Table(t, newTable("Orders", outbox.New(config)))}}
	config.Table = b.orders
	b.events = outbox.New(config)
	return b
}

// createTable creates the table of an example, which has no other way to fail.
func createTable(client *dynamodb.Client, events *outbox.Outbox) {
	if _, err := client.CreateTable(context.Background(), newTable("Orders", events)); err != nil {
		panic(err)
	}
}

// newTable is a table with the READY index.
func newTable(name string, events *outbox.Outbox) *dynamodb.CreateTableInput {
	return stores.Keyed(name, events.IndexAttributes(), events.Index())
}

// impatient is a Committer that does not wait between attempts.
func impatient(client txn.Client) *txn.Committer {
	return txn.New(client, txn.Config{Jitter: func(time.Duration) time.Duration { return 0 }})
}

func (b *bench) commit(t *testing.T, parts ...txn.Part) txn.Receipt {
	t.Helper()
	receipt, err := impatient(b.client).Commit(t.Context(), parts...)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return receipt
}

// ready lists every READY event of every shard that is due by the cutoff, with its shard.
func (b *bench) ready(t stores.TB, cutoff time.Time) map[string]int {
	t.Helper()
	shardOf := map[string]int{}
	for shard := range b.events.Shards() {
		for listed, err := range b.events.Ready(context.Background(), b.client, shard, cutoff, 0) {
			if err != nil {
				t.Fatal("shard", shard, err)
			}
			shardOf[listed.EventID] = shard
		}
	}
	return shardOf
}

// accepted is the event of an accepted order, complete and valid.
func accepted(orderID string) outbox.Event {
	e := outbox.Event{
		Tenant: "acme", AggregateType: "Order", AggregateID: orderID, AggregateVersion: 1,
		Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: day,
		CausationID: "req-" + orderID, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		Payload: []byte(`{"orderId":"` + orderID + `"}`),
	}
	e.ID = e.StableID()
	return e
}

func (b *bench) order(id string) txn.Part {
	return txn.Put(b.orders, b.orders.Key("TEN#acme#ORDER#"+id, "META"), txn.IfAbsent(), txn.Label("AP01.create"))
}

// item reads the stored record of an event.
func (b *bench) item(t *testing.T, id string) txn.Item {
	t.Helper()
	return itemOf(t, b.client, b.orders, id)
}

func itemOf(t tester, client *dynamodb.Client, orders txn.Table, id string) txn.Item {
	t.Helper()
	consistent := true
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &orders.Name, ConsistentRead: &consistent, Key: orders.Key("OUTBOX#"+id, "EVENT"),
	})
	if err != nil || out.Item == nil {
		t.Fatalf("read the record of %q: %v, %v", id, out, err)
	}
	return out.Item
}

// entry reads the index entry of an event, as the index projects it.
func (b *bench) entry(t *testing.T, id string) txn.Item {
	t.Helper()
	item := b.item(t, id)
	index, condition := outbox.DefaultIndex, "readyPk = :pk AND readySk = :sk"
	out, err := b.client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &b.orders.Name, IndexName: &index, KeyConditionExpression: &condition,
		ExpressionAttributeValues: txn.Item{":pk": item["readyPk"], ":sk": item["readySk"]},
	})
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("read the index entry of %q: %v, %v", id, out, err)
	}
	return out.Items[0]
}
