// Package watermill publishes the events of an outbox through any Watermill publisher (Kafka, AMQP, NATS, SQL and others):
// at least once, with a result for each event. It is a module of its own, so that only its importers get Watermill.
//
//	publisher, err := watermill.New(kafkaPublisher, watermill.Config{
//		Topic: func(e outbox.Event) string { return "orders." + e.Type },
//	})
//	...
//	err = outbox.NewRelay(events, dynamo, publisher, outbox.RelayConfig{}).Run(ctx)
//
// # Form
//
//	topic      Config.Topic of the event
//	UUID       the event ID, by which consumers recognise a repeat
//	Payload    the envelope, see [outbox.Event.Envelope] and [outbox.ParseEnvelope]; Config.Payload makes another
//	Metadata   eventId, eventType, schemaVersion, tenant, traceId, and aggregateKey, see [outbox.Event.AggregateKey]: the
//	           partition key for brokers that have such
//
// Watermill tells no message ID, so the acknowledgement is the topic.
//
// # Errors
//
// A Watermill publisher that fails in the middle of several messages does not say where, so every message is a call. Its
// error means that nobody knows, and the event is tried again; an [outbox.PublishError] wraps it, and does not repeat its
// words. An event is parked at once if it has no topic or its payload cannot be made. What is too large is the broker's
// error, which Watermill does not tell from others: such an event is parked after the relay's MaxAttempts.
//
// # Limits
//
// Watermill's Publish takes no context. When that of a relay ends, the call in progress is left to end by itself, its event
// is tried again, and no other call begins.
//
// # Order
//
// With Config.Ordered the events of an aggregate are sent by version, and none after one that failed, within the batch. That
// a later batch does not overtake a failed event is [outbox.Config.Ordered]. Whether the broker keeps the order of what it is
// given is its own matter, and that of the partition key.
//
// # Cost
//
// One call for each event, one after the other within a batch; a relay works on several batches at the same time.
//
// # What is not promised
//
// Exactly once, and whatever the Watermill publisher does not promise itself: one that answers before the broker has stored
// the message can lose it.
package watermill
