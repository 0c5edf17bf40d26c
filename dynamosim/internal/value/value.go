package value

import "iter"

// Kind is the type of an attribute value. The zero Kind belongs to the zero Value, which stands for "no value".
type Kind uint8

// The ten attribute types.
const (
	S Kind = iota + 1
	N
	B
	BOOL
	NULL
	L
	M
	SS
	NS
	BS
)

var kindNames = [...]string{"", "S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"}

// String returns the type as the wire names it: "S", "BOOL", "NS".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// ParseKind finds the type with a wire name.
func ParseKind(name string) (Kind, bool) {
	k := kindOf([]byte(name))
	return k, k != 0
}

// IsSet reports whether k is one of the three set types.
func (k Kind) IsSet() bool { return k == SS || k == NS || k == BS }

// Value is one attribute value. It is immutable, comparable with ==, and == is DynamoDB's equality.
// The zero Value is no value at all; IsZero tells.
type Value struct {
	kind Kind
	data string
}

// Attr is a named value: an attribute of an item or an entry of a map.
type Attr struct {
	Name  string
	Value Value
}

// String returns an S value. The text must be valid UTF-8.
func String(text string) Value { return Value{S, text} }

// Binary returns a B value.
func Binary(raw []byte) Value { return Value{B, string(raw)} }

// Bool returns a BOOL value.
func Bool(b bool) Value {
	if b {
		return Value{BOOL, "\x01"}
	}
	return Value{BOOL, ""}
}

// Null returns the NULL value.
func Null() Value { return Value{NULL, ""} }

// List returns an L value of the given elements.
func List(elems ...Value) Value {
	if len(elems) == 0 {
		return Value{L, ""}
	}
	dst := appendLength(nil, len(elems))
	for _, e := range elems {
		dst = appendEntry(dst, e)
	}
	return Value{L, string(dst)}
}

// Map returns an M value of the given entries. Of two entries with one name the later counts.
func Map(entries ...Attr) Value { return NewItem(entries...).Value() }

// StringSet returns an SS value, or a validation error if it is empty or holds an element twice.
func StringSet(elems ...string) (Value, error) { return newSet(SS, elems, elems) }

// BinarySet returns a BS value, or a validation error if it is empty or holds an element twice.
func BinarySet(elems ...[]byte) (Value, error) {
	raw := make([]string, len(elems))
	for i, e := range elems {
		raw[i] = string(e)
	}
	return newSet(BS, raw, raw)
}

// NumberSet returns an NS value of decimal texts, or a validation error if one is no number or two are equal by value.
func NumberSet(elems ...string) (Value, error) {
	keys := make([]string, len(elems))
	for i, e := range elems {
		n, err := Number(e)
		if err != nil {
			return Value{}, err
		}
		keys[i] = n.data
	}
	return newSet(NS, keys, elems)
}

// IsZero reports whether v is no value at all.
func (v Value) IsZero() bool { return v.kind == 0 }

// Kind returns the type of the value; 0 for no value.
func (v Value) Kind() Kind { return v.kind }

// Text returns the characters of an S, the raw bytes of a B, or the canonical decimal text of an N; else "".
func (v Value) Text() string {
	switch v.kind {
	case S, B:
		return v.data
	case N:
		return string(appendNumber(nil, v.data))
	default:
		return ""
	}
}

// IsTrue reports whether v is the BOOL true.
func (v Value) IsTrue() bool { return v.kind == BOOL && v.data != "" }

// Len returns the number of elements of a list, map or set, and the bytes of an S or B. It is 0 for every other type.
func (v Value) Len() int {
	switch v.kind {
	case S, B:
		return len(v.data)
	case L, M, SS, NS, BS:
		return countOf(v.data)
	default:
		return 0
	}
}

// Entries returns the entries of an M as an item; for any other type the empty item.
func (v Value) Entries() Item {
	if v.kind != M {
		return Item{}
	}
	return Item{v.data}
}

// Elems walks the elements of a list, or of a set as values of the element type, in stored order.
func (v Value) Elems() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		c := newCursor(v.data)
		switch v.kind {
		case L:
			for i := 0; c.more(); i++ {
				if !yield(i, c.entry()) {
					return
				}
			}
		case SS, NS, BS:
			elem := v.kind.elem()
			for i := 0; c.more(); i++ {
				if !yield(i, Value{elem, c.text()}) {
					return
				}
			}
		}
	}
}

// Index returns the element of a list at a position.
func (v Value) Index(i int) (Value, bool) {
	if v.kind != L || i < 0 || i >= countOf(v.data) {
		return Value{}, false
	}
	c := newCursor(v.data)
	for ; i > 0; i-- {
		c.skipEntry()
	}
	return c.entry(), true
}

// elem is the type of a set's elements.
func (k Kind) elem() Kind {
	switch k {
	case SS:
		return S
	case NS:
		return N
	case BS:
		return B
	default:
		return 0
	}
}

// set is the type of a set of such elements.
func (k Kind) set() Kind {
	switch k {
	case S:
		return SS
	case N:
		return NS
	case B:
		return BS
	default:
		return 0
	}
}
