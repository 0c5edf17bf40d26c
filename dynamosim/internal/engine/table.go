package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/btree"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// row is one item of a table, or one projected entry of an index.
type row struct {
	item value.Item
	size int
	// base is the ordering key of the table row that an index entry stands for.
	base string
}

func (r row) exists() bool { return !r.item.IsEmpty() }

// tree is rows in the order of a key schema. Copies are cheap and independent, which is what a read of the past needs.
type tree struct {
	keys keySchema
	rows btree.Map[string, row]
}

// table is a table with its indexes, sorted by name.
type table struct {
	tree
	name        string
	definition  definition
	created     time.Time
	id          string
	bytes       int
	indexes     []*index
	deleteGuard bool
	// stream is the table's latest stream, enabled or not; nil if it never had one.
	stream *stream
	ttl    timeToLive
	// collections are the sizes of item collections by partition key; nil if the table has no local index.
	collections map[string]int
	// work is the index being created or deleted, if any.
	work *indexWork
	// updating is until when a change of the table itself takes, throughputUpdating whether it is one of its throughput.
	updating           time.Time
	throughputUpdating bool
	// billingChanged: the billing mode is not the one the table was created with, or was not for a while.
	billingChanged bool
}

// index is a secondary index. Its entries stand in the order (hash, index key, tie-break, table key): items with equal
// index keys have no order that a test could rely on, yet paging needs a stable one.
type index struct {
	tree
	name  string
	local bool
	// projected names what an entry holds; nil means everything.
	projected []string
	bytes     int
	// updating is until when a change of the index's throughput takes.
	updating time.Time
}

// item returns the stored row; a missing one has no item.
func (t *table) item(key string) row {
	r, _ := t.rows.Get(key)
	return r
}

func (t *table) index(name string) *index {
	i, ok := slices.BinarySearchFunc(t.indexes, name, func(ix *index, name string) int { return strings.Compare(ix.name, name) })
	if !ok {
		return nil
	}
	return t.indexes[i]
}

// checkIndexKeys refuses an item whose index keys are empty, too long or of the wrong type. Of several bad ones the
// index whose name sorts first is named; a type counts before a value.
func (t *table) checkIndexKeys(item value.Item) *failure {
	for _, ix := range t.indexes {
		for _, a := range ix.keys.attrs() {
			v, ok := item.Get(a.name)
			if ok && v.Kind() != a.kind {
				return invalid(msgIndexKeyType(ix.name, a.name, a.kind, v.Kind()))
			}
		}
	}
	for _, ix := range t.indexes {
		for _, a := range ix.keys.attrs() {
			v, ok := item.Get(a.name)
			if !ok {
				continue
			}
			if emptyText(v) {
				return invalidRequest(msgEmptyIndexKey(ix.name, a.name, v.Kind()))
			}
			if f := ix.keys.checkValue(a, v); f != nil {
				return f
			}
		}
	}
	return nil
}

// checkUpdatedIndexKeys does the same after an update, for the attributes the update touched and in other words.
func (t *table) checkUpdatedIndexKeys(item value.Item, touched []string) *failure {
	for _, ix := range t.indexes {
		for _, a := range ix.keys.attrs() {
			v, ok := item.Get(a.name)
			if !ok || !slices.Contains(touched, a.name) {
				continue
			}
			switch {
			case v.Kind() != a.kind:
				return invalid(msgIndexKeyType(ix.name, a.name, a.kind, v.Kind()))
			case emptyText(v):
				return invalidRequest(msgUpdatedEmptyIndexKey(v.Kind()))
			case v.Len() > ix.keys.maxBytes(a):
				return invalid(msgUpdatedKeySize)
			}
		}
	}
	return nil
}

// entry returns the index entry of a table row with its ordering key; ok is false if the index does not hold the item.
func (ix *index) entry(seed uint64, baseKey string, item value.Item) (key string, entry row, ok bool) {
	if item.IsEmpty() || !ix.keys.indexes(item) {
		return "", row{}, false
	}
	text := ix.keys.encode(seed, item)
	text = appendTieBreak(text, seed, baseKey)
	projected := item
	if ix.projected != nil {
		projected = item.Pick(ix.projected...)
	}
	key = string(text)
	return key, row{item: projected, size: projected.Size(), base: key[len(key)-len(baseKey):]}, true
}

// projects reports whether entries hold an attribute.
func (ix *index) projects(name string) bool {
	return ix.projected == nil || slices.Contains(ix.projected, name)
}

// projectsAll reports whether entries hold everything the item has.
func (ix *index) projectsAll() bool { return ix.projected == nil }
