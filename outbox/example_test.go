package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

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

// A relay publishes what was committed. What the broker refuses is tried again, then parked, and an operator decides.
func ExampleRelay() {
	ctx := context.Background()
	orders := txn.Table{Name: "Orders"}
	events := outbox.New(outbox.Config{Service: "orders", Table: orders})
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, events)
	for n := range 3 {
		e := outbox.Event{
			Tenant: "acme", AggregateType: "Order", AggregateID: fmt.Sprint("order-", n), AggregateVersion: 1,
			Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC),
		}
		e.ID = e.StableID()
		if _, err := txn.Commit(ctx, client, events.Create(e)); err != nil {
			fmt.Println(err)
			return
		}
	}

	broker := &outbox.Memory{Refuse: func(m outbox.Message) outbox.Result {
		if m.Event.AggregateID == "order-1" {
			return outbox.Result{Err: errors.New("larger than the broker takes"), Final: true}
		}
		return outbox.Result{}
	}}
	relay := outbox.NewRelay(events, client, broker, outbox.RelayConfig{Owner: "pod-7"}) // a service calls relay.Run(ctx)
	round, err := relay.Once(ctx)
	fmt.Println("completed:", round.Completed, "parked:", round.Parked, err)

	for parked, err := range events.Parked(ctx, client) {
		fmt.Println(parked.Event.AggregateID, "is parked:", parked.Failure, err)
		_, err = txn.Commit(ctx, client, events.Pass(parked, outbox.Audit{By: "ops@acme", Reason: "sent by hand", At: time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)}))
		fmt.Println("passed:", err)
	}
	// Output:
	// completed: 2 parked: 1 <nil>
	// order-1 is parked: larger than the broker takes <nil>
	// passed: <nil>
}

// Records of the table's stream are published as they come; the relay that polls finds nothing left.
func ExampleRelay_HandleStream() {
	ctx := context.Background()
	orders := txn.Table{Name: "Orders"}
	events := outbox.New(outbox.Config{Service: "orders", Table: orders})
	db := dynamosim.Open(dynamosim.Options{})
	client := db.Client()
	table := newTable("Orders", events)
	table.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage}
	created, err := client.CreateTable(ctx, table)
	if err != nil {
		fmt.Println(err)
		return
	}
	accepted := outbox.Event{
		Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 1,
		Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC),
	}
	accepted.ID = accepted.StableID()
	if _, err := txn.Commit(ctx, client, events.Create(accepted)); err != nil {
		fmt.Println(err)
		return
	}

	broker := &outbox.Memory{}
	fast := outbox.NewRelay(events, client, broker, outbox.RelayConfig{Owner: "stream"})
	feed := dynamosim.NewFeed(db.StreamsClient(), *created.TableDescription.LatestStreamArn)
	_, err = feed.Poll(ctx, func(ctx context.Context, records []streams.Record) error {
		round, err := fast.HandleStream(ctx, records)
		fmt.Println("stream:", round.Completed, "completed", err)
		return nil // the stream goes on; relays find what was not published
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	round, err := outbox.NewRelay(events, client, broker, outbox.RelayConfig{Owner: "poll"}).Once(ctx)
	fmt.Println("poll:", round.Listed, "left", err)
	// Output:
	// stream: 1 completed <nil>
	// poll: 0 left <nil>
}

// In an ordered outbox a version is published after the one before it, whatever the order in which they are due.
func ExampleConfig_ordered() {
	ctx := context.Background()
	orders := txn.Table{Name: "Orders"}
	events := outbox.New(outbox.Config{Service: "orders", Table: orders, Ordered: true})
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, events)
	nine := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for version := range 3 {
		e := outbox.Event{
			Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: int64(version + 1),
			Type: "OrderFilled", SchemaVersion: 1, OccurredAt: nine, Due: nine.Add(-time.Duration(version) * time.Minute),
		}
		e.ID = e.OrderedID()
		if _, err := txn.Commit(ctx, client, events.Create(e)); err != nil {
			fmt.Println(err)
			return
		}
	}
	broker := &outbox.Memory{}
	if _, err := outbox.NewRelay(events, client, broker, outbox.RelayConfig{}).Once(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range broker.Messages() {
		fmt.Println(m.Event.AggregateID, "version", m.Event.AggregateVersion)
	}
	// Output:
	// order-1 version 1
	// order-1 version 2
	// order-1 version 3
}
