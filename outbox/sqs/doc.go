// Package sqs publishes the events of an outbox to an Amazon SQS queue: at least once, with a result for each event, and to
// a FIFO queue in the order of each aggregate.
//
//	queue, err := sqs.New(client, sqs.Config{QueueURL: "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo"})
//	...
//	err = outbox.NewRelay(events, dynamo, queue, outbox.RelayConfig{}).Run(ctx)
//
// # Form
//
//	MessageBody              the envelope, see [outbox.Event.Envelope]; Config.Body makes another
//	MessageAttributes        eventId, eventType, schemaVersion (a Number), tenant, traceId
//	MessageGroupId           to FIFO queues [outbox.Event.AggregateKey]
//	MessageDeduplicationId   to FIFO queues the event ID; its SHA-256 if it is longer than 128 bytes or not of plain characters
//
// The acknowledgement is the message ID; of a FIFO queue "messageId:sequenceNumber".
//
// # Limits
//
//	a call      10 messages and Config.MaxBytes: 1 MiB, or what the queue's MaximumMessageSize says
//	a message   Config.MaxBytes: the body, and the names, types and values of the attributes
//
// A batch that is larger becomes several calls, one after the other. A message that cannot fit is parked at once and is not
// sent, as is one whose body is empty or has characters that XML 1.0 does not know; the envelope carries such payloads in
// Base64.
//
// # Order
//
// A queue whose name ends in ".fifo" gets the messages of an aggregate by version, one a call. If one fails, the later
// ones of its aggregate in the batch are not sent and are tried again with it; other aggregates go on. That is order within
// a batch: that a later batch does not overtake a failed event is [outbox.Config.Ordered].
//
// # Errors
//
// Answers are matched by the name of the entry. An [outbox.PublishError] has the code.
//
//	parked at once   an entry with SenderFault, unless the code is about rights, keys, throttles or the queue; of a call with
//	                 this message alone BatchRequestTooLong, InvalidMessageContents, InvalidAttributeValue, InvalidParameterValue
//	tried again      everything else: throttles, AccessDenied, KMS codes, QueueDoesNotExist, internal errors, codes that nobody
//	                 knows, entries that the answer does not name or names as both taken and refused, no answer
//
// A call that one message spoils is halved until that message stands alone. The SDK's check of a body's MD5 fails a whole
// call; here it is made for each entry, and one that differs is tried again alone. A client with
// DisableMessageChecksumValidation skips it.
//
// # Cost
//
// One SendMessageBatch call for up to 10 messages; AWS charges a request for each 64 KB begun. It needs the right
// sqs:SendMessage on the queue, and kms:GenerateDataKey and kms:Decrypt if it is encrypted with a key of yours.
//
// # What is not promised
//
// Exactly once: a FIFO queue recognises a repeat for five minutes only, a standard queue never. Order in a standard queue.
package sqs
