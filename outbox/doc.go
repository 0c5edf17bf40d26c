// Package outbox stores the event that tells other services about a committed fact, in the transaction that commits the
// fact: both are there or neither is (AP16). Publishing starts from the stored event, so a crash between commit
// and publication loses nothing.
//
//	events := outbox.New(outbox.Config{Service: "orders"})
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
// # States of an event
//
//	             (1) create
//	  no record ────────────┐
//	                        ▼
//	                   ┌─────────┐ ───┐ (5) reschedule
//	                   │  READY  │    │ another due time
//	                   └─────────┘ ◄──┘
//	(2) claim: a relay   │     ▲ (4) retry: publishing failed, or the lease
//	takes it on a lease  ▼     │ expired; with a reason and another due time
//	                 ┌───────────┐
//	                 │ IN_FLIGHT │
//	                 └───────────┘
//	                       │ (3) complete: the lease's owner stores
//	                       ▼ the broker's answer
//	                 ┌───────────┐
//	                 │ COMPLETED │
//	                 └───────────┘
//
//	transition                    record, units   READY index, units
//	(1) no record -> READY            2 x 2          1  insert
//	(2) READY     -> IN_FLIGHT          2            1  delete
//	(3) IN_FLIGHT -> COMPLETED          2            -
//	(4) IN_FLIGHT -> READY              2            1  insert
//	(5) READY     -> READY              2            2  delete and insert
//
// The units are those of a record of 1.6 KiB and an index entry of up to 0.45 KiB. Every transition is a write on
// condition of the state, the owner and the version that were read. An event is published at least once, so a consumer
// recognises it by its ID. This package has transition (1), and reads; a record keeps room for what the others add.
//
// # Record
//
// Partition key OUTBOX#eventId, sort key EVENT.
//
//	v                 N  format of the record, 1
//	state             S  READY
//	version           N  rises with every change, from 1
//	attempt           N  attempts to publish, from 0
//	dueAt             S  not to be published before, UTC
//	readyPk           S  SERVICE#service#READY#shard, key of the READY index; only while READY
//	readySk           S  DUE#dueAt#eventId, key of the READY index; only while READY
//	shard             N  the shard on which the event is listed, from 0
//	shardMapVersion   N  the map and
//	hashVersion       N  the hash that placed it
//	eventId, tenant, aggregateType, aggregateId, eventType   S
//	aggregateVersion, schemaVersion   N
//	occurredAt        S  UTC
//	causationId, traceId   S  absent when empty
//	payload           B  as given
//	digest            B  SHA-256 of the content, checked by every read
//	txnMark           S  mark of the transaction that created it
//
// # READY index
//
// A sparse index lists the READY events of a service on shards (13 by default), in the order of due time. [Outbox.Index] has its
// definition. An entry is about 0.3 KiB: the keys, version, attempt, tenant, aggregate and type. The shard is a
// function of the event ID and the map alone, and is stored, so that no retry can change it.
//
// # Cost
//
//	Create   2 write units for each KiB begun of payload and about 0.6 KiB, and 1 for each KiB begun of the index entry
//	Get      1 read unit for each 4 KiB begun, strongly consistent
//	Ready    0.5 read units for each 4 KiB begun of index entries, for each page; never a Scan
//
// # Limits
//
// A record may have [MaxRecordBytes]. Larger messages go elsewhere and the event refers to them. An event ID must be unique in
// the table, whatever the tenant: do not take it from a client; see [Event.StableID].
//
// # What it does not do
//
// It does not publish. It does not order events: the index is sorted by due time within one shard only, and consumers
// see the aggregate's version in every event.
package outbox
