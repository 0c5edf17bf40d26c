package export

import (
	"unicode/utf8"

	"github.com/dynafin/dynafin/internal/jsontext"
)

// scanner reads JSON tokens of one line. It is as strict as JSON is, and refuses what no string could hold: invalid UTF-8
// and lone surrogates. The first fault ends everything: each method returns false from then on.
type scanner struct {
	src     []byte
	pos     int
	scratch []byte // a string with escapes, without them
	reason  string // the first fault
	at      int    // and where it is
}

// What can be wrong with a line. None of it repeats what the line says.
const (
	notJSON      = "is not JSON"
	notUTF8      = "has a string that is not valid UTF-8"
	trailing     = "has something behind its value"
	repeated     = "has a name twice in one object"
	notObject    = "has no object where one must be"
	notArray     = "has no array where one must be"
	notString    = "has no string where one must be"
	notBool      = "has no true or false where one must be"
	unknownType  = "has a value of an unknown type"
	notOneMember = "has a value that is not of exactly one type"
	tooDeep      = "has a value of more than 32 levels"
	badNumber    = "has a number that DynamoDB does not have"
	badBase64    = "has bytes that are not base64"
	badNull      = "has a NULL that is not true"
	emptySet     = "has an empty set"
	badSet       = "has a set with an element twice"
	emptyName    = "has an attribute without a name"
	emptyItem    = "has an item without attributes"
	blankLine    = "is empty"
	wrongMember  = "has a member that this form of export has not"
	lacksMember  = "lacks a member that this form of export has"
	badTimestamp = "has a write time that is not a number of microseconds"
)

func (s *scanner) fail(reason string) bool {
	if s.reason == "" {
		s.reason, s.at = reason, s.pos
	}
	return false
}

// peek skips blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
		s.pos++
	}
	return 0
}

// open reads an opening bracket.
func (s *scanner) open(bracket byte) bool {
	if s.peek() == bracket {
		s.pos++
		return true
	}
	if bracket == '{' {
		return s.fail(notObject)
	}
	return s.fail(notArray)
}

// next steps to the next element and says so, or over the closing bracket and says that there is none.
func (s *scanner) next(closing byte, first bool) (more bool) {
	c := s.peek()
	if c == closing {
		s.pos++
		return false
	}
	if first {
		return true
	}
	if c != ',' {
		return s.fail(notJSON)
	}
	s.pos++
	if s.peek() == closing {
		return s.fail(notJSON)
	}
	return true
}

// plain marks the bytes that stand for themselves in a string and are one character each.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// token is where a string was found: in the source, or, if it has escapes, in the scratch.
type token struct {
	start, end int
	escaped    bool
}

// str reads a string literal.
func (s *scanner) str() (token, bool) {
	if s.peek() != '"' {
		return token{}, s.fail(notString)
	}
	s.pos++
	start, pos, src := s.pos, s.pos, s.src
	ascii := true
	for pos < len(src) {
		c := src[pos]
		if plain[c] {
			pos++
			continue
		}
		switch {
		case c == '"':
			s.pos = pos + 1
			if !ascii && !utf8.Valid(src[start:pos]) {
				return token{}, s.fail(notUTF8)
			}
			return token{start: start, end: pos}, true
		case c == '\\':
			s.pos = pos
			return s.escaped(start)
		case c < ' ':
			s.pos = pos
			return token{}, s.fail(notJSON)
		}
		ascii = false
		pos++
	}
	s.pos = pos
	return token{}, s.fail(notJSON)
}

// escaped goes on with a string literal at its first escape.
func (s *scanner) escaped(start int) (token, bool) {
	buf := append(s.scratch[:0], s.src[start:s.pos]...)
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '"':
			s.pos++
			s.scratch = buf
			if !utf8.Valid(buf) {
				return token{}, s.fail(notUTF8)
			}
			return token{end: len(buf), escaped: true}, true
		case c == '\\':
			r, next, fault := jsontext.Escape(s.src, s.pos)
			s.pos = next
			if fault != jsontext.None {
				return token{}, s.fail(notJSON)
			}
			buf = utf8.AppendRune(buf, r)
		case c < ' ':
			return token{}, s.fail(notJSON)
		default:
			buf = append(buf, c)
			s.pos++
		}
	}
	return token{}, s.fail(notJSON)
}

func (s *scanner) literal(word string) bool {
	if len(s.src)-s.pos < len(word) || string(s.src[s.pos:s.pos+len(word)]) != word {
		return false
	}
	s.pos += len(word)
	return true
}

// bytes are those of a token; they are good until the next string is read.
func (s *scanner) bytes(t token) []byte {
	if t.escaped {
		return s.scratch[:t.end]
	}
	return s.src[t.start:t.end]
}

// colon reads what stands between a name and its value.
func (s *scanner) colon() bool {
	if s.peek() != ':' {
		return s.fail(notJSON)
	}
	s.pos++
	return true
}

// boolean reads true or false.
func (s *scanner) boolean() (value, ok bool) {
	switch c := s.peek(); {
	case c == 't' && s.literal("true"):
		return true, true
	case c == 'f' && s.literal("false"):
		return false, true
	}
	return false, s.fail(notBool)
}

// integer reads the digits of a JSON number that is a whole one and not negative.
func (s *scanner) integer() token {
	s.peek()
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
		s.pos++
	}
	return token{start: start, end: s.pos}
}
