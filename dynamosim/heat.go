package dynamosim

import (
	"cmp"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

// MaxBurst is the unused capacity that a partition key of DynamoDB keeps at most, without a promise.
const MaxBurst = 300 * time.Second

// What a partition of DynamoDB serves in a second.
const (
	keyWriteUnits = 1000
	keyReadUnits  = 3000
)

// Heat limits what one partition key value of a table, or of a global index, can take; the entries of a local index
// stand in the table's partitions. Each second of the database's clock has a budget. What does not fit is throttled with
// DynamoDB's error, which names the table or the index: a request alone, an action by its place in a transaction, a
// member of a batch as unprocessed. An index that cannot take its share of a write refuses the write to the table.
//
// A failed condition costs its key what it costs the caller. Scan touches all keys and is charged to none.
type Heat struct {
	// WriteUnits and ReadUnits are the budget of a second. Default: 1000 and 3000, as documented for a partition.
	WriteUnits, ReadUnits int
	// Burst is for how long a key keeps capacity that it did not use, in whole seconds up to [MaxBurst]; a new key has all
	// of it. Default: none, which is what to plan with, because DynamoDB promises none.
	Burst time.Duration
}

// Consumption is what a partition key value consumed in one direction.
type Consumption struct {
	// Total is everything so far, Peak the largest amount within one second of the clock.
	Total, Peak capacity.Units
	// Throttled is how many requests, or members of a transaction or batch, the key could not take.
	Throttled int
}

// KeyHeat is what one partition key value consumed.
type KeyHeat struct {
	Table string
	// Index is empty for a key of the table.
	Index string
	// Key is the value: text, a number in decimal, or raw bytes.
	Key         string
	Write, Read Consumption
}

// Hottest returns the n partition keys that consumed most, the hottest first; all that are known if n is negative. It
// knows nothing unless Options.Heat is set, and of tens of thousands of keys only the hottest.
func (db *DB) Hottest(n int) []KeyHeat {
	db.mu.Lock()
	defer db.mu.Unlock()
	keys := db.engine.Hottest(n)
	list := make([]KeyHeat, len(keys))
	for i, k := range keys {
		list[i] = KeyHeat{Table: k.Table, Index: k.Index, Key: k.Key, Write: Consumption(k.Write), Read: Consumption(k.Read)}
	}
	return list
}

func (h *Heat) engine() *engine.Heat {
	if h == nil {
		return nil
	}
	return &engine.Heat{
		Write:        capacity.Whole(cmp.Or(h.WriteUnits, keyWriteUnits)),
		Read:         capacity.Whole(cmp.Or(h.ReadUnits, keyReadUnits)),
		BurstSeconds: int64(min(max(h.Burst, 0), MaxBurst) / time.Second),
	}
}
