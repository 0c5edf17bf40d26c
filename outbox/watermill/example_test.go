package watermill_test

import (
	"context"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/watermill"
)

// printer stands for any Watermill publisher.
type printer struct{}

func (printer) Publish(topic string, messages ...*message.Message) error {
	for _, m := range messages {
		fmt.Println(topic, m.UUID, m.Metadata.Get("tenant"))
	}
	return nil
}

func (printer) Close() error { return nil }

// An event becomes a message with its ID, on the topic of its type.
func Example() {
	publisher, err := watermill.New(printer{}, watermill.Config{
		Topic: func(e outbox.Event) string { return "orders." + e.Type },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	accepted := outbox.Event{
		ID: "event-1", Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 1, Type: "OrderAccepted",
		SchemaVersion: 1, OccurredAt: time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC), Payload: []byte(`{"quantity":"100"}`),
	}
	for _, result := range publisher.Publish(context.Background(), []outbox.Message{{Event: accepted}}) { // a relay does this
		fmt.Println(result.Ack, result.Err)
	}
	// Output:
	// orders.OrderAccepted event-1 acme
	// orders.OrderAccepted <nil>
}
