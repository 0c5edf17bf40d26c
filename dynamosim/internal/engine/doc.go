// Package engine is the simulated database as a plain synchronous state machine: one request in, one answer out. It has
// no goroutine, no clock and no chance of its own, walks nothing in random order, and so gives the same answers to the
// same requests at the same moments. Whoever wraps it adds the lock, the clock and the network.
//
//	e := engine.New(engine.Config{})
//	reply := e.Handle(now, "PutItem", body) // wire JSON in, status and wire JSON out
//
// A write passes three gates, then one door:
//
//	request ──▶ begin ──▶ admit ──▶ evaluate ──▶ commit ──▶ table, then its indexes and its stream
//	            text      schema     stored item   the only place where data changes
//
// Commit takes changes: the item before, the item after, and what follows for each index. Whatever happens after a write
// hangs there.
//
// Tables and indexes are ordered trees of strings: hash of the partition key, partition key, sort key; an index adds a
// tie-break and the table's key. One partition is one contiguous range.
//
// Time is what comes with a request. Nothing happens between two of them; what would have happened is caught up on, in
// order, when the next one arrives:
//
//	backlog   changes on their way to global indexes, applied when they are due
//	work      indexes being built or removed
//	schedule  expired items that are to be deleted
//	past      rows replaced a short while ago, for eventually consistent reads
//	heat      what each partition key has left of its second and its burst
//	busy      items in requests whose answers are still to leave
package engine
