package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
)

// The kinds of failure. Compare with errors.Is; the types hold the facts. Where one write breaks several rules, the first
// in this order is reported.
var (
	// ErrInvalid: a rule is broken that is checked before anything is sent. See [InvalidError].
	ErrInvalid error = fault.New(fault.LedgerInvalid, "ledger: invalid")
	// ErrUnbalanced: the postings do not add up to zero. See [UnbalancedError].
	ErrUnbalanced error = fault.New(fault.LedgerUnbalanced, "ledger: unbalanced transaction")
	// ErrDuplicate: the identifier is in use. See [DuplicateError].
	ErrDuplicate error = fault.New(fault.LedgerDuplicate, "ledger: identifier in use")
	// ErrRefused: the transaction or reservation was refused for good. See [RefusedError].
	ErrRefused error = fault.New(fault.LedgerRefused, "ledger: refused for good")
	// ErrNotFound: there is no such record. See [NotFoundError].
	ErrNotFound error = fault.New(fault.LedgerNotFound, "ledger: not found")
	// ErrCorrupt: a record cannot be read. See [RecordError].
	ErrCorrupt error = fault.New(fault.LedgerCorrupt, "ledger: unreadable record")
	// ErrClosed: the account is closed. See [StatusError].
	ErrClosed error = fault.New(fault.LedgerClosed, "ledger: account closed")
	// ErrFrozen: the account is frozen. See [StatusError].
	ErrFrozen error = fault.New(fault.LedgerFrozen, "ledger: account frozen")
	// ErrScale: another number of decimal places. See [ScaleError].
	ErrScale error = fault.New(fault.LedgerScale, "ledger: mixed scales")
	// ErrSide: a reservation that would add to the account. See [SideError].
	ErrSide error = fault.New(fault.LedgerSide, "ledger: reservation on the wrong side")
	// ErrPeriodClosed: the month is closed. See [PeriodClosedError].
	ErrPeriodClosed error = fault.New(fault.LedgerPeriodClosed, "ledger: period closed")
	// ErrVersion: the record changed since it was read. See [VersionError].
	ErrVersion error = fault.New(fault.LedgerVersion, "ledger: changed since it was read")
	// ErrEnded: the reservation has ended. See [EndedError].
	ErrEnded error = fault.New(fault.LedgerEnded, "ledger: reservation ended")
	// ErrExceeds: more than is left to capture or to reverse. See [ExceedsError].
	ErrExceeds error = fault.New(fault.LedgerExceeds, "ledger: more than is left")
	// ErrInsufficient: too little is available. See [InsufficientError].
	ErrInsufficient error = fault.New(fault.LedgerInsufficient, "ledger: insufficient funds")
	// ErrNotEmpty: an account that is to be closed has a balance. See [NotEmptyError].
	ErrNotEmpty error = fault.New(fault.LedgerNotEmpty, "ledger: account not empty")
	// ErrLimit: a limit would be exceeded. See [LimitError].
	ErrLimit error = fault.New(fault.LedgerLimit, "ledger: limit exceeded")
	// ErrCap: the month is full. See [CapError].
	ErrCap error = fault.New(fault.LedgerCap, "ledger: month full")
	// ErrRolled: the bucket has changed; the same again is right. See [RolledError].
	ErrRolled error = fault.New(fault.LedgerRolled, "ledger: bucket rolled")
	// ErrRead: a read failed. The AWS error is inside.
	ErrRead error = errRead

	errRead = fault.New(fault.LedgerRead, "ledger: read failed")
)

// InvalidError says which field breaks which rule. Nothing was sent.
type InvalidError struct {
	// What and ID say what was to be written: "transaction", "account", "reservation", "config".
	What, ID string
	// Field is the field that breaks the rule.
	Field string
	// Reason says what is wrong with it.
	Reason string
	// Err is the reason inside, if there is one.
	Err error
}

func (e *InvalidError) Error() string {
	return fault.LedgerInvalid.Text("ledger: %s %.256q: %s %s", e.What, e.ID, e.Field, e.Reason)
}

// Unwrap returns ErrInvalid and the reason inside.
func (e *InvalidError) Unwrap() []error { return wrapped(ErrInvalid, e.Err) }

// UnbalancedError says for which asset the postings do not add up to zero. Nothing was sent.
type UnbalancedError struct {
	// Tenant and Transaction name it.
	Tenant, Transaction string
	// Asset is the code of the asset.
	Asset string
	// Sum is what its postings add up to.
	Sum money.Amount
}

func (e *UnbalancedError) Error() string {
	return fault.LedgerUnbalanced.Text("ledger: transaction %q of tenant %q: the postings of %s do not add up to zero",
		e.Transaction, e.Tenant, e.Asset)
}

// Unwrap returns ErrUnbalanced.
func (e *UnbalancedError) Unwrap() error { return ErrUnbalanced }

// DuplicateError says that an identifier is in use. It settles the Commit: whatever else the repeat was refused for, it
// lost against its own earlier self.
type DuplicateError struct {
	// What is "transaction", "reservation", "account", "asset" or "period".
	What string
	// Tenant and ID name it.
	Tenant, ID string
	// Same says that the stored one has the same content: this very thing was done before.
	Same bool
}

func (e *DuplicateError) Error() string {
	which := "another one"
	if e.Same {
		which = "this very one"
	}
	return fault.LedgerDuplicate.Text("ledger: %s %q of tenant %q: %s is stored", e.What, e.ID, e.Tenant, which)
}

// Unwrap returns ErrDuplicate.
func (e *DuplicateError) Unwrap() error { return ErrDuplicate }

// Mismatch says that it is another thing that has the identifier.
func (e *DuplicateError) Mismatch() bool { return !e.Same }

// SettlesCommit implements txn.Settler.
func (e *DuplicateError) SettlesCommit() bool { return true }

// RefusedError says that something was refused for good, by [Ledger.Refuse] or [Ledger.RefuseReservation]. It settles the
// Commit.
type RefusedError struct {
	// Tenant and Transaction, or Reservation, name it.
	Tenant, Transaction, Reservation string
	// Reason is what was stored with the refusal.
	Reason string
	// At is when it was refused.
	At time.Time
}

func (e *RefusedError) Error() string {
	what, id := "transaction", e.Transaction
	if e.Reservation != "" {
		what, id = "reservation", e.Reservation
	}
	return fault.LedgerRefused.Text("ledger: %s %q of tenant %q: refused for good at %s: %s", what, id, e.Tenant, e.At.Format(time.RFC3339), e.Reason)
}

// Unwrap returns ErrRefused.
func (e *RefusedError) Unwrap() error { return ErrRefused }

// SettlesCommit implements txn.Settler.
func (e *RefusedError) SettlesCommit() bool { return true }

// NotFoundError says what is not stored. The write's own condition, or a strongly consistent read, proved it.
type NotFoundError struct {
	// What is "account", "asset", "transaction" or "reservation".
	What string
	// Tenant and ID name it.
	Tenant, ID string
	// Asset is the code of the asset of an account.
	Asset string
}

func (e *NotFoundError) Error() string {
	if e.Asset != "" {
		return fault.LedgerNotFound.Text("ledger: account %q of tenant %q: %s is not open in it", e.ID, e.Tenant, e.Asset)
	}
	return fault.LedgerNotFound.Text("ledger: %s %q of tenant %q: not found", e.What, e.ID, e.Tenant)
}

// Unwrap returns ErrNotFound.
func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// Place says which balance an error is about: an account of a tenant in one asset, and on which stripe.
type Place struct {
	// Tenant and Account say whose it is.
	Tenant, Account string
	// Asset is the code of the asset.
	Asset string
	// Stripe is 0 but for a striped account.
	Stripe int
}

// String returns the place in words.
func (p Place) String() string {
	if p.Stripe > 0 {
		return fmt.Sprintf("account %q of tenant %q, %s, stripe %d", p.Account, p.Tenant, p.Asset, p.Stripe)
	}
	return fmt.Sprintf("account %q of tenant %q, %s", p.Account, p.Tenant, p.Asset)
}

// StatusError says that an account is closed ([ErrClosed]) or frozen ([ErrFrozen]).
type StatusError struct {
	Place
	// Status is [StatusClosed] or [StatusFrozen].
	Status Status
}

func (e *StatusError) Error() string {
	if e.Status == StatusFrozen {
		return fault.LedgerFrozen.Text("ledger: %s: frozen", e.Place)
	}
	return fault.LedgerClosed.Text("ledger: %s: closed", e.Place)
}

// Unwrap returns ErrFrozen or ErrClosed.
func (e *StatusError) Unwrap() error {
	if e.Status == StatusFrozen {
		return ErrFrozen
	}
	return ErrClosed
}

// ScaleError says that amounts of two scales met.
type ScaleError struct {
	Place
	// Scale is that of the posting, Stored that of the account.
	Scale, Stored int
}

func (e *ScaleError) Error() string {
	return fault.LedgerScale.Text("ledger: %s: an amount with %d decimal places; the account keeps %d", e.Place, e.Scale, e.Stored)
}

// Unwrap returns ErrScale.
func (e *ScaleError) Unwrap() error { return ErrScale }

// SideError says that a reservation has the sign that adds to the account.
type SideError struct {
	Place
	// Side is the account's normal side.
	Side Side
}

func (e *SideError) Error() string {
	return fault.LedgerSide.Text("ledger: %s: a reservation takes from the account; this one would add to a %s account", e.Place, e.Side)
}

// Unwrap returns ErrSide.
func (e *SideError) Unwrap() error { return ErrSide }

// PeriodClosedError says that the month of the effective time is closed.
type PeriodClosedError struct {
	Place
	// Month is that of the effective time, ClosedThrough the last closed month.
	Month, ClosedThrough Month
}

func (e *PeriodClosedError) Error() string {
	return fault.LedgerPeriodClosed.Text("ledger: %s: %s is closed, as is every month through %s", e.Place, e.Month, e.ClosedThrough)
}

// Unwrap returns ErrPeriodClosed.
func (e *PeriodClosedError) Unwrap() error { return ErrPeriodClosed }

// VersionError says that a record changed since it was read.
type VersionError struct {
	// What is "balance", "account", "reservation" or "period", ID its business name.
	What, ID string
	// Expected is the version that the caller named, Stored the one that is there.
	Expected, Stored int64
}

func (e *VersionError) Error() string {
	return fault.LedgerVersion.Text("ledger: %s %s: version %d is stored, not %d", e.What, e.ID, e.Stored, e.Expected)
}

// Unwrap returns ErrVersion.
func (e *VersionError) Unwrap() error { return ErrVersion }

// EndedError says that a reservation can no longer be captured, released or expired, or not yet.
type EndedError struct {
	// Tenant and Reservation name it.
	Tenant, Reservation string
	// State is how it ended. An open reservation whose time has come is [StateExpired]; one whose time has not
	// come, and that was to be expired, is [StateOpen].
	State ReservationState
}

func (e *EndedError) Error() string {
	return fault.LedgerEnded.Text("ledger: reservation %q of tenant %q: %s", e.Reservation, e.Tenant, e.State)
}

// Unwrap returns ErrEnded.
func (e *EndedError) Unwrap() error { return ErrEnded }

// ExceedsError says that more was asked for than is left.
type ExceedsError struct {
	// What is "reservation" or "transaction", ID its identifier.
	What string
	// Tenant and ID name it.
	Tenant, ID string
	// Line is the line of the transaction that was to be reversed, from 0; 0 for a reservation.
	Line int
	// Asked is how much was to be captured or reversed, Left how much can be. Both have the sign of the original.
	Asked, Left money.Amount
}

func (e *ExceedsError) Error() string {
	return fault.LedgerExceeds.Text("ledger: %s %q of tenant %q: line %d: more than is left", e.What, e.ID, e.Tenant, e.Line)
}

// Unwrap returns ErrExceeds.
func (e *ExceedsError) Unwrap() error { return ErrExceeds }

// InsufficientError says how much was available, and how much was needed.
type InsufficientError struct {
	Place
	// Available is what the account may spend, from the record that the write met.
	Available money.Amount
	// Need is what the transaction takes from it. Both are positive for a solvent account.
	Need money.Amount
}

func (e *InsufficientError) Error() string {
	return fault.LedgerInsufficient.Text("ledger: %s: less is available than needed", e.Place)
}

// Unwrap returns ErrInsufficient.
func (e *InsufficientError) Unwrap() error { return ErrInsufficient }

// NotEmptyError says that a balance keeps an account from being closed.
type NotEmptyError struct {
	Place
	// Reservations is how many are open.
	Reservations int64
}

func (e *NotEmptyError) Error() string {
	return fault.LedgerNotEmpty.Text("ledger: %s: has a balance, or one of %d open reservations", e.Place, e.Reservations)
}

// Unwrap returns ErrNotEmpty.
func (e *NotEmptyError) Unwrap() error { return ErrNotEmpty }

// LimitError names a limit.
type LimitError struct {
	// What and ID say what would exceed it.
	What, ID string
	// Limit names it, Max is its value.
	Limit string
	Max   int
}

func (e *LimitError) Error() string {
	return fault.LedgerLimit.Text("ledger: %s %.256s: %s: at most %d", e.What, e.ID, e.Limit, e.Max)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// CapError says that a month of an account has no room left.
type CapError struct {
	Place
	// Month is the full month.
	Month Month
	// Buckets is how many a month has, Slots how many postings of this asset each takes.
	Buckets int
	Slots   int64
}

func (e *CapError) Error() string {
	return fault.LedgerCap.Text("ledger: %s: %s is full: %d buckets of %d postings", e.Place, e.Month, e.Buckets, e.Slots)
}

// Unwrap returns ErrCap.
func (e *CapError) Unwrap() error { return ErrCap }

// RolledError says that the postings of a month go to another bucket by now. The [Ledger] that returned it knows the
// bucket from now on: build the same part again.
type RolledError struct {
	Place
	// Month and Bucket say where postings go now.
	Month  Month
	Bucket int
}

func (e *RolledError) Error() string {
	return fault.LedgerRolled.Text("ledger: %s: the bucket of %s is %d by now", e.Place, e.Month, e.Bucket)
}

// Unwrap returns ErrRolled.
func (e *RolledError) Unwrap() error { return ErrRolled }

// RecordError says which attribute of which record is not what this format has there.
type RecordError struct {
	// Record names the record: its kind and business name.
	Record string
	// Attribute is the attribute that cannot be read.
	Attribute string
}

func (e *RecordError) Error() string {
	return fault.LedgerCorrupt.Text("ledger: %s: attribute %q is not what format %s has there", e.Record, e.Attribute, recordFormat)
}

// Unwrap returns ErrCorrupt.
func (e *RecordError) Unwrap() error { return ErrCorrupt }

func wrapped(kind, cause error) []error {
	if cause == nil {
		return []error{kind}
	}
	return []error{kind, cause}
}

// invalidKey turns the key grammar's error into this package's.
func invalidKey(what, id string, err error) error {
	invalid := &InvalidError{What: what, ID: id, Field: "key", Reason: "cannot be built", Err: err}
	var part *keys.Error
	if errors.As(err, &part) {
		invalid.Field, invalid.Reason = part.Component, string(part.Reason)
	}
	return invalid
}
