// Package outbox tells other services about committed facts, without losing one. The event that reports a fact is stored
// in the transaction that commits the fact: both are there or neither is (AP16). Relays publish every stored event at
// least once, whatever crashes on the way, and park what cannot be published, where operators see it.
//
//	events := outbox.New(outbox.Config{Service: "orders", Observer: observe.Slog(logger)})
//	accepted := outbox.Event{
//		Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 1,
//		Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: at, Payload: payload,
//	}
//	accepted.ID = accepted.StableID()
//	_, err := txn.Commit(ctx, client,
//		txn.Put(orders, order, txn.IfAbsent()),
//		events.Create(accepted),
//	)
//
// and in any number of other processes, until ctx ends:
//
//	err := outbox.NewRelay(events, client, publisher, outbox.RelayConfig{}).Run(ctx)
//
// where the publisher is one of the packages below, or whatever tells somebody:
//
//	func (w warehouse) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
//		results := make([]outbox.Result, len(batch)) // one for each message
//		for i, m := range batch {
//			results[i].Ack, results[i].Err = w.send(ctx, m.Event.ID, m.Event.Payload)
//		}
//		return results
//	}
//
// The Observer is the only one that learns why nothing is published: a relay logs nothing and goes on trying.
//
// # States of an event
//
//	               (1) create
//	    no record ────────────┐
//	                          ▼
//	      (13) hold      ┌─────────┐ ──┐ (9) fence
//	  PARKED ◄────────── │  READY  │   │ (10) reschedule
//	                     └─────────┘ ◄─┘
//	   (2) claim            │   ▲  ▲ (5) retry
//	   on a lease           ▼   │  │ (7) recover
//	                   ┌───────────┐ ──┐
//	                   │ IN_FLIGHT │   │ (3) renew
//	                   └───────────┘ ◄─┘
//	   (4) complete      │       │ (6) park
//	   with the broker's │       │ (8) give up
//	   answer            ▼       ▼
//	       ┌───────────┐   ┌────────┐
//	       │ COMPLETED │   │ PARKED │ ──► READY   (11) redrive
//	       └───────────┘   └────────┘ ──► PASSED  (12) pass
//
//	step             from         to          record, units  index, units  by
//	(1) create       no record -> READY           2 x 2      1  insert     the caller's transaction
//	(2) claim        READY     -> IN_FLIGHT         2        1  delete     a relay, for a lease
//	(3) renew        IN_FLIGHT -> IN_FLIGHT         2        -             the owner, while the broker is slow
//	(4) complete     IN_FLIGHT -> COMPLETED         2        -             the owner
//	(5) retry        IN_FLIGHT -> READY             2        1  insert     the owner, with a reason and another due time
//	(6) park         IN_FLIGHT -> PARKED            2        1  insert     the owner, after the last attempt
//	(7) recover      IN_FLIGHT -> READY             2        1  insert     any relay, when the lease has ended
//	(8) give up      IN_FLIGHT -> PARKED            2        1  insert     any relay, when the last attempt's lease has ended
//	(9) fence        READY     -> READY             2        1  update     any relay, before it drops a journal
//	(10) reschedule  READY     -> READY             2        2  move       a caller, or a relay that keeps order
//	(11) redrive     PARKED    -> READY           2 x 2      2  move       an operator, with a note
//	(12) pass        PARKED    -> PASSED          2 x 2      1  delete     an operator, with a note
//	(13) hold        READY     -> PARKED          2 x 2      2  move       an operator, with a note
//
// The units are those of a record of 1.6 KiB and an index entry of up to 1 KiB. Every step is a write on condition of the
// state, version, attempt and claim that were read: a stale one is refused and changes nothing, and one whose answer was
// lost recognises itself by the claim's token.
//
// # Relay
//
// A round reads the earliest due events of every shard, merges them by due time and ID, and takes them through these
// steps in batches:
//
//	journal    one item names the events of the batch, the owner and the end of its lease
//	claim      each event alone; who is too late loses that event, not the batch
//	publish    one call of the [Publisher], one [Result] for each event; slow brokers keep their leases
//	settle     complete, retry with backoff and reason, or park; each event alone
//	drop       the journal, once every request of the batch has a definite answer
//
// A claim takes the event out of the index, so a relay that dies then leaves it where no query looks, but for the journal:
// journals stand in one partition by the end of their lease, and every relay looks there for those that have ended. It
// gives back what is IN_FLIGHT still. A listed event that is READY gets a higher version before the journal goes, so that
// a claim that was on its way when its relay died can only fail. Nothing ever needs a Scan.
//
// A relay that was paused past its lease finds at its next step that the event is no longer its own. What it had handed to
// the broker is published twice: an event is published at least once, and consumers recognise it by its ID.
//
// # Pause
//
// [Outbox.Pause] and [Outbox.Resume] are an operator's switch for all relays with RelayConfig.Heed: they read it before each round, and
// while it is off they claim nothing. What was claimed is finished, what is created waits.
//
// # Streams
//
// A poll costs up to PollMax of delay. Where that is too much, turn on the table's stream and give its records to
// [Relay.HandleStream], in a Lambda function (module lambda) or any other reader: it publishes what they show at once, by the
// same steps. Relays with a RelayConfig.Grace stand behind it and take whatever the stream did not bring, or brought in vain.
// Both win an event by the same claim, so the stream adds no way to publish twice: an event is published at most once for
// each claim, and claimed again only if its owner died, was too slow for its lease, or got no answer from the broker.
//
// # Publishers
//
// The packages below this one publish at brokers: eventbridge, sns, sqs and kinesis, and in a module of its own watermill.
// They send the document of [Event.Envelope], which consumers read with [ParseEnvelope].
//
// # Order
//
// With Config.Ordered version n+1 of an aggregate is first published after version n is COMPLETED or PASSED. If version n
// is parked, its aggregate stops there, listed by [Outbox.Parked], and all others go on. A repeat of an older version, or a
// passed one, can still arrive late, from a relay that stood still: consumers that apply versions in order drop it.
//
// # Record
//
// Partition key OUTBOX#eventId, sort key EVENT.
//
//	v                 N  format of the record, 1
//	state             S  READY, IN_FLIGHT, COMPLETED, PARKED or PASSED
//	version           N  rises with every step but renew, from 1
//	attempt           N  attempts to publish, from 0; a redrive counts anew
//	dueAt             S  not to be published before, UTC
//	readyPk           S  SERVICE#service#READY#shard or SERVICE#service#PARKED#shard, key of the index; only in these states
//	readySk           S  DUE#dueAt#eventId or AT#failedAt#eventId, key of the index; only in these states
//	shard             N  the shard on which the event is listed, from 0
//	shardMapVersion   N  the map and
//	hashVersion       N  the hash that placed it
//	eventId, tenant, aggregateType, aggregateId, eventType   S
//	aggregateVersion, schemaVersion   N
//	occurredAt        S  UTC
//	causationId, traceId   S  absent when empty
//	payload           B  as given, or compressed
//	encoding          S  deflate if the payload is compressed, else absent
//	digest            B  SHA-256 of the content, checked by every read
//	owner, claim      S  the relay that has the event, or completed it, and the token of its claim
//	leaseUntil        S  the end of the lease, UTC; only while IN_FLIGHT
//	failure, failedAt S  why the last failed attempt failed, and when
//	lastClaim         S  the token of that attempt's claim
//	ack, completedAt  S  the broker's answer, and when it was stored
//	expiresAt         N  of COMPLETED events: completedAt and the retention, epoch seconds, for the table's time to live
//	passedAt          S  when an operator passed it
//	txnMark           S  mark of the transaction that created it; txnUpdate is that of an operator's
//
// A claim journal has the partition key SERVICE#service#CLAIMS, the sort key LEASE#leaseUntil#claim, and v, owner and
// events (B). An operator's note has the event's partition key, the sort key AUDIT#version, and v, step, by, reason, at,
// failure and attempt. The switch of a service has the partition key SERVICE#service#SWITCH, the sort key RELAYS, and v, paused
// (BOOL), version, by, reason and at.
//
// # Index
//
// A sparse index lists the READY events of a service on shards (13 by default), in the order of due time, and beside them
// the PARKED ones. [Outbox.Index] has its definition. An entry is about 0.3 KiB: the keys, version, attempt, tenant,
// aggregate and type. The shard is a function of the event ID and the map alone, or of the aggregate if events are ordered,
// and is stored, so that no retry can change it.
//
// # Changing the number of shards
//
// The number of Config.Map is for ever. A lane that may grow has a stored map, see package shardmap: create events by
// [Outbox.Under], and give relays RelayConfig.Maps. An event's own OccurredAt decides which version places it, so its repeats never
// change version; no step moves it to another shard. All versions share the partitions of the index, shard 3 of one is shard 3 of
// the other, and readers visit the shards of all of them. Whoever has no map that may be used creates nothing and lists nothing.
//
// # Cost
//
//	Create    2 write units for each KiB begun of payload and about 0.6 KiB, and 1 for each KiB begun of the index entry
//	publish   claim 3 and complete 2 units at 1.6 KiB, and 0.08 units of journal an event in full batches of 25
//	order     1 read unit more for each event, for the version before, and for each aggregate that waits, each round; a queue
//	          longer than a round reads is put in order by reschedules, 4 units each
//	Get       1 read unit for each 4 KiB begun, strongly consistent
//	a round   0.5 read units for each shard and 4 KiB begun of its index entries
//	stream    2 units of journal for each batch of records that brings events, and 1 or 2 for a claim that comes too late
//	idle      one request a shard each RelayConfig.PollMax, and one for journals each RelayConfig.Recover: with 13 shards,
//	          6.5 read units each 5 s and 1 each 15 s or less
//	pause     2 write units; with RelayConfig.Heed 1 read unit each round
//	recovery  1 read unit an event that an ended journal names, and 3 write units for those given back or fenced
//
// With Config.Compress a record that compression brings within 1 KiB is claimed and completed for 1 unit instead of 2.
// All journals of a service share one partition: 5,000 events a second in batches of 25 are 400 of its 1,000 units.
//
// # Limits
//
// A record may have [MaxRecordBytes]. Larger messages go elsewhere and the event refers to them. An event ID must be unique in
// the table, whatever the tenant: do not take it from a client; see [Event.StableID].
//
// Clocks decide only when a lease has ended. A relay whose clock is ahead takes over early and publishes twice; leases
// should be longer than clocks differ.
//
// # What it does not do
//
// It does not publish exactly once, and no ordinary index order is a promise: without Config.Ordered, events of one
// aggregate may overtake one another. It does not apply events: that is the consumer's, by ID and version.
package outbox
