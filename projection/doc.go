// Package projection keeps a view in step with the events of many sources: each version of a source is applied exactly once
// and in order, however events are repeated, late or lost on the way, and what is missing is visible (AP13, AP07). The
// checkpoint of a source moves in the transaction that changes the view, so after any crash both are at the same version.
//
//	p := projection.New(client, projection.Config{
//		Name: "portfolio",
//		View: func(ctx context.Context, namespace int, e projection.Event) ([]txn.Part, error) {
//			return []txn.Part{txn.Update(positions, keyIn(namespace, e), change(e))}, nil
//		},
//	})
//	alias, err := p.Alias(ctx)
//	outcome, err := p.Namespace(alias.Namespace).Apply(ctx, projection.Event{
//		Source: "acme/Order/order-1", Version: 3, ID: eventID, OccurredAt: at, Payload: payload,
//	})
//	// err == nil: it is applied, or stored until it can be; acknowledge
//
// # What becomes of a version
//
// A producer numbers the versions of each source without holes; a source at version current has all up to it.
//
//	delivered             result    writes
//	n <= current          STALE     nothing: a success for the transport
//	n == current+1        APPLIED   checkpoint, and the parts of View; then parked events that follow, one by one
//	n >  current+1        PARKED    the event, the gap, and the checkpoint's count of parked events
//	  as many are parked            nothing: *OverflowError, the transport keeps it
//	  another one is                nothing: *MismatchError
//	ForceAdvance(to)      APPLIED   checkpoint and audit record; never past a parked event
//
//	            n == current+1                        n == current+1, the last gap is filled
//	           ┌───────────┐        n > current+1          ┌──────────────────────────┐
//	           │           ▼                               ▼                          │
//	         ┌───────────────┐ ───────────────────► ┌─────────────┐ ───┐ drained, or  │
//	         │   in order    │                      │  with gap   │    │ one more     │
//	         └───────────────┘ ◄─────────────────── └─────────────┘ ◄──┘ parked       │
//	                            drained to the end         └──────────────────────────┘
//
// Every write is on condition of the version and the number of parked events that were found. The pair never comes back, so a
// late copy of any request fails. A checkpoint passes a version that was never seen only by [Namespace.ForceAdvance], which
// records who decided it and why.
//
// A worker that dies between filling a gap and draining it leaves the gap listed. The repeat of any event of the source goes on
// from there, and so does [Namespace.Sweep].
//
// # Receipts
//
// View may add the receipt of package inbox to its parts (CS06). The version stops what is old; the receipt stops another event
// under a known ID, whose mismatch is reported. A receipt's consumer should name the namespace, because another build of
// the view is another effect.
//
// # Rebuild
//
//	Start ──► BUILDING ──── Load: the full source, with progress ───► LOADED ── Prove ──► PROVED ── Cutover ──► readers
//	              ▲ crash      │                                        ▲ catch up │
//	              └────────────┘                                        └──────────┘ *UnprovedError
//
// A rebuild makes another namespace with its own checkpoints and, through View, its own view, under another shard map if
// wanted. From Start on live events go to both. [Namespace.Prove] holds counts, control totals and versions against a
// manifest, against the live namespace, or both, and accepts no gap. Then one conditional write moves the alias that readers
// go by. The old namespace stays, so [Projection.Rollback] is one write, too; nothing in this package deletes it.
//
// # Reshard
//
// A source has one checkpoint, which cannot go from one shard to another while events come. So the number of shards changes
// with the namespace: with Config.Maps a namespace belongs to the version of a stored map whose window holds the time when its
// build was started. Admit another version, start a build behind the beginning of its window, prove it, and cut over; retire the
// old version when the old namespace is wanted no more.
//
// # Runbook
//
// [Namespace.Runbook] does a rebuild from a table export in seven steps. Each is written down when it is done, with who did it, what was
// found, and a proof over it and all steps before. Without that proof the next one is not begun, so whoever goes on after a crash, or
// another day, goes on behind the last proof and with the same plan, dataset and code.
//
//	DECLARE   the time that the dataset must reach, what is frozen, when readers move; where readers are
//	TAKE      the dataset: its name and the digest of its manifest
//	VALIDATE  every byte of it is verified; its events have no holes; their number and control total
//	BUILD     Start and Load; the events of an export have no order, so [Sorted] gives it to them
//	CATCH_UP  what came since is applied, there is no gap, and no source is behind readers
//	PROVE     Prove: exactly the dataset if all is frozen, or at least that and as far as readers; and what else reconciles
//	CUTOVER   Cutover, if readers are where they were at the beginning
//
// # Records
//
// The partition key of a source's records is PROJ#name@namespace#V#version#SHARD#shard: its hash over 7 shards by default, with
// the version of the shard map (IDX12). Every record has v N, format version 1, and updatedAt S, UTC with nanoseconds.
//
//	SOURCE#source             checkpoint: version N, events N, occurredAt S of the last event; control N, the sum of the
//	                          events' figures; skipped N, versions passed over; shard N, shardMapVersion N, hashVersion N;
//	                          with a gap parked N and highest N
//	GAP#source                while events are parked: missing N, parked N, highest N, since S
//	PARKED#source#version     an event: eventId S, eventType S, occurredAt S, control N, payload B, digest B over all of it
//	FORCED#source#version     audit: from N, by S, reason S
//	PROJ#name / BUILD#n       state S, revision N, position S, read N, startedAt S, by S; proved, with sources N, events N,
//	                          skipped N and control N
//	PROJ#name / RUNBOOK#n     revision N, steps L: for each step M with step S, at S, by S, evidence M, proof S
//	PROJ#name / ALIAS         namespace N, previous N, version N, by S
//
// # Cost
//
//	Apply, no view parts              1 write unit, an ordinary conditional update
//	Apply, one item of up to 1 KiB    4 write units: checkpoint 2, view 2; with a receipt 6
//	stale                             what the refused write costs; no read
//	parked                            6 write units for an event of up to 1 KiB, after the refused write
//	applied while a gap is open       2 write units more for the gap; drained ones 2 more again, and 1 read unit each;
//	                                  1 read unit to see that the gap is open still
//	ForceAdvance, ForcePart           4 write units, 6 with parked events
//	Checkpoint, Lag, Alias            1 read unit
//	Gaps                              3.5 read units on 7 shards, and 0.5 for each further 4 KiB of gaps in a shard
//	Cutover, Rollback                 4 and 2 write units
//
// 5,000 checkpoints a second are 5,000 units on 7 shards, 714.29 each; in a transaction with the view they are twice that, so give
// such a projection 13 shards.
//
// # Limits
//
// [Config.ParkedMax] events of one source wait at most; a gap costs one record however many versions it misses. A source has
// at most [MaxSourceBytes], a version at most 18 digits.
//
// # What it does not do
//
// It puts no order between sources, and a view is eventually consistent: it never authorises anything. It does not poll or
// acknowledge messages. It does not know a source's head: whoever does asks [Namespace.Lag].
package projection
