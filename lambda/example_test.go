package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/lambda"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// A queue delivers a fill twice, and something that is no fill. The position grows once, and the rest is listed.
func Example() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{})
	for _, table := range []string{inbox.DefaultTable, "Positions"} {
		if err := db.CreateTable(table); err != nil {
			fmt.Println(err)
			return
		}
	}
	committer := txn.New(db.Client(), txn.Config{})
	received := inbox.New(inbox.Config{Consumer: "portfolio"})
	positions := txn.Table{Name: "Positions"}

	store := func(_ context.Context, letter lambda.DeadLetter) error { // in production: a table, or another queue
		fmt.Println("dead letter", letter.ID+":", letter.Reason)
		return nil
	}
	handler := lambda.SQS(lambda.Config{DeadLetters: store}, func(ctx context.Context, m events.SQSMessage) error {
		e, err := outbox.ParseEnvelope([]byte(m.Body)) // as the publishers of the outbox send it
		if err != nil {
			return lambda.Permanent(err)
		}
		var fill struct{ Position, Quantity string }
		if err := json.Unmarshal(e.Payload, &fill); err != nil {
			return lambda.Permanent(errors.New("not a fill"))
		}
		outcome, err := received.Process(ctx, committer,
			inbox.Event{ID: e.ID, Type: e.Type, Source: e.AggregateID, SourceVersion: e.AggregateVersion, Payload: e.Payload}, nil,
			txn.Update(positions, positions.Key("POS#"+fill.Position, "META"),
				expression.Add(expression.Name("quantity"), expression.Value(&types.AttributeValueMemberN{Value: fill.Quantity}))))
		fmt.Println(m.MessageId, "duplicate:", outcome.Duplicate, err)
		return err
	})

	filled := func(payload string) string {
		e := outbox.Event{ID: "evt-1", Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 2, Type: "OrderFilled",
			SchemaVersion: 1, OccurredAt: time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC), Payload: []byte(payload)}
		return string(e.Envelope())
	}
	fill := filled(`{"position":"ACME","quantity":"10"}`)
	response, err := handler(ctx, events.SQSEvent{Records: []events.SQSMessage{ // in production: awslambda.Start(handler)
		{MessageId: "m-1", Body: fill}, {MessageId: "m-2", Body: filled(`"hello"`)}, {MessageId: "m-3", Body: fill},
	}})
	fmt.Println("to be delivered again:", response.BatchItemFailures, err)
	// Output:
	// m-1 duplicate: false <nil>
	// dead letter m-2: lambda: not a fill; retrying cannot help [DFN-2702]
	// m-3 duplicate: true <nil>
	// to be delivered again: [] <nil>
}

// Events are published as the stream of their table shows them, without a poll.
func ExampleOutbox() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // the function's timeout
	defer cancel()
	stored, err := newStreamed(ctx, dynamosim.Open(dynamosim.Options{}), types.StreamViewTypeNewImage, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	broker := &outbox.Memory{}
	relay := outbox.NewRelay(stored.events, stored.client, broker, outbox.RelayConfig{Owner: "lambda", Drain: 5 * time.Second})

	handler := lambda.Outbox(relay) // in production: awslambda.Start(handler)
	response, err := handler(ctx, stored.stream)
	fmt.Println("published:", len(broker.Messages()), "to be delivered again:", response.BatchItemFailures, err)
	// Output:
	// published: 3 to be delivered again: [] <nil>
}

// An invocation that is repeated with its key gets the first answer, and pays once.
func ExampleCommand() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{})
	requests := idempotency.New(idempotency.Config{})
	if err := db.CreateTable(idempotency.TableName, requests.Index()); err != nil {
		fmt.Println(err)
		return
	}
	type order struct{ Key, Symbol string }
	type answer struct{ OrderID string }
	placed := 0
	handler := lambda.Command(lambda.CommandConfig[order]{
		Requests: requests, Client: db.Client(), Mode: idempotency.Transactional,
		Request: func(o order) (idempotency.Request, error) {
			return idempotency.Request{Tenant: "acme", Key: o.Key, Operation: "order.place", Command: idempotency.NewFields().String("symbol", o.Symbol)}, nil
		},
	}, func(context.Context, order) (answer, []txn.Part, error) {
		placed++
		return answer{OrderID: fmt.Sprint("order-", placed)}, nil, nil // and the parts that store the order
	})
	for range 2 {
		out, err := handler(ctx, order{"key-1", "ACME"})
		fmt.Println(string(out), err)
	}
	_, err := handler(ctx, order{"key-1", "OTHER"})
	fmt.Println(errors.Is(err, idempotency.ErrMismatch))
	// Output:
	// {"OrderID":"order-1"} <nil>
	// {"OrderID":"order-1"} <nil>
	// true
}
