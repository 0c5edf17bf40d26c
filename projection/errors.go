package projection

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// The kinds of failure. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: an event, a call or the configuration broke a rule that is checked before anything is written. See
	// [InvalidError].
	ErrInvalid error = fault.New(fault.ProjectionInvalid, "projection: invalid event, call or configuration")
	// ErrOverflow: no more events of the source may be parked. See [OverflowError].
	ErrOverflow error = fault.New(fault.ProjectionOverflow, "projection: too many parked events")
	// ErrMismatch: another event is parked under the same version. See [MismatchError].
	ErrMismatch error = fault.New(fault.ProjectionMismatch, "projection: version used for another event")
	// ErrView: the View function refused an event. Its error is inside.
	ErrView error = errView
	// ErrDrain: a parked event could not be applied. See [DrainError].
	ErrDrain error = fault.New(fault.ProjectionDrain, "projection: parked event not applied")
	// ErrBusy: other workers moved the checkpoint at each try.
	ErrBusy error = errBusy
	// ErrUnproved: a namespace is not ready for readers. See [UnprovedError].
	ErrUnproved error = fault.New(fault.ProjectionUnproved, "projection: namespace not proved")
	// ErrState: a build or the alias is not in the state that the call needs. See [StateError].
	ErrState error = fault.New(fault.ProjectionState, "projection: wrong state")
	// ErrCorrupt: a stored record cannot be read. See [RecordError].
	ErrCorrupt error = fault.New(fault.ProjectionCorrupt, "projection: unreadable record")
	// ErrRead: reading failed. The AWS error is inside.
	ErrRead error = errRead
	// ErrWrite: an ordinary write failed, or its answer was lost. The AWS error is inside.
	ErrWrite error = errWrite

	errView  = fault.New(fault.ProjectionView, "projection: view refused")
	errBusy  = fault.New(fault.ProjectionBusy, "projection: source busy")
	errRead  = fault.New(fault.ProjectionRead, "projection: read failed")
	errWrite = fault.New(fault.ProjectionWrite, "projection: write failed")
)

// InvalidError says which field breaks which rule. Nothing was written.
type InvalidError struct {
	// Source and Version are those of the event or call, empty and zero if it is about neither.
	Source  string
	Version int64
	// Field is the field of [Event], [Config] or the argument.
	Field string
	// Reason says what is wrong with it.
	Reason string
}

func (e *InvalidError) Error() string {
	if e.Source == "" && e.Version == 0 {
		return fault.ProjectionInvalid.Text("projection: %s %s", e.Field, e.Reason)
	}
	return fault.ProjectionInvalid.Text("projection: %s: %s %s", business(e.Source, e.Version), e.Field, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// keyReason is what the key grammar has against a component.
func keyReason(err error) string {
	var component *keys.Error
	if errors.As(err, &component) {
		return string(component.Reason)
	}
	return err.Error()
}

// OverflowError says that an event ahead of a gap was not stored, because so many of its source are. It must not be
// acknowledged: whoever delivers it keeps it.
type OverflowError struct {
	// Source and Version are those of the event.
	Source  string
	Version int64
	// Missing is the first version that did not come.
	Missing int64
	// Parked is how many events of the source are parked.
	Parked int
}

func (e *OverflowError) Error() string {
	return fault.ProjectionOverflow.Text("projection: park %s: %d events wait for version %d already", business(e.Source, e.Version), e.Parked, e.Missing)
}

// Unwrap returns ErrOverflow.
func (e *OverflowError) Unwrap() error { return ErrOverflow }

// MismatchError says that another event is parked under the same version of the source.
type MismatchError struct {
	// Source and Version are those of both events.
	Source  string
	Version int64
	// EventID is the event that came, StoredID the one that is parked. If they are equal, their content differs.
	EventID, StoredID string
}

func (e *MismatchError) Error() string {
	return fault.ProjectionMismatch.Text("projection: park %s: event %.256q is parked under it, not %.256q, or with other content",
		business(e.Source, e.Version), e.StoredID, e.EventID)
}

// Unwrap returns ErrMismatch.
func (e *MismatchError) Unwrap() error { return ErrMismatch }

// SettlesCommit implements [txn.Settler].
func (e *MismatchError) SettlesCommit() bool { return true }

// DrainError says that the event of the call is applied, but a parked one behind it could not be.
type DrainError struct {
	// Source and Version are those of the parked event.
	Source  string
	Version int64
	// Err is why.
	Err error
}

func (e *DrainError) Error() string {
	return fault.ProjectionDrain.Text("projection: drain %s: %s", business(e.Source, e.Version), bare(e.Err))
}

// Unwrap returns ErrDrain and the reason.
func (e *DrainError) Unwrap() []error { return []error{ErrDrain, e.Err} }

// bare is the text of an error without its own advice and code, for an error that brings another.
func bare(err error) string {
	text, _, _ := strings.Cut(err.Error(), "; retry")
	return text
}

// UnprovedError lists what keeps readers from a namespace.
type UnprovedError struct {
	Name string
	// Namespace is the one that was to be proved.
	Namespace int
	// Faults says what is wrong, at most [MaxFaults] of it.
	Faults []string
}

func (e *UnprovedError) Error() string {
	return fault.ProjectionUnproved.Text("projection: %q namespace %d: %s", e.Name, e.Namespace, strings.Join(e.Faults, "; "))
}

// Unwrap returns ErrUnproved.
func (e *UnprovedError) Unwrap() error { return ErrUnproved }

// StateError says that a build or the alias is not in the state that a call needs. Nothing was written.
type StateError struct {
	Name string
	// Namespace is the one of the call.
	Namespace int
	// Reason says what was found.
	Reason string
}

func (e *StateError) Error() string {
	return fault.ProjectionState.Text("projection: %q namespace %d: %s", e.Name, e.Namespace, e.Reason)
}

// Unwrap returns ErrState.
func (e *StateError) Unwrap() error { return ErrState }

// RecordError says what is wrong with a stored record.
type RecordError struct {
	// PK and SK are the record's key.
	PK, SK string
	// Attribute is the attribute that is not what this format has there, "" if the record as such is missing.
	Attribute string
}

func (e *RecordError) Error() string {
	return fault.ProjectionCorrupt.Text("projection: record %q / %q: attribute %q is not what format %d has there", e.PK, e.SK, e.Attribute, recordFormat)
}

// Unwrap returns ErrCorrupt.
func (e *RecordError) Unwrap() error { return ErrCorrupt }

// SettlesCommit implements [txn.Settler].
func (e *RecordError) SettlesCommit() bool { return true }

// business is how every message names an event.
func business(source string, version int64) string {
	return fmt.Sprintf("version %d of source %.256q", version, source)
}

// movedError is the reason of a checkpoint that is not where it was expected. It leaves the package only in the
// cancellation of a [Namespace.ForcePart], for people.
type movedError struct{ found checkpoint }

func (e *movedError) Error() string {
	return fmt.Sprintf("the checkpoint is at version %d", e.found.version)
}
func (e *movedError) SettlesCommit() bool { return true }

// parkedError says that the very event is parked already. It never leaves the package.
type parkedError struct{}

func (*parkedError) Error() string       { return "the event is parked already" }
func (*parkedError) SettlesCommit() bool { return true }

var _ = []txn.Settler{(*movedError)(nil), (*parkedError)(nil), (*MismatchError)(nil), (*RecordError)(nil)}
