package httpkey

import (
	"errors"
	"strings"
)

// Header is the name of the header.
const Header = "Idempotency-Key"

// KeyBytesMax is how long a key may be.
const KeyBytesMax = 255

var (
	errMissing = errors.New("the header is missing")
	errKey     = errors.New("the header must be one string of 1 to 255 visible characters, quoted or not")
)

// ParseKey reads the values of the header: a string of RFC 9651, or a bare token as most clients send it. Both spellings of
// a key are the same key. Several values, parameters, and values of other types are errors.
func ParseKey(values []string) (string, error) {
	if len(values) == 0 {
		return "", errMissing
	}
	if len(values) > 1 {
		return "", errKey
	}
	value := strings.Trim(values[0], " \t")
	var key string
	var ok bool
	if strings.HasPrefix(value, `"`) {
		key, ok = unquote(value)
	} else {
		key, ok = value, bare(value)
	}
	if !ok || key == "" || len(key) > KeyBytesMax {
		return "", errKey
	}
	return key, nil
}

// unquote reads a string: printable ASCII in quotes, where a backslash stands before a quote or a backslash and nothing
// else.
func unquote(value string) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			return b.String(), i == len(value)-1
		case c == '\\':
			i++
			if i == len(value) || value[i] != '"' && value[i] != '\\' {
				return "", false
			}
			b.WriteByte(value[i])
		case c < ' ' || c > '~':
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// bare says whether a value is a token without quotes. What would begin or end a value of another type is none: lists,
// parameters, byte sequences, booleans, dates and display strings.
func bare(value string) bool {
	for i := 0; i < len(value); i++ {
		if c := value[i]; c <= ' ' || c > '~' || strings.IndexByte(`"\,;()`, c) >= 0 || i == 0 && strings.IndexByte(":?@%", c) >= 0 {
			return false
		}
	}
	return true
}
