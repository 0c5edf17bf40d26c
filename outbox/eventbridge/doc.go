// Package eventbridge publishes the events of an outbox on an Amazon EventBridge bus: at least once, with a result for each
// event. It is for custom buses of the classic API, with rules and targets.
//
//	bus, err := eventbridge.New(client, eventbridge.Config{Bus: "orders", Source: "com.acme.orders"})
//	...
//	err = outbox.NewRelay(events, dynamo, bus, outbox.RelayConfig{}).Run(ctx)
//
// # Form
//
//	Source        Config.Source
//	DetailType    the event's Type
//	Time          OccurredAt
//	Detail        the envelope, see [outbox.Event.Envelope], so that rules can match detail.tenant or detail.eventType
//
// The service makes an ID of its own for every attempt. It is stored as the acknowledgement; consumers recognise an event
// by detail.eventId. Config.Detail makes another detail; it must be a JSON object.
//
// # Limits
//
//	a call        10 events and Config.MaxBytes: 256 KiB, which every Region takes, up to 1,047,500
//	an event      Config.MaxBytes: 14 bytes for the time, and the lengths of source, detail type and detail
//	detail type   128 characters
//
// A batch that is larger becomes several calls, one after the other. An event that cannot fit is parked at once and is not
// sent. A target has limits of its own, and the service tells nobody but the target's dead-letter queue.
//
// # Errors
//
// Every entry of an answer is looked at; the count of failures is not believed. An [outbox.PublishError] has the code.
//
//	parked at once   MalformedDetail, InvalidArgument, RedactionFailure; a ValidationException of a call with this event alone
//	tried again      ThrottlingException, InternalFailure, codes that nobody knows, no answer, an answer of the wrong length;
//	                 and what is about rights: AccessDeniedException, NotAuthorizedForSourceException,
//	                 NotAuthorizedForDetailTypeException, InvalidAccountIdException
//
// AWS calls the last group not worth a retry. A relay tries them all the same, up to its MaxAttempts: nothing is wrong with
// the event, and who mends the policy in that time need not redrive thousands by hand. A call that is refused with a
// ValidationException is halved until the event that causes it stands alone.
//
// # Cost
//
// One PutEvents call for up to 10 events; AWS charges an event for each 64 KB begun. It needs the right events:PutEvents on
// the bus.
//
// # What is not promised
//
// No order: the service has none. No deduplication: a call whose answer was lost is made again, and rules see both copies.
// That every target gets an event: see the target's retry policy and dead-letter queue. That a target sees the detail byte for
// byte: the service may write the document anew.
package eventbridge
