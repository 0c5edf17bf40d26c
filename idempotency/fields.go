package idempotency

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Fields is the part of a command that its fingerprint covers: typed, named values.
//
// Names and types matter, the order of the calls does not: moving a line in the service's code never turns a repeat
// into a mismatch. A name is used once in its group. An optional value that is absent is left out; absent, empty and
// zero are three different commands. Put in what the client asked for, never what a retry would compute anew (a new
// ID, the time of arrival): that would make each repeat another command.
//
// The first fault of a builder call is kept and reported by [Requests.Once]. A Fields may serve several requests, and
// changing it after Once changes nothing there; it is not safe for concurrent changes.
type Fields struct {
	fields []field
	err    *CommandError
}

type field struct {
	name  string
	value []byte // kind, length, payload
}

// The kinds of values. They are part of the hash: never reuse or renumber one.
const (
	kindString  = 's'
	kindInt     = 'i'
	kindBytes   = 'b'
	kindBool    = 't'
	kindTime    = 'z'
	kindDecimal = 'd'
	kindAmount  = 'm'
	kindList    = 'l'
	kindGroup   = 'g'
	kindJSON    = 'j'
)

// NewFields returns an empty command: the fingerprint then covers tenant, operation and schema version alone.
func NewFields() *Fields { return &Fields{} }

// JSON returns the command that a JSON document spells, for example the body of an HTTP request. See [CanonicalJSON]
// for what counts as equal. To cover values outside the body too, such as one from the path, use [Fields.JSON].
func JSON(document []byte) *Fields { return NewFields().JSON("body", document) }

// String adds a text. It must be valid UTF-8; texts are compared byte by byte, without Unicode normalisation.
func (f *Fields) String(name, value string) *Fields {
	if !utf8.ValidString(value) {
		return f.fail(name, ReasonUTF8)
	}
	return f.add(name, kindString, []byte(value))
}

// Strings adds a list of texts. Their order matters.
func (f *Fields) Strings(name string, values ...string) *Fields {
	var payload []byte
	for _, value := range values {
		if !utf8.ValidString(value) {
			return f.fail(name, ReasonUTF8)
		}
		payload = appendValue(payload, kindString, []byte(value))
	}
	return f.add(name, kindList, payload)
}

// Int adds an integer. An integer and a decimal of the same value are different commands.
func (f *Fields) Int(name string, value int64) *Fields {
	return f.add(name, kindInt, binary.BigEndian.AppendUint64(nil, uint64(value)))
}

// Bool adds a truth value.
func (f *Fields) Bool(name string, value bool) *Fields {
	payload := []byte{0}
	if value {
		payload[0] = 1
	}
	return f.add(name, kindBool, payload)
}

// Bytes adds binary data. Nil and empty are the same.
func (f *Fields) Bytes(name string, value []byte) *Fields { return f.add(name, kindBytes, value) }

// Time adds an instant: seconds and nanoseconds in UTC, so that one instant in two zones is one command.
func (f *Fields) Time(name string, value time.Time) *Fields {
	payload := binary.BigEndian.AppendUint64(nil, uint64(value.Unix()))
	return f.add(name, kindTime, binary.BigEndian.AppendUint32(payload, uint32(value.Nanosecond())))
}

// Decimal adds an exact decimal, given as text in the grammar of JSON numbers, by its value: 1.10, 1.1 and 11e-1 are
// one command. At most [NumberDigitsMax] digits and an exponent of ±[NumberExponentMax].
func (f *Fields) Decimal(name, text string) *Fields {
	canonical, reason := canonicalDecimal(text)
	if reason != "" {
		return f.fail(name, reason)
	}
	return f.add(name, kindDecimal, canonical)
}

// Amount adds an exact amount of a currency or a security: the decimal by its value, as in [Fields.Decimal], and the
// code as it is spelt.
func (f *Fields) Amount(name, text, currency string) *Fields {
	canonical, reason := canonicalDecimal(text)
	if reason != "" {
		return f.fail(name, reason)
	}
	if !utf8.ValidString(currency) {
		return f.fail(name, ReasonUTF8)
	}
	payload := appendValue(nil, kindDecimal, canonical)
	return f.add(name, kindAmount, appendValue(payload, kindString, []byte(currency)))
}

// JSON adds a JSON document by its canonical form. See [CanonicalJSON].
func (f *Fields) JSON(name string, document []byte) *Fields {
	canonical, err := canonicalJSON(document)
	if err != nil {
		return f.fail(name, err.Reason, err.Offset)
	}
	return f.add(name, kindJSON, canonical)
}

// List adds a list of groups, for example the legs of an order. Their order matters. The groups are copied at the call.
func (f *Fields) List(name string, groups ...*Fields) *Fields {
	var payload []byte
	for i, group := range groups {
		element := name + "[" + strconv.Itoa(i) + "]"
		if group == nil {
			return f.fail(element, ReasonMissing)
		}
		if inner := group.err; inner != nil {
			return f.keep(&CommandError{Field: element + "." + inner.Field, Offset: inner.Offset, Reason: inner.Reason})
		}
		payload = appendValue(payload, kindGroup, group.encode())
	}
	return f.add(name, kindList, payload)
}

func (f *Fields) add(name string, kind byte, payload []byte) *Fields {
	switch {
	case name == "":
		return f.fail(name, ReasonMissing)
	case !utf8.ValidString(name):
		return f.fail("", ReasonUTF8)
	case slices.ContainsFunc(f.fields, func(other field) bool { return other.name == name }):
		return f.fail(name, ReasonDuplicate)
	}
	// Clipped, so that a copy of f never writes into the array of the original.
	f.fields = append(slices.Clip(f.fields), field{name, appendValue(nil, kind, payload)})
	return f
}

func (f *Fields) fail(name string, reason Reason, offset ...int) *Fields {
	err := &CommandError{Field: name, Reason: reason, Offset: -1}
	if len(offset) > 0 {
		err.Offset = offset[0]
	}
	return f.keep(err)
}

// keep remembers the first fault; later ones are usually its consequence.
func (f *Fields) keep(err *CommandError) *Fields {
	if f.err == nil {
		f.err = err
	}
	return f
}

// encode returns name and value of every field in the order of the names. Each is preceded by its length, so no two
// different groups have one encoding. It does not change f.
func (f *Fields) encode() []byte {
	sorted := slices.SortedFunc(slices.Values(f.fields), func(a, b field) int { return strings.Compare(a.name, b.name) })
	var encoded []byte
	for _, field := range sorted {
		encoded = appendValue(encoded, kindString, []byte(field.name))
		encoded = append(encoded, field.value...)
	}
	return encoded
}

// appendValue appends one typed, length-prefixed value.
func appendValue(dst []byte, kind byte, payload []byte) []byte {
	dst = append(dst, kind)
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(payload)))
	return append(dst, payload...)
}
