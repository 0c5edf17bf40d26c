package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// A lane goes from 13 shards to 17 at ten. The time at which a fact became true places its event, whenever the command that
// reports it gets through.
func ExampleOutbox_Under() {
	ctx := context.Background()
	now := time.Date(2026, 11, 29, 9, 30, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	db := dynamosim.Open(dynamosim.Options{Now: clock})
	client := db.Client()
	events := outbox.New(outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}})
	maps := shardmap.NewStore(client, shardmap.Config{Now: clock})
	ten := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)

	err := errors.Join(db.CreateTable(shardmap.DefaultTable), db.CreateTable("Orders", events.Index()))
	if err == nil {
		_, err = maps.Create(ctx, "outbox/orders", shardmap.Default13(), shardmap.Rules{}, "ann")
	}
	if err == nil {
		_, err = maps.Propose(ctx, "outbox/orders", shardmap.Proposal{Shards: 17, From: ten}, "ann")
	}
	if err == nil {
		_, err = maps.Admit(ctx, "outbox/orders", 2, "ann")
	}
	fmt.Println("reshard at ten:", err)

	now = ten.Add(time.Minute)
	loader := maps.Loader("outbox/orders") // one for the process
	for _, occurred := range []time.Time{ten.Add(-time.Second), ten} {
		e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: "order-7", AggregateVersion: 1, Type: "OrderFilled",
			SchemaVersion: 1, OccurredAt: occurred, CausationID: "exec-1"}
		e.ID = fmt.Sprint("evt-", occurred.Unix())
		versions, err := loader.Versions(ctx)
		if err == nil {
			_, err = txn.Commit(ctx, client, events.Under(versions).Create(e))
		}
		stored, failed := events.Get(ctx, client, e.ID)
		fmt.Println(occurred.Format(time.TimeOnly), "is of version", stored.Placement.MapVersion, errors.Join(err, failed))
	}
	relay := outbox.NewRelay(events, client, &outbox.Memory{}, outbox.RelayConfig{Maps: loader, Now: clock})
	round, err := relay.Once(ctx)
	fmt.Println("published:", round.Completed, err)
	// Output:
	// reshard at ten: <nil>
	// 09:59:59 is of version 1 <nil>
	// 10:00:00 is of version 2 <nil>
	// published: 2 <nil>
}
