package inbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// The kinds of failure. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: an event, an effect or the configuration broke a rule that is checked before anything is sent. See
	// [InvalidError].
	ErrInvalid error = fault.New(fault.InboxInvalid, "inbox: invalid event, effect or configuration")
	// ErrDuplicate: the consumer processed the event before. See [DuplicateError].
	ErrDuplicate error = fault.New(fault.InboxDuplicate, "inbox: event processed before")
	// ErrMismatch: the event's ID was used for another event. See [MismatchError].
	ErrMismatch error = fault.New(fault.InboxMismatch, "inbox: event ID used for another event")
	// ErrNotFound: strong reads found no receipt. See [NotFoundError].
	ErrNotFound error = fault.New(fault.InboxNotFound, "inbox: no receipt")
	// ErrCorrupt: a stored receipt cannot be read. See [RecordError].
	ErrCorrupt error = fault.New(fault.InboxCorrupt, "inbox: unreadable receipt")
	// ErrRead: reading receipts failed. The AWS error is inside.
	ErrRead error = errRead
	// ErrHeldBack: an entry was not tried, because an earlier one of its group failed. See [HeldBackError].
	ErrHeldBack error = fault.New(fault.InboxHeldBack, "inbox: entry held back")

	errRead = fault.New(fault.InboxRead, "inbox: read failed")
)

// What a stored receipt says decides the whole transaction: the other parts then lost against what this very event, or
// the ID's real owner, had written.
var _ = []txn.Settler{(*DuplicateError)(nil), (*MismatchError)(nil), (*RecordError)(nil)}

// InvalidError says which field breaks which rule. Nothing was sent.
type InvalidError struct {
	// EventID is the ID of the event, if it is an event or its effect that is wrong.
	EventID string
	// Field is the field of [Event] or [Config], or "effect".
	Field string
	// Reason says what is wrong with it.
	Reason string
	// Err is the reason inside, or nil.
	Err error
}

func (e *InvalidError) Error() string {
	if e.EventID == "" {
		return fault.InboxInvalid.Text("inbox: %s %s", e.Field, e.Reason)
	}
	// Nothing was checked yet, so a megabyte must not become a line of a log.
	return fault.InboxInvalid.Text("inbox: event %.256q: %s %s", e.EventID, e.Field, e.Reason)
}

// Unwrap returns ErrInvalid and the reason inside.
func (e *InvalidError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrInvalid}
	}
	return []error{ErrInvalid, e.Err}
}

// invalidKey turns the key grammar's error into this package's.
func invalidKey(eventID string, err error) error {
	invalid := &InvalidError{EventID: eventID, Field: "key", Reason: err.Error(), Err: err}
	var part *keys.Error
	if errors.As(err, &part) {
		invalid.Field, invalid.Reason, invalid.Err = part.Component, string(part.Reason), nil
	}
	return invalid
}

// DuplicateError says that the consumer processed this very event before, and what came of it. It is an error only so
// that a transaction can report it: for the transport it is a success. It comes from the receipt that the write met, without
// another read.
type DuplicateError struct {
	// Consumer is whose receipt it is.
	Consumer string
	EventID  string
	// Effect is what the first processing stored. It belongs to the caller.
	Effect map[string]string
	// ProcessedAt is when that was, in UTC.
	ProcessedAt time.Time
}

func (e *DuplicateError) Error() string {
	return fault.InboxDuplicate.Text("inbox: %s: processed before, at %s",
		business(e.Consumer, e.EventID), e.ProcessedAt.Format(time.RFC3339))
}

// Unwrap returns ErrDuplicate.
func (e *DuplicateError) Unwrap() error { return ErrDuplicate }

// SettlesCommit implements [txn.Settler].
func (e *DuplicateError) SettlesCommit() bool { return true }

// Repeated says that the effect is there, from an earlier delivery. Package projection asks for it.
func (e *DuplicateError) Repeated() bool { return true }

// Duplicate finds the [DuplicateError] inside the error of a Commit.
func Duplicate(err error) (*DuplicateError, bool) {
	var duplicate *DuplicateError
	ok := errors.As(err, &duplicate)
	return duplicate, ok
}

// MismatchError says that the consumer processed another event under this ID. Nothing was written.
type MismatchError struct {
	// Consumer is whose receipt it is.
	Consumer string
	EventID  string
	// Source and SourceVersion are those of the event that came now, StoredSource and StoredSourceVersion those of the one
	// that was processed. If they are equal, type or payload differ.
	Source, StoredSource               string
	SourceVersion, StoredSourceVersion int64
	// ProcessedAt is when the other event was processed, in UTC.
	ProcessedAt time.Time
}

func (e *MismatchError) Error() string {
	other := "other content"
	if e.Source != e.StoredSource || e.SourceVersion != e.StoredSourceVersion {
		other = fmt.Sprintf("version %d of source %q, not %d of %.256q", e.StoredSourceVersion, e.StoredSource, e.SourceVersion, e.Source)
	}
	return fault.InboxMismatch.Text("inbox: %s: the ID was processed with %s at %s",
		business(e.Consumer, e.EventID), other, e.ProcessedAt.Format(time.RFC3339))
}

// Unwrap returns ErrMismatch.
func (e *MismatchError) Unwrap() error { return ErrMismatch }

// SettlesCommit implements [txn.Settler].
func (e *MismatchError) SettlesCommit() bool { return true }

// NotFoundError says that strong reads found no receipt: not yet, or no more.
type NotFoundError struct {
	// Consumer is whose receipt it would be.
	Consumer string
	EventID  string
}

func (e *NotFoundError) Error() string {
	return fault.InboxNotFound.Text("inbox: %s: no receipt", business(e.Consumer, e.EventID))
}

// Unwrap returns ErrNotFound.
func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// RecordError says what is wrong with a stored receipt.
type RecordError struct {
	// Consumer is whose receipt it is.
	Consumer string
	EventID  string
	// Attribute is the attribute that is not what this format has there, "" if the record as such is missing.
	Attribute string
	// Reason says what is wrong with it.
	Reason string
}

func (e *RecordError) Error() string {
	return fault.InboxCorrupt.Text("inbox: %s: receipt: %s %s", business(e.Consumer, e.EventID), e.Attribute, e.Reason)
}

// Unwrap returns ErrCorrupt.
func (e *RecordError) Unwrap() error { return ErrCorrupt }

// SettlesCommit implements [txn.Settler].
func (e *RecordError) SettlesCommit() bool { return true }

// HeldBackError says that an entry of a batch was not tried, because an earlier one of its group failed and the group's
// order matters. It is delivered again with the entry that failed.
type HeldBackError struct {
	// Group is the group's name.
	Group string
	// Index is the position of the entry that failed, from 0.
	Index int
}

func (e *HeldBackError) Error() string {
	return fault.InboxHeldBack.Text("inbox: batch: an entry of group %.256q was not tried, because entry %d before it failed", e.Group, e.Index)
}

// Unwrap returns ErrHeldBack.
func (e *HeldBackError) Unwrap() error { return ErrHeldBack }

// business is how every message names a receipt.
func business(consumer, eventID string) string {
	return fmt.Sprintf("event %.256q at consumer %.256q", eventID, consumer)
}
