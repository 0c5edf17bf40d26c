// Package reconcile compares what two sides say and turns every difference into a durable piece of work: a break has an
// owner and a due time, is found without a Scan, and closes only with evidence (AP14, AP15). Whatever crashes on the way, a
// batch that is run again finds the same breaks, once each.
//
//	desk := reconcile.New(client, reconcile.Config{})
//	err := desk.Create(ctx, reconcile.Manifest{
//		Tenant: "acme", Date: "2026-11-29", Batch: "cash-1", Rules: "cash-3",
//		Window: reconcile.Window{From: yesterday, Cutoff: today, Grace: 24 * time.Hour},
//		Left:   reconcile.Input{Name: "ledger export 42"}, Right: reconcile.Input{Name: "statement 2026-11-29.csv"},
//	})
//	summary, err := desk.Run(ctx, "acme", "2026-11-29", "cash-1", reconcile.Job{
//		Worker: "nightly", Rules: rules, Left: postings, Right: lines, Assign: toFinanceOps,
//	})
//	for b, err := range desk.Due(ctx, "acme", reconcile.StatusOpen, now) { ... }
//
// [Load] and [Comparison.Match] compare without any store.
//
// # Matching
//
// Left is what we have on record, right is what it is held against. Rows of one [Row.Key] are about the same thing; of these,
// in this order:
//
//  1. Rows with equal amount and value, and times at most Rules.Apart from each other, match one to one, as many as can be.
//  2. Rows whose amounts differ by at most the tolerance match one to one: each on the left, in their order, takes the one that
//     differs least.
//  3. If one side has a single row left, and the rules say so, it matches all that is left on the other side, if those add
//     up to it within the tolerance. No subset is searched for: among many rows some subset nearly always adds up, and
//     a match that was guessed hides two breaks.
//  4. What is left on both sides is Mismatched, those pairs first that have most in common; what is left on one side is
//     Missing or Unexpected.
//
// Whether a row is judged goes by its own time; see [Window]. A row inside its grace is Expected, which is no break. Drift is
// right minus left, with its sign, exact. The outcomes depend on the rows alone: not on their order, the workers, the memory, or
// on rows that a source gives twice.
//
// # States
//
//	batch            Create                 Run                        Run
//	     ───────────────► OPEN ──────────► RUNNING ─────────► COMPLETED
//	                                        │    ▲
//	                         a fault, named ▼    │ Run, of anybody; while RUNNING: once its lease has ended
//	                                       FAILED
//
//	break      Run               Escalate               Resolve
//	     ────────► OPEN ──────────────► ESCALATED ──────────────► RESOLVED
//	                │ ▲                                              ▲  │
//	                │ └──────────────────── Reopen ──────────────────│──┘
//	                └────────────────────── Resolve ─────────────────┘
//
// Assign changes owner and due time in OPEN and ESCALATED. Every step names the version that was read, and versions only
// rise, so a late or repeated one is refused with a [StateError].
//
// # Restart
//
// The first attempt stores the totals and the digest of both sides; a later one must find the same, so it decides the same.
// The ID of a break follows from its rows ([BreakID]) and it is written only if it is not there, so a late run of another
// process writes nothing that is not right, and a break that somebody has worked on stays as it is. Nothing is written
// before both sides were read to their ends and held against the manifest.
//
// # Items
//
// A batch: partition key TEN#tenant#RECON#date, sort key BATCH#batch (IDX13). Its attributes:
//
//	v            N  format of the record, 1
//	version      N  rises with every change
//	state        S  OPEN, RUNNING, COMPLETED, FAILED
//	rules        S  name of the rules
//	from, cutoff S  bounds of the window; from is absent if there is none
//	graceNs      N  grace in nanoseconds
//	left, right  M  name; declared and found: rows, sums, digest
//	attempt      N  counts the runs
//	owner        S  who runs it, or ran it last
//	leaseUntil   S  until when, while RUNNING
//	outcomes, rows, drifts  M  by kind, once COMPLETED
//	failure      S  why the last attempt failed
//	createdAt, endedAt  S  UTC
//	txnUpdate    S  mark of the transaction that changed it last
//
// A break: partition key TEN#tenant#RECON#batch, sort key BREAK#id (IDX14); while it waits also duePk
// TEN#tenant#BREAK#status#shard and dueSk DUE#time#batch#id in the sparse index (IDX15):
//
//	v, version, state  as above; state is OPEN, ESCALATED, RESOLVED
//	date         S  of the batch
//	kind         S  MISSING, UNEXPECTED, MISMATCHED
//	matchKey     S  what its rows have in common
//	left, right  M  rows: how many; ids: the first ten; sum, if in one currency
//	drift        M  right minus left, absent if not in one currency
//	faults       L  amount, currency, value, time
//	owner, due   S  who must resolve it, by when
//	mapVersion, hashVersion, shard  N  its place in the due queue
//	changes      L  at, by, what, note, reference of what people did, at most 100
//
// # Cost
//
//	Create           1 write unit for each KiB (AMP10)
//	a new break      2 write units: 1 for each KiB and 1 for its index entry (AMP11)
//	Run              6 write units for its three steps, and 2 for each third of a lease that it takes
//	Assign, Escalate, Reopen, Resolve  2 for each KiB, and 1 or 2 for the index
//	Due              half a read unit for each shard and each 4 KiB of entries
//
// Load and Match take about Options.Memory bytes and write the rest of the rows to a temporary file once.
//
// # What it does not do
//
// It fetches nothing: rows come from the caller's iterators; package reconcile/ready has those for this library's own records.
// It corrects nothing: Resolve may commit with the posting that does. Rows that share an ID under two keys are two rows.
package reconcile
