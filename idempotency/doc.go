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
// A command that takes more than one transaction is claimed on a lease first. [Requests.Do] is the whole of it:
//
//	answer, err := requests.Do(ctx, client, request, idempotency.Work{
//		Mode: idempotency.External,
//		Run: func(ctx context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
//			receipt, err := provider.Charge(ctx, payment)
//			return idempotency.Result{Code: "201", Body: receipt}, []txn.Part{events.Create(charged)}, err
//		},
//	})
//
// and in any number of other processes, until ctx ends, what became of those that did not come back is found out:
//
//	err := idempotency.NewRepairWorker(requests, client, prober, idempotency.RepairConfig{Tenants: tenants}).Run(ctx)
//
// Package httpkey below does this for the Idempotency-Key header of net/http.
//
// # What it guarantees
//
//   - Of any number of requests with one key exactly one has an effect. All others get its stored result, byte for
//     byte, checked against a digest; a definite refusal ([Rejected]) is a result like any other.
//   - The same key with another command, or for another operation, is always a [*MismatchError]. It never gets the
//     other's result and never changes the record.
//   - A lost answer is no conflict: whoever wrote a record recognises it, with or without DynamoDB's request token, and
//     a repeat of the request is a replay.
//   - A replay costs no read: the refused write brings the record along.
//   - After a crash the request is free again when the lease has ended, for exactly one caller, if its effect is
//     [Transactional]; the commit of the first one, should it still arrive, fails. If it is [External], nobody runs it a
//     second time because a lease ended: it goes to repair.
//   - A completed request never changes again. Whoever comes too late gets a [*LeaseLostError] and changes nothing.
//   - No external request is lost: it ends completed, rejected, or listed in repair with its reason.
//
// # States of a request
//
//	 no record ─────────────────────(1)────────────────────┐
//	     │                                                 ▼
//	    (2)                                          ┌───────────┐
//	     ▼                                           │           │
//	┌─────────────────┐ ─────────────(5)───────────► │           │
//	│   IN_PROGRESS   │                              │           │
//	└─────────────────┘ ──(6)(10)─► ┌──────────┐     │           │
//	 ▲ │    │     ▲                 │ RELEASED │(16)►│           │
//	 └─┘    │     └──────(7)─────── └──────────┘     │           │
//	(3)(4)  │                         ▲      ▲       │ COMPLETED │
//	      (8)(9)                     (14)   (18)     │           │
//	        ▼                         │      │       │           │
//	┌─────────────────┐ ──────────────┘      │       │           │
//	│ REPAIR_REQUIRED │ ────────────(13)─────┼─────► │           │
//	└─────────────────┘                      │       │           │
//	 ▲ │      │    ▲                         │       │           │
//	 └─┘     (15) (19)                       │       │           │
//	(11)(12)  ▼    │                         │       │           │
//	        ┌───────────┐ ───────────────────┘       │           │
//	        │ ESCALATED │ ───────────(17)──────────► │           │
//	        └───────────┘                            └───────────┘
//
//	step           from            to                 units, index  by
//	(1) once       no record       -> COMPLETED        2 x 1   -    the caller's transaction
//	(2) begin      no record       -> IN_PROGRESS        1    0|1   a caller, for a lease
//	(3) renew      IN_PROGRESS     -> IN_PROGRESS        1    0|2   the owner
//	(4) take over  IN_PROGRESS     -> IN_PROGRESS        1    0|2   a caller, when the lease of a transactional attempt has ended
//	(5) complete   IN_PROGRESS     -> COMPLETED        2 x 1  0|1   the owner, in the transaction of the effect
//	(6) release    IN_PROGRESS     -> RELEASED           1    0|2   the owner, who knows that there was no effect
//	(7) resume     RELEASED        -> IN_PROGRESS        1    0|2   a caller
//	(8) repair     IN_PROGRESS     -> REPAIR_REQUIRED    1    1|0   the owner, who does not know
//	(9) expire     IN_PROGRESS     -> REPAIR_REQUIRED    1    1|0   a caller or a worker, when the lease of an external attempt has ended
//	(10) lapse     IN_PROGRESS     -> RELEASED           1     2    a worker, when the lease of a listed transactional attempt has ended
//	(11) probe     REPAIR_REQUIRED -> REPAIR_REQUIRED    1     2    a worker, for a lease
//	(12) postpone  REPAIR_REQUIRED -> REPAIR_REQUIRED    1     2    the worker: ambiguous, look again later
//	(13) find      REPAIR_REQUIRED -> COMPLETED        2 x 1   1    the worker: the effect was found
//	(14) allow     REPAIR_REQUIRED -> RELEASED           1     2    the worker: absent for good
//	(15) escalate  REPAIR_REQUIRED -> ESCALATED          1     2    the worker, after its last look in vain
//	(16) abandon   RELEASED        -> COMPLETED          1     1    a worker: nobody repeated it
//	(17) settle    ESCALATED       -> COMPLETED        2 x 2   1    an operator, with a note
//	(18) free      ESCALATED       -> RELEASED         2 x 2   2    an operator, with a note
//	(19) requeue   ESCALATED       -> REPAIR_REQUIRED  2 x 2   2    an operator, with a note
//
// The units are those of records of up to 1 KiB; of the index the first figure is for attempts that are not listed from
// the beginning, the second for those that are: external ones, and all with Config.WatchTransactional. Every step is a
// write on condition of the state, attempt, claim and revision that were read, and of the lease where somebody else's is
// ended: a stale one is refused and changes nothing, and one whose answer was lost recognises itself.
//
// # Clocks
//
// A clock decides only whether a lease has ended. With a clock that is ahead a caller takes a transactional attempt over
// early, and one of the two commits: still one effect. An external attempt goes to repair early; the owner's completion
// then comes too late, and the prober finds its effect. Leases should be much longer than clocks differ, and
// [RepairConfig] has a Grace on top.
//
// # Repair
//
// A worker lists what is due over the shards of each tenant, reads the record strongly, takes it over on a lease of its
// own, asks the service's [Prober], and completes the request with what was found, frees it for its client, or looks
// again later and at last escalates. Operators list escalated requests with [Requests.Escalated] and decide with
// [Requests.Settle], [Requests.Free] or [Requests.Requeue]; each decision leaves a note beside the record, see
// [Requests.Audits]. Nothing needs a Scan.
//
// What no library can fence is another system. That an effect is absent counts only if it can never come: see
// [AbsentForGood].
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
//	state          S  IN_PROGRESS, COMPLETED, RELEASED, REPAIR_REQUIRED or ESCALATED
//	operation      S  schemaVersion N
//	fingerprint    B  SHA-256, 32 bytes; hashVersion N
//	attempt        N  from 1; attemptOwner S, if Config.Owner is set, or the repair worker's
//	result         M  kind S (ACCEPTED, REJECTED), code S, body B, digest B (of kind, code, body and effect)
//	effect         M  what the command created: name S
//	createdAt      S  updatedAt S; UTC with nanoseconds
//	expiresAt      N  of completed requests: epoch seconds, for the table's TTL; absent with KeepForever
//	txnMark        S  set by package txn; txnUpdate S
//
// and, of a request that was begun:
//
//	mode           S  TRANSACTIONAL or EXTERNAL
//	revision       N  rises with every step but renew, from 1
//	claim          S  the token of the last attempt, or of the last look of a repair worker
//	leaseUntil     S  the end of its lease, UTC; only while there is one
//	reason         S  why it came into repair, was released or escalated; evidence M, name S
//	probes         N  looks of repair workers
//	repairPk       S  TEN#tenant#REPAIR#shard or TEN#tenant#ESCALATED#shard, key of the index; only while listed
//	repairSk       S  DUE#at#key or AT#at#key, key of the index; only while listed (IDX19)
//	repairShard    N  the shard on which it is listed, from 0
//
// A record whose expiresAt has passed counts for as long as it is there: TTL is for cleaning up, never a decision, and
// nothing unfinished has one. Once TTL has removed a record its key is new, so [Config.ReplayHorizon] is the promise and
// [Config.Retention] may not be shorter. An operator's note has the record's partition key, the sort key AUDIT#revision,
// and v, step, by, reason, at, attempt and escalated; it stays.
//
// # Cost
//
//	Once, record up to 1 KiB      2 write units, in the caller's transaction; 2 more for each further KiB begun
//	Begin and Complete            1 and 2 write units; 1 of the index each if the attempt is listed
//	Repair                        1 write unit and 1 of the index (AMP13), or 1 if the attempt is listed
//	replay, mismatch              what the refused write costs; no read; nothing from a [Cache]
//	Lookup, Get, up to 4 KiB      1 read unit
//	a round of a worker           0.5 read units for each tenant and shard, 4 by default; then the steps above
//
// The record takes about 310 bytes beside tenant, key, operation, code, body and effect, and about 130 more if it was
// begun. [Config.RecordBytesMax] of 1024 turns the first lines into a rule.
//
// # Limits, and what it does not do
//
// A result must fit into the record ([*TooLargeError] before anything is sent). A transactional attempt that is neither
// completed nor repeated stays as it is unless Config.WatchTransactional is set; it has no effect. Once finds an attempt
// that somebody began and never takes it over: use one of the two for an operation. The key's quality is the client's
// affair: two commands that share a key by accident are a mismatch at best, and a replay if they are equal.
//
// A function on AWS Lambda is a caller of [Requests.Do] like any other, and the module lambda has a wrapper, Command: take
// the key from the event, the message ID only if nothing better identifies the command, and a lease longer than the
// function's timeout.
package idempotency
