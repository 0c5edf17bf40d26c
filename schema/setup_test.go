package schema_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/schema"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// service has every primitive, on tables of its contexts: Orders is shared by three.
type service struct {
	requests *idempotency.Requests
	names    *sentinel.Names
	events   *outbox.Outbox
	received *inbox.Inbox
	book     *ledger.Ledger
}

var orders = txn.Table{Name: "Orders"}

func newService() service {
	maps := []shardmap.Map{shardmap.Default13(), {Version: 2, HashVersion: shardmap.HashV1, Shards: 17}}
	return service{
		requests: idempotency.New(idempotency.Config{Table: orders, Now: clock}),
		names:    sentinel.New(sentinel.Config{Table: orders, Now: clock}),
		events:   outbox.New(outbox.Config{Service: "orders", Table: orders}),
		received: inbox.New(inbox.Config{Consumer: "portfolio", Maps: maps, Now: clock}),
		book:     ledger.New(ledger.Config{Now: clock}),
	}
}

func (s service) projection(client projection.Client) *projection.Projection {
	return projection.New(client, projection.Config{Name: "portfolio", Now: clock})
}

func (s service) desk(client reconcile.Client) *reconcile.Reconciler {
	return reconcile.New(client, reconcile.Config{Now: clock})
}

func (s service) deployment() schema.Deployment {
	return schema.Deployment{
		Name: "brokerage",
		Tables: append(schema.ScanRuns(export.DefaultCheckpoints, "PK", "SK", s.book.Schema()),
			s.requests.Schema(), s.names.Schema(sentinel.ClientOrder), s.events.Schema(), s.received.Schema(), s.book.Schema(),
			s.projection(nil).Schema(), s.desk(nil).Schema(), schema.ShardMaps("ShardMaps", "PK", "SK", "inbox.portfolio")),
		HomeRegion: "eu-west-1",
	}
}

// create creates the tables of a deployment in a store of their own.
func create(t *testing.T, d schema.Deployment) *dynamosim.DB {
	t.Helper()
	db := dynamosim.New(t, dynamosim.Options{Region: "eu-west-1"})
	client := db.Client()
	creations, err := d.Create()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range creations {
		c.CreateTable.Tags = nil // the simulator has none
		if _, err := client.CreateTable(t.Context(), c.CreateTable); err != nil {
			t.Fatalf("%s: %v", aws.ToString(c.CreateTable.TableName), err)
		}
		if c.TimeToLive != nil {
			if _, err := client.UpdateTimeToLive(t.Context(), c.TimeToLive); err != nil {
				t.Fatal(err)
			}
		}
	}
	return db
}
