package engine

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Sizes of key values, in bytes.
const (
	hashKeyMax = 2048
	sortKeyMax = 1024
)

// keyAttr is one key attribute of a table or an index.
type keyAttr struct {
	name string
	kind value.Kind
}

// keySchema is a partition key and, if its name is not empty, a sort key.
type keySchema struct {
	hash, sort keyAttr
}

func (k keySchema) hasSort() bool { return k.sort.name != "" }

func (k keySchema) has(name string) bool {
	return name == k.hash.name || k.hasSort() && name == k.sort.name
}

func (k keySchema) names() []string {
	if k.hasSort() {
		return []string{k.hash.name, k.sort.name}
	}
	return []string{k.hash.name}
}

func (k keySchema) attrs() []keyAttr {
	if k.hasSort() {
		return []keyAttr{k.hash, k.sort}
	}
	return []keyAttr{k.hash}
}

// maxBytes is the size limit of one of the schema's attributes.
func (k keySchema) maxBytes(a keyAttr) int {
	if a == k.hash {
		return hashKeyMax
	}
	return sortKeyMax
}

// emptyText tells the values that no key may have.
func emptyText(v value.Value) bool {
	return (v.Kind() == value.S || v.Kind() == value.B) && v.Len() == 0
}

// checkValue refuses a key value that is empty or too long; its kind is right already.
func (k keySchema) checkValue(a keyAttr, v value.Value) *failure {
	if emptyText(v) {
		return invalidRequest(msgEmptyKey(a.name, v.Kind()))
	}
	if v.Len() > k.maxBytes(a) {
		if a == k.hash {
			return invalid(msgHashKeySize)
		}
		return invalid(msgSortKeySize)
	}
	return nil
}

// checkItem checks the key attributes of an item that is to be stored.
func (k keySchema) checkItem(item value.Item) *failure {
	for _, a := range k.attrs() {
		v, ok := item.Get(a.name)
		if !ok {
			return invalid(msgMissingKey(a.name))
		}
		if v.Kind() != a.kind {
			return invalid(msgKeyType(a.name, a.kind, v.Kind()))
		}
		if f := k.checkValue(a, v); f != nil {
			return f
		}
	}
	return nil
}

// checkKey checks a key that stands alone: exactly the schema's attributes.
func (k keySchema) checkKey(key value.Item) *failure {
	if !k.fits(key) {
		return invalid(msgKeyMismatch)
	}
	for _, a := range k.attrs() {
		v, _ := key.Get(a.name)
		if f := k.checkValue(a, v); f != nil {
			return f
		}
	}
	return nil
}

// fits reports whether an item has the schema's attributes, of the right types, and nothing else.
func (k keySchema) fits(key value.Item) bool {
	return key.Len() == len(k.attrs()) && k.presentIn(key)
}

// presentIn reports whether an item has all key attributes in the right types.
func (k keySchema) presentIn(item value.Item) bool {
	for _, a := range k.attrs() {
		if v, ok := item.Get(a.name); !ok || v.Kind() != a.kind {
			return false
		}
	}
	return true
}

// indexes reports whether an index with this schema holds an item. Those that an index refuses can still be stored, if
// they were before the index was.
func (k keySchema) indexes(item value.Item) bool {
	for _, a := range k.attrs() {
		v, ok := item.Get(a.name)
		if !ok || v.Kind() != a.kind || emptyText(v) || v.Len() > k.maxBytes(a) {
			return false
		}
	}
	return true
}

// partition returns the bytes under which all items of one partition key stand together. The leading hash spreads
// partitions over the whole range, as the service does, so that nobody can rely on the order of partition keys.
func (k keySchema) partition(seed uint64, hash value.Value) []byte {
	text := value.AppendKey(make([]byte, 8, 64), hash)
	binary.BigEndian.PutUint64(text, spread(seed, text[8:]))
	return text
}

// encode returns the ordering bytes of an item that has all key attributes: hash, partition key, sort key.
func (k keySchema) encode(seed uint64, item value.Item) []byte {
	hash, _ := item.Get(k.hash.name)
	text := k.partition(seed, hash)
	if k.hasSort() {
		sort, _ := item.Get(k.sort.name)
		text = value.AppendKey(text, sort)
	}
	return text
}

// spread is a seeded hash with all bits well mixed.
func spread(seed uint64, text []byte) uint64 {
	h := fnv.New64a()
	var head [8]byte
	binary.BigEndian.PutUint64(head[:], seed)
	h.Write(head[:])
	h.Write(text)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// afterPrefix returns the first string behind all strings that start with prefix; "" means that there is none.
func afterPrefix(prefix string) string {
	for last := len(prefix) - 1; last >= 0; last-- {
		if prefix[last] < 0xff {
			return prefix[:last] + string([]byte{prefix[last] + 1})
		}
	}
	return ""
}
