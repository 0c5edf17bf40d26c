package sqs_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/sqs"
)

// fifo stands for a queue that is throttled for its second message. A program uses *sqs.Client of the AWS SDK.
type fifo struct{}

func (fifo) SendMessageBatch(_ context.Context, in *sdk.SendMessageBatchInput, _ ...func(*sdk.Options)) (*sdk.SendMessageBatchOutput, error) {
	out := &sdk.SendMessageBatchOutput{}
	for _, entry := range in.Entries {
		fmt.Println("sent:", aws.ToString(entry.MessageAttributes["eventType"].StringValue), "of group", aws.ToString(entry.MessageGroupId)[:8])
		if aws.ToString(entry.MessageDeduplicationId) == "event-2" {
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: entry.Id, Code: aws.String("RequestThrottled"), SenderFault: true})
			continue
		}
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: entry.Id, MessageId: aws.String("m-1"), SequenceNumber: aws.String("7")})
	}
	return out, nil
}

// An event that is throttled is tried again, and a later one of its aggregate waits for it.
func Example() {
	queue, err := sqs.New(fifo{}, sqs.Config{QueueURL: "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var batch []outbox.Message
	for version, kind := range []string{"OrderAccepted", "OrderFilled", "OrderSettled"} {
		batch = append(batch, outbox.Message{Event: outbox.Event{
			ID: fmt.Sprint("event-", version+1), Tenant: "acme", AggregateType: "Order", AggregateID: "order-1",
			AggregateVersion: int64(version + 1), Type: kind, SchemaVersion: 1, OccurredAt: time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC), Payload: []byte(`{"quantity":"100"}`),
		}})
	}
	for _, result := range queue.Publish(context.Background(), batch) { // a relay does this
		fmt.Println(result.Ack, result.Err)
	}
	// Output:
	// sent: OrderAccepted of group 2132a314
	// sent: OrderFilled of group 2132a314
	// m-1:7 <nil>
	//  outbox: publish event "event-2" to SQS: it answers RequestThrottled; retrying is safe [DFN-2109]
	//  outbox: publish event "event-3" to SQS: an earlier event of its aggregate was not published; retrying is safe [DFN-2109]
}
