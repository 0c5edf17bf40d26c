package export

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// appendRecord appends the line of a record, without its end. A reason says that the record has no such form.
func appendRecord(dst []byte, r Record, c WriteConfig) (line []byte, reason string) {
	w := encoder{out: dst}
	if c.Type == Full {
		w.out = append(w.out, `{"Item":`...)
		w.item(r.New)
		return append(w.out, '}'), w.reason
	}
	w.out = append(w.out, `{"Metadata":{"WriteTimestampMicros":{"N":"`...)
	w.out = strconv.AppendInt(w.out, r.WrittenAt.UnixMicro(), 10)
	w.out = append(w.out, `"}},"Keys":`...)
	w.item(r.Keys)
	if r.Old != nil && c.View == NewAndOldImages {
		w.out = append(w.out, `,"OldImage":`...)
		w.item(r.Old)
	}
	if r.New != nil {
		w.out = append(w.out, `,"NewImage":`...)
		w.item(r.New)
	}
	return append(w.out, '}'), w.reason
}

// encoder writes items in DynamoDB's JSON, names sorted. The first fault is kept.
type encoder struct {
	out    []byte
	reason string
}

func (w *encoder) item(item Item) {
	if len(item) == 0 {
		w.fail("has no attributes")
	}
	w.object(item, 1)
}

func (w *encoder) fail(reason string) {
	if w.reason == "" {
		w.reason = reason
	}
}

func (w *encoder) object(m map[string]types.AttributeValue, level int) {
	separator := byte('{')
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == "" {
			w.fail("has an attribute without a name")
		}
		w.out = append(w.out, separator)
		w.string(name)
		w.out = append(w.out, ':')
		w.value(m[name], level)
		separator = ','
	}
	if separator == '{' {
		w.out = append(w.out, '{')
	}
	w.out = append(w.out, '}')
}

func (w *encoder) value(value types.AttributeValue, level int) {
	if level > MaxDepth {
		w.fail("has a value of more than 32 levels")
		return
	}
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		w.typed("S", func() { w.string(v.Value) })
	case *types.AttributeValueMemberN:
		w.typed("N", func() { w.number(v.Value) })
	case *types.AttributeValueMemberB:
		w.typed("B", func() { w.binary(v.Value) })
	case *types.AttributeValueMemberBOOL:
		w.typed("BOOL", func() { w.out = strconv.AppendBool(w.out, v.Value) })
	case *types.AttributeValueMemberNULL:
		if !v.Value {
			w.fail("has a NULL that is not true")
		}
		w.typed("NULL", func() { w.out = append(w.out, "true"...) })
	case *types.AttributeValueMemberSS:
		w.typed("SS", func() { elements(w, v.Value, w.string, true) })
	case *types.AttributeValueMemberNS:
		w.typed("NS", func() { elements(w, v.Value, w.number, true) })
	case *types.AttributeValueMemberBS:
		w.typed("BS", func() { elements(w, v.Value, w.binary, true) })
	case *types.AttributeValueMemberL:
		w.typed("L", func() { elements(w, v.Value, func(e types.AttributeValue) { w.value(e, level+1) }, false) })
	case *types.AttributeValueMemberM:
		w.typed("M", func() { w.object(v.Value, level+1) })
	default:
		w.fail("has a value of an unknown type, or none")
	}
}

func (w *encoder) typed(kind string, write func()) {
	w.out = append(w.out, '{', '"')
	w.out = append(w.out, kind...)
	w.out = append(w.out, '"', ':')
	write()
	w.out = append(w.out, '}')
}

func elements[T any](w *encoder, all []T, write func(T), set bool) {
	if set && len(all) == 0 {
		w.fail("has an empty set")
	}
	w.out = append(w.out, '[')
	for i, element := range all {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		write(element)
	}
	w.out = append(w.out, ']')
}

func (w *encoder) number(text string) {
	if !isNumber([]byte(text)) {
		w.fail("has a number that is none")
	}
	w.string(text)
}

func (w *encoder) binary(bytes []byte) {
	w.out = append(w.out, '"')
	w.out = base64.StdEncoding.AppendEncode(w.out, bytes)
	w.out = append(w.out, '"')
}

const hexDigits = "0123456789abcdef"

// string writes a string literal. Only what JSON demands is escaped.
func (w *encoder) string(text string) {
	if !utf8.ValidString(text) {
		w.fail("has text that is not valid UTF-8")
	}
	w.out = append(w.out, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			w.out = append(w.out, '\\', c)
		case c == '\n':
			w.out = append(w.out, '\\', 'n')
		case c < ' ':
			w.out = append(w.out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			w.out = append(w.out, c)
		}
	}
	w.out = append(w.out, '"')
}
