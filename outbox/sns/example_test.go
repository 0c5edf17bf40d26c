package sns_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/sns"
)

// standard stands for a topic that takes everything. A program uses *sns.Client of the AWS SDK.
type standard struct{}

func (standard) PublishBatch(_ context.Context, in *sdk.PublishBatchInput, _ ...func(*sdk.Options)) (*sdk.PublishBatchOutput, error) {
	out := &sdk.PublishBatchOutput{}
	for _, entry := range in.PublishBatchRequestEntries {
		fmt.Println("for filters:", aws.ToString(entry.MessageAttributes["tenant"].StringValue), aws.ToString(entry.MessageAttributes["eventType"].StringValue))
		fmt.Println("message:", aws.ToString(entry.Message))
		out.Successful = append(out.Successful, types.PublishBatchResultEntry{Id: entry.Id, MessageId: aws.String("m-1")})
	}
	return out, nil
}

// A message is the whole event as JSON; its attributes let subscriptions filter.
func Example() {
	topic, err := sns.New(standard{}, sns.Config{TopicARN: "arn:aws:sns:eu-central-1:123456789012:orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	accepted := outbox.Event{
		ID: "event-1", Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 1,
		Type: "OrderAccepted", SchemaVersion: 1,
		OccurredAt: time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC),
		Payload:    []byte(`{"quantity":"100"}`),
	}
	for _, result := range topic.Publish(context.Background(), []outbox.Message{{Event: accepted}}) { // a relay does this
		fmt.Println(result.Ack, result.Err)
	}
	// Output:
	// for filters: acme OrderAccepted
	// message: {"v":1,"eventId":"event-1","tenant":"acme","aggregateType":"Order","aggregateId":"order-1","aggregateVersion":1,"eventType":"OrderAccepted","schemaVersion":1,"occurredAt":"2026-11-29T14:18:00Z","payload":{"quantity":"100"}}
	// m-1 <nil>
}
