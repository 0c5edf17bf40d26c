package eventbridge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/eventbridge"
)

// bus stands for an event bus that is throttled. A program uses *eventbridge.Client of the AWS SDK.
type bus struct{}

func (bus) PutEvents(_ context.Context, in *sdk.PutEventsInput, _ ...func(*sdk.Options)) (*sdk.PutEventsOutput, error) {
	out := &sdk.PutEventsOutput{}
	for i, entry := range in.Entries {
		result := types.PutEventsResultEntry{EventId: aws.String(fmt.Sprint("bus-", i))}
		if aws.ToString(entry.DetailType) == "OrderFilled" {
			result = types.PutEventsResultEntry{ErrorCode: aws.String("ThrottlingException")}
			out.FailedEntryCount++
		}
		out.Entries = append(out.Entries, result)
	}
	return out, nil
}

// Each event has its own result: published, to be tried again, or parked because no repeat can help.
func Example() {
	publisher, err := eventbridge.New(bus{}, eventbridge.Config{Bus: "orders", Source: "com.acme.orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	of := func(kind, payload string) outbox.Message {
		return outbox.Message{Event: outbox.Event{
			ID: kind + "-1", Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 1, Type: kind, SchemaVersion: 1,
			OccurredAt: time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC), Payload: []byte(payload),
		}}
	}
	results := publisher.Publish(context.Background(), []outbox.Message{ // a relay does this
		of("OrderAccepted", `{"quantity":"100"}`), of("OrderFilled", `{}`), of("OrderArchived", `"`+strings.Repeat("x", 300_000)+`"`),
	})
	for _, result := range results {
		var failed *outbox.PublishError
		switch {
		case errors.As(result.Err, &failed) && result.Final:
			fmt.Println(failed.EventID, "is parked:", failed.Reason)
		case result.Err != nil:
			fmt.Println(failed.EventID, "is tried again:", failed.Code)
		default:
			fmt.Println("published as", result.Ack)
		}
	}
	// Output:
	// published as bus-0
	// OrderFilled-1 is tried again: ThrottlingException
	// OrderArchived-1 is parked: it has 300257 bytes, of at most 262144
}
