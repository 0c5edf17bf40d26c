package value

// Class says which exception of the service an error becomes.
type Class uint8

const (
	// Validation becomes a ValidationException: well-formed JSON with a value the service does not accept.
	Validation Class = iota + 1
	// Serialization becomes a SerializationException: no JSON, or JSON of another shape.
	Serialization
)

// Error is the refusal of a value. Its text is the service's own message.
type Error struct {
	Class   Class
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

func invalid(message string) *Error   { return &Error{Validation, message} }
func malformed(message string) *Error { return &Error{Serialization, message} }
