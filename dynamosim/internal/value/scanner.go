package value

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/dynafin/dynafin/internal/jsontext"
)

// scanner reads JSON tokens. It is strict where JSON is: one value, no trailing commas, no raw control characters, valid
// UTF-8, and no lone surrogates, which no string could hold.
type scanner struct {
	src     []byte
	pos     int
	scratch []byte
}

// peek skips blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) end() *Error {
	if s.peek(); s.pos < len(s.src) {
		return malformed(msgNotJSON)
	}
	return nil
}

// open reads the bracket of an object or array; another JSON value is a type error.
func (s *scanner) open(bracket byte, expected string) *Error {
	switch c := s.peek(); {
	case c == bracket:
		s.pos++
		return nil
	case c == '[':
		return malformed(msgList)
	case c == '{':
		return malformed(msgStructure)
	case c == 0:
		return malformed(msgNotJSON)
	default:
		return malformed(expected)
	}
}

// next steps to the next element, or over the closing bracket.
func (s *scanner) next(closing byte, first bool) (bool, *Error) {
	c := s.peek()
	if c == closing {
		s.pos++
		return false, nil
	}
	if first {
		return true, nil
	}
	if c != ',' {
		return false, malformed(msgNotJSON)
	}
	s.pos++
	if s.peek() == closing {
		return false, malformed(msgNotJSON)
	}
	return true, nil
}

// key reads a member's name and its colon. The bytes are good until the next string is read.
func (s *scanner) key() ([]byte, *Error) {
	if s.peek() != '"' {
		return nil, malformed(msgNotJSON)
	}
	name, err := s.str()
	if err != nil {
		return nil, err
	}
	if s.peek() != ':' {
		return nil, malformed(msgNotJSON)
	}
	s.pos++
	return name, nil
}

// text reads a string; another JSON value is a type error that names the wanted type.
func (s *scanner) text(want string) ([]byte, *Error) {
	switch c := s.peek(); {
	case c == '"':
		return s.str()
	case c == '{':
		return nil, malformed(msgStructure)
	case c == '[':
		return nil, malformed(msgList)
	case c == 't' || c == 'f':
		return nil, malformed(msgWrongType(typeTrue, want))
	case c == '-' || c >= '0' && c <= '9':
		return nil, malformed(msgWrongType(typeNumber, want))
	default:
		return nil, malformed(msgNotJSON)
	}
}

func (s *scanner) boolean() (bool, *Error) {
	switch c := s.peek(); {
	case c == 't' && s.literal("true"):
		return true, nil
	case c == 'f' && s.literal("false"):
		return false, nil
	case c == '"':
		return false, malformed(msgWrongType(typeString, "Boolean"))
	case c == '-' || c >= '0' && c <= '9':
		return false, malformed(msgWrongType(typeNumber, "Boolean"))
	case c == '{':
		return false, malformed(msgStructure)
	case c == '[':
		return false, malformed(msgList)
	default:
		return false, malformed(msgNotJSON)
	}
}

func (s *scanner) literal(word string) bool {
	if len(s.src)-s.pos < len(word) || string(s.src[s.pos:s.pos+len(word)]) != word {
		return false
	}
	s.pos += len(word)
	return true
}

// str reads a string literal. Without escapes, the result is a part of the source.
func (s *scanner) str() ([]byte, *Error) {
	s.pos++
	start := s.pos
	ascii := true
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '"':
			text := s.src[start:s.pos]
			s.pos++
			if !ascii && !utf8.Valid(text) {
				return nil, malformed(msgNotUTF8)
			}
			return text, nil
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			return nil, malformed(msgNotJSON)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, malformed(msgNotJSON)
}

// escaped goes on with a string literal at its first escape.
func (s *scanner) escaped(start int) ([]byte, *Error) {
	buf := append(s.scratch[:0], s.src[start:s.pos]...)
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '"':
			s.pos++
			s.scratch = buf
			if !utf8.Valid(buf) {
				return nil, malformed(msgNotUTF8)
			}
			return buf, nil
		case c < 0x20:
			return nil, malformed(msgNotJSON)
		case c != '\\':
			s.pos++
			buf = append(buf, c)
			continue
		}
		r, next, fault := jsontext.Escape(s.src, s.pos)
		if fault != jsontext.None {
			return nil, malformed(msgNotJSON)
		}
		s.pos = next
		buf = utf8.AppendRune(buf, r)
	}
	return nil, malformed(msgNotJSON)
}

// skip reads any JSON value and drops it. It nests no deeper than the values it may stand beside.
func (s *scanner) skip(depth int) *Error {
	if depth > 2*MaxDepth {
		return malformed(msgNotJSON)
	}
	switch c := s.peek(); c {
	case '{', '[':
		s.pos++
		closing := c + 2 // '}' and ']' are two after their openings
		for first := true; ; first = false {
			more, err := s.next(closing, first)
			if err != nil || !more {
				return err
			}
			if c == '{' {
				if _, err := s.key(); err != nil {
					return err
				}
			}
			if err := s.skip(depth + 1); err != nil {
				return err
			}
		}
	case '"':
		_, err := s.str()
		return err
	default:
		return s.skipScalar()
	}
}

// skipScalar reads true, false, null or a number. It does not look closely at numbers, because nobody will.
func (s *scanner) skipScalar() *Error {
	if s.literal("true") || s.literal("false") || s.literal("null") {
		return nil
	}
	start := s.pos
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		s.pos++
	}
	if s.pos == start {
		return malformed(msgNotJSON)
	}
	return nil
}

// appendBase64 appends the bytes of standard, padded base64 without line breaks.
func appendBase64(dst, text []byte) ([]byte, *Error) {
	for _, c := range text {
		if c == '\n' || c == '\r' { // the decoder would skip them
			return dst, malformed(msgBase64)
		}
	}
	out, err := base64.StdEncoding.Strict().AppendDecode(dst, text)
	if err != nil {
		return dst, malformed(msgBase64)
	}
	return out, nil
}
