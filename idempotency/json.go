package idempotency

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/dynafin/dynafin/internal/jsontext"
)

const (
	// JSONBytesMax is the size limit of a JSON document.
	JSONBytesMax = 1 << 20
	// JSONDepthMax is how deeply arrays and objects may be nested.
	JSONDepthMax = 64
)

// CanonicalJSON returns the one spelling of a JSON document that the fingerprint covers; it is for debugging and
// for tests of a service. Two documents have the same one exactly if they differ in nothing but:
//
//   - white space and the order of object keys (the order of array elements matters);
//   - the spelling of a string: escapes are decoded and compared as text, without Unicode normalisation;
//   - the spelling of a number: numbers are compared by exact decimal value and never become floats, so 1, 1.0 and 1e0
//     are one number, and 9007199254740992 and 9007199254740993 are two.
//
// Refused with a [*CommandError] that names the byte offset: anything outside the JSON grammar, duplicate keys of one
// object (compared decoded), invalid UTF-8, unpaired surrogates, data after the document, and what is beyond
// [JSONBytesMax], [JSONDepthMax], [NumberDigitsMax] or [NumberExponentMax]. No digit is expanded; apart from the sorting
// of keys the time is linear.
func CanonicalJSON(document []byte) ([]byte, error) {
	canonical, err := canonicalJSON(document)
	if err != nil {
		return nil, err
	}
	return canonical, nil
}

func canonicalJSON(document []byte) ([]byte, *CommandError) {
	p := parser{src: document}
	if len(document) > JSONBytesMax {
		return nil, p.fail(JSONBytesMax, ReasonTooLarge)
	}
	p.out = make([]byte, 0, len(document))
	if err := p.value(0); err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, p.fail(p.pos, ReasonTrailing)
	}
	return p.out, nil
}

// parser reads a document once from the left and writes its canonical form as it goes.
type parser struct {
	src []byte
	pos int
	out []byte
}

func (p *parser) fail(offset int, reason Reason) *CommandError {
	return &CommandError{Offset: offset, Reason: reason}
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// next skips white space and consumes c if it comes next.
func (p *parser) next(c byte) bool {
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) value(depth int) *CommandError {
	p.space()
	if p.pos == len(p.src) {
		return p.fail(p.pos, ReasonSyntax)
	}
	switch c := p.src[p.pos]; {
	case c == '{' || c == '[':
		if depth == JSONDepthMax {
			return p.fail(p.pos, ReasonTooDeep)
		}
		p.pos++
		if c == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case c == '"':
		text, err := p.text()
		if err != nil {
			return err
		}
		p.out = appendText(p.out, text)
		return nil
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	default:
		return p.word()
	}
}

func (p *parser) word() *CommandError {
	for _, word := range []string{"true", "false", "null"} {
		if end := p.pos + len(word); end <= len(p.src) && string(p.src[p.pos:end]) == word {
			p.pos, p.out = end, append(p.out, word...)
			return nil
		}
	}
	return p.fail(p.pos, ReasonSyntax)
}

func (p *parser) number() *CommandError {
	n, length, reason := scanNumber(p.src[p.pos:])
	if reason == ReasonSyntax {
		return p.fail(p.pos+length, reason)
	}
	if reason == "" {
		p.out, reason = appendNumber(p.out, n)
	}
	if reason != "" {
		return p.fail(p.pos, reason)
	}
	p.pos += length
	return nil
}

func (p *parser) array(depth int) *CommandError {
	p.out = append(p.out, '[')
	for first := true; ; first = false {
		if first && p.next(']') {
			break
		}
		if err := p.value(depth); err != nil {
			return err
		}
		if p.next(']') {
			break
		}
		if !p.next(',') {
			return p.fail(p.pos, ReasonSyntax)
		}
		p.out = append(p.out, ',')
	}
	p.out = append(p.out, ']')
	return nil
}

// member is a key of an object, where it was read and where its canonical value stands in the output.
type member struct {
	key                string
	offset, start, end int
}

func (p *parser) object(depth int) *CommandError {
	begin := len(p.out)
	var members []member
	for {
		if len(members) == 0 && p.next('}') {
			break
		}
		p.space()
		m := member{offset: p.pos}
		text, err := p.text()
		if err != nil {
			return err
		}
		if !p.next(':') {
			return p.fail(p.pos, ReasonSyntax)
		}
		m.key, m.start = string(text), len(p.out)
		if err := p.value(depth); err != nil {
			return err
		}
		m.end = len(p.out)
		members = append(members, m)
		if p.next('}') {
			break
		}
		if !p.next(',') {
			return p.fail(p.pos, ReasonSyntax)
		}
	}
	// Equal keys keep their order in the document, so that the error names the second of them.
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	sorted := append(make([]byte, 0, len(p.out)-begin+2), '{')
	for i, m := range members {
		if i > 0 {
			if m.key == members[i-1].key {
				return p.fail(m.offset, ReasonDuplicate)
			}
			sorted = append(sorted, ',')
		}
		sorted = append(appendText(sorted, []byte(m.key)), ':')
		sorted = append(sorted, p.out[m.start:m.end]...)
	}
	p.out = append(append(p.out[:begin], sorted...), '}')
	return nil
}

// text reads a string and returns it decoded.
func (p *parser) text() ([]byte, *CommandError) {
	if p.pos == len(p.src) || p.src[p.pos] != '"' {
		return nil, p.fail(p.pos, ReasonSyntax)
	}
	var decoded []byte
	for p.pos++; p.pos < len(p.src); {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			return decoded, nil
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return nil, err
			}
			decoded = utf8.AppendRune(decoded, r)
		case c < ' ':
			return nil, p.fail(p.pos, ReasonSyntax)
		case c < utf8.RuneSelf:
			decoded = append(decoded, c)
			p.pos++
		default:
			r, size := utf8.DecodeRune(p.src[p.pos:])
			if r == utf8.RuneError && size == 1 {
				return nil, p.fail(p.pos, ReasonUTF8)
			}
			decoded = append(decoded, p.src[p.pos:p.pos+size]...)
			p.pos += size
		}
	}
	return nil, p.fail(p.pos, ReasonSyntax)
}

// escape reads a backslash and what it stands for, both halves of a surrogate pair included.
func (p *parser) escape() (rune, *CommandError) {
	r, next, fault := jsontext.Escape(p.src, p.pos)
	switch fault {
	case jsontext.Syntax:
		return 0, p.fail(p.pos, ReasonSyntax)
	case jsontext.Surrogate:
		return 0, p.fail(p.pos, ReasonSurrogate)
	}
	p.pos = next
	return r, nil
}

// appendText appends a decoded string with the fewest escapes that JSON allows, all of one form.
func appendText(dst, text []byte) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
