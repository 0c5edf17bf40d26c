package lambda

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// The kinds of failure. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: the configuration, or an event of Lambda, broke a rule. See [InvalidError].
	ErrInvalid error = fault.New(fault.LambdaInvalid, "lambda: invalid configuration or event")
	// ErrPermanent: no repeat can help the message. See [Permanent].
	ErrPermanent error = fault.New(fault.LambdaPermanent, "lambda: message cannot be processed")
	// ErrTemporary: the failure tells nothing about the message. See [Temporary].
	ErrTemporary error = fault.New(fault.LambdaTemporary, "lambda: message cannot be processed now")
	// ErrPanic: the code that handles messages panicked. See [PanicError].
	ErrPanic error = fault.New(fault.LambdaPanic, "lambda: handler panicked")
	// ErrDeadLetter: a dead letter was not stored. The sink's error is inside, and the one that it was about.
	ErrDeadLetter error = errDeadLetter

	errDeadLetter = fault.New(fault.LambdaDeadLetter, "lambda: dead letter not stored")
)

// InvalidError says which field breaks which rule.
type InvalidError struct {
	// Field is the field of [Config], or of the event.
	Field string
	// Reason says what is wrong with it.
	Reason string
}

func (e *InvalidError) Error() string {
	return fault.LambdaInvalid.Text("lambda: %s %s", e.Field, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Permanent marks an error of a handle function: no repeat can help, so the message goes to the dead letters at once. The
// error's text becomes the reason of the letter, so it must not hold the payload. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &PermanentError{Err: err}
}

// PermanentError is an error that no repeat can cure.
type PermanentError struct {
	// Err is why.
	Err error
}

func (e *PermanentError) Error() string { return fault.LambdaPermanent.Text("lambda: %v", e.Err) }

// Unwrap returns ErrPermanent and the reason.
func (e *PermanentError) Unwrap() []error { return []error{ErrPermanent, e.Err} }

// Temporary marks an error of a handle function: it tells nothing about the message, as when a service is away, so the
// message never becomes a dead letter for it. Errors of AWS that the SDK would retry need no mark. Temporary(nil) is nil.
func Temporary(err error) error {
	if err == nil {
		return nil
	}
	return &TemporaryError{Err: err}
}

// TemporaryError is an error that a repeat may cure, however often it came.
type TemporaryError struct {
	// Err is why.
	Err error
}

func (e *TemporaryError) Error() string { return fault.LambdaTemporary.Text("lambda: %v", e.Err) }

// Unwrap returns ErrTemporary and the reason.
func (e *TemporaryError) Unwrap() []error { return []error{ErrTemporary, e.Err} }

// PanicError is a panic of the code that handles a message. Its text has the type of the value only: the value itself may hold
// the payload.
type PanicError struct {
	// Value is what the code panicked with.
	Value any
	// Stack is where.
	Stack []byte
}

func (e *PanicError) Error() string {
	return fault.LambdaPanic.Text("lambda: the handler of the message panicked with a value of type %T", e.Value)
}

// Unwrap returns ErrPanic.
func (e *PanicError) Unwrap() error { return ErrPanic }

// permanent says that no repeat of the message can succeed.
func permanent(err error) bool {
	var invalid *inbox.InvalidError
	switch {
	case errors.Is(err, ErrPermanent), errors.Is(err, inbox.ErrMismatch):
		return true
	case errors.As(err, &invalid):
		return !ofConfig(invalid)
	}
	return false
}

// passing says that the failure tells nothing about the message: a repeat may succeed, however many failed before.
func passing(err error) bool {
	for _, kind := range []error{
		ErrTemporary, context.Canceled, context.DeadlineExceeded, txn.ErrContention, txn.ErrAmbiguous, txn.ErrNotSent, inbox.ErrRead, shardmap.ErrStale,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	if retried.IsErrorRetryable(err) == aws.TrueTernary {
		return true
	}
	var invalid *inbox.InvalidError
	return errors.As(err, &invalid) && ofConfig(invalid)
}

// retried tells the errors of AWS that the SDK would retry: throttling, timeouts, a service that is away.
var retried = retry.IsErrorRetryables(retry.DefaultRetryables)

func ofConfig(e *inbox.InvalidError) bool { return strings.HasPrefix(e.Field, "Config.") }

// notStored is the failure of a message whose dead letter was not stored.
func notStored(m about, reason, err error) error {
	return errDeadLetter.Wrap(errors.Join(err, reason), "lambda: message %q of %q: its dead letter was not stored: %v", m.id, m.source, err)
}

// reasonOf is an error's text, as much of it as a letter has room for, at a whole character.
func reasonOf(err error) string {
	text := strings.ToValidUTF8(fmt.Sprint(err), "?")
	if len(text) > MaxReasonBytes {
		text = strings.ToValidUTF8(text[:MaxReasonBytes], "")
	}
	return text
}
