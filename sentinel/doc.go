// Package sentinel keeps names unique: of all commands that want one name at the same time, one gets it, and every
// other learns who did (AP17). The name is a record of its own, and the condition on its write decides; nobody checks first
// and writes afterwards.
//
// A client's order ID becomes the order's name in the transaction that creates the order:
//
//	names := sentinel.New(sentinel.Config{})
//	_, err := txn.Commit(ctx, client,
//		names.Reserve(sentinel.Claim{
//			Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-1", Owner: "order-1", Command: requestKey,
//		}),
//		txn.Put(orders, order, txn.IfAbsent()),
//	)
//	var taken *sentinel.TakenError
//	if errors.As(err, &taken) { ... } // taken.Owner has it; taken.SameCommand: it is this command's own order
//
// # States of a name
//
//	             Reserve
//	 no record ───────────┐
//	                      ▼    Move, same name:
//	        Reserve    ┌──────┐ new owner
//	┌──────┐ ────────► │ held │ ────────┐
//	│ free │           └──────┘ ◄───────┘
//	└──────┘ ◄────────    Release
//
// Move to another name is Release of the old and Reserve of the new one in one transaction.
//
// # Names and owners, one to one
//
// The record of a name makes it belong to one owner at a time. That an owner has one name at a time is up to the owner's own
// record, which is written anyway: commit every part of this package together with a conditional write of that record.
//
//	Reserve   create the owner if absent, with the name in it
//	Move      change the name in the owner, on condition that it has the old one
//	Release   end the owner, or take the name out of it, on condition that it has the name
//
// Then live names and live owners are a bijection after any sequence of these, whatever fails or is repeated in between. The
// owner's record also makes a late copy of a Reserve harmless: the owner is there already. Release and Move need no such
// help, for they name the version that was read and versions never come back. An owner without a record of its own gets
// one as a second name: Reserve the owner's ID as the Name of another Kind, with the name as its Owner, for 2 units more.
//
// # Record
//
// Partition key TEN#tenant#KIND#name, sort key UNIQUE. Every component is escaped, so no value spells another's key.
//
//	v           N  format of the record, 1
//	version     N  rises with every change, for as long as the record exists
//	owner       S  who holds the name; absent when it is free
//	command     S  the command that took it; absent when it is free
//	reservedAt  S  when it was claimed, UTC; absent when it is free
//	releasedAt  S  when it was released, UTC; absent when it is held
//	txnUpdate   S  mark of the transaction that wrote it last
//
// A release keeps the record, about 150 bytes: its version makes late requests fail, and its mark proves the release when
// its answer was lost. A name has no expiry of its own; nothing but Release and Move ends a reservation.
//
// # Cost
//
//	Reserve, Release            2 write units: one item of at most 1 KiB (MaxRecordBytes) in a transaction
//	Move                        4 write units; 2 if the name stays the same
//	Lookup                      1 read unit, strongly consistent
//	to learn who took a name    nothing: the cancelled transaction returns the record
//
// # What it does not do
//
// It does not normalise: "Ann" and "ann", or the composed and the decomposed form of é, are two names. It does not list the
// names of an owner; the owner's record has its name. It does not erase: to forget a free name for good, delete its
// record once no request that is older can still arrive.
package sentinel
