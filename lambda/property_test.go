package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/ambient"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/lambda"
)

var anyFate = []dynamosim.Fate{
	dynamosim.Deliver, dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.Throttle, dynamosim.Conflict, dynamosim.InProgress,
	dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter,
}

// fill is the message in the test's world.
type fill struct {
	ID      string
	Secret  string
	Version int
	Poison  string
}

// The kinds of poison, and the reasons that their letters give.
var reasons = map[string]string{
	"unreadable": "no fill", "refused": errClosed.Error(), "panics": "panicked", "other content": "DFN-2203",
}

// world is one history: sources that deliver the same events in their own ways, a consumer in bad weather, and a sink.
type world struct {
	*consumer
	rt     *rapid.T
	seen   chance.Seen
	fates  []dynamosim.Fate
	slow   bool
	sink   *letters
	poison map[string]string // source and message -> kind
	// sources by name, in a fixed order.
	sources []source
}

// Over all sources together, however they deliver, repeat and break off, every event has its effect once, every message of
// poison is a dead letter with its reason, and nothing else is; groups and shards are handled in order; and no error repeats
// what is in a message.
func TestEveryEventHasItsEffectOnceAndEveryPoisonIsListed(t *testing.T) {
	t.Parallel()
	wanted := append(chance.Names(anyFate), "answer lost", "another process", "time is up", "letter not stored", "duplicate", "held back")
	for kind := range reasons {
		wanted = append(wanted, kind)
	}
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		rapid.SyncTest(rt, func(rt *rapid.T) {
			w := newWorld(rt, seen)
			for range rapid.IntRange(0, 25).Draw(rt, "deliveries") {
				w.step()
			}
			w.settle()
		})
	}, wanted...)
}

func newWorld(rt *rapid.T, seen chance.Seen) *world {
	w := &world{rt: rt, seen: seen, sink: &letters{}, poison: map[string]string{}}
	w.consumer = newConsumer(rt, func(dynamosim.Call) dynamosim.Fate {
		if len(w.fates) == 0 {
			return dynamosim.Deliver
		}
		fate := w.fates[0]
		w.fates = w.fates[1:]
		seen[fmt.Sprint(fate)]++
		return fate
	})
	if err := w.process(rt.Context(), w.event(fill{ID: "taken", Version: 1})); err != nil {
		rt.Fatal(err)
	}
	events := rapid.IntRange(1, 6).Draw(rt, "events")
	standard, fifo := &queue{w: w, arn: standardARN}, &queue{w: w, arn: fifoARN}
	for _, q := range []*queue{standard, fifo} {
		for _, f := range w.draw(q.arn, events) {
			w.note(q.arn, q.add(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "group"), f.body()), f)
		}
	}
	onKinesis, onTable := w.draw("kinesis", events), w.draw("table", events)
	kinesis, table := newKinesis(w, bodies(onKinesis)), w.table(bodies(onTable))
	for i, f := range onKinesis {
		w.note(kinesis.arn, kinesis.ids[i], f)
	}
	for i, f := range onTable {
		w.note(table.arn, table.ids[i], f)
	}
	w.sources = []source{standard, fifo, kinesis, table}
	for _, s := range w.sources {
		s.restart()
	}
	return w
}

// draw returns what a source has: events that others may have too, and poison of its own.
func (w *world) draw(name string, events int) (fills []fill) {
	for range rapid.IntRange(0, 5).Draw(w.rt, name) {
		f := fill{ID: fmt.Sprint("e-", rapid.IntRange(1, events).Draw(w.rt, "event")), Version: 1, Secret: secret}
		switch f.Poison = rapid.SampledFrom([]string{"", "", "", "", "unreadable", "refused", "panics", "other content"}).Draw(w.rt, "poison"); f.Poison {
		case "":
		case "other content":
			f.ID, f.Version = "taken", 2
		default:
			f.ID = "p-" + f.Poison
		}
		fills = append(fills, f)
	}
	return fills
}

func (f fill) body() string {
	text, err := json.Marshal(f)
	if err != nil || f.Poison == "unreadable" {
		return secret + " " + f.ID
	}
	return string(text)
}

func bodies(fills []fill) (all []string) {
	for _, f := range fills {
		all = append(all, f.body())
	}
	return all
}

func (w *world) note(source, id string, f fill) {
	if f.Poison != "" {
		w.poison[source+" "+id] = f.Poison
		w.seen[f.Poison]++
	}
}

// table writes the messages into a table that has a stream, and returns that.
func (w *world) table(bodies []string) *shard {
	db := dynamosim.New(w.rt)
	client := db.Client()
	name := aws.String("Fills")
	if err := db.CreateTable(*name); err != nil {
		w.rt.Fatal(err)
	}
	out, err := client.UpdateTable(w.rt.Context(), &dynamodb.UpdateTableInput{
		TableName: name, StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	})
	if err != nil {
		w.rt.Fatal(err)
	}
	for i, body := range bodies {
		item := state.Key(fmt.Sprint("FILL#", i), "FILL")
		item["body"] = &types.AttributeValueMemberS{Value: body}
		if _, err := client.PutItem(w.rt.Context(), &dynamodb.PutItemInput{TableName: name, Item: item}); err != nil {
			w.rt.Fatal(err)
		}
	}
	var records []streams.Record
	arn := *out.TableDescription.LatestStreamArn
	if _, err := dynamosim.NewFeed(db.StreamsClient(), arn).Poll(w.rt.Context(), func(_ context.Context, batch []streams.Record) error {
		records = append(records, batch...)
		return nil
	}); err != nil || len(records) != len(bodies) {
		w.rt.Fatalf("%d records, %v", len(records), err)
	}
	s, err := newTableStream(w, arn, records)
	if err != nil {
		w.rt.Fatal(err)
	}
	return s
}

func (w *world) config() lambda.Config {
	return lambda.Config{DeadLetters: w.sink.put, MaxReceives: 3, Observer: func(_ context.Context, o lambda.Observation) {
		if o.Err != nil && strings.Contains(o.Err.Error(), secret) {
			w.rt.Fatalf("an error repeats the message: %v", o.Err)
		}
		if errors.Is(o.Err, lambda.ErrDeadLetter) {
			w.seen["letter not stored"]++
		}
		if errors.Is(o.Err, context.DeadlineExceeded) {
			w.seen["time is up"]++
		}
		w.seen[string(o.Outcome)]++
	}}
}

// handle is the handle function of every source.
func (w *world) handle(ctx context.Context, body string) error {
	if w.slow {
		if err := ambient.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	var f fill
	if json.Unmarshal([]byte(body), &f) != nil {
		return lambda.Permanent(errors.New("no fill"))
	}
	switch f.Poison {
	case "refused":
		return errClosed
	case "panics":
		panic(body)
	}
	outcome, err := w.received.Process(ctx, w.committer, w.event(f), nil, w.effect(f.ID))
	if outcome.Duplicate {
		w.seen["duplicate"]++
	}
	return err
}

func (w *world) event(f fill) inbox.Event {
	return inbox.Event{ID: f.ID, Type: "OrderFilled", SourceVersion: int64(f.Version), Payload: []byte(f.Secret)}
}

// mustBeOver fails the history unless a message has had its effect or is a dead letter.
func (w *world) mustBeOver(source, id, body string) {
	var f fill
	if w.sink.has(source, id) || json.Unmarshal([]byte(body), &f) == nil && f.Poison == "" && w.effects(f.ID) == 1 {
		return
	}
	w.rt.Fatalf("message %s of %s counts as handled, and is not", id, source)
}

// step delivers one batch of one source, in some weather.
func (w *world) step() {
	s := w.sources[rapid.IntRange(0, len(w.sources)-1).Draw(w.rt, "source")]
	w.fates = rapid.SliceOfN(rapid.SampledFrom(anyFate), 0, 6).Draw(w.rt, "fates")
	w.slow = rapid.IntRange(0, 3).Draw(w.rt, "slow") == 0
	sink := rapid.IntRange(0, 3).Draw(w.rt, "sink")
	w.sink.fail = func() (before, after bool) { return sink == 1, sink == 2 }
	if rapid.IntRange(0, 4).Draw(w.rt, "crash") == 0 {
		s.restart()
		w.seen["another process"]++
	}
	lost := rapid.IntRange(0, 4).Draw(w.rt, "answer") == 0
	if lost {
		w.seen["answer lost"]++
	}
	ctx, cancel := context.WithTimeout(w.rt.Context(), 3*time.Second)
	defer cancel()
	s.deliver(w.rt, ctx, lost)
}

// settle delivers until nothing is left, in good weather, and looks at everything.
func (w *world) settle() {
	w.fates, w.slow, w.sink.fail = nil, false, nil
	for _, s := range w.sources {
		for n := 0; !s.empty(); n++ {
			if n == 100 {
				w.rt.Fatalf("%T goes on for ever", s)
			}
			s.deliver(w.rt, w.rt.Context(), false)
		}
	}
	for id, want := range map[string]int{"taken": 1, "p-unreadable": 0, "p-refused": 0, "p-panics": 0} {
		if n := w.effects(id); n != want {
			w.rt.Fatalf("event %s has %d effects", id, n)
		}
	}
	for n := range 7 {
		if id := fmt.Sprint("e-", n); w.effects(id) > 1 { // that it has one, mustBeOver says
			w.rt.Fatalf("event %s has %d effects", id, w.effects(id))
		}
	}
	for message, kind := range w.poison {
		letter, ok := w.sink.all[message]
		if !ok || !strings.Contains(letter.Reason, reasons[kind]) || strings.Contains(letter.Reason, secret) || !json.Valid(letter.Message) {
			w.rt.Fatalf("poison %s (%s): %v, %q", message, kind, ok, letter.Reason)
		}
	}
	if len(w.sink.all) != len(w.poison) {
		w.rt.Fatalf("%d letters of %d messages of poison", len(w.sink.all), len(w.poison))
	}
}
