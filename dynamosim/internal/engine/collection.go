package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Sizes of item collections, in bytes.
const (
	gigabyte           = 1 << 30
	collectionBytesMax = 10 * gigabyte
)

// An item collection is all that a table with local indexes holds under one partition key: its items and their entries
// in those indexes. It is the one thing in a table that cannot be split, so its size has a limit.
type collectionID struct {
	table *table
	key   string
}

// collectionOf finds the collection of an item or a key; ok is false if the table has none.
func collectionOf(t *table, item value.Item) (id collectionID, ok bool) {
	if t.collections == nil {
		return id, false
	}
	hash, _ := item.Get(t.keys.hash.name)
	return collectionID{t, string(value.AppendKey(nil, hash))}, true
}

func (id collectionID) bytes() int { return id.table.collections[id.key] }

// collection is the collection that a change changes.
func (c *change) collection() (collectionID, bool) {
	item := c.after.item
	if item.IsEmpty() {
		item = c.before.item
	}
	return collectionOf(c.table, item)
}

// growth is by how many bytes a change makes its collection grow.
func (c *change) growth() int {
	bytes := c.after.size - c.before.size
	for _, d := range c.indexes {
		if d.index.local {
			bytes += d.after.size - d.before.size
		}
	}
	return bytes
}

// collect keeps the size of a collection.
func (c *change) collect() {
	id, ok := c.collection()
	if !ok {
		return
	}
	bytes := id.bytes() + c.growth()
	if bytes == 0 {
		delete(c.table.collections, id.key)
		return
	}
	c.table.collections[id.key] = bytes
}

// room is what collections have left while the changes of one request are decided.
type room struct {
	limit int
	taken map[collectionID]int
}

func (e *Engine) room() *room {
	return &room{limit: cmp.Or(e.config.CollectionLimit, collectionBytesMax)}
}

// take refuses a change that lets a collection outgrow the limit. A change that lets it shrink is never refused.
func (r *room) take(c *change) *failure {
	id, ok := c.collection()
	if !ok {
		return nil
	}
	if r.taken == nil {
		r.taken = map[collectionID]int{}
	}
	r.taken[id] += c.growth()
	if c.growth() > 0 && id.bytes()+r.taken[id] > r.limit {
		return &failure{exception: collectionTooLarge, message: msgCollectionSize}
	}
	return nil
}

// collectionMetrics is a request's ReturnItemCollectionMetrics.
type collectionMetrics struct {
	ReturnItemCollectionMetrics *string
}

func (m collectionMetrics) wanted() bool {
	return m.ReturnItemCollectionMetrics != nil && *m.ReturnItemCollectionMetrics == "SIZE"
}

// collection adds the metrics of a call on one item, given by its key.
func (w *writer) collection(m collectionMetrics, t *table, key value.Item) {
	if id, ok := collectionOf(t, key); ok && m.wanted() {
		w.key("ItemCollectionMetrics")
		w.metrics(id, key)
	}
}

// collections adds the metrics of a call on many items: by table, every collection once.
func (w *writer) collections(m collectionMetrics, actions []*action) {
	if !m.wanted() {
		return
	}
	seen := map[collectionID]bool{}
	touched := slices.DeleteFunc(slices.Clone(actions), func(a *action) bool {
		id, ok := collectionOf(a.table, a.item)
		known := !ok || a.verb == verbCheck || seen[id]
		seen[id] = true
		return known
	})
	if len(touched) == 0 {
		return
	}
	slices.SortStableFunc(touched, func(a, b *action) int { return strings.Compare(a.table.name, b.table.name) })
	w.key("ItemCollectionMetrics")
	w.open()
	for i, a := range touched {
		if i == 0 || touched[i-1].table != a.table {
			w.openList(a.table.name)
		}
		id, _ := collectionOf(a.table, a.item)
		w.metrics(id, a.item)
		if i == len(touched)-1 || touched[i+1].table != a.table {
			w.closeList()
		}
	}
	w.close()
}

// metrics describes a collection. Its size is told as the gigabytes it lies between.
func (w *writer) metrics(id collectionID, item value.Item) {
	w.open()
	w.item("ItemCollectionKey", item.Pick(id.table.keys.hash.name))
	w.openList("SizeEstimateRangeGB")
	floor := id.bytes() / gigabyte
	w.integer(floor)
	w.integer(floor + 1)
	w.closeList()
	w.close()
}
