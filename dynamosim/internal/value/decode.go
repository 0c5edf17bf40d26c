package value

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
)

// MaxDepth is how many levels a value may have: a scalar attribute is level 1, an element of a list attribute level 2.
const MaxDepth = 32

// maxNameBytes is the longest attribute name.
const maxNameBytes = 65535

var (
	_ json.Unmarshaler = (*Item)(nil)
	_ json.Unmarshaler = (*Value)(nil)
)

// DecodeItem reads the wire JSON of an item, {"name":{"S":"text"},...}. It takes time in proportion to the input, and
// stops early at documents nested too deep. The error is an *Error; of two faults a malformed request counts before an
// invalid value, as the service reads the whole request first.
func DecodeItem(src []byte) (Item, error) {
	d := newDecoder(src)
	err := d.whole(func() *Error { return d.mapBody(1) })
	if err != nil {
		return Item{}, err
	}
	return Item{string(d.out)}, nil
}

// DecodeValue reads the wire JSON of a value, {"S":"text"}, by the rules of DecodeItem.
func DecodeValue(src []byte) (Value, error) {
	d := newDecoder(src)
	var kind Kind
	err := d.whole(func() (err *Error) {
		kind, err = d.value(1)
		return err
	})
	if err != nil {
		return Value{}, err
	}
	return Value{kind, string(d.out)}, nil
}

// UnmarshalJSON implements json.Unmarshaler; null leaves the item as it is.
func (it *Item) UnmarshalJSON(src []byte) error {
	if string(src) == "null" {
		return nil
	}
	decoded, err := DecodeItem(src)
	if err == nil {
		*it = decoded
	}
	return err
}

// UnmarshalJSON implements json.Unmarshaler; null leaves the value as it is.
func (v *Value) UnmarshalJSON(src []byte) error {
	if string(src) == "null" {
		return nil
	}
	decoded, err := DecodeValue(src)
	if err == nil {
		*v = decoded
	}
	return err
}

// decoder packs values while it reads them. Every method that reads a value appends its payload to out.
type decoder struct {
	scanner
	out   []byte
	spare []byte
	marks []mark
	fault *Error // the first invalid value; reading goes on, because malformed JSON counts first
}

// mark is an entry of a map in out: its bytes, and the part that is its name.
type mark struct{ start, name, nameEnd, end int }

func newDecoder(src []byte) *decoder {
	return &decoder{scanner: scanner{src: src}, out: make([]byte, 0, len(src)), marks: make([]mark, 0, 24)}
}

func (d *decoder) whole(read func() *Error) error {
	if err := read(); err != nil {
		return err
	}
	if err := d.end(); err != nil {
		return err
	}
	if d.fault != nil {
		return d.fault
	}
	return nil
}

func (d *decoder) invalid(message string) {
	if d.fault == nil {
		d.fault = invalid(message)
	}
}

// value reads {"S":"text"}: exactly one member. Unknown members and members that are null do not count.
func (d *decoder) value(level int) (Kind, *Error) {
	if level > MaxDepth {
		return 0, invalid(msgNesting)
	}
	if err := d.open('{', msgExpectedNull); err != nil {
		return 0, err
	}
	found, members := Kind(0), 0
	for first := true; ; first = false {
		more, err := d.next('}', first)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		name, err := d.key()
		if err != nil {
			return 0, err
		}
		kind := kindOf(name)
		if kind == 0 || d.peek() == 'n' {
			if err := d.skip(0); err != nil {
				return 0, err
			}
			continue
		}
		before := len(d.out)
		if err := d.payload(kind, level); err != nil {
			return 0, err
		}
		if members++; members > 1 {
			d.out = d.out[:before]
			continue
		}
		found = kind
	}
	switch {
	case members == 0:
		d.invalid(msgNoMember)
		return NULL, nil
	case members > 1:
		d.invalid(msgManyMembers)
	}
	return found, nil
}

// kindOf is ParseKind without a string.
func kindOf(name []byte) Kind {
	switch string(name) {
	case "S":
		return S
	case "N":
		return N
	case "B":
		return B
	case "BOOL":
		return BOOL
	case "NULL":
		return NULL
	case "L":
		return L
	case "M":
		return M
	case "SS":
		return SS
	case "NS":
		return NS
	case "BS":
		return BS
	default:
		return 0
	}
}

// payload reads what follows the colon of a member.
func (d *decoder) payload(kind Kind, level int) *Error {
	switch kind {
	case S:
		text, err := d.text("String")
		d.out = append(d.out, text...)
		return err
	case N:
		text, err := d.text("String")
		if err != nil {
			return err
		}
		return d.number(string(text))
	case B:
		text, err := d.text("Blob")
		if err != nil {
			return err
		}
		d.out, err = appendBase64(d.out, text)
		return err
	case BOOL:
		isTrue, err := d.boolean()
		if isTrue {
			d.out = append(d.out, 1)
		}
		return err
	case NULL:
		isTrue, err := d.boolean()
		if err == nil && !isTrue {
			d.invalid(msgNullFalse)
		}
		return err
	case L:
		return d.listBody(level)
	case M:
		return d.mapBody(level + 1)
	default:
		return d.setBody(kind)
	}
}

func (d *decoder) number(text string) *Error {
	if text == "" {
		d.invalid(msgNumberEmpty)
		return nil
	}
	n, err := parseDecimal(text)
	if err != nil {
		d.invalid(err.Message)
		return nil
	}
	d.out = n.appendKey(d.out)
	return nil
}

// mapBody reads {"name":{value},...} whose values are at the given level.
func (d *decoder) mapBody(level int) *Error {
	if err := d.open('{', msgExpectedMap); err != nil {
		return err
	}
	start, base := len(d.out), len(d.marks)
	sorted := true
	for first := true; ; first = false {
		more, err := d.next('}', first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		name, err := d.key()
		if err != nil {
			return err
		}
		d.checkName(name)
		m := mark{start: len(d.out)}
		d.out = appendLength(d.out, len(name))
		m.name, m.nameEnd = len(d.out), len(d.out)+len(name)
		d.out = append(d.out, name...)
		if d.peek() == 'n' { // a null value is no value
			d.out = d.out[:m.start]
			if err := d.skip(0); err != nil {
				return err
			}
			continue
		}
		if err := d.entry(level); err != nil {
			return err
		}
		m.end = len(d.out)
		if n := len(d.marks); n > base && bytes.Compare(d.nameOf(d.marks[n-1]), d.nameOf(m)) >= 0 {
			sorted = false
		}
		d.marks = append(d.marks, m)
	}
	if !sorted {
		d.sortEntries(start, base)
	}
	d.putCount(start, len(d.marks)-base)
	d.marks = d.marks[:base]
	return nil
}

func (d *decoder) checkName(name []byte) {
	switch {
	case len(name) == 0:
		d.invalid(msgEmptyName)
	case len(name) > maxNameBytes:
		d.invalid(msgLongName)
	}
}

func (d *decoder) nameOf(m mark) []byte { return d.out[m.name:m.nameEnd] }

// sortEntries puts the entries from start on in order of their names and drops all but the last of each name.
func (d *decoder) sortEntries(start, base int) {
	marks := d.marks[base:]
	slices.SortStableFunc(marks, func(a, b mark) int { return bytes.Compare(d.nameOf(a), d.nameOf(b)) })
	d.spare = slices.Grow(d.spare[:0], len(d.out)-start)
	kept := 0
	for i, m := range marks {
		if i+1 < len(marks) && bytes.Equal(d.nameOf(m), d.nameOf(marks[i+1])) {
			continue
		}
		d.spare = append(d.spare, d.out[m.start:m.end]...)
		kept++
	}
	d.out = append(d.out[:start], d.spare...)
	d.marks = d.marks[:base+kept]
}

// listBody reads [{value},...].
func (d *decoder) listBody(level int) *Error {
	if err := d.open('[', msgExpectedList); err != nil {
		return err
	}
	start, count := len(d.out), 0
	for ; ; count++ {
		more, err := d.next(']', count == 0)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := d.entry(level + 1); err != nil {
			return err
		}
	}
	d.putCount(start, count)
	return nil
}

// setBody reads ["element",...].
func (d *decoder) setBody(kind Kind) *Error {
	if err := d.open('[', msgExpectedList); err != nil {
		return err
	}
	var elems []string
	for first := true; ; first = false {
		more, err := d.next(']', first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		start := len(d.out)
		if err := d.payload(kind.elem(), MaxDepth); err != nil {
			return err
		}
		elems = append(elems, string(d.out[start:]))
		d.out = d.out[:start]
	}
	set, err := newSet(kind, elems, elems)
	if err != nil {
		d.invalid(err.Error())
	}
	d.out = append(d.out, set.data...)
	return nil
}

// entry reads a value and puts its type and length before its payload.
func (d *decoder) entry(level int) *Error {
	start := len(d.out)
	kind, err := d.value(level)
	if err != nil {
		return err
	}
	var head [1 + binary.MaxVarintLen64]byte
	head[0] = byte(kind)
	n := 1 + binary.PutUvarint(head[1:], uint64(len(d.out)-start))
	d.out = slices.Insert(d.out, start, head[:n]...)
	return nil
}

// putCount closes a document: its count goes before its entries; an empty one has none.
func (d *decoder) putCount(start, count int) {
	if count == 0 {
		return
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(count))
	d.out = slices.Insert(d.out, start, head[:n]...)
}
