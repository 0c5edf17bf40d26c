package idempotency

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"
	"unicode/utf8"
)

// Kind says how a command ended. Both kinds are definite, are stored and replay.
type Kind uint8

const (
	// Accepted: the command has its effect. It is the zero value.
	Accepted Kind = iota
	// Rejected: the business refused the command for good, and a repeat is refused alike, even if it would pass now.
	Rejected
)

// String returns the kind as it is stored.
func (k Kind) String() string {
	switch k {
	case Accepted:
		return "ACCEPTED"
	case Rejected:
		return "REJECTED"
	default:
		return "unknown kind"
	}
}

// Result is what a command led to, as every repeat of it gets it back: byte for byte, nil and empty told apart.
type Result struct {
	Kind Kind
	// Code is the service's own response code or reason, for example "201" or "NAME_TAKEN".
	Code string
	// Body is the response.
	Body []byte
	// Effect refers to what the command created, for example orderId and outboxEventId.
	Effect map[string]string
}

func (r Result) clone() Result {
	r.Body = bytes.Clone(r.Body)
	r.Effect = maps.Clone(r.Effect)
	return r
}

func (r Result) validate() error {
	if r.Kind > Rejected {
		return &InvalidError{Field: "Result.Kind", Reason: "is neither Accepted nor Rejected"}
	}
	if !utf8.ValidString(r.Code) {
		return &InvalidError{Field: "Result.Code", Reason: "is not valid UTF-8"}
	}
	for name, value := range r.Effect {
		if name == "" || !utf8.ValidString(name) || !utf8.ValidString(value) {
			return &InvalidError{Field: "Result.Effect", Reason: "has an empty name or invalid UTF-8"}
		}
	}
	return nil
}

// digest covers the whole result, so that a changed code or reference is found as surely as a changed body. Like the
// fingerprint it is frozen with the record's format version.
func (r Result) digest() [sha256.Size]byte {
	covered := appendValue(nil, kindString, []byte(r.Kind.String()))
	covered = appendValue(covered, kindString, []byte(r.Code))
	if r.Body != nil {
		covered = appendValue(covered, kindBytes, r.Body)
	}
	if r.Effect != nil {
		var effect []byte
		for _, name := range slices.Sorted(maps.Keys(r.Effect)) {
			effect = appendValue(effect, kindString, []byte(name))
			effect = appendValue(effect, kindString, []byte(r.Effect[name]))
		}
		covered = appendValue(covered, kindGroup, effect)
	}
	return sha256.Sum256(covered)
}
