// Package jsontext reads the escapes of JSON strings, once for every parser of this module: the wire of the simulator, the
// lines of an export and the canonical form that a fingerprint covers. They must agree on what a text is, because what one
// of them wrote another compares.
package jsontext

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Fault says what is wrong with an escape.
type Fault int

// The faults of an escape.
const (
	None      Fault = iota
	Syntax          // JSON has no such escape
	Surrogate       // half of a surrogate pair, which no text can hold
)

// Escape reads the escape whose backslash is at src[at], both halves of a surrogate pair included. It returns the character
// and the position behind the escape.
func Escape(src []byte, at int) (r rune, next int, fault Fault) {
	at++
	if at >= len(src) {
		return 0, at, Syntax
	}
	switch c := src[at]; c {
	case '"', '\\', '/':
		return rune(c), at + 1, None
	case 'b':
		return '\b', at + 1, None
	case 'f':
		return '\f', at + 1, None
	case 'n':
		return '\n', at + 1, None
	case 'r':
		return '\r', at + 1, None
	case 't':
		return '\t', at + 1, None
	case 'u':
		return unicode(src, at+1)
	}
	return 0, at, Syntax
}

// unicode reads the digits at src[at], and the second half of a pair if they are the first.
func unicode(src []byte, at int) (r rune, next int, fault Fault) {
	r, ok := hex4(src, at)
	if !ok {
		return 0, at, Syntax
	}
	at += 4
	if !utf16.IsSurrogate(r) {
		return r, at, None
	}
	if len(src)-at < 2 || src[at] != '\\' || src[at+1] != 'u' {
		return 0, at, Surrogate
	}
	low, ok := hex4(src, at+2)
	pair := utf16.DecodeRune(r, low)
	if !ok || pair == utf8.RuneError {
		return 0, at, Surrogate
	}
	return pair, at + 6, None
}

func hex4(src []byte, at int) (r rune, ok bool) {
	if len(src)-at < 4 {
		return 0, false
	}
	for _, c := range src[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
