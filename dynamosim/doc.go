// Package dynamosim is DynamoDB in memory, in the process, for tests that must not depend on luck. Behind the AWS SDK's
// own client it gives the answers DynamoDB gives: the same items and pages, the same errors in the same words, the same
// consumed units. It is ready in microseconds and needs no socket, no container and no closing.
//
//	db := dynamosim.New(t)          // or dynamosim.Open(dynamosim.Options{})
//	client := db.Client()           // a *dynamodb.Client
//	streams := db.StreamsClient()   // a *dynamodbstreams.Client
//
// # Layers
//
//	*dynamodb.Client      the SDK: serialisation, retries, error types
//	      │ HTTP request, no socket
//	   [Faulty]           optional: loses, throttles, refuses
//	      │
//	     DB               one lock, one clock
//	      │ operation, body
//	   engine             a synchronous state machine without goroutines, clock or chance
//	      ├─ expr         the expression language
//	      └─ value        items, numbers, wire JSON, key order, sizes
//
// DB is an aws.HTTPClient and an http.Handler, so that SDKs of other languages can use it over a socket; the command
// dynamosim/cmd/dynamosim does.
//
// # What it models
//
//   - CreateTable, DescribeTable, UpdateTable, DeleteTable, ListTables, DescribeLimits. A new table is active at once; an index that is
//     added later is backfilled first, in no time or in [Options].UpdateStep.
//   - PutItem, GetItem, UpdateItem, DeleteItem, Query, Scan, BatchGetItem, BatchWriteItem, TransactWriteItems and
//     TransactGetItems, with the whole language of condition, key condition, filter, projection and update expressions.
//     Scans may be parallel, of tables and of indexes.
//   - Transactions: all or nothing, one cancellation reason for each action in order, the stored item where it was asked
//     for, request tokens for ten minutes.
//   - Global and local secondary indexes, sparse, with every projection.
//   - Indexes that are behind ([IndexLag]) and eventually consistent reads of the past ([Options].Staleness), each within a
//     bound and with one item's changes in order.
//   - Time to live: an expired item stays until it is swept, as late and as badly timed as a test wants
//     ([DB.SweepExpired]) or at a moment of its own ([Options].SweepWithin). Streams hear that the service did it.
//   - Item collections of tables with local indexes: their size ranges, and their limit.
//   - Heat ([Heat]): what a partition key value of a table or an index takes in a second, with DynamoDB's throttling errors,
//     index back-pressure on writes to the table, and a meter ([DB.Hottest]).
//   - Requests that take time and meet ([ServiceTime]): conflicts of transactions, tokens in progress.
//   - Streams, read with the SDK's own client ([DB.StreamsClient]): four views, iterators of all types, shards that roll
//     and split while they are read, 24 hours of retention. Reading them consumes no units. [StreamOptions] make records
//     late, and take the records of a transaction apart; a [Feed] delivers them in batches that may fail and repeat.
//   - ReturnConsumedCapacity, TOTAL and INDEXES, for every operation; what DynamoDB bills without reporting it is in
//     [DB.Stats].
//   - The documented limits: sizes, counts, numbers, nesting, names.
//
// Lag, staleness, heat and service time are off unless [Options] ask for them. Nothing runs in the background: what has
// come to pass is worked out from the clock when a request arrives, so a database in a testing/synctest bubble lives in
// the bubble's time.
//
// [DB.Save] writes the whole state to a file, and [Load] goes on from there: for a test that begins where another ended, or
// to look at with cmd/dynafin.
//
// What DynamoDB leaves open is a knob of [Options]: the order of equal index keys, the treatment of tokens, how long
// items stay busy, what a batch does that meets a transaction.
//
// # What it does not model
//
//   - Throughput of a whole table or account, on-demand growth, partitions that split: only keys have limits. Scan counts
//     for none of them, nor does repeating a transaction by its token.
//   - A cancelled transaction keeps no item busy.
//   - PartiQL, tags, backups: unknown operations. UpdateTable accepts encryption, warm and on-demand throughput without
//     effect, refuses replicas, and does not count how often throughput was decreased today.
//   - Rate limits on reading streams, and more than one account that reads them.
//   - The legacy parameters that expressions replaced (Expected, AttributeUpdates, KeyConditions, QueryFilter,
//     AttributesToGet, ConditionalOperator): a ValidationException.
//   - Index keys of more than one partition and one sort attribute: refused by CreateTable.
//   - Signatures and permissions.
//   - The private size rule by which UpdateItem refuses items within about 100 bytes of 400 KB.
package dynamosim
