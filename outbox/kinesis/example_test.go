package kinesis_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/kinesis"
)

// shard stands for a stream with one shard. A program uses *kinesis.Client of the AWS SDK.
type shard struct{ records int }

func (s *shard) PutRecords(_ context.Context, in *sdk.PutRecordsInput, _ ...func(*sdk.Options)) (*sdk.PutRecordsOutput, error) {
	out := &sdk.PutRecordsOutput{}
	for _, record := range in.Records {
		e, err := outbox.ParseEnvelope(record.Data) // what a consumer does
		if err != nil {
			return nil, err
		}
		s.records++
		fmt.Println(e.AggregateID, "version", e.AggregateVersion, "says", string(e.Payload))
		out.Records = append(out.Records, types.PutRecordsResultEntry{
			ShardId: aws.String("shardId-000000000000"), SequenceNumber: aws.String(fmt.Sprint("4959", s.records)),
		})
	}
	return out, nil
}

// With Ordered the versions of an aggregate are sent one after the other, in whatever order the batch has them.
func Example() {
	stream, err := kinesis.New(&shard{}, kinesis.Config{Stream: "orders", Ordered: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	var batch []outbox.Message
	for _, version := range []int64{2, 1} {
		batch = append(batch, outbox.Message{Event: outbox.Event{
			ID: fmt.Sprint("event-", version), Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: version,
			Type: "OrderFilled", SchemaVersion: 1,
			OccurredAt: time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC), Payload: fmt.Appendf(nil, `{"filled":"%d0"}`, version),
		}})
	}
	for i, result := range stream.Publish(context.Background(), batch) { // a relay does this
		fmt.Println(batch[i].Event.ID, result.Ack, result.Err)
	}
	// Output:
	// order-1 version 1 says {"filled":"10"}
	// order-1 version 2 says {"filled":"20"}
	// event-2 shardId-000000000000:49592 <nil>
	// event-1 shardId-000000000000:49591 <nil>
}
