// Package idempotency gives every repeat of a command the first one's result, whatever crashed, timed out or raced in
// between (AP08). The result is written in the very transaction that gives the command its effect, so there is never an
// effect without its result, nor a result without its effect:
//
//	requests := idempotency.New(idempotency.Config{})
//	_, err := txn.Commit(ctx, client,
//		requests.Once(idempotency.Request{
//			Tenant: tenant, Key: key, Operation: "order.accept", SchemaVersion: 1, Command: idempotency.JSON(body),
//		}, result),
//		txn.Put(orders, order, txn.IfAbsent()),
//	)
//	if replay, ok := idempotency.Replayed(err); ok {
//		result, err = replay.Result, nil
//	}
//
// # What it guarantees
//
//   - Of any number of requests with one key exactly one has an effect. All others get its stored result, byte for
//     byte, checked against a digest; a definite refusal ([Rejected]) is a result like any other.
//   - The same key with another command, or for another operation, is always a [*MismatchError]. It never gets the
//     other's result and never changes the record.
//   - A lost answer is no conflict: the Commit that was applied recognises its own record, with or without DynamoDB's
//     request token, and a new Commit of the same request is a replay.
//   - A replay costs no read: the cancelled transaction brings the record along.
//
// # The fingerprint
//
// A command is recognised by SHA-256 over tenant, operation, schema version and the command's content, each value
// typed and preceded by its length. The content is either typed fields ([NewFields]) or a JSON document ([JSON]), never
// a float: decimals are compared by exact value, times as instants, JSON by [CanonicalJSON]. The two forms never give one
// fingerprint, so changing the form, like raising the schema version, makes repeats of older commands mismatches. The
// record keeps the version of the algorithm ([HashV1]) and is verified with that one.
//
// # The record
//
// One item per key, PK = TEN#tenant#REQ#key, SK = REQUEST (IDX08):
//
//	v              N  format version, 1
//	state          S  COMPLETED; IN_PROGRESS and REPAIR_REQUIRED are understood and never overwritten
//	operation      S  schemaVersion N
//	fingerprint    B  SHA-256, 32 bytes; hashVersion N
//	attempt        N  1; attemptOwner S, if Config.Owner is set; leaseUntil S, for IN_PROGRESS alone
//	result         M  kind S (ACCEPTED, REJECTED), code S, body B, digest B (of kind, code, body and effect)
//	effect         M  what the command created: name S
//	createdAt      S  updatedAt S; UTC with nanoseconds
//	expiresAt      N  epoch seconds, for the table's TTL; absent with KeepForever
//	txnMark        S  set by package txn
//
//	            Once, in the transaction of the effect
//	(absent) ────────────────────────────────────────────► COMPLETED   never changes again
//
// A record whose expiresAt has passed counts for as long as it is there: TTL is for cleaning up, never a decision. Once
// TTL has removed it the key is new, so [Config.ReplayHorizon] is the promise and [Config.Retention] may not be shorter.
//
// # Cost
//
//	Once, record up to 1 KiB      2 write units, in the caller's transaction; 2 more for each further KiB begun
//	replay, mismatch              what the cancelled transaction costs; no read
//	Lookup, record up to 4 KiB    1 read unit
//
// The record takes about 310 bytes beside tenant, key, operation, code, body and effect. [Config.RecordBytesMax] of 1024
// turns the first line into a rule.
//
// # Limits, and what it does not do
//
// The effect must fit into one transaction with the record; a result must fit into the record ([*TooLargeError] before
// anything is sent). A command that calls another system before it can commit needs a lease around it, which Once does
// not take. The key's quality is the client's affair: two commands that share a key by accident are a mismatch at best,
// and a replay if they are equal.
package idempotency
