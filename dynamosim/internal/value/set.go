package value

import (
	"slices"
	"strings"
)

// newSet packs a set of raw elements (texts, bytes or number keys). The elements as the request spelled them are shown
// in the refusal. Neither slice is changed.
func newSet(k Kind, elems, shown []string) (Value, error) {
	if len(elems) == 0 {
		return Value{}, invalid(msgEmptySet(k))
	}
	if !slices.IsSorted(elems) {
		elems = slices.Clone(elems)
		slices.Sort(elems)
	}
	for i := 1; i < len(elems); i++ {
		if elems[i] == elems[i-1] {
			return Value{}, invalid(msgDuplicates(k, shown))
		}
	}
	return packSet(k, elems), nil
}

func packSet(k Kind, sorted []string) Value {
	if len(sorted) == 0 {
		return Value{}
	}
	size := lengthBytes(len(sorted))
	for _, e := range sorted {
		size += lengthBytes(len(e)) + len(e)
	}
	dst := appendLength(make([]byte, 0, size), len(sorted))
	for _, e := range sorted {
		dst = appendText(dst, e)
	}
	return Value{k, string(dst)}
}

// Union returns the elements of two sets of one type; ok is false for any other two values.
func Union(a, b Value) (sum Value, ok bool) {
	if !a.kind.IsSet() || a.kind != b.kind {
		return Value{}, false
	}
	elems := append(a.rawElems(), b.rawElems()...)
	slices.Sort(elems)
	return packSet(a.kind, slices.Compact(elems)), true
}

// Difference returns the elements of set a that are not in set b of the same type. The zero Value stands for nothing
// left, because there are no empty sets; ok is false for values that are not two sets of one type.
func Difference(a, b Value) (rest Value, ok bool) {
	if !a.kind.IsSet() || a.kind != b.kind {
		return Value{}, false
	}
	drop := b.rawElems()
	kept := slices.DeleteFunc(a.rawElems(), func(e string) bool {
		_, found := slices.BinarySearch(drop, e)
		return found
	})
	return packSet(a.kind, kept), true
}

// Contains reports what the contains function of expressions asks: a substring of an S or B, an element of a set or of a
// list. Every other combination is false.
func Contains(v, part Value) bool {
	switch {
	case v.kind == part.kind && (v.kind == S || v.kind == B):
		return strings.Contains(v.data, part.data)
	case v.kind.IsSet() && v.kind == part.kind.set():
		for c := newCursor(v.data); c.more(); {
			if c.text() == part.data {
				return true
			}
		}
	case v.kind == L:
		for c := newCursor(v.data); c.more(); {
			if c.entry() == part {
				return true
			}
		}
	}
	return false
}

// BeginsWith reports whether an S or B begins with a prefix of the same type.
func BeginsWith(v, prefix Value) bool {
	return v.kind == prefix.kind && (v.kind == S || v.kind == B) && strings.HasPrefix(v.data, prefix.data)
}

func (v Value) rawElems() []string {
	elems := make([]string, 0, countOf(v.data))
	for c := newCursor(v.data); c.more(); {
		elems = append(elems, c.text())
	}
	return elems
}

// SetOf returns the set of one S, N or B; the zero Value for any other.
func SetOf(elem Value) Value {
	if !elem.kind.Ordered() {
		return Value{}
	}
	return packSet(elem.kind.set(), []string{elem.data})
}
