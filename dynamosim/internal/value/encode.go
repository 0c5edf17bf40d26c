package value

import (
	"encoding/base64"
	"encoding/json"
)

var (
	_ json.Marshaler = Item{}
	_ json.Marshaler = Value{}
)

// AppendJSON appends the wire JSON of the item: {"name":{"S":"text"},...}.
func (it Item) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	first := true
	for c := newCursor(it.data); c.more(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		dst = AppendJSONString(dst, c.text())
		dst = append(dst, ':')
		dst = c.entry().AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendJSON appends the wire JSON of the value: {"S":"text"}. The zero Value is null.
func (v Value) AppendJSON(dst []byte) []byte {
	if v.IsZero() {
		return append(dst, "null"...)
	}
	dst = append(dst, '{', '"')
	dst = append(dst, kindNames[v.kind]...)
	dst = append(dst, '"', ':')
	switch v.kind {
	case NULL:
		dst = append(dst, "true"...)
	case BOOL:
		if v.IsTrue() {
			dst = append(dst, "true"...)
		} else {
			dst = append(dst, "false"...)
		}
	case M:
		dst = v.Entries().AppendJSON(dst)
	case L:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendJSON(dst)
		}
		dst = append(dst, ']')
	case SS, NS, BS:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendScalar(dst)
		}
		dst = append(dst, ']')
	default:
		dst = v.appendScalar(dst)
	}
	return append(dst, '}')
}

// appendScalar appends the JSON string of an S, N or B.
func (v Value) appendScalar(dst []byte) []byte {
	switch v.kind {
	case S:
		return AppendJSONString(dst, v.data)
	case N:
		dst = append(dst, '"')
		dst = appendNumber(dst, v.data)
		return append(dst, '"')
	default:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(v.data))
		return append(dst, '"')
	}
}

// AppendJSONString appends a JSON string literal of the text.
func AppendJSONString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}

// MarshalJSON implements json.Marshaler.
func (it Item) MarshalJSON() ([]byte, error) { return it.AppendJSON(nil), nil }

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }
