package keys

import "github.com/dynafin/dynafin/internal/fault"

// ErrInvalid is the kind of every error of this package.
var ErrInvalid error = fault.New(fault.KeysInvalid, "keys: invalid key or component")

// Reason says what is wrong with a component. Its text completes the sentence that starts with the component's name.
type Reason string

// The reasons. When several apply, the first in this order is reported.
const (
	Empty      Reason = "is empty"
	NotUTF8    Reason = "is not valid UTF-8"
	OutOfRange Reason = "is out of range"
	Malformed  Reason = "does not have the required form"
	TooLong    Reason = "is longer than DynamoDB allows"
)

// Error says which component of which route is wrong, and why. It never holds the value, which may be a client's.
type Error struct {
	// Route is the function's name, for example "OutboxReady".
	Route string
	// Component is the name in braces in the grammar, or "partition key" or "sort key" for a key as a whole.
	Component string
	// Reason says what is wrong with it.
	Reason Reason
}

// Error implements error.
func (e *Error) Error() string {
	return fault.KeysInvalid.Text("keys: %s: %s %s", e.Route, e.Component, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *Error) Unwrap() error { return ErrInvalid }
