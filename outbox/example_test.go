package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// An order and the event that reports it commit together. A repeat of the command finds both.
func Example() {
	ctx := context.Background()
	orders := txn.Table{Name: "Orders"}
	events := outbox.New(outbox.Config{Service: "orders", Table: orders})
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, events)

	accepted := outbox.Event{
		Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 1,
		Type: "OrderAccepted", SchemaVersion: 1,
		OccurredAt: time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC),
		Payload:    []byte(`{"orderId":"order-1","quantity":"100"}`),
	}
	accepted.ID = accepted.StableID()
	accept := func() error {
		_, err := txn.Commit(ctx, client,
			txn.Put(orders, orders.Key("TEN#acme#ORDER#order-1", "META"), txn.IfAbsent()),
			events.Create(accepted),
		)
		return err
	}
	fmt.Println("first:", accept())

	var duplicate *outbox.DuplicateError
	fmt.Println("repeat:", errors.As(accept(), &duplicate), "- same event:", duplicate.Same)

	stored, err := events.Get(ctx, client, accepted.ID)
	fmt.Println(stored.State, string(stored.Event.Payload), err)
	// Output:
	// first: <nil>
	// repeat: true - same event: true
	// READY {"orderId":"order-1","quantity":"100"} <nil>
}

// The events that wait to be published are listed shard by shard, by keyed queries alone.
func ExampleOutbox_Ready() {
	ctx := context.Background()
	orders := txn.Table{Name: "Orders"}
	events := outbox.New(outbox.Config{Service: "orders", Table: orders})
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, events)

	nine := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	for n := range 50 {
		e := outbox.Event{
			Tenant: "acme", AggregateType: "Order", AggregateID: fmt.Sprint("order-", n), AggregateVersion: 1,
			Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: nine.Add(time.Duration(n) * time.Minute),
		}
		e.ID = e.StableID()
		if _, err := txn.Commit(ctx, client, events.Create(e)); err != nil {
			fmt.Println(err)
			return
		}
	}
	due := 0
	for shard := range events.Shards() {
		for _, err := range events.Ready(ctx, client, shard, nine.Add(20*time.Minute), 0) {
			if err != nil {
				fmt.Println(err)
				return
			}
			due++
		}
	}
	fmt.Println(due, "of 50 events are due on", events.Shards(), "shards")
	// Output: 21 of 50 events are due on 13 shards
}
