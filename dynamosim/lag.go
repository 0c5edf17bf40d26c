package dynamosim

import (
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

// IndexLag is how far global secondary indexes are behind their tables. The zero value is not at all.
//
// Every change takes its own time to reach an index. The changes of one item arrive in their order; those of different
// items in any, which Options.Seed decides. When an index key changes, the old entry goes and the new one comes at
// different moments: in between the index shows both or neither. Local secondary indexes are never behind.
type IndexLag struct {
	// Max bounds the delay of a change. It passes on the database's own clock, Options.Now.
	Max time.Duration
	// Stepped holds every change until [DB.PropagateIndexes] lets it pass; Max does not count then.
	Stepped bool
}

// IndexBacklog is what a global index has not heard of yet.
type IndexBacklog struct {
	// Table and Index are the names.
	Table, Index string
	// Pending is the number of entries that are still to appear, to change or to disappear. A moved index key makes two.
	Pending int
	// Age is how long ago the oldest of these changes was made.
	Age time.Duration
}

// IndexBacklogs returns how far the global indexes are behind, sorted by table and index. An index that is up to date is
// not in it.
func (db *DB) IndexBacklogs() []IndexBacklog {
	now := db.now()
	db.mu.Lock()
	defer db.mu.Unlock()
	behind := db.engine.Behind(now)
	list := make([]IndexBacklog, len(behind))
	for i, b := range behind {
		list[i] = IndexBacklog{Table: b.Table, Index: b.Index, Pending: b.Waiting, Age: now.Sub(b.Since)}
	}
	return list
}

// PropagateIndexes lets up to n pending entries appear in global indexes, change or disappear, whether their time has
// come or not, and all of them if n is negative. It returns how many.
func (db *DB) PropagateIndexes(n int) int {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.engine.Propagate(n)
}

func (l IndexLag) engine() engine.Lag { return engine.Lag{Max: l.Max, Stepped: l.Stepped} }
