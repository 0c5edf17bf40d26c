// Package sns publishes the events of an outbox to an Amazon SNS topic: at least once, with a result for each event, and on
// a FIFO topic in the order of each aggregate.
//
//	topic, err := sns.New(client, sns.Config{TopicARN: "arn:aws:sns:eu-central-1:123456789012:orders.fifo"})
//	...
//	err = outbox.NewRelay(events, dynamo, topic, outbox.RelayConfig{}).Run(ctx)
//
// # Form
//
//	Message                  the envelope, see [outbox.Event.Envelope]; Config.Body makes another
//	MessageAttributes        eventId, eventType, schemaVersion (a Number), tenant, traceId, for filter policies
//	MessageGroupId           on FIFO topics [outbox.Event.AggregateKey]
//	MessageDeduplicationId   on FIFO topics the event ID; its SHA-256 if it is longer than 128 bytes or not of plain characters
//
// The acknowledgement is the message ID; of a FIFO topic "messageId:sequenceNumber".
//
// # Limits
//
//	a call      10 messages and Config.MaxBytes: 256 KiB, or what the topic's MaximumMessageSize says, up to 1 MiB
//	a message   Config.MaxBytes: the body, and the names, types and values of the attributes
//
// A batch that is larger becomes several calls, one after the other. A message that cannot fit is parked at once and is not
// sent, as is one whose body is empty or no UTF-8.
//
// # Order
//
// A topic whose name ends in ".fifo" gets the messages of an aggregate by version, one a call. If one fails, the later
// ones of its aggregate in the batch are not sent and are tried again with it; other aggregates go on. That is order within
// a batch: that a later batch does not overtake a failed event is [outbox.Config.Ordered].
//
// # Errors
//
// Answers are matched by the name of the entry. An [outbox.PublishError] has the code.
//
//	parked at once   an entry with SenderFault, unless the code is about rights, keys, throttles or the topic; of a call with
//	                 this message alone BatchRequestTooLong, InvalidParameter, ParameterValueInvalid, ValidationException
//	tried again      everything else: throttles, AuthorizationError, KMS codes, NotFound, internal errors, codes that nobody
//	                 knows, entries that the answer does not name or names as both taken and refused, no answer
//
// A call that one message spoils is halved until that message stands alone.
//
// # Cost
//
// One PublishBatch call for up to 10 messages; AWS charges a request for each 64 KB begun. It needs the right sns:Publish on
// the topic, and kms:GenerateDataKey and kms:Decrypt if it is encrypted.
//
// # What is not promised
//
// Exactly once: a FIFO topic recognises a repeat for five minutes only, a standard topic never. Order on a standard topic.
// That a subscriber gets a message: its filter, its delivery policy and its dead-letter queue decide.
package sns
