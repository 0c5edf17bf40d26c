package ledger

import (
	"github.com/dynafin/dynafin/internal/fault"
)

// What a [Batcher] says of itself.
var (
	// ErrQueueFull: the batcher has as many transactions as it may. See [QueueFullError].
	ErrQueueFull error = fault.New(fault.LedgerQueueFull, "ledger: queue full")
	// ErrBatcherClosed: the batcher is closed. Nothing was written.
	ErrBatcherClosed error = errBatcherClosed
	// ErrAbandoned: a context ended before the outcome was known. See [AbandonedError].
	ErrAbandoned error = fault.New(fault.LedgerAbandoned, "ledger: abandoned")
	// ErrPanic: a panic broke the batch. See [PanicError] and [AbandonedError].
	ErrPanic error = fault.New(fault.LedgerPanic, "ledger: a panic broke the batch")

	errBatcherClosed = fault.New(fault.LedgerBatcherClosed, "ledger: batcher closed")
)

// QueueFullError says that a [Batcher] has as many transactions as it may. Nothing was sent.
type QueueFullError struct {
	// Tenant and Transaction name the one that was not taken.
	Tenant, Transaction string
	// Max is [BatchConfig.Queue].
	Max int
}

func (e *QueueFullError) Error() string {
	return fault.LedgerQueueFull.Text("ledger: transaction %q of tenant %q: %d others are waiting", e.Transaction, e.Tenant, e.Max)
}

// Unwrap returns ErrQueueFull.
func (e *QueueFullError) Unwrap() error { return ErrQueueFull }

// AbandonedError says that the caller's context, or the batcher's, ended before the outcome was known, or that another
// caller's panic broke the batch.
type AbandonedError struct {
	// Tenant and Transaction name it.
	Tenant, Transaction string
	// Sent says that it was on its way: it may be posted, or may still be. Otherwise it never was and never will be.
	Sent bool
	// Err is the context's error, or ErrPanic.
	Err error
}

func (e *AbandonedError) Error() string {
	state := "before it was sent"
	if e.Sent {
		state = "while it was on its way"
	}
	return fault.LedgerAbandoned.Text("ledger: transaction %q of tenant %q: %v %s", e.Transaction, e.Tenant, e.Err, state)
}

// Unwrap returns ErrAbandoned and Err.
func (e *AbandonedError) Unwrap() []error { return wrapped(ErrAbandoned, e.Err) }

// PanicError is what a panic below a batch becomes where it is raised again.
type PanicError struct {
	// Value is what was given to panic, Stack where.
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fault.LedgerPanic.Text("ledger: in a batch: panic: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap returns ErrPanic, and the value if it is an error.
func (e *PanicError) Unwrap() []error {
	err, _ := e.Value.(error)
	return wrapped(ErrPanic, err)
}
