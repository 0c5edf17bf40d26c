package engine

import (
	"encoding/binary"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// change is one write to one item, decided but not yet applied: the images before and after (an empty item is none) and
// what follows for the indexes. Everything that happens after a write hangs on a change.
type change struct {
	table   *table
	key     string
	before  row
	after   row
	indexes []indexChange
	origin  origin
}

// origin is who makes a change.
type origin int

const (
	// The service deletes an item that has expired. Zero is a client's request.
	originExpiry origin = iota + 1
)

// indexChange is what one change does to one index.
type indexChange struct {
	index     *index
	beforeKey string
	afterKey  string
	before    row
	after     row
	units     int
}

// newChange works out what replacing the row under a key means. An empty item deletes it.
func (e *Engine) newChange(t *table, key string, before row, item value.Item) change {
	c := change{table: t, key: key, before: before, after: row{item: item, size: item.Size()}}
	if before.item == item {
		return c
	}
	for _, ix := range t.indexes {
		d := indexChange{index: ix}
		d.beforeKey, d.before, _ = ix.entry(e.config.Seed, key, before.item)
		d.afterKey, d.after, _ = ix.entry(e.config.Seed, key, item)
		d.units = capacity.IndexWriteUnits(d.before.size, d.after.size, d.beforeKey != d.afterKey, d.before.item != d.after.item)
		if d.units > 0 {
			c.indexes = append(c.indexes, d)
		}
	}
	return c
}

// writeUnits is what the table charges for the change, outside a transaction.
func (c *change) writeUnits() int { return capacity.ItemWriteUnits(c.before.size, c.after.size) }

// commit applies decided changes, all of them, in order. It is the only place where stored data changes. A change that
// changes nothing is no event: no index and no stream hears of it.
func (e *Engine) commit(now time.Time, changes ...change) {
	for _, c := range changes {
		if c.before.item == c.after.item {
			continue
		}
		e.past.keep(now, &c.table.tree, c.key)
		c.table.bytes += c.table.replace(c.key, c.key, c.before, c.after)
		for _, d := range c.indexes {
			e.tell(now, c.key, d)
		}
		c.collect()
		e.reschedule(c.table, c.key, c.before.item, c.after.item)
		c.table.stream.record(now, &c)
	}
}

// tell lets an index hear of a change: a local one at once, a global one when its time has come.
func (e *Engine) tell(now time.Time, base string, d indexChange) {
	if e.backlog.holds(d.index) {
		e.backlog.add(now, base, d)
		return
	}
	if d.index.local {
		e.past.keep(now, &d.index.tree, d.beforeKey, d.afterKey)
	}
	d.index.bytes += d.index.replace(d.beforeKey, d.afterKey, d.before, d.after)
}

// replace moves a row and returns by how many bytes the tree grew.
func (t *tree) replace(beforeKey, afterKey string, before, after row) int {
	if before.exists() && (beforeKey != afterKey || !after.exists()) {
		t.rows.Delete(beforeKey)
	}
	if after.exists() {
		t.rows.Set(afterKey, after)
	}
	return after.size - before.size
}

// appendTieBreak appends what orders index entries of equal index keys: a seeded hash of the table key, then the key.
func appendTieBreak(text []byte, seed uint64, baseKey string) []byte {
	text = binary.BigEndian.AppendUint64(text, spread(seed, []byte(baseKey)))
	return append(text, baseKey...)
}
