// Package observe tells what the library does, and how long its queues are. Every package that talks to DynamoDB has a
// Config with an Observer; one value serves them all:
//
//	watch := observe.Slog(slog.Default())
//	events := outbox.New(outbox.Config{Service: "orders", Observer: watch})
//	commits := txn.New(client, txn.Config{Observer: watch})
//
// # What is told
//
// Every operation that sends requests reports once, when it ends: an [Event] with its access pattern, how it ended (see
// [Outcome]), its attempts, throttles and conflicts, the units that DynamoDB reported, and how long it took. An operation
// that is built from others, as idempotency's Do is from a claim and a Commit, is one Event; the others report nothing of
// their own, and their requests are in its figures. So every request is in exactly one Event, and the sum of the units
// over all Events is what DynamoDB reported. An iterator reports when its loop ends, and its time includes the loop's body.
//
// Beside that, what counts or lists a queue tells how long it is: a [Measurement]. Nothing is read for the sake of
// measuring. Let one process call these now and then; the reference of each names the gauges that it tells.
//
// # What is never told
//
// No payload, no key and no tenant: whatever is in an Event may become the label of a metric. The one exception is
// [Event.Err], which names the business key that failed, as all errors of this library do. It is for logs and traces, and
// never for a label.
//
// # What it costs
//
// Without an Observer nothing: no request differs, and nothing is allocated. With one, every request asks for its consumed
// capacity, which is free. Figures come from the SDK's own middleware. A client that does not hand its options on to a
// *dynamodb.Client gives none but outcome and time.
//
// # Observers that fail
//
// An Observer is called by the goroutine that did the work, after it. Return quickly, and be safe for concurrent use. A panic
// of an Observer is caught and logged to slog.Default with its stack; the operation ends as it would have.
package observe
