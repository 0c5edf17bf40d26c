// Package txn commits several writes, to one table or many, in one DynamoDB transaction: all of them or none.
//
// Primitives hand out a [Part]; the caller adds writes of its own with [Put], [Update], [Delete] and [Check], and commits
// them together:
//
//	receipt, err := txn.Commit(ctx, client,
//		requests.Once(request, result),
//		names.Reserve(clientOrderID),
//		txn.Put(orders, order, txn.IfAbsent()),
//		events.Create(accepted),
//	)
//
// # What Commit promises
//
// A nil error means that the transaction is applied, exactly once. An error says which of four things holds: nothing was
// sent, nothing was written because of a condition (each failed part explains its own, from the stored item that
// DynamoDB returns with the refusal, so a loser pays no read), nothing was written because the items were busy, or
// nobody knows.
//
//	                  answer: applied
//	sent ───────────────────────────────────────────────► applied (nil)
//	 │ ▲                                                    ▲
//	 │ │ conflict, throttled: wait, send again              │ own mark found, or token replayed
//	 │ └──────────────────────────┐                         │
//	 ├── busy ────────────────────┤                         │
//	 │                            ├── budget spent ──► ContentionError   nothing was written
//	 ├── no answer ── fenced? ────┼── yes: send again ──────┤
//	 │                            │                         └── no proof ──► AmbiguousError   repeat the command
//	 │                            └── no ────────────────────────────────► AmbiguousError
//	 ├── condition failed ──────────────────────────────────────────────► CanceledError    nothing was written
//	 └── validation, access ────────────────────────────────────────────► RefusedError     nothing was written
//
// # The mark
//
// Every item that a Commit puts carries the Commit's own mark in the attribute [MarkAttribute], every item that it
// updates in [UpdateMarkAttribute] (29 and 31 bytes with the default marks). An attempt whose answer was lost is
// recognised when the next one fails its conditions against items that carry the very same mark: the transaction is
// atomic, so one such item proves the whole. The request token of DynamoDB is set too, the same for all attempts,
// but nothing depends on it.
//
// # Fences
//
// After a lost answer a transaction is sent again only if it holds a fence: a Put with [IfAbsent] whose record is
// never deleted, or a write on condition of a version that only rises. A second copy then fails its condition,
// whenever it arrives. Without a fence a repeat could apply twice, so Commit returns an [AmbiguousError] at once.
//
// A refusal that follows a lost answer is reported as a [CanceledError] only where a fence proves that the lost copy
// was not applied. If the fence was merely still absent, [CanceledError.Unsettled] is set: the lost copy may arrive
// late. Store the refusal under the same idempotency key before acting on it, and the late copy fails.
//
// # Cost
//
// For each item 2 write units for every KiB begun; index entries at their ordinary price. Cancelled attempts cost about as
// much as applied ones and report nothing, so conflicts belong into the capacity plan.
//
// # Limits
//
// [MaxItems] items, [MaxBytes] bytes, no two writes on one item, no value missing or of invalid UTF-8: all of this is
// checked before anything is sent, and the error names the parts. One account and one Region. Commit switches the SDK's
// own retries off for its request: one loop decides.
package txn
