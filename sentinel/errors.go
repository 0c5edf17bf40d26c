package sentinel

import (
	"errors"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/internal/keys"
)

// The kinds of failure. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: a claim broke a rule that is checked before anything is sent. See [InvalidError].
	ErrInvalid error = fault.New(fault.SentinelInvalid, "sentinel: invalid claim")
	// ErrTaken: the name is in use. See [TakenError].
	ErrTaken error = fault.New(fault.SentinelTaken, "sentinel: name taken")
	// ErrNotOwned: the name is in use, but not as the caller read it. See [NotOwnedError].
	ErrNotOwned error = fault.New(fault.SentinelNotOwned, "sentinel: name not owned")
	// ErrNotFound: nobody holds the name. See [NotFoundError].
	ErrNotFound error = fault.New(fault.SentinelNotFound, "sentinel: name not found")
	// ErrCorrupt: the record of a name cannot be read.
	ErrCorrupt error = errCorrupt
	// ErrRead: reading a name failed. The AWS error is inside.
	ErrRead error = errRead

	errCorrupt = fault.New(fault.SentinelCorrupt, "sentinel: unreadable record")
	errRead    = fault.New(fault.SentinelRead, "sentinel: read failed")
)

// InvalidError says which field of a claim breaks which rule. Nothing was sent.
type InvalidError struct {
	Tenant, Kind, Name string
	// Field is the field of [Claim] or [Held], or the component of its key.
	Field string
	// Reason says what is wrong with it.
	Reason string
}

func (e *InvalidError) Error() string {
	// Nothing was checked yet, so a client's megabyte must not become a line of a log.
	return fault.SentinelInvalid.Text("sentinel: %.64q %.256q of tenant %.256q: %s %s", e.Kind, e.Name, e.Tenant, e.Field, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// invalidKey turns the key grammar's error into this package's.
func invalidKey(tenant, kind, name string, err error) error {
	invalid := &InvalidError{tenant, kind, name, "key", err.Error()}
	var part *keys.Error
	if errors.As(err, &part) {
		invalid.Field, invalid.Reason = part.Component, string(part.Reason)
	}
	return invalid
}

// TakenError says who has the name. It comes from the record that the write met, without another read.
type TakenError struct {
	Tenant, Kind, Name string
	// Owner is the stored owner.
	Owner string
	// SameCommand says that the command which took the name is the one that asks for it now: the owner is this
	// command's own earlier effect.
	SameCommand bool
}

func (e *TakenError) Error() string {
	by := "another command"
	if e.SameCommand {
		by = "this very command"
	}
	return fault.SentinelTaken.Text("sentinel: reserve %s %q of tenant %q: %s took it for owner %q", e.Kind, e.Name, e.Tenant, by, e.Owner)
}

// Unwrap returns ErrTaken.
func (e *TakenError) Unwrap() error { return ErrTaken }

// NotOwnedError says that a name is in use, but not as the caller read it: another owner has it, or the same owner
// under another version. Nothing was changed.
type NotOwnedError struct {
	Tenant, Kind, Name string
	// Owner and Version are what the caller named.
	Owner   string
	Version int64
	// Holder and HolderVersion are what is stored.
	Holder        string
	HolderVersion int64
}

func (e *NotOwnedError) Error() string {
	return fault.SentinelNotOwned.Text("sentinel: %s %q of tenant %q: held by %q at version %d, not by %q at version %d",
		e.Kind, e.Name, e.Tenant, e.Holder, e.HolderVersion, e.Owner, e.Version)
}

// Unwrap returns ErrNotOwned.
func (e *NotOwnedError) Unwrap() error { return ErrNotOwned }

// NotFoundError says that nobody holds the name: it was never reserved, or it was released.
type NotFoundError struct {
	Tenant, Kind, Name string
}

func (e *NotFoundError) Error() string {
	return fault.SentinelNotFound.Text("sentinel: %s %q of tenant %q: nobody holds it", e.Kind, e.Name, e.Tenant)
}

// Unwrap returns ErrNotFound.
func (e *NotFoundError) Unwrap() error { return ErrNotFound }
