package reconcile

import (
	"errors"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/internal/keys"
)

// The kinds of failure. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: a call, its rules or the configuration broke a rule that is checked before anything is sent. See
	// [InvalidError].
	ErrInvalid error = fault.New(fault.ReconcileInvalid, "reconcile: invalid call or configuration")
	// ErrSource: a side could not be read, or a row of it breaks a rule. See [SourceError].
	ErrSource error = errSource
	// ErrTemporary: the temporary file of sorted rows failed. The error of the system is inside.
	ErrTemporary error = errTemporary
	// ErrControl: a side is not what the manifest of its batch, or an earlier attempt, says. See [ControlError].
	ErrControl error = fault.New(fault.ReconcileControl, "reconcile: control totals differ")
	// ErrExists: another batch has the ID. See [ExistsError].
	ErrExists error = fault.New(fault.ReconcileExists, "reconcile: batch exists")
	// ErrState: a batch or a break is not in the state that the step needs. See [StateError].
	ErrState error = fault.New(fault.ReconcileState, "reconcile: wrong state")
	// ErrNotFound: there is no such batch or break. See [NotFoundError].
	ErrNotFound error = fault.New(fault.ReconcileNotFound, "reconcile: not found")
	// ErrCorrupt: a stored record cannot be read. See [RecordError].
	ErrCorrupt error = fault.New(fault.ReconcileCorrupt, "reconcile: unreadable record")
	// ErrRead: reading failed. The AWS error is inside.
	ErrRead error = errRead
	// ErrWrite: an ordinary write failed, or its answer was lost. The AWS error is inside.
	ErrWrite error = errWrite

	errSource    = fault.New(fault.ReconcileSource, "reconcile: source not readable")
	errTemporary = fault.New(fault.ReconcileTemporary, "reconcile: temporary file failed")
	errRead      = fault.New(fault.ReconcileRead, "reconcile: read failed")
	errWrite     = fault.New(fault.ReconcileWrite, "reconcile: write failed")
)

// InvalidError says which field breaks which rule. Nothing was written.
type InvalidError struct {
	// Field is the field of [Config], [Rules], [Window], [Options], [Manifest] or the argument.
	Field string
	// Reason says what is wrong with it.
	Reason string
}

func (e *InvalidError) Error() string {
	return fault.ReconcileInvalid.Text("reconcile: %s %s", e.Field, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// SourceError says which row of which side breaks a rule. Nothing was written.
type SourceError struct {
	// Side is whose row it is.
	Side Side
	// ID is that of the row, or the key where it is about all rows of one.
	ID string
	// Reason says what is wrong with it.
	Reason string
	// Err is what the money package or the source said, if it did.
	Err error
}

func (e *SourceError) Error() string {
	return fault.ReconcileSource.Text("reconcile: the %s row %.256q %s", e.Side, e.ID, e.Reason)
}

// Unwrap returns ErrSource and Err.
func (e *SourceError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrSource}
	}
	return []error{ErrSource, e.Err}
}

// ControlError says that a side is not what was declared. No break was written; the batch is FAILED.
type ControlError struct {
	// Batch is the batch, Side the input of it.
	Batch string
	Side  Side
	// Total is what differs: "rows", "sums" or "digest".
	Total string
	// Got are the totals of what was read.
	Got Totals
	// Since is "manifest", or "an earlier attempt" if the inputs changed after that.
	Since string
}

func (e *ControlError) Error() string {
	return fault.ReconcileControl.Text("reconcile: batch %q: the %s side has other %s than %s says: %d rows, digest %.16s",
		e.Batch, e.Side, e.Total, e.Since, e.Got.Rows, e.Got.Digest)
}

// Unwrap returns ErrControl.
func (e *ControlError) Unwrap() error { return ErrControl }

// ExistsError says that another manifest has the ID of a batch, on the same day or on another one.
type ExistsError struct {
	// Tenant, Date and Batch are the key of that other one.
	Tenant, Date, Batch string
}

func (e *ExistsError) Error() string {
	return fault.ReconcileExists.Text("reconcile: batch %q of %s of tenant %q was created with another manifest", e.Batch, e.Date, e.Tenant)
}

// Unwrap returns ErrExists.
func (e *ExistsError) Unwrap() error { return ErrExists }

// StateError says that a batch or a break has moved since it was read, or is not in a state that allows the step. Nothing
// was changed.
type StateError struct {
	// Batch and Break say what it is about; Break is empty if it is the batch.
	Batch, Break string
	// State and Version are what is stored.
	State   string
	Version int64
	// Read is the version that the step was decided on.
	Read int64
}

func (e *StateError) Error() string {
	what := "batch"
	if e.Break != "" {
		what = "break " + e.Break + " of batch"
	}
	return fault.ReconcileState.Text("reconcile: %s %q: %s at version %d, the step was decided at version %d", what, e.Batch, e.State, e.Version, e.Read)
}

// Unwrap returns ErrState.
func (e *StateError) Unwrap() error { return ErrState }

// NotFoundError says that there is no such batch or break.
type NotFoundError struct {
	// Batch and Break are what was asked for; Break is empty if it is the batch.
	Batch, Break string
}

func (e *NotFoundError) Error() string {
	return fault.ReconcileNotFound.Text("reconcile: batch %q, break %q: there is none", e.Batch, e.Break)
}

// Unwrap returns ErrNotFound.
func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// RecordError says which attribute of a stored record is not what its format has there.
type RecordError struct {
	PK, SK string
	// Attribute names it, with the names of the maps that it is in.
	Attribute string
}

func (e *RecordError) Error() string {
	return fault.ReconcileCorrupt.Text("reconcile: record %s / %s: attribute %q is not what format %s has there", e.PK, e.SK, e.Attribute, recordFormat)
}

// Unwrap returns ErrCorrupt.
func (e *RecordError) Unwrap() error { return ErrCorrupt }

// invalidKey turns the key grammar's error into this package's.
func invalidKey(err error) error {
	var part *keys.Error
	if errors.As(err, &part) {
		return &InvalidError{Field: part.Component, Reason: string(part.Reason)}
	}
	return &InvalidError{Field: "key", Reason: err.Error()}
}
