package capacity

import (
	"errors"
	"fmt"
)

// What DynamoDB lets the items of one partition key value take in a second, whatever the mode and size of the table.
const (
	PartitionReadUnits  = 3000
	PartitionWriteUnits = 1000
)

// DefaultTarget is the part of those that a plan gives to a key.
const DefaultTarget = "0.80"

// Inventory is what a service does to its tables at its peak, as data: write it down, and [Inventory.Plan] says what it
// needs. Numbers are plain decimal text such as "5000" or "0.08", sizes have a unit such as "0.45KiB"; both are taken
// exactly.
type Inventory struct {
	// Routes are the tables and indexes.
	Routes []Route
	// Operations are what callers do, at which peak rate.
	Operations []Operation
	// Lanes say what is known of how the load of a route spreads. A route that is used and has no lane here gets one, whose
	// share is not measured.
	Lanes []Lane
	// Target is the part of a partition's limits that a key may use at the peak; "" is DefaultTarget.
	Target string
	// Mean is the mean load as a part of the peak, for the cost of a month; "" is "1".
	Mean string
}

// Route is one way to items: the key of a table, or of an index.
type Route struct {
	// ID names the route in accesses and lanes.
	ID string
	// Table is where it leads.
	Table string
	// Index is the name of a secondary index, "" for the table's own key.
	Index string
	// Unbound says that the route stands for state that has no key of its own yet. What cannot be placed cannot be planned.
	Unbound bool
	// StoredItems and StoredSize are how many items or entries are kept, and how large one is, for the cost of storage. Both
	// may be "".
	StoredItems, StoredSize string
}

// Operation is something that callers do.
type Operation struct {
	// Pattern is the access pattern that it serves, such as "AP16".
	Pattern string
	Name    string
	// Rate is how often it happens in a second at the peak. Retries and refused attempts cost too: count them in.
	Rate string
	// Accesses are the reads and writes of one operation.
	Accesses []Access
}

// Access is one read or write of an operation.
type Access struct {
	// Route is the ID of the route.
	Route string
	// Do is what is done.
	Do Verb
	// Consistency of a read; Transactional is the only one that changes the price of a write.
	Consistency Consistency
	// Items is how many items; 0 is 1.
	Items int
	// Size is that of one item or entry: the larger of before and after, if a write changes it. For entries of an index
	// only what is projected counts.
	Size string
}

// Verb is what an access does.
type Verb string

// The verbs. On a table Insert, Update and Remove are charged alike, by the larger item; on an index they are charged by
// what happens to the entry.
const (
	// Get reads items one by one: each rounds alone, as with GetItem, BatchGetItem and TransactGetItems.
	Get Verb = "get"
	// Query reads one page: the items are added up and round once.
	Query Verb = "query"
	// Insert writes an item or entry that was not there.
	Insert Verb = "insert"
	// Update changes an item, or an entry whose key stays. A ConditionCheck is priced like one in a transaction.
	Update Verb = "update"
	// Remove deletes an item or entry.
	Remove Verb = "remove"
	// Move changes the key of an index entry, which is a delete and a put.
	Move Verb = "move"
)

// Kind is what a lane's units are.
type Kind string

// Reads and writes have separate limits.
const (
	Reads  Kind = "READ"
	Writes Kind = "WRITE"
)

// Kind says which units a verb consumes.
func (v Verb) Kind() Kind {
	if v == Get || v == Query {
		return Reads
	}
	return Writes
}

// partition returns what one partition key value can take in a second.
func (k Kind) partition() Figure {
	if k == Reads {
		return figureOf(PartitionReadUnits)
	}
	return figureOf(PartitionWriteUnits)
}

// Lane is the load of one kind on one route.
type Lane struct {
	// ID names the lane in the plan; "" is made of the route and the kind.
	ID    string
	Route string
	Kind  Kind
	// Share is the part of the load that falls on the hottest key, which is what is spread over shards: "0.08", or "1" if the
	// whole lane is one key. "" is not measured, and only a load test can say.
	Share string
	// Shards is over how many shards the hottest key is spread. 0 is as many as are needed; 1 says that it cannot be spread.
	Shards int
	// Evidence says how the share is known, or why it is not.
	Evidence string
}

// Bytes returns the size of all items of the access together, exactly, or an ErrInventory.
func (a Access) Bytes() (Figure, error) {
	r := &reader{}
	size := r.size("access to "+a.Route+": Size", a.Size)
	return size.times(figureOf(int64(max(a.Items, 1)))), errors.Join(r.errs...)
}

// flaw says what is wrong with an access to a table or an index, "" if nothing is.
func (a Access) flaw(index bool) string {
	read := a.Do.Kind() == Reads
	switch {
	case a.Do != Get && a.Do != Query && a.Do != Insert && a.Do != Update && a.Do != Remove && a.Do != Move:
		return fmt.Sprintf("does %q, which is no verb", string(a.Do))
	case a.Consistency < Eventual || a.Consistency > Transactional:
		return "has an unknown consistency"
	case read && index && a.Consistency != Eventual:
		return "reads an index other than eventually; only the table can answer for sure"
	case a.Do == Query && a.Consistency == Transactional:
		return "is a Query in a transaction, which does not exist"
	case a.Do == Get && index:
		return "gets from an index, which can only be queried"
	case a.Do == Move && !index:
		return "moves an item; the key of an item never changes"
	case a.Items < 0:
		return "has a negative number of items"
	}
	return ""
}

// units returns the price of an access that has no flaw, by the rules of this package.
func (a Access) units(index bool, bytes Figure) Units {
	items := max(a.Items, 1)
	if a.Do == Query {
		return ReadUnits(whole(bytes.times(figureOf(int64(items)))), a.Consistency)
	}
	return Units(items) * a.one(index, whole(bytes))
}

// one is the price of a single item or entry.
func (a Access) one(index bool, size int) Units {
	entry := max(size, 1) // an entry of no bytes would be none
	switch {
	case a.Do == Get:
		return ReadUnits(size, a.Consistency)
	case index && a.Do == Insert:
		return Whole(IndexWriteUnits(0, entry, false, true))
	case index && a.Do == Remove:
		return Whole(IndexWriteUnits(entry, 0, false, true))
	case index:
		return Whole(IndexWriteUnits(entry, entry, a.Do == Move, true))
	case a.Consistency == Transactional:
		return 2 * Whole(WriteUnits(size))
	}
	return Whole(WriteUnits(size))
}

// maxBytes bounds a size, far above what one request can read or write.
const maxBytes = 1 << 40

// whole rounds bytes up.
func whole(bytes Figure) int {
	n := bytes.up()
	if !n.IsInt64() || n.Int64() > maxBytes {
		return maxBytes
	}
	return int(n.Int64())
}
