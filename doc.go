// Package dynafin is the root of financial primitives on Amazon DynamoDB. What must be true together commits together, in one
// TransactWriteItems; every retry is safe, whatever crashed, timed out or raced; amounts are exact; nothing is lost silently;
// and the cost of every call is known. Each of these is a property that a deterministic simulation tries to break.
//
// It holds no code. Import the packages below it, each alone or several together; they meet in your transaction:
//
//	receipt, err := txn.Commit(ctx, client,
//		requests.Once(request, result),           // idempotency: the durable answer
//		names.Reserve(claim),                     // sentinel: one owner of a name
//		book.Post(transaction),                   // ledger: balanced, within funds
//		txn.Put(orders, order, txn.IfAbsent()),   // your own write
//		events.Create(accepted),                  // outbox: others hear of it
//	)
//
// By what you want:
//
//   - a repeat has one effect and one answer: idempotency, and idempotency/httpkey for HTTP
//   - a name has one owner: sentinel
//   - others hear of every change: outbox, and below it publishers for EventBridge, SNS, SQS and Kinesis
//   - an event has one effect here: inbox; a view is in step with its sources: projection
//   - accounts, postings, reservations, reversals: ledger; two sides compared: reconcile
//   - exact amounts: money; a busy lane over several partitions: shardmap; many partitions read as one list: fanout
//   - tables, templates, permissions: schema; every item of a table: export; units and plans: capacity
//   - what is going on: observe
//   - tests: dynamosim is DynamoDB in the process, invariant breaks what can break, loadtest finds what a lane holds,
//     storetest tries your own tables
//
// Modules of their own are lambda, for handlers of AWS Lambda, and cmd/dynafin, for operators.
//
// Not promised: publishing exactly once, anything across Regions or accounts, and that TTL deletes in time. One transaction takes
// 100 items and 4 MB.
//
// README.md shows what goes wrong without; docs/README.md leads on by question, docs/adopting.md to a service that exists.
package dynafin
