package outbox

import (
	"context"
	"sync"
)

// Message is an event on its way to the broker.
type Message struct {
	// Event is the envelope with its payload. Consumers recognise a repeat by its ID.
	Event Event
	// Attempt counts the attempts to publish it, this one included, from 1.
	Attempt int64
}

// Result is what became of one message.
type Result struct {
	// Ack is the broker's acknowledgement, for example its message ID. It is stored with the event, up to MaxAckBytes.
	Ack string
	// Err says that the message was not published, or that nobody knows: it is tried again. Its text is stored, up to
	// MaxReasonBytes, so it must not hold the payload.
	Err error
	// Final says, beside an Err, that no repeat can help, as with a message that is too large: the event is parked at once.
	Final bool
}

// Publisher hands messages to a broker. It must be safe for concurrent use.
type Publisher interface {
	// Publish sends a batch and returns one result for each message, in their order: nothing else decides what is done.
	// A message without a result is tried again. Publish must return soon after the context ends: at shutdown, or when the
	// leases are not renewed any more. What comes later than a third of a lease is not waited for.
	Publish(ctx context.Context, batch []Message) []Result
}

// Memory is a Publisher that keeps messages in memory, for tests and examples. The zero value works.
type Memory struct {
	// Refuse, if set, decides the result of each message that is not accepted; a Result without an Err accepts it.
	Refuse func(Message) Result

	mu       sync.Mutex
	accepted []Message
}

// Publish accepts every message that Refuse does not refuse. Its acknowledgement is "memory-" and the event's ID.
func (m *Memory) Publish(_ context.Context, batch []Message) []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	results := make([]Result, len(batch))
	for i, message := range batch {
		if m.Refuse != nil {
			results[i] = m.Refuse(message)
		}
		if results[i].Err == nil {
			m.accepted = append(m.accepted, message)
			results[i].Ack = "memory-" + message.Event.ID
		}
	}
	return results
}

// Messages returns what was accepted, in order, repeats included.
func (m *Memory) Messages() []Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Message(nil), m.accepted...)
}
