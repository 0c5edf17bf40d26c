package lambda_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/lambda"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// streamed is an outbox whose table has a stream, with events in it.
type streamed struct {
	client *dynamodb.Client
	events *outbox.Outbox
	ids    []string
	stream events.DynamoDBEvent // what Lambda delivers
}

func newStreamed(ctx context.Context, db *dynamosim.DB, view types.StreamViewType, n int) (*streamed, error) {
	s := &streamed{client: db.Client(), events: outbox.New(outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}})}
	if err := db.CreateTable("Orders", s.events.Index()); err != nil {
		return nil, err
	}
	out, err := s.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: aws.String("Orders"), StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view},
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		e := outbox.Event{
			Tenant: "acme", AggregateType: "Order", AggregateID: fmt.Sprint("order-", i), AggregateVersion: 1,
			Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Payload: []byte(secret),
		}
		e.ID = e.StableID()
		s.ids = append(s.ids, e.ID)
		if _, err := txn.Commit(ctx, s.client, s.events.Create(e)); err != nil {
			return nil, err
		}
	}
	arn := *out.TableDescription.LatestStreamArn
	_, err = dynamosim.NewFeed(db.StreamsClient(), arn).Poll(ctx, func(_ context.Context, records []streams.Record) error {
		s.stream, err = toLambda(arn, records)
		return err
	})
	return s, err
}

func TestTheOutboxIsPublishedFromItsStream(t *testing.T) {
	t.Parallel()
	s, err := newStreamed(t.Context(), dynamosim.New(t), types.StreamViewTypeNewImage, 30)
	if err != nil {
		t.Fatal(err)
	}
	bus := &outbox.Memory{}
	var faults []error
	relay := outbox.NewRelay(s.events, s.client, bus, outbox.RelayConfig{Drain: time.Second, Observer: observe.Func(func(_ context.Context, e observe.Event) {
		if e.Err != nil {
			faults = append(faults, e.Err)
		}
	})})
	broken := s.stream
	broken.Records = append([]events.DynamoDBEventRecord{}, s.stream.Records...)
	broken.Records[7].Change.NewImage = map[string]events.DynamoDBAttributeValue{"version": {}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 { // Lambda delivers at least once
		again, err := lambda.Outbox(relay)(ctx, broken)
		if err != nil || len(again.BatchItemFailures) != 0 {
			t.Fatal(again, err)
		}
	}
	if len(bus.Messages()) != 29 || len(faults) != 2 || !errors.Is(faults[0], outbox.ErrCorrupt) {
		t.Errorf("%d messages, %v", len(bus.Messages()), faults)
	}
	if round, err := relay.Once(t.Context()); err != nil || round.Listed != 1 || round.Completed != 1 {
		t.Errorf("the poll: %+v, %v", round, err)
	}
}

// What is wrong with the configuration makes the function fail, where somebody sees it.
func TestAnOutboxHandlerThatCannotWorkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := newStreamed(t.Context(), dynamosim.New(t), types.StreamViewTypeKeysOnly, 1)
		if err != nil {
			t.Fatal(err)
		}
		relay := outbox.NewRelay(s.events, s.client, &outbox.Memory{}, outbox.RelayConfig{})
		if _, err := lambda.Outbox(relay)(t.Context(), s.stream); !errors.Is(err, outbox.ErrInvalid) {
			t.Errorf("a stream of keys: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // Lambda's default
		defer cancel()
		if _, err := lambda.Outbox(relay)(ctx, events.DynamoDBEvent{}); !errors.Is(err, outbox.ErrInvalid) {
			t.Errorf("a Drain longer than the timeout: %v", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := lambda.Outbox(relay)(ctx, s.stream); !errors.Is(err, lambda.ErrInvalid) {
			t.Errorf("no time at all: %v", err)
		}
	})
}

// A broker that hangs until the function's timeout: the handler has returned before it, and nothing is claimed any more.
func TestAnOutboxHandlerReturnsBeforeItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := newStreamed(t.Context(), dynamosim.New(t), types.StreamViewTypeNewImage, 10)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		relay := outbox.NewRelay(s.events, s.client, hangs{}, outbox.RelayConfig{Drain: 5 * time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		if _, err := lambda.Outbox(relay)(ctx, s.stream); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 15*time.Second-lambda.DefaultMargin {
			t.Errorf("it took %v", took)
		}
		for _, id := range s.ids {
			if r, err := s.events.Get(t.Context(), s.client, id); err != nil || r.State != outbox.Ready || r.Attempt != 1 {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
}

// hangs is a broker that never answers.
type hangs struct{}

func (hangs) Publish(ctx context.Context, _ []outbox.Message) []outbox.Result {
	<-ctx.Done()
	return nil
}
