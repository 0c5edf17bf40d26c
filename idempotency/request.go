package idempotency

import "unicode/utf8"

// Request is one command as a client sent it, under the key that the client chose for it.
type Request struct {
	// Tenant is whose key it is. Keys of two tenants never meet. Required.
	Tenant string
	// Key is the client's idempotency key: the same for every repeat of one command, new for every new command. Required.
	Key string
	// Operation names what is asked for, for example "order.accept". Required. A key used for one operation is
	// a mismatch for every other.
	Operation string
	// SchemaVersion is the version of the command's meaning, covered by the fingerprint: raising it turns the
	// repeats of older commands into mismatches. Zero or more.
	SchemaVersion int
	// Command is the content. Required: without it a reused key could not be found out. A command without content
	// is NewFields().
	Command *Fields
}

// Fingerprint returns the request's fingerprint, by the current algorithm, for use in other records of the command.
// The key is not covered: two commands of one content have one fingerprint.
//
// Errors: [ErrInvalid], and [ErrCommand] if the command has none.
func (r Request) Fingerprint() (Fingerprint, error) {
	id, err := r.identify()
	if err != nil {
		return Fingerprint{}, err
	}
	return id.current(), nil
}

// identify checks the request and takes everything that a fingerprint covers into memory of its own.
func (r Request) identify() (*identity, error) {
	for _, text := range []struct{ field, value string }{
		{"Request.Tenant", r.Tenant}, {"Request.Key", r.Key}, {"Request.Operation", r.Operation},
	} {
		switch {
		case text.value == "":
			return nil, &InvalidError{Field: text.field, Reason: "is missing"}
		case !utf8.ValidString(text.value):
			return nil, &InvalidError{Field: text.field, Reason: "is not valid UTF-8"}
		}
	}
	switch {
	case r.SchemaVersion < 0:
		return nil, &InvalidError{Field: "Request.SchemaVersion", Reason: "is negative"}
	case r.Command == nil:
		return nil, &InvalidError{Field: "Request.Command", Reason: "is missing; use NewFields() for a command without content"}
	case r.Command.err != nil:
		return nil, r.Command.err
	}
	return &identity{
		tenant: r.Tenant, key: r.Key, operation: r.Operation, schemaVersion: r.SchemaVersion,
		fields: r.Command.encode(),
	}, nil
}
