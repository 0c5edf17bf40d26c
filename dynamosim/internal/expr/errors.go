package expr

// Error is the refusal of an expression, by the text or at evaluation. It becomes a ValidationException, or a
// ValidationError reason in a transaction where it was found at evaluation. Its text is the service's own.
type Error struct {
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }
