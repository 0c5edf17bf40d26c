package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// seeds fill the DynamoDB of a script. Their clock is that of the script, which they move on.
var seeds = map[string]func(context.Context, *world) error{
	"outbox": outboxTrouble,
	"chain":  chain, "chain-parked": chainParked,
	"books": books, "tampered": tampered, "view": view, "breaks": breaks,
	"hostile":     hostile,
	"outbox-many": outboxMany,
	"requests":    requestTrouble,
	"receipts":    receipts,
	"names":       names,
}

var orders = txn.Table{Name: "Orders", PK: "PK", SK: "SK"}

func (w *world) events() *outbox.Outbox {
	return outbox.New(outbox.Config{Service: "orders", Table: orders})
}

func (w *world) commit(ctx context.Context, parts ...txn.Part) error {
	_, err := txn.Commit(ctx, w.db.Client(), parts...)
	return err
}

// event is an event of an order.
func (w *world) event(n int, topic string) outbox.Event {
	return outbox.Event{
		ID: fmt.Sprintf("01J9K2Q4-%s-%06d", topic, n), Tenant: "acme", AggregateType: "Order", AggregateID: fmt.Sprintf("order-%d", n), AggregateVersion: 1,
		Type: topic, SchemaVersion: 1, OccurredAt: w.now, CausationID: fmt.Sprintf("req-%d", n), Payload: []byte(`{"symbol":"ACME"}`),
	}
}

// publish lets a relay take what is due, once. It dies after its claim if dies is set.
func (w *world) publish(ctx context.Context, dies bool, refuse func(outbox.Message) outbox.Result) error {
	updates := 0
	client := w.db.Client(func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
		o.HTTPClient = dynamosim.Faulty(w.db, func(call dynamosim.Call) dynamosim.Fate {
			if call.Operation == "UpdateItem" {
				if updates++; dies && updates > 1 {
					return dynamosim.LoseRequest
				}
			}
			return dynamosim.Deliver
		})
	})
	relay := outbox.NewRelay(w.events(), client, &outbox.Memory{Refuse: refuse}, outbox.RelayConfig{
		Owner: "relay-7", MaxAttempts: 1, Concurrency: 1, Batches: 1, Now: w.Now, NewID: func() string { w.ids++; return fmt.Sprint("claim-", w.ids) },
		Jitter: func(time.Duration) time.Duration { return 0 }, Sleep: func(ctx context.Context, d time.Duration) error {
			if d < time.Second {
				return nil
			}
			<-ctx.Done() // a third of a lease: no renewal is needed
			return ctx.Err()
		},
	})
	_, err := relay.Once(ctx)
	if dies {
		return nil
	}
	return err
}

// outboxTrouble leaves five events that a bus refused for hours, two that are too large, one whose relay died, one that waits
// and one that is due tomorrow.
func outboxTrouble(ctx context.Context, w *world) error {
	if err := w.db.CreateTable(orders.Name, w.events().Index()); err != nil {
		return err
	}
	end := w.now
	step := func(before time.Duration, n int, topic string, refuse func(outbox.Message) outbox.Result) error {
		w.now = end.Add(-before)
		if err := w.commit(ctx, w.events().Create(w.event(n, topic))); err != nil {
			return err
		}
		return w.publish(ctx, false, refuse)
	}
	busy := func(m outbox.Message) outbox.Result {
		return outbox.Result{Err: &outbox.PublishError{EventID: m.Event.ID, Broker: "bus", Code: "503", Reason: "unavailable, request " + m.Event.ID[3:]}}
	}
	large := func(m outbox.Message) outbox.Result {
		return outbox.Result{Final: true, Err: &outbox.PublishError{EventID: m.Event.ID, Broker: "bus", Reason: "payload 1.2 MB over limit", Final: true}}
	}
	for i := range 5 {
		if err := step(3*time.Hour+time.Duration(12-i)*time.Minute, i, "trades", busy); err != nil {
			return err
		}
	}
	if err := errors.Join(step(160*time.Minute, 10, "notices", large), step(9*time.Minute, 11, "notices", large)); err != nil {
		return err
	}
	if err := step(5*time.Minute, 30, "published", nil); err != nil {
		return err
	}
	w.now = end.Add(-4 * time.Minute)
	if err := errors.Join(w.commit(ctx, w.events().Create(w.event(20, "trades"))), w.publish(ctx, true, nil)); err != nil {
		return err
	}
	w.now = end.Add(-30 * time.Second)
	later := w.event(22, "trades")
	later.Due = end.Add(24 * time.Hour)
	err := w.commit(ctx, w.events().Create(w.event(21, "trades")), w.events().Create(later))
	w.now = end
	return err
}

// parker stores new events as if they had been parked, in one step.
type parker struct {
	*dynamodb.Client
	at string
}

func (p *parker) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for _, w := range in.TransactItems {
		item := w.Put.Item
		pk := item["readyPk"].(*types.AttributeValueMemberS).Value
		id := item["eventId"].(*types.AttributeValueMemberS).Value
		item["state"], item["failure"], item["failedAt"] = text("PARKED"), text("bus unavailable"), text(p.at)
		item["readyPk"], item["readySk"] = text(strings.Replace(pk, "#READY#", "#PARKED#", 1)), text("AT#"+p.at+"#"+id)
		item["attempt"] = &types.AttributeValueMemberN{Value: "10"}
	}
	return p.Client.TransactWriteItems(ctx, in, opts...)
}

// outboxMany parks 20,001 events: more than any page, and than any cap that somebody might think of.
func outboxMany(ctx context.Context, w *world) error {
	if err := w.db.CreateTable(orders.Name, w.events().Index()); err != nil {
		return err
	}
	client := &parker{w.db.Client(), w.now.Add(-time.Hour).Format("2006-01-02T15:04:05.000000000Z")}
	var parts []txn.Part
	for i := range 20_001 {
		parts = append(parts, w.events().Create(w.event(i, "trades")))
		if len(parts) == 100 || i == 20_000 {
			if _, err := txn.Commit(ctx, client, parts...); err != nil {
				return err
			}
			parts = nil
		}
	}
	return nil
}

// hostile parks an event whose failure would clear the screen.
func hostile(ctx context.Context, w *world) error {
	if err := w.commit(ctx, w.events().Create(w.event(99, "trades"))); err != nil {
		return err
	}
	return w.publish(ctx, false, func(m outbox.Message) outbox.Result {
		return outbox.Result{Err: errors.New("boom\x1b[2J\r\nstate  OK"), Final: true}
	})
}
