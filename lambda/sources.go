package lambda

import (
	"context"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// SQS returns a handler of the messages of a queue, for the Start function of aws-lambda-go. It reports every message that
// failed, and only those are delivered again. In a FIFO queue a message that failed holds back what comes after it in its
// group; other groups go on. A standard queue has no order to keep, with or without message groups.
func SQS(config Config, handle func(ctx context.Context, message events.SQSMessage) error) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	h := newHandler(config, aboutSQS, handle)
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		again, err := h.batch(ctx, e.Records)
		if err != nil {
			return events.SQSEventResponse{}, err
		}
		response := events.SQSEventResponse{BatchItemFailures: make([]events.SQSBatchItemFailure, len(again))}
		for i, id := range again {
			response.BatchItemFailures[i].ItemIdentifier = id
		}
		return response, nil
	}
}

func aboutSQS(m events.SQSMessage) about {
	a := about{source: m.EventSourceARN, id: m.MessageId, group: m.Attributes["MessageGroupId"]}
	a.order = "message " + a.id
	if strings.HasSuffix(a.source, ".fifo") {
		a.order = "group " + a.group
	}
	if n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"]); err == nil && n > 0 {
		a.receives = n
	}
	return a
}

// Kinesis returns a handler of the records of a Kinesis stream, for the Start function of aws-lambda-go. It stops at the
// first record that fails and reports it: that one and all after it are delivered again, so the order of every partition key
// is kept. Kinesis does not say how often a record was delivered; the handler counts in its process.
func Kinesis(config Config, handle func(ctx context.Context, record events.KinesisEventRecord) error) func(context.Context, events.KinesisEvent) (events.KinesisEventResponse, error) {
	h := newHandler(config, func(r events.KinesisEventRecord) about {
		return about{source: r.EventSourceArn, id: r.Kinesis.SequenceNumber, group: r.Kinesis.PartitionKey}
	}, handle)
	return func(ctx context.Context, e events.KinesisEvent) (events.KinesisEventResponse, error) {
		again, err := h.batch(ctx, e.Records)
		if err != nil {
			return events.KinesisEventResponse{}, err
		}
		response := events.KinesisEventResponse{BatchItemFailures: []events.KinesisBatchItemFailure{}}
		if len(again) > 0 {
			response.BatchItemFailures = append(response.BatchItemFailures, events.KinesisBatchItemFailure{ItemIdentifier: again[0]})
		}
		return response, nil
	}
}

// DynamoDB returns a handler of the records of a table's stream, for the Start function of aws-lambda-go. The handle function
// gets the record in the SDK's types, numbers as their exact text. Everything else is as with [Kinesis].
func DynamoDB(config Config, handle func(ctx context.Context, record streams.Record) error) func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	h := newHandler(config, func(r events.DynamoDBEventRecord) about {
		return about{source: r.EventSourceArn, id: r.Change.SequenceNumber}
	}, func(ctx context.Context, r events.DynamoDBEventRecord) error {
		record, err := Record(r)
		if err != nil {
			return Permanent(err)
		}
		return handle(ctx, record)
	})
	return func(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		again, err := h.batch(ctx, e.Records)
		if err != nil {
			return events.DynamoDBEventResponse{}, err
		}
		response := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
		if len(again) > 0 {
			response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: again[0]})
		}
		return response, nil
	}
}
