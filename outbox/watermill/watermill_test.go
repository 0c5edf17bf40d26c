package watermill_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	sdk "github.com/ThreeDotsLabs/watermill"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/watermill"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

func event(order string, version int) outbox.Event {
	e := outbox.Event{
		Tenant: "acme", AggregateType: "Order", AggregateID: order, AggregateVersion: int64(version), Type: "OrderFilled", SchemaVersion: 2,
		OccurredAt: day, TraceID: "trace-1", Payload: []byte(`{"iban":"SECRET"}`),
	}
	e.ID = e.OrderedID()
	return e
}

func batch(events ...outbox.Event) (all []outbox.Message) {
	for _, e := range events {
		all = append(all, outbox.Message{Event: e, Attempt: 1})
	}
	return all
}

// bus is a Watermill publisher that does what a test decides.
type bus struct {
	decide func(*message.Message) error

	mu   sync.Mutex
	sent []*message.Message
}

func (b *bus) Publish(topic string, messages ...*message.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(messages) != 1 || topic != "orders.OrderFilled" {
		return errors.New("not one message of the topic")
	}
	b.sent = append(b.sent, messages...)
	if b.decide == nil {
		return nil
	}
	return b.decide(messages[0])
}

func (b *bus) Close() error { return nil }

func topicOf(e outbox.Event) string { return "orders." + e.Type }

func open(t *testing.T, b message.Publisher, config watermill.Config) *watermill.Publisher {
	t.Helper()
	config.Topic = topicOf
	p, err := watermill.New(b, config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// want compares what became of messages: P published, r again, x parked.
func want(t *testing.T, results []outbox.Result, want string) {
	t.Helper()
	got := ""
	for _, r := range results {
		switch {
		case r.Err == nil && r.Ack == "orders.OrderFilled":
			got += "P"
		case errors.Is(r.Err, outbox.ErrRefused) && r.Final:
			got += "x"
		case errors.Is(r.Err, outbox.ErrUnpublished) && !r.Final:
			got += "r"
		default:
			got += "?"
		}
		if r.Err != nil && strings.Contains(r.Err.Error(), "SECRET") {
			t.Errorf("an error repeats the payload: %v", r.Err)
		}
	}
	if got != want {
		t.Errorf("results are %s, want %s: %v", got, want, results)
	}
}

func TestAMessageCarriesTheEvent(t *testing.T) {
	b := &bus{}
	e := event("order-1", 1)
	want(t, open(t, b, watermill.Config{}).Publish(t.Context(), batch(e)), "P")
	m := b.sent[0]
	got, err := outbox.ParseEnvelope(m.Payload)
	if m.UUID != e.ID || err != nil || fmt.Sprint(got) != fmt.Sprint(e) {
		t.Errorf("message %s is %v, %v", m.UUID, got, err)
	}
	for name, value := range map[string]string{
		"eventId": e.ID, "eventType": "OrderFilled", "schemaVersion": "2", "tenant": "acme", "traceId": "trace-1", "aggregateKey": e.AggregateKey(),
	} {
		if m.Metadata.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, m.Metadata.Get(name), value)
		}
	}
}

func TestEachMessageHasItsOwnResult(t *testing.T) {
	broken := errors.New("the broker does not like SECRET")
	b := &bus{decide: func(m *message.Message) error {
		if m.UUID == event("order-2", 1).ID {
			return broken
		}
		return nil
	}}
	p := open(t, b, watermill.Config{Payload: func(e outbox.Event) ([]byte, error) {
		if e.AggregateID == "order-3" {
			return nil, broken
		}
		return e.Payload, nil
	}})
	results := p.Publish(t.Context(), batch(event("order-1", 1), event("order-2", 1), event("order-3", 1), event("order-4", 1)))
	want(t, results, "PrxP")
	if !errors.Is(results[1].Err, broken) || string(b.sent[0].Payload) != `{"iban":"SECRET"}` {
		t.Errorf("the error is %v, the payload %s", results[1].Err, b.sent[0].Payload)
	}
	if empty := p.Publish(t.Context(), nil); len(empty) != 0 {
		t.Errorf("an empty batch has results: %v", empty)
	}
	said := open(t, b, watermill.Config{Reason: func(error) string { return "broker down" }}).Publish(t.Context(), batch(event("order-2", 1)))
	if !strings.Contains(said[0].Err.Error(), "broker down") {
		t.Errorf("the reason is %v", said[0].Err)
	}
}

func TestAnEventWithoutATopicIsParked(t *testing.T) {
	p, err := watermill.New(&bus{}, watermill.Config{Topic: func(outbox.Event) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	want(t, p.Publish(t.Context(), batch(event("order-1", 1))), "x")
}

func TestAnAggregateStopsAtItsFirstFailure(t *testing.T) {
	events := batch(event("order-1", 3), event("order-1", 1), event("order-2", 1), event("order-1", 2))
	fails := func(m *message.Message) error {
		if m.UUID == event("order-1", 2).ID {
			return errors.New("no")
		}
		return nil
	}
	want(t, open(t, &bus{decide: fails}, watermill.Config{Ordered: true}).Publish(t.Context(), events), "rPPr")
	want(t, open(t, &bus{decide: fails}, watermill.Config{}).Publish(t.Context(), events), "PPPr")
}

func TestWhatWasSentBeforeTheContextEndedIsPublished(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hang := make(chan struct{})
	second := event("order-2", 1)
	b := &bus{decide: func(m *message.Message) error {
		if m.UUID == second.ID {
			cancel()
			<-hang // a broker that does not answer
		}
		return nil
	}}
	results := open(t, b, watermill.Config{}).Publish(ctx, batch(event("order-1", 1), second, event("order-3", 1)))
	want(t, results, "Prr")
	close(hang)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sent) != 2 {
		t.Errorf("%d were sent", len(b.sent))
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	var invalid *outbox.InvalidError
	if p, err := watermill.New(nil, watermill.Config{Topic: topicOf}); p != nil || !errors.As(err, &invalid) {
		t.Errorf("without a publisher: %v", err)
	}
	if p, err := watermill.New(&bus{}, watermill.Config{}); p != nil || !errors.As(err, &invalid) {
		t.Errorf("without topics: %v", err)
	}
}

// flaky takes every message and loses every third answer.
type flaky struct {
	message.Publisher
	mu    sync.Mutex
	calls int
}

func (f *flaky) Publish(topic string, messages ...*message.Message) error {
	err := f.Publisher.Publish(topic, messages...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.calls%3 == 0 {
		return errors.New("the answer was lost")
	}
	return err
}

// TestARelayPublishesEverything: through Watermill's own in-process broker, each event arrives, and the relay knows.
func TestARelayPublishesEverything(t *testing.T) {
	channel := gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: 200, Persistent: true}, sdk.NopLogger{})
	defer channel.Close()
	events := outbox.New(outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}, Ordered: true})
	db := dynamosim.New(t)
	if err := db.CreateTable("Orders", events.Index()); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for order := range 10 {
		for version := range 3 {
			e := event(fmt.Sprint("order-", order), version+1)
			if _, err := txn.Commit(t.Context(), db.Client(), events.Create(e)); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.ID)
		}
	}
	now := day
	relay := outbox.NewRelay(events, db.Client(), open(t, &flaky{Publisher: channel}, watermill.Config{Ordered: true}), outbox.RelayConfig{
		Now: func() time.Time { return now }, Jitter: func(time.Duration) time.Duration { return 0 }, Batches: 1,
	})
	for range 8 {
		if _, err := relay.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	messages, err := channel.Subscribe(t.Context(), "orders.OrderFilled")
	if err != nil {
		t.Fatal(err)
	}
	copies := map[string]int{}
	for len(copies) < len(ids) {
		m := <-messages
		copies[m.UUID]++
		m.Ack()
	}
	for _, id := range ids {
		if record, err := events.Get(t.Context(), db.Client(), id); err != nil || record.State != outbox.Completed || record.Ack != "orders.OrderFilled" {
			t.Errorf("event %s is %s with %q, %v; copies: %d", id, record.State, record.Ack, err, copies[id])
		}
	}
}
