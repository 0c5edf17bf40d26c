package lambda

import (
	"context"
	"errors"

	"github.com/aws/aws-lambda-go/events"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/dynafin/dynafin/outbox"
)

// Outbox returns a handler that publishes the events of an outbox as the stream of its table shows them, for the Start
// function of aws-lambda-go; see [outbox.Relay.HandleStream]. It reports no record as failed: what it does not publish is left
// to the relays that poll, and the relay's Observer is told why. An error is about the configuration: a stream without new
// images, or an outbox.RelayConfig.Drain that is no shorter than the function's timeout, whose default of 10 s is longer than
// Lambda's of 3 s.
func Outbox(relay *outbox.Relay) func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	return func(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		response := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
		ctx, stop, err := inTime(ctx, Config{Margin: DefaultMargin})
		if err != nil {
			return response, err
		}
		defer stop()
		records := make([]streams.Record, len(e.Records))
		for i, r := range e.Records {
			records[i], _ = Record(r) // the relay finds what is missing, if it needs it
		}
		if _, err = relay.HandleStream(ctx, records); errors.Is(err, outbox.ErrInvalid) {
			return response, err
		}
		return response, nil
	}
}
