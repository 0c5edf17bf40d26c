package ledger

import (
	"github.com/dynafin/dynafin/internal/fault"
)

// What reading says of itself, beside ErrNotFound, ErrCorrupt and ErrRead.
var (
	// ErrCursor: a cursor or a checkpoint continues something else. See [CursorError].
	ErrCursor error = fault.New(fault.LedgerCursor, "ledger: cursor refused")
	// ErrUnproved: postings do not prove their balance. See [UnprovedError].
	ErrUnproved error = fault.New(fault.LedgerUnproved, "ledger: balance not proved")
	// ErrMoved: it changed while it was read. See [MovedError].
	ErrMoved error = fault.New(fault.LedgerMoved, "ledger: changed while it was read")
)

// CursorError says why a cursor or a checkpoint was refused. Nothing was read. It is not repeated in the message.
type CursorError struct {
	// What is "statement" or "verification".
	What string
	// Tenant and ID say which account was to be read.
	Tenant, ID string
	// Reason says what is wrong with it.
	Reason string
}

func (e *CursorError) Error() string {
	return fault.LedgerCursor.Text("ledger: %s of account %q of tenant %q: the cursor %s", e.What, e.ID, e.Tenant, e.Reason)
}

// Unwrap returns ErrCursor.
func (e *CursorError) Unwrap() error { return ErrCursor }

// UnprovedError says that a [Report] has findings.
type UnprovedError struct {
	Place
	// Findings is how many there are, First the first of them.
	Findings int
	First    Finding
}

func (e *UnprovedError) Error() string {
	return fault.LedgerUnproved.Text("ledger: %s: %d findings, the first: %s", e.Place, e.Findings, e.First)
}

// Unwrap returns ErrUnproved.
func (e *UnprovedError) Unwrap() error { return ErrUnproved }

// MovedError says what kept changing while it was read.
type MovedError struct {
	// What is "verification" or "trial balance".
	What string
	// Tenant and ID say of what.
	Tenant, ID string
	// Tries is how often it was read.
	Tries int
}

func (e *MovedError) Error() string {
	return fault.LedgerMoved.Text("ledger: %s of %q of tenant %q: changed in each of %d tries to read it", e.What, e.ID, e.Tenant, e.Tries)
}

// Unwrap returns ErrMoved.
func (e *MovedError) Unwrap() error { return ErrMoved }
