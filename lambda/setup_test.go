package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/lambda"
	"github.com/dynafin/dynafin/txn"
)

// secret is payload: no error may repeat it.
const secret = "SECRET-PAYLOAD"

const (
	standardARN = "arn:aws:sqs:eu-west-1:000000000000:fills"
	fifoARN     = "arn:aws:sqs:eu-west-1:000000000000:fills.fifo"
	kinesisARN  = "arn:aws:kinesis:eu-west-1:000000000000:stream/fills"
)

var state = txn.Table{Name: "Positions"}.WithDefaults("Positions")

// consumer is an inbox with what it protects: the number of effects of each event.
type consumer struct {
	client    *dynamodb.Client
	committer *txn.Committer
	received  *inbox.Inbox
}

func newConsumer(t dynamosim.TB, choose func(dynamosim.Call) dynamosim.Fate) *consumer {
	db := dynamosim.New(t)
	for _, name := range []string{inbox.DefaultTable, state.Name} {
		if err := db.CreateTable(name); err != nil {
			panic(err)
		}
	}
	client := db.Client()
	if choose != nil {
		client = db.Client(func(o *dynamodb.Options) { o.Retryer, o.HTTPClient = aws.NopRetryer{}, dynamosim.Faulty(db, choose) })
	}
	return &consumer{
		client:    db.Client(),
		committer: txn.New(client, txn.Config{MaxAttempts: 3, Jitter: func(time.Duration) time.Duration { return 0 }}),
		received:  inbox.New(inbox.Config{Consumer: "portfolio"}),
	}
}

// process is what a handle function does with a decoded event.
func (c *consumer) process(ctx context.Context, e inbox.Event) error {
	_, err := c.received.Process(ctx, c.committer, e, nil, c.effect(e.ID))
	return err
}

// effect is a change that is visible if it is made twice.
func (c *consumer) effect(id string) txn.Part {
	return txn.Update(state, state.Key("EVENT#"+id, "COUNT"), expression.Add(expression.Name("n"), expression.Value(1)))
}

// effects is how often an event has had its effect.
func (c *consumer) effects(id string) int {
	out, err := c.client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: &state.Name, ConsistentRead: aws.Bool(true), Key: state.Key("EVENT#"+id, "COUNT"),
	})
	if err != nil {
		panic(err)
	}
	n, ok := out.Item["n"].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	count, err := strconv.Atoi(n.Value)
	if err != nil {
		panic(err)
	}
	return count
}

// letters is a sink of dead letters.
type letters struct {
	mu   sync.Mutex
	all  map[string]lambda.DeadLetter
	fail func() (before, after bool) // whether the next one fails before it is stored, or after
}

func (l *letters) put(_ context.Context, letter lambda.DeadLetter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, after := false, false
	if l.fail != nil {
		before, after = l.fail()
	}
	if before {
		return errSink
	}
	if l.all == nil {
		l.all = map[string]lambda.DeadLetter{}
	}
	l.all[letter.Source+" "+letter.ID] = letter
	if after {
		return errSink
	}
	return nil
}

func (l *letters) has(source, id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.all[source+" "+id]
	return ok
}

var (
	errSink   = errors.New("the sink is away")
	errClosed = errors.New("the account is closed")
)

func sqsMessage(arn, id, group, body string, receives int) events.SQSMessage {
	return events.SQSMessage{MessageId: id, EventSourceARN: arn, EventSource: "aws:sqs", Body: body, Attributes: map[string]string{
		"ApproximateReceiveCount": strconv.Itoa(receives), "MessageGroupId": group,
	}}
}

func kinesisRecord(sequence int, key, data string) events.KinesisEventRecord {
	return events.KinesisEventRecord{EventSourceArn: kinesisARN, EventSource: "aws:kinesis", Kinesis: events.KinesisRecord{
		SequenceNumber: "4954" + strconv.Itoa(1000+sequence), PartitionKey: key, Data: []byte(data),
	}}
}

// call invokes a handler as Lambda does: the event comes as JSON, and the answer goes as JSON.
func call[E, R any](t testing.TB, ctx context.Context, handler func(context.Context, E) (R, error), event E) ([]string, error) {
	t.Helper()
	again, err := invoke(ctx, handler, event)
	if err != nil && !errors.Is(err, lambda.ErrInvalid) {
		t.Fatal(err)
	}
	return again, err
}

func invoke[E, R any](ctx context.Context, handler func(context.Context, E) (R, error), event E) ([]string, error) {
	wire, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	var decoded E
	if err := json.Unmarshal(wire, &decoded); err != nil {
		return nil, err
	}
	answer, err := handler(ctx, decoded)
	if err != nil {
		return nil, err
	}
	if wire, err = json.Marshal(answer); err != nil {
		return nil, err
	}
	var response struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	err = json.Unmarshal(wire, &response)
	var again []string
	for _, failure := range response.BatchItemFailures {
		again = append(again, failure.ItemIdentifier)
	}
	return again, err
}
