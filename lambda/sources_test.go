package lambda_test

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/lambda"
)

// source is a queue or a stream as Lambda's poller sees it: it delivers batches until everything is handled.
type source interface {
	// deliver invokes the handler with some batch. If the answer is lost, everything is delivered again.
	deliver(rt *rapid.T, ctx context.Context, answerLost bool)
	// restart starts the handler anew, as another process.
	restart()
	empty() bool
}

// sqsMsg is a message that waits.
type sqsMsg struct {
	id, group, body string
	receives        int
	done            bool
}

// queue is an SQS queue.
type queue struct {
	w        *world
	arn      string
	messages []*sqsMsg
	handler  func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)
}

func (q *queue) fifo() bool { return strings.HasSuffix(q.arn, ".fifo") }

func (q *queue) add(group, body string) string {
	id := "m-" + strconv.Itoa(len(q.messages))
	q.messages = append(q.messages, &sqsMsg{id: id, group: group, body: body})
	return id
}

func (q *queue) restart() {
	q.handler = lambda.SQS(q.w.config(), func(ctx context.Context, m events.SQSMessage) error {
		if q.fifo() {
			for _, before := range q.messages {
				if before.id == m.MessageId {
					break
				}
				if before.group == m.Attributes["MessageGroupId"] {
					q.w.mustBeOver(q.arn, before.id, before.body)
				}
			}
		}
		return q.w.handle(ctx, m.Body)
	})
}

func (q *queue) empty() bool {
	return !slices.ContainsFunc(q.messages, func(m *sqsMsg) bool { return !m.done })
}

// batch chooses what is delivered: from a FIFO queue the next ones in order, from a standard queue any, and now and then one
// that was handled already.
func (q *queue) batch(rt *rapid.T) (batch []*sqsMsg) {
	n := rapid.IntRange(1, 6).Draw(rt, "batch")
	if q.fifo() {
		for _, m := range q.messages {
			if !m.done && len(batch) < n {
				batch = append(batch, m)
			}
		}
		return batch
	}
	for _, m := range rapid.Permutation(q.messages).Draw(rt, "order") {
		if len(batch) < n && (!m.done || rapid.IntRange(0, 5).Draw(rt, "again") == 0) {
			batch = append(batch, m)
		}
	}
	return batch
}

func (q *queue) deliver(rt *rapid.T, ctx context.Context, answerLost bool) {
	batch := q.batch(rt)
	if len(batch) == 0 {
		return
	}
	var e events.SQSEvent
	for _, m := range batch {
		m.receives++
		e.Records = append(e.Records, sqsMessage(q.arn, m.id, m.group, m.body, m.receives))
	}
	again, err := invoke(ctx, q.handler, e)
	if err != nil {
		rt.Fatalf("%s: %v", q.arn, err)
	}
	if answerLost {
		return
	}
	broken := map[string]bool{}
	for _, m := range batch {
		failed := slices.Contains(again, m.id)
		if q.fifo() && broken[m.group] && !failed {
			rt.Fatalf("%s: message %s is behind a failure of its group and is not reported: %v", q.arn, m.id, again)
		}
		broken[m.group] = broken[m.group] || failed
		if !failed {
			m.done = true
			q.w.mustBeOver(q.arn, m.id, m.body)
		}
	}
}

// shard is a shard of a stream, of Kinesis or of a table.
type shard struct {
	w      *world
	arn    string
	ids    []string // sequence numbers
	bodies []string
	at     int
	invoke func(ctx context.Context, from, to int) ([]string, error)
	start  func(*shard)
}

func (s *shard) restart()    { s.start(s) }
func (s *shard) empty() bool { return s.at == len(s.ids) }

func (s *shard) deliver(rt *rapid.T, ctx context.Context, answerLost bool) {
	to := min(len(s.ids), s.at+rapid.IntRange(1, 6).Draw(rt, "batch"))
	if s.at == to {
		return
	}
	again, err := s.invoke(ctx, s.at, to)
	if err != nil || len(again) > 1 {
		rt.Fatalf("%s: again %v, %v", s.arn, again, err)
	}
	if answerLost {
		return
	}
	next := to
	if len(again) == 1 {
		if next = slices.Index(s.ids, again[0]); next < s.at || next >= to {
			rt.Fatalf("%s: again %v, which is not in the batch", s.arn, again)
		}
	}
	for ; s.at < next; s.at++ {
		s.w.mustBeOver(s.arn, s.ids[s.at], s.bodies[s.at])
	}
}

// inOrder is called before a record is handled: everything before it must be over.
func (s *shard) inOrder(id string) {
	for i := range s.ids {
		if s.ids[i] == id {
			return
		}
		s.w.mustBeOver(s.arn, s.ids[i], s.bodies[i])
	}
}

func newKinesis(w *world, bodies []string) *shard {
	s := &shard{w: w, arn: kinesisARN, bodies: bodies}
	var records []events.KinesisEventRecord
	for i, body := range bodies {
		records = append(records, kinesisRecord(i, "a", body))
		s.ids = append(s.ids, records[i].Kinesis.SequenceNumber)
	}
	s.start = func(s *shard) {
		handler := lambda.Kinesis(w.config(), func(ctx context.Context, r events.KinesisEventRecord) error {
			s.inOrder(r.Kinesis.SequenceNumber)
			return w.handle(ctx, string(r.Kinesis.Data))
		})
		s.invoke = func(ctx context.Context, from, to int) ([]string, error) {
			return invoke(ctx, handler, events.KinesisEvent{Records: records[from:to]})
		}
	}
	return s
}

// newTableStream is the stream of a table in which each message is an item.
func newTableStream(w *world, arn string, records []streams.Record) (*shard, error) {
	s := &shard{w: w, arn: arn}
	e, err := toLambda(arn, records)
	for _, r := range records {
		s.ids = append(s.ids, *r.Dynamodb.SequenceNumber)
		s.bodies = append(s.bodies, bodyOf(r))
	}
	s.start = func(s *shard) {
		handler := lambda.DynamoDB(w.config(), func(ctx context.Context, r streams.Record) error {
			s.inOrder(*r.Dynamodb.SequenceNumber)
			return w.handle(ctx, bodyOf(r))
		})
		s.invoke = func(ctx context.Context, from, to int) ([]string, error) {
			return invoke(ctx, handler, events.DynamoDBEvent{Records: e.Records[from:to]})
		}
	}
	return s, err
}

func bodyOf(r streams.Record) string {
	body, _ := r.Dynamodb.NewImage["body"].(*streams.AttributeValueMemberS)
	return body.Value
}
