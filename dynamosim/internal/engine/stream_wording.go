package engine

// The texts of streams.
const (
	msgViewMissing     = msgInvalidParameter + "If stream is being enabled then UpdateViewType is required"
	msgViewUnwanted    = msgInvalidParameter + "If stream is being disabled, then UpdateViewType must not be specified"
	msgStreamARN       = "Invalid StreamArn"
	msgShardMissing    = "Requested resource not found: Shard does not exist"
	msgSequenceNumber  = "Invalid SequenceNumber"
	msgSequenceMissing = msgInvalidParameter + "SequenceNumber must be specified with AT_SEQUENCE_NUMBER and AFTER_SEQUENCE_NUMBER"
	msgSequenceExtra   = msgInvalidParameter + "SequenceNumber must not be specified with this ShardIteratorType"
	msgTimeMissing     = msgInvalidParameter + "Timestamp must be specified with AT_TIMESTAMP"
	msgTimeExtra       = msgInvalidParameter + "Timestamp must only be specified with AT_TIMESTAMP"
	msgTimeFuture      = msgInvalidParameter + "Timestamp must not be in the future"
	msgIterator        = "Invalid ShardIterator"
	msgIteratorExpired = "Shard iterator has expired"
	msgTrimmed         = "The data you are trying to access has been trimmed"
)

func msgStreamEnabled(table string) string {
	return "Table already has an enabled stream: TableName: " + table
}

func msgStreamMissing(table string) string {
	return "Table has no stream to disable: TableName: " + table
}

func msgStreamNotFound(arn string) string {
	return "Requested resource not found: Stream: " + arn + " not found"
}
