package inbox_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/txn"
)

// A fill is delivered twice, by two messages. The position grows once, and both deliveries are acknowledged.
func Example() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTables(client)

	received := inbox.New(inbox.Config{Consumer: "portfolio"})
	committer := txn.New(client, txn.Config{})
	positions := txn.Table{Name: "Positions"}
	fill := func(eventID string, payload string) (inbox.Outcome, error) {
		return received.Process(ctx, committer,
			inbox.Event{ID: eventID, Type: "OrderFilled", Source: "Order order-1", SourceVersion: 2, Payload: []byte(payload)},
			map[string]string{"position": "ACME"},
			txn.Update(positions, positions.Key("TEN#acme#ACCT#a-1", "POS#ACME"),
				expression.Add(expression.Name("quantity"), expression.Value(10))),
		)
	}
	for _, message := range []string{"message 1", "message 2"} {
		outcome, err := fill("evt-1", `{"quantity":"10"}`)
		fmt.Println(message, "- duplicate:", outcome.Duplicate, outcome.Effect, err)
	}
	_, err := fill("evt-1", `{"quantity":"99"}`)
	fmt.Println("other content refused:", errors.Is(err, inbox.ErrMismatch))

	out, err := txn.Commit(ctx, client, txn.Check(positions, positions.Key("TEN#acme#ACCT#a-1", "POS#ACME"),
		txn.If(expression.Name("quantity").Equal(expression.Value(10)))))
	fmt.Println("quantity is 10:", err == nil, out.Items)
	// Output:
	// message 1 - duplicate: false map[position:ACME] <nil>
	// message 2 - duplicate: true map[position:ACME] <nil>
	// other content refused: true
	// quantity is 10: true 1
}

// Receive is a part like any other: it joins a transaction that the caller commits.
func ExampleInbox_Receive() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTables(client)

	received := inbox.New(inbox.Config{Consumer: "portfolio"})
	event := inbox.Event{ID: "evt-1"}
	for range 2 {
		receipt, err := txn.Commit(ctx, client, received.Receive(event, map[string]string{"entry": "7"}))
		if duplicate, ok := inbox.Duplicate(err); ok {
			fmt.Println("processed before:", duplicate.Effect)
			continue
		}
		fmt.Println(receipt.Total(), "units", err)
	}
	// Output:
	// 2 units <nil>
	// processed before: map[entry:7]
}

// A stream is delivered again from the first entry that failed. Order 1 waits for its failed event; order 2 does not.
func ExampleBatch() {
	type message struct{ order, what string }
	batch := []message{{"order-1", "accepted"}, {"order-1", "broken"}, {"order-2", "accepted"}, {"order-1", "filled"}}
	failures := inbox.Batch(context.Background(), batch,
		func(m message) string { return m.order },
		func(_ context.Context, m message) error {
			if m.what == "broken" {
				return errors.New("cannot be read")
			}
			fmt.Println(m.order, m.what)
			return nil
		})
	for _, f := range failures {
		fmt.Println("again:", f.Index, batch[f.Index].what, "- held back:", errors.Is(f.Err, inbox.ErrHeldBack))
	}
	first, _ := failures.First()
	fmt.Println("a stream goes on from", first)
	// Output:
	// order-1 accepted
	// order-2 accepted
	// again: 1 broken - held back: false
	// again: 3 filled - held back: true
	// a stream goes on from 1
}
