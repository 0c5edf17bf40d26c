package expr

import (
	"maps"
	"slices"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// The request parameters that hold substitutions.
const (
	paramNames  = "ExpressionAttributeNames"
	paramValues = "ExpressionAttributeValues"
)

// Limits of substitutions.
const (
	maxTokenBytes = 255
	maxNameBytes  = 65535
	maxSubsBytes  = 2 << 20
)

// Subs holds the ExpressionAttributeNames and ExpressionAttributeValues of one request and remembers which of them the
// request's expressions used. One Subs serves all expressions of one request (of one action of a transaction); it is
// not for concurrent use.
type Subs struct {
	names      map[string]string
	values     value.Item
	usedNames  []string
	usedValues []string
}

// NewSubs returns the substitutions of one request: "#name" to attribute name, and an item of ":value" to value. Nil names
// and an empty item mean that the request has none.
func NewSubs(names map[string]string, values value.Item) *Subs {
	return &Subs{names: names, values: values}
}

// Check refuses malformed keys ("name" instead of "#name"), empty or oversized attribute names, and more than 2 MB of
// substitutions in all. Call it before parsing.
func (s *Subs) Check() error {
	size := s.values.Size()
	refs := slices.Sorted(maps.Keys(s.names)) // of several faults always the same one is reported
	for _, key := range refs {
		size += len(key) + len(s.names[key])
		if !isReference(key, '#') {
			return &Error{msgInvalidKey(paramNames, key)}
		}
	}
	for _, key := range refs {
		switch name := s.names[key]; {
		case name == "":
			return &Error{msgInvalidValue(paramNames, "Attribute name must not be empty", key)}
		case len(name) > maxNameBytes:
			return &Error{msgInvalidValue(paramNames, "Attribute name is too large, must be less than 65536 bytes", key)}
		}
	}
	for key := range s.values.All() {
		if !isReference(key, ':') {
			return &Error{msgInvalidKey(paramValues, key)}
		}
	}
	if size > maxSubsBytes {
		return &Error{msgSubsTooLarge}
	}
	return nil
}

// Unused refuses names, then values, that no expression used. Call it after all expressions of the request are parsed.
func (s *Subs) Unused() error {
	if len(s.usedNames) < len(s.names) {
		var keys []string
		for key := range s.names {
			if !slices.Contains(s.usedNames, key) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return &Error{msgUnused(paramNames, keys)}
	}
	if len(s.usedValues) < s.values.Len() {
		var keys []string
		for key := range s.values.All() {
			if !slices.Contains(s.usedValues, key) {
				keys = append(keys, key)
			}
		}
		return &Error{msgUnused(paramValues, keys)}
	}
	return nil
}

func (s *Subs) name(ref string) (string, bool) {
	name, ok := s.names[ref]
	if ok && !slices.Contains(s.usedNames, ref) {
		s.usedNames = append(s.usedNames, ref)
	}
	return name, ok
}

func (s *Subs) value(ref string) (value.Value, bool) {
	v, ok := s.values.Get(ref)
	if ok && !slices.Contains(s.usedValues, ref) {
		s.usedValues = append(s.usedValues, ref)
	}
	return v, ok
}

// isReference reports whether a key is a sigil and at least one letter, digit or underscore.
func isReference(key string, sigil byte) bool {
	if len(key) < 2 || len(key) > maxTokenBytes || key[0] != sigil {
		return false
	}
	for i := 1; i < len(key); i++ {
		if c := key[i]; !isLetter(c) && !isDigit(c) && c != '_' {
			return false
		}
	}
	return true
}
