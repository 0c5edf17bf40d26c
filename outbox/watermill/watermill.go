package watermill

import (
	"cmp"
	"context"
	"slices"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/dynafin/dynafin/outbox"
)

// Config says where events go and in which form.
type Config struct {
	// Topic names the topic of an event. Required. An event for which it returns "" is parked.
	Topic func(outbox.Event) string
	// Payload makes the payload of a message. An error of it parks the event. Default: [outbox.Event.Envelope].
	Payload func(outbox.Event) ([]byte, error)
	// Reason says of the Watermill publisher's error what the outbox may store: nothing of the payload. Default: "the
	// publisher failed", because nobody knows what an error of any publisher repeats.
	Reason func(error) string
	// Ordered sends the events of an aggregate by version, and none after one that failed.
	Ordered bool
}

// Publisher sends events through a Watermill publisher. It is safe for concurrent use, as Watermill's publishers are.
type Publisher struct {
	publisher message.Publisher
	config    Config
}

var _ outbox.Publisher = (*Publisher)(nil)

// New returns a publisher. The Watermill publisher stays the caller's: close it when the relay has ended. The error is an
// [outbox.InvalidError].
func New(publisher message.Publisher, config Config) (*Publisher, error) {
	switch {
	case publisher == nil:
		return nil, &outbox.InvalidError{Field: "publisher", Reason: "is missing"}
	case config.Topic == nil:
		return nil, &outbox.InvalidError{Field: "watermill.Config.Topic", Reason: "is missing"}
	}
	if config.Payload == nil {
		config.Payload = func(e outbox.Event) ([]byte, error) { return e.Envelope(), nil }
	}
	if config.Reason == nil {
		config.Reason = func(error) string { return "the publisher failed" }
	}
	return &Publisher{publisher: publisher, config: config}, nil
}

// answer is what became of the message at a place of a batch.
type answer struct {
	place  int
	result outbox.Result
}

// Publish sends the messages of the batch one after the other. When the context ends it returns, and what has no answer
// by then is tried again.
func (p *Publisher) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	results := make([]outbox.Result, len(batch))
	for i, m := range batch {
		results[i] = failed(m, outbox.PublishError{Reason: "it was not sent, or nobody knows: the context ended"})
	}
	answers := make(chan answer, len(batch)) // so that a call that is left alone can end
	go func() {
		defer close(answers)
		p.sendAll(ctx, batch, answers)
	}()
	for {
		select {
		case a, more := <-answers:
			if !more {
				return results
			}
			results[a.place] = a.result
		case <-ctx.Done():
			for len(answers) > 0 { // what was sent before is published
				a := <-answers
				results[a.place] = a.result
			}
			return results
		}
	}
}

func (p *Publisher) sendAll(ctx context.Context, batch []outbox.Message, answers chan<- answer) {
	type aggregate struct{ tenant, kind, id string }
	stopped := map[aggregate]bool{}
	for _, place := range p.turns(batch) {
		if ctx.Err() != nil {
			return
		}
		e := batch[place].Event
		of := aggregate{e.Tenant, e.AggregateType, e.AggregateID}
		result := failed(batch[place], outbox.PublishError{Reason: "an earlier event of its aggregate was not published"})
		if !stopped[of] {
			result = p.send(ctx, batch[place])
		}
		stopped[of] = p.config.Ordered && result.Err != nil
		answers <- answer{place, result}
	}
}

// turns are the places of a batch in the order of sending.
func (p *Publisher) turns(batch []outbox.Message) []int {
	places := make([]int, len(batch))
	for i := range places {
		places[i] = i
	}
	if p.config.Ordered {
		slices.SortStableFunc(places, func(a, b int) int {
			return cmp.Compare(batch[a].Event.AggregateVersion, batch[b].Event.AggregateVersion)
		})
	}
	return places
}

func (p *Publisher) send(ctx context.Context, m outbox.Message) outbox.Result {
	topic := p.config.Topic(m.Event)
	if topic == "" {
		return failed(m, outbox.PublishError{Reason: "it has no topic", Final: true})
	}
	payload, err := p.config.Payload(m.Event)
	if err != nil {
		return failed(m, outbox.PublishError{Reason: "its payload cannot be made", Final: true, Err: err})
	}
	out := message.NewMessage(m.Event.ID, payload)
	out.SetContext(ctx)
	out.Metadata = m.Event.Attributes()
	out.Metadata.Set("aggregateKey", m.Event.AggregateKey())
	if err := p.publisher.Publish(topic, out); err != nil {
		return failed(m, outbox.PublishError{Reason: p.config.Reason(err), Err: err})
	}
	return outbox.Result{Ack: topic}
}

func failed(m outbox.Message, err outbox.PublishError) outbox.Result {
	err.EventID, err.Broker = m.Event.ID, "Watermill"
	return outbox.Result{Err: &err, Final: err.Final}
}
