package outbox

import (
	"errors"
	"strconv"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/internal/keys"
)

// The kinds of failure. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: an event, a request or the configuration broke a rule that is checked before anything is sent. See
	// [InvalidError].
	ErrInvalid error = fault.New(fault.OutboxInvalid, "outbox: invalid event, request or configuration")
	// ErrDuplicate: the event's ID is stored already. See [DuplicateError].
	ErrDuplicate error = fault.New(fault.OutboxDuplicate, "outbox: duplicate event ID")
	// ErrNotFound: no event has this ID. See [NotFoundError].
	ErrNotFound error = fault.New(fault.OutboxNotFound, "outbox: event not found")
	// ErrCorrupt: a stored event cannot be read.
	ErrCorrupt error = errCorrupt
	// ErrRead: reading events failed. The AWS error is inside.
	ErrRead error = errRead

	// ErrStale: the event is no longer what was read, and nothing was changed. See [StaleError].
	ErrStale error = fault.New(fault.OutboxStale, "outbox: the event has changed")
	// ErrWrite: nobody knows whether a change was applied. The AWS error is inside.
	ErrWrite error = errWrite

	// ErrRefused: the broker does not take the event as it is, so no repeat can help. See [PublishError].
	ErrRefused error = fault.New(fault.OutboxRefused, "outbox: the broker refuses the event")
	// ErrUnpublished: the event was not published, or nobody knows. See [PublishError].
	ErrUnpublished error = fault.New(fault.OutboxUnpublished, "outbox: the event is not known to be published")

	errCorrupt = fault.New(fault.OutboxCorrupt, "outbox: unreadable event")
	errRead    = fault.New(fault.OutboxRead, "outbox: read failed")
	errWrite   = fault.New(fault.OutboxWrite, "outbox: write failed")
)

// InvalidError says which field breaks which rule. Nothing was sent.
type InvalidError struct {
	// EventID is the ID of the event, if it is an event that is wrong.
	EventID string
	// Field is the field of [Event], [Config] or the call.
	Field string
	// Reason says what is wrong with it.
	Reason string
	// Err is the reason inside, if there is one.
	Err error
}

func (e *InvalidError) Error() string {
	if e.EventID == "" {
		return fault.OutboxInvalid.Text("outbox: %s %s", e.Field, e.Reason)
	}
	// Nothing was checked yet, so a megabyte must not become a line of a log.
	return fault.OutboxInvalid.Text("outbox: event %.256q: %s %s", e.EventID, e.Field, e.Reason)
}

// Unwrap returns ErrInvalid and the reason inside.
func (e *InvalidError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrInvalid}
	}
	return []error{ErrInvalid, e.Err}
}

// keyReason is what the key grammar has against a component.
func keyReason(err error) string {
	var component *keys.Error
	if errors.As(err, &component) {
		return string(component.Reason)
	}
	return err.Error()
}

// DuplicateError says that an event with this ID is stored already. It comes from the record that the write met,
// without another read.
type DuplicateError struct {
	EventID string
	// Same says that the stored event has the same content; due time and trace may differ.
	Same bool
}

func (e *DuplicateError) Error() string {
	content := "other content"
	if e.Same {
		content = "the same content"
	}
	return fault.OutboxDuplicate.Text("outbox: create event %q: it is stored already, with %s", e.EventID, content)
}

// Unwrap returns ErrDuplicate.
func (e *DuplicateError) Unwrap() error { return ErrDuplicate }

// Mismatch says that it is another thing that has the identifier.
func (e *DuplicateError) Mismatch() bool { return !e.Same }

// NotFoundError says that no event with this ID is stored.
type NotFoundError struct {
	EventID string
}

func (e *NotFoundError) Error() string {
	return fault.OutboxNotFound.Text("outbox: event %q: not stored", e.EventID)
}

// Unwrap returns ErrNotFound.
func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// StaleError says what a step met in place of what it had read. It comes from the write itself, without another read.
type StaleError struct {
	EventID string
	// Step is the transition that was refused, for example "complete".
	Step string
	// State and Version are those of the stored record.
	State   State
	Version int64
	// Owner is the relay that has the event, or that completed it.
	Owner string
}

func (e *StaleError) Error() string {
	owner := ""
	if e.Owner != "" {
		owner = ", of " + strconv.Quote(e.Owner)
	}
	return fault.OutboxStale.Text("outbox: %s event %q: it is %s at version %d%s", e.Step, e.EventID, e.State, e.Version, owner)
}

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// PublishError says why an event is not known to be published. A [Publisher] returns it in a [Result]. Its text holds
// nothing of the payload and none of the broker's sentences, which may quote it.
type PublishError struct {
	EventID string
	// Broker is the kind of broker, for example "SQS".
	Broker string
	// Code is the broker's code for this event, or for the call that it was part of; "" if there was no such answer.
	Code string
	// Reason says what happened.
	Reason string
	// Final says that no repeat can help.
	Final bool
	// Err is the error inside, if there is one. Unlike the text, it may repeat what the broker said.
	Err error
}

func (e *PublishError) Error() string {
	code := fault.OutboxUnpublished
	if e.Final {
		code = fault.OutboxRefused
	}
	return code.Text("outbox: publish event %.256q to %s: %s", e.EventID, e.Broker, e.Reason)
}

// Unwrap returns ErrRefused if the error is final, else ErrUnpublished, and the error inside.
func (e *PublishError) Unwrap() []error {
	kind := ErrUnpublished
	if e.Final {
		kind = ErrRefused
	}
	if e.Err == nil {
		return []error{kind}
	}
	return []error{kind, e.Err}
}

func corrupt(eventID, attr string) error {
	return errCorrupt.Wrap(nil, "outbox: event %q: attribute %q of its record is not what format %s has there", eventID, attr, recordFormat)
}
