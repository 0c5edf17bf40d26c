package idempotency

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/txn"
)

// The kinds of errors, for errors.Is. The types below carry the facts, for errors.As.
var (
	// ErrInvalid: the request, the result or the configuration breaks a rule; nothing was sent. See [InvalidError].
	ErrInvalid error = fault.New(fault.IdempotencyInvalid, "idempotency: invalid request")
	// ErrCommand: the command has no fingerprint; nothing was sent. See [CommandError].
	ErrCommand error = fault.New(fault.IdempotencyCommand, "idempotency: invalid command")
	// ErrTooLarge: the record would be larger than the limit; nothing was sent. See [TooLargeError].
	ErrTooLarge error = fault.New(fault.IdempotencyTooLarge, "idempotency: result too large")
	// ErrReplayed: the command was completed before. See [ReplayedError].
	ErrReplayed error = fault.New(fault.IdempotencyReplayed, "idempotency: command completed before")
	// ErrMismatch: the key belongs to another command. See [MismatchError].
	ErrMismatch error = fault.New(fault.IdempotencyMismatch, "idempotency: key used for another command")
	// ErrInProgress: another attempt holds the key. See [InProgressError].
	ErrInProgress error = fault.New(fault.IdempotencyInProgress, "idempotency: command in progress")
	// ErrRepairRequired: an earlier attempt has no known outcome. See [RepairRequiredError].
	ErrRepairRequired error = fault.New(fault.IdempotencyRepair, "idempotency: command waits for repair")
	// ErrVersion: a newer writer wrote the record. See [VersionError].
	ErrVersion error = fault.New(fault.IdempotencyVersion, "idempotency: record of a newer writer")
	// ErrRecord: the stored record is damaged. See [RecordError].
	ErrRecord error = fault.New(fault.IdempotencyRecord, "idempotency: damaged record")
	// ErrNotFound: a strong read found no record. See [NotFoundError].
	ErrNotFound error = fault.New(fault.IdempotencyNotFound, "idempotency: no record")
	// ErrRead: the record could not be read. The cause is inside.
	ErrRead error = errRead
	// ErrLeaseLost: the claim is no longer the record's. See [LeaseLostError].
	ErrLeaseLost error = fault.New(fault.IdempotencyLeaseLost, "idempotency: lease lost")
	// ErrWrite: a write had no definite answer. The cause is inside.
	ErrWrite error = errWrite
)

var (
	errRead  = fault.New(fault.IdempotencyRead, "idempotency: record not read")
	errWrite = fault.New(fault.IdempotencyWrite, "idempotency: record not written")
)

// What a stored record says about this very request decides the whole transaction: the other parts then lost against
// what this request's own first attempt, or the key's real owner, had written.
var _ = []txn.Settler{
	(*ReplayedError)(nil), (*MismatchError)(nil), (*InProgressError)(nil), (*RepairRequiredError)(nil),
	(*VersionError)(nil), (*RecordError)(nil), (*LeaseLostError)(nil),
}

// InvalidError names the field that breaks a rule.
type InvalidError struct {
	// Field is the field of [Request], [Result] or [Config], for example "Request.Key".
	Field string
	// Reason says what is wrong with it.
	Reason string
	// Cause is an error from below, or nil.
	Cause error
}

// Error implements error.
func (e *InvalidError) Error() string {
	return fault.IdempotencyInvalid.Text("idempotency: %s %s", e.Field, e.Reason)
}

// Unwrap returns [ErrInvalid] and the cause.
func (e *InvalidError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrInvalid}
	}
	return []error{ErrInvalid, e.Cause}
}

// Reason says why a command has no fingerprint.
type Reason string

// The reasons of a [CommandError].
const (
	ReasonSyntax    Reason = "is not well formed"
	ReasonDuplicate Reason = "is a duplicate"
	ReasonUTF8      Reason = "is not valid UTF-8"
	ReasonSurrogate Reason = "has an unpaired surrogate"
	ReasonTrailing  Reason = "is beyond the end of the document"
	ReasonNumber    Reason = "is a number beyond the limits"
	ReasonTooDeep   Reason = "is nested too deeply"
	ReasonTooLarge  Reason = "is too large"
	ReasonMissing   Reason = "is missing"
)

// CommandError says which part of a command has no fingerprint, and never quotes it.
type CommandError struct {
	// Field is the name of the field, empty for the document given to [CanonicalJSON].
	Field string
	// Offset is where in a JSON document the fault begins, in bytes; -1 if there is no document.
	Offset int
	// Reason says what is wrong.
	Reason Reason
}

// Error implements error.
func (e *CommandError) Error() string {
	what := "command"
	if e.Field != "" {
		what += " field " + strconv.Quote(e.Field)
	}
	if e.Offset >= 0 {
		what += ": JSON at byte " + strconv.Itoa(e.Offset)
	}
	return fault.IdempotencyCommand.Text("idempotency: %s %s", what, e.Reason)
}

// Unwrap returns [ErrCommand].
func (e *CommandError) Unwrap() error { return ErrCommand }

// TooLargeError says by how much a record is too large.
type TooLargeError struct {
	Tenant, Key string
	// Bytes is the size that the item would have; BytesMax is the limit.
	Bytes, BytesMax int
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fault.IdempotencyTooLarge.Text("idempotency: record of %s would have %d bytes, at most %d are allowed",
		business(e.Tenant, e.Key), e.Bytes, e.BytesMax)
}

// Unwrap returns [ErrTooLarge].
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

// ReplayedError says that this very command was completed before and carries what it led to. It is an error only so that
// a transaction can report it; for the caller it is the answer. See [Replayed].
type ReplayedError struct {
	Tenant, Key string
	// Result is the stored result, byte for byte, checked against its digest. It belongs to the caller.
	Result Result
	// CreatedAt is when the command was completed, in UTC.
	CreatedAt time.Time
}

// Error implements error.
func (e *ReplayedError) Error() string {
	return fault.IdempotencyReplayed.Text("idempotency: %s was completed before, at %s",
		business(e.Tenant, e.Key), e.CreatedAt.Format(time.RFC3339))
}

// Unwrap returns [ErrReplayed].
func (e *ReplayedError) Unwrap() error { return ErrReplayed }

// SettlesCommit implements [txn.Settler].
func (e *ReplayedError) SettlesCommit() bool { return true }

// Replayed finds the [ReplayedError] inside the error of a Commit: the command was completed before, and its
// result is to be given to the client again. In a Commit of several requests it is the first one's.
func Replayed(err error) (*ReplayedError, bool) {
	var replayed *ReplayedError
	ok := errors.As(err, &replayed)
	return replayed, ok
}

// MismatchError says that the key was used for another command. Nothing about that command's result is given away.
type MismatchError struct {
	Tenant, Key string
	// Operation is the one now asked for, StoredOperation the one the key belongs to. If they are equal, the
	// commands differ in a field or in the schema version.
	Operation, StoredOperation string
	// CreatedAt is when the key was first used, in UTC.
	CreatedAt time.Time
}

// Error implements error.
func (e *MismatchError) Error() string {
	other := "another command of " + strconv.Quote(e.Operation)
	if e.Operation != e.StoredOperation {
		other = fmt.Sprintf("operation %q, not %q,", e.StoredOperation, e.Operation)
	}
	return fault.IdempotencyMismatch.Text("idempotency: %s was used for %s at %s",
		business(e.Tenant, e.Key), other, e.CreatedAt.Format(time.RFC3339))
}

// Unwrap returns [ErrMismatch].
func (e *MismatchError) Unwrap() error { return ErrMismatch }

// SettlesCommit implements [txn.Settler].
func (e *MismatchError) SettlesCommit() bool { return true }

// InProgressError says that another attempt at this very command holds the key.
type InProgressError struct {
	Tenant, Key string
	// Owner is the attempt's owner, Attempt its number from 1.
	Owner   string
	Attempt int
	// LeaseUntil is when the attempt's hold ends, in UTC; RetryAfter is how long that is from now, zero if it is over.
	LeaseUntil time.Time
	RetryAfter time.Duration
}

// Error implements error.
func (e *InProgressError) Error() string {
	return fault.IdempotencyInProgress.Text("idempotency: %s is in progress: attempt %d by %s has it until %s, %s from now",
		business(e.Tenant, e.Key), e.Attempt, named(e.Owner), e.LeaseUntil.Format(time.RFC3339), e.RetryAfter)
}

// Unwrap returns [ErrInProgress].
func (e *InProgressError) Unwrap() error { return ErrInProgress }

// SettlesCommit implements [txn.Settler].
func (e *InProgressError) SettlesCommit() bool { return true }

// RepairRequiredError says that an earlier attempt at this very command ended without a known outcome.
type RepairRequiredError struct {
	Tenant, Key string
	// State is [RepairRequired] or [Escalated]; [Released] if repair found that there was no effect, so that
	// [Requests.Begin] may start the command anew; [InProgress] if the attempt had no lease.
	State State
	// Reason is why, as stored. It is never part of the message.
	Reason string
	// Since is when the record last changed, in UTC.
	Since time.Time
}

// Error implements error.
func (e *RepairRequiredError) Error() string {
	return fault.IdempotencyRepair.Text("idempotency: %s waits for repair since %s",
		business(e.Tenant, e.Key), e.Since.Format(time.RFC3339))
}

// Unwrap returns [ErrRepairRequired].
func (e *RepairRequiredError) Unwrap() error { return ErrRepairRequired }

// SettlesCommit implements [txn.Settler].
func (e *RepairRequiredError) SettlesCommit() bool { return true }

// LeaseLostError says that the record is no longer what the caller of a step had: another attempt, a repair worker or an
// operator came first. Nothing was changed.
type LeaseLostError struct {
	Tenant, Key string
	// Step is what was refused, for example "complete".
	Step string
	// Attempt is the caller's attempt; StoredAttempt, State and Owner are the record's. State is [Absent] if there is none.
	Attempt, StoredAttempt int
	State                  State
	Owner                  string
	// Replayed is the stored result if the request was completed meanwhile, else nil. [Replayed] finds it.
	Replayed *ReplayedError
}

// Error implements error.
func (e *LeaseLostError) Error() string {
	state := string(e.State)
	if e.State == Absent {
		state = "gone"
	}
	return fault.IdempotencyLeaseLost.Text("idempotency: %s of %s, attempt %d, came too late: it is %s, attempt %d by %s",
		e.Step, business(e.Tenant, e.Key), e.Attempt, state, e.StoredAttempt, named(e.Owner))
}

// Unwrap returns [ErrLeaseLost], and the stored result if there is one.
func (e *LeaseLostError) Unwrap() []error {
	if e.Replayed == nil {
		return []error{ErrLeaseLost}
	}
	return []error{ErrLeaseLost, e.Replayed}
}

// SettlesCommit implements [txn.Settler].
func (e *LeaseLostError) SettlesCommit() bool { return true }

// VersionError says that the record was written by a newer version of this package.
type VersionError struct {
	Tenant, Key string
	// Attribute is "v", "hashVersion" or "state"; Found is its value.
	Attribute, Found string
}

// Error implements error.
func (e *VersionError) Error() string {
	return fault.IdempotencyVersion.Text("idempotency: record of %s has %s %q, which a newer writer must have written",
		business(e.Tenant, e.Key), e.Attribute, e.Found)
}

// Unwrap returns [ErrVersion].
func (e *VersionError) Unwrap() error { return ErrVersion }

// SettlesCommit implements [txn.Settler].
func (e *VersionError) SettlesCommit() bool { return true }

// RecordError says what is wrong with a stored record.
type RecordError struct {
	Tenant, Key string
	// Attribute is the damaged attribute, "" if the record as such is missing; Reason says what is wrong with it.
	Attribute, Reason string
}

// Error implements error.
func (e *RecordError) Error() string {
	return fault.IdempotencyRecord.Text("idempotency: record of %s: %s %s", business(e.Tenant, e.Key), e.Attribute, e.Reason)
}

// Unwrap returns [ErrRecord].
func (e *RecordError) Unwrap() error { return ErrRecord }

// SettlesCommit implements [txn.Settler].
func (e *RecordError) SettlesCommit() bool { return true }

// NotFoundError says that a strong read found no record.
type NotFoundError struct {
	Tenant, Key string
}

// Error implements error.
func (e *NotFoundError) Error() string {
	return fault.IdempotencyNotFound.Text("idempotency: no record of %s", business(e.Tenant, e.Key))
}

// Unwrap returns [ErrNotFound].
func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// named is how messages name who has a request; not every caller sets an owner.
func named(owner string) string {
	if owner == "" {
		return "(no owner set)"
	}
	return strconv.Quote(owner)
}

// business is how every message names a request.
func business(tenant, key string) string {
	return fmt.Sprintf("request %q of tenant %q", key, tenant)
}
