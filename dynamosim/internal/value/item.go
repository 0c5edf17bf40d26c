package value

import (
	"iter"
	"slices"
	"strings"
)

// Item is an immutable set of attributes, sorted by name. It is comparable with ==, and == is equality of content.
// The zero Item is the empty item.
type Item struct {
	data string
}

// NewItem returns an item of the given attributes. Of two attributes with one name the later counts; an attribute whose
// value is zero is left out.
func NewItem(attrs ...Attr) Item { return Item{}.Merge(attrs...) }

// Value returns the item as an M value.
func (it Item) Value() Value { return Value{M, it.data} }

// Len returns the number of attributes.
func (it Item) Len() int { return countOf(it.data) }

// IsEmpty reports whether the item has no attributes.
func (it Item) IsEmpty() bool { return it.data == "" }

// Get returns the attribute with a name.
func (it Item) Get(name string) (Value, bool) {
	for c := newCursor(it.data); c.more(); {
		found := c.text()
		if found == name {
			return c.entry(), true
		}
		if found > name {
			break
		}
		c.skipEntry()
	}
	return Value{}, false
}

// Has reports whether the item has an attribute with a name.
func (it Item) Has(name string) bool {
	_, ok := it.Get(name)
	return ok
}

// All walks the attributes in order of their names (UTF-8 bytes).
func (it Item) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for c := newCursor(it.data); c.more(); {
			name := c.text()
			if !yield(name, c.entry()) {
				return
			}
		}
	}
}

// With returns the item with one attribute set.
func (it Item) With(name string, v Value) Item { return it.Merge(Attr{name, v}) }

// Without returns the item with one attribute removed.
func (it Item) Without(name string) Item {
	if !it.Has(name) {
		return it
	}
	return it.Merge(Attr{Name: name})
}

// Merge returns the item with every given attribute set, or removed where the given value is zero. It costs one pass
// however many attributes change. Of two changes with one name the later counts.
func (it Item) Merge(changes ...Attr) Item {
	if len(changes) == 0 {
		return it
	}
	changes = orderedChanges(changes)
	size, count := len(it.data), 0
	for _, a := range changes {
		size += len(a.Name) + len(a.Value.data) + 12
	}
	body := make([]byte, 0, size)
	put := func(a Attr) {
		if !a.Value.IsZero() {
			body = appendAttr(body, a)
			count++
		}
	}
	for c := newCursor(it.data); c.more(); {
		before := c.rest
		name := c.text()
		for len(changes) > 0 && changes[0].Name < name {
			put(changes[0])
			changes = changes[1:]
		}
		c.skipEntry()
		if len(changes) > 0 && changes[0].Name == name {
			put(changes[0])
			changes = changes[1:]
			continue
		}
		body = append(body, before[:len(before)-len(c.rest)]...)
		count++
	}
	for _, a := range changes {
		put(a)
	}
	return Item{pack(count, body)}
}

// Pick returns the item reduced to the attributes with the given names.
func (it Item) Pick(names ...string) Item {
	attrs := make([]Attr, 0, len(names))
	for _, name := range names {
		if v, ok := it.Get(name); ok {
			attrs = append(attrs, Attr{name, v})
		}
	}
	return NewItem(attrs...)
}

// pack puts the count before the elements; nothing at all is the empty string.
func pack(count int, body []byte) string {
	if count == 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(lengthBytes(count) + len(body))
	b.Write(appendLength(make([]byte, 0, 4), count))
	b.Write(body)
	return b.String()
}

// orderedChanges sorts changes by name and keeps the last of each name. It never touches the caller's slice.
func orderedChanges(changes []Attr) []Attr {
	byName := func(a, b Attr) int { return strings.Compare(a.Name, b.Name) }
	if len(changes) == 1 {
		return changes
	}
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, byName)
	kept := sorted[:0]
	for i, a := range sorted {
		if i+1 == len(sorted) || sorted[i+1].Name != a.Name {
			kept = append(kept, a)
		}
	}
	return kept
}
