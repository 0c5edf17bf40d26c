package expr

// Error is the refusal of an expression, by its text or at evaluation. It becomes a ValidationException, or, where it was
// found at evaluation in a transaction, a reason with code ValidationError. Its text is the service's own.
type Error struct {
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }
