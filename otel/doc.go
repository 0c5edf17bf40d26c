// Package otel is an observe.Observer that speaks OpenTelemetry: a span for every operation of the library, and metrics by
// access pattern. It is a module of its own, so that nobody else compiles OpenTelemetry; of that it needs the API alone.
//
//	watch, err := dynafinotel.New(dynafinotel.Config{}) // import dynafinotel "github.com/dynafin/dynafin/otel"
//	commits := txn.New(client, txn.Config{Observer: watch})
//	events := outbox.New(outbox.Config{Service: "orders", Observer: watch})
//
// # Metrics
//
// Names and units follow OpenTelemetry's conventions for databases where they have one; the rest begins with dynafin.
//
//	db.client.operation.duration   s            histogram: operations that sent requests, waits between attempts included
//	dynafin.operations             {operation}  counter: all operations
//	dynafin.attempts               {attempt}    counter: requests sent, all repeats counted
//	dynafin.throttles              {attempt}    counter: attempts that DynamoDB throttled
//	dynafin.conflicts              {attempt}    counter: attempts that met another request on the same items
//	dynafin.capacity.consumed      {unit}       counter: read and write units, as DynamoDB reported them
//	dynafin.queue.*                             gauges: one for each observe.Gauge, counts in {entry} and ages in s
//
// Every one has the attributes dynafin.package, dynafin.scope (if there is one) and dynafin.pattern. What counts operations has
// dynafin.operation; the first two of the list have dynafin.outcome, capacity has dynafin.capacity.kind (read or write). With
// db.client.operation.duration come db.system.name, db.operation.name and db.collection.name where all requests agree, and
// error.type where the outcome is not an expected one. All of these take few values: there is no key, and no tenant.
//
// The duration is that of an operation of this library, which may be several requests. Instrumentation of the AWS SDK has
// metrics of the same name under its own scope, one record a request.
//
// # Spans
//
// A span has the name of the operation, such as "AP16.claim", and the kind client; spans of the AWS SDK's instrumentation are
// its children. Beside the attributes above it has aws.dynamodb.table_names, the labels of the committed parts, attempts,
// throttles, conflicts and units. Its status is an error where the outcome is not an expected one, with the text of the error:
// that names the business key which failed, and nothing else of the data.
//
// # Dashboard and alerts
//
// The directory grafana has a dashboard and alert rules for Prometheus; docs/observability.md says what to do about each.
package otel
