// Package inbox gives every event one effect at a consumer, however often, by whichever transport and out of however many
// crashes it is delivered (AP09). The receipt of the event is written in the very transaction that changes the consumer's
// protected state, so there is never an effect without its receipt, nor a receipt without its effect:
//
//	received := inbox.New(inbox.Config{Consumer: "portfolio"})
//	outcome, err := received.Process(ctx, committer,
//		inbox.Event{ID: eventID, Source: "Order order-1", SourceVersion: 3, Payload: payload},
//		map[string]string{"positionId": id},
//		txn.Update(positions, key, change),
//	)
//	// err == nil: it has had its effect, now or before; acknowledge. outcome.Effect is the same both times.
//
// # What it guarantees
//
//   - Of any number of deliveries of one event ID exactly one has an effect. All others are successes without one, and get
//     the stored effect.
//   - The same ID with other content is always a [*MismatchError], and changes nothing.
//   - A lost answer is no conflict: the Commit that was applied recognises its own receipt, with or without DynamoDB's
//     request token.
//   - A duplicate costs no read: the cancelled transaction brings the receipt along.
//
// What identifies an event is the ID that its producer gave it, never the transport's. Content is the ID, the type, the source
// with its version, and the payload byte by byte, under SHA-256.
//
// # The receipt
//
// One item per consumer and event (IDX09): PK = CONSUMER#consumer#V#version#SHARD#shard, SK = EVENT#eventId. The shard is a
// hash of the event ID over 13 shards by default, because one consumer is one name, and one partition takes 1,000 units a second.
//
//	v                   N  format version, 1
//	fingerprint         B  SHA-256 of the event, 32 bytes; fingerprintVersion N, 1
//	source              S  sourceVersion N; absent if the event has none
//	effect              M  what came of the event: name S; absent if nothing was given
//	processedAt         S  UTC with nanoseconds
//	expiresAt           N  epoch seconds, for the table's TTL; absent with KeepForever
//	shard               N  shardMapVersion N, hashVersion N: where it stands, and which rules said so
//	txnMark             S  set by package txn
//
//	           Receive, in the transaction of the effect
//	(absent) ───────────────────────────────────────────► (receipt)   never changes again
//	   ▲     Forget, by an operator with a reason            │
//	   └─────────────────────────────────────────────────────┘
//
//	stored    delivered            outcome
//	nothing   event                applied: receipt and effect
//	receipt   the same event       duplicate: a success with the stored effect, nothing changes
//	receipt   other content        *MismatchError, nothing changes
//	damaged   event                *RecordError, nothing changes
//	receipt   Forget               the receipt moves to FORGOTTEN#at#eventId of its partition; the next delivery is applied
//
// A receipt whose expiresAt has passed counts for as long as it is there: TTL is for cleaning up, never a decision. Once
// TTL has removed it the ID is new, so [Config.Horizon] is the promise and [Config.Retention] may not be shorter.
//
// # While the shard map changes
//
// While two versions of the map are live, the transaction that creates a receipt under one also checks that there is none
// under the other, so an event that is placed by both has one effect all the same. See [Config.Maps], and [Inbox.Under] for a
// stored map.
//
// # Batches
//
// [Batch] handles what a transport delivers at once and returns the [Failures]: each failed entry for a queue, the first for a
// stream. An error is never progress, and the order within a group is kept.
//
// # Cost
//
//	Receive, a receipt of up to 1 KiB      2 write units, in the caller's transaction
//	with a protected item of up to 1 KiB   4 write units together
//	each further live map version          2 write units
//	duplicate, mismatch                    what the cancelled transaction costs; no read
//	Forget                                 4 write units
//	Lookup                                 1 read unit for each live map version
//
// A receipt takes about 0.35 KiB; one that would take more than [MaxRecordBytes] is refused before anything is sent. 5,000
// events a second are 10,000 units on 13 shards, 769.23 each. The protected state has lanes of its own.
//
// # What it does not do
//
// It does not order events: an older version may come after a newer one (package projection keeps order). It does not
// poll, decode or acknowledge messages. It does not protect what is outside the transaction: a mail that the handler sends may be
// sent again.
package inbox
