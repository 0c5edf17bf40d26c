// Package kinesis publishes the events of an outbox to an Amazon Kinesis data stream: at least once, with a result for each
// event, the events of an aggregate on one shard, and in their order if that is asked.
//
//	stream, err := kinesis.New(client, kinesis.Config{Stream: "orders", Ordered: true})
//	...
//	err = outbox.NewRelay(events, dynamo, stream, outbox.RelayConfig{}).Run(ctx)
//
// # Form
//
//	Data           the envelope, see [outbox.Event.Envelope]; Config.Data makes another
//	PartitionKey   [outbox.Event.AggregateKey]
//
// The acknowledgement is "shardId:sequenceNumber". Records have no attributes: ID, type, tenant and trace are in the
// envelope alone.
//
// # Limits
//
//	a call     500 records and 10 MiB with the partition keys
//	a record   Config.MaxRecordBytes with its partition key: 1 MiB, or what the stream's MaxRecordSizeInKiB says, up to 10 MiB
//	a shard    1,000 records and 1 MB a second; beyond that single records are throttled
//
// A batch that is larger becomes several calls, one after the other. A record that cannot fit is parked at once and is not
// sent.
//
// # Order
//
// A record that fails does not stop those behind it in its call. With Config.Ordered the records of an aggregate are sent
// by version, one a call; if one fails, the later ones in the batch are not sent and are tried again with it, and other
// aggregates go on. That is order within a batch: that a later batch does not overtake a failed event is
// [outbox.Config.Ordered]. A stream whose record distribution is AUTO does not look at keys, and has no order by aggregate.
//
// # Errors
//
// Every record of an answer is looked at; the count of failures is not believed. An [outbox.PublishError] has the code.
//
//	parked at once   InvalidArgumentException or ValidationException of a call with this record alone
//	tried again      everything else: ProvisionedThroughputExceededException, InternalFailure, codes that nobody knows,
//	                 AccessDeniedException, KMS codes, ResourceNotFoundException, no answer, an answer of the wrong length
//
// A call that one record spoils is halved until that record stands alone.
//
// # Cost
//
// One PutRecords call for up to 500 records; a relay's batch has at most 100. AWS charges a put unit for each 25 KB begun of
// a record. It needs the right kinesis:PutRecords on the stream, and kms:GenerateDataKey if it is encrypted with a key of
// yours.
//
// # What is not promised
//
// Exactly once: a stream recognises no repeat, and a call whose answer was lost is made again.
package kinesis
