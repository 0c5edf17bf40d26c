// Package fault gives every exported error of dynafin one shape: a sentinel that carries a stable code, and a
// message that says what failed, for which key, and what a repeat of the same call would do.
//
// A package declares its codes in a codes_<package>.go file here and its sentinels with [New]. Its error types
// unwrap to their sentinel, so errors.Is finds the kind, errors.As finds the facts, and
//
//	var coded interface{ Code() string }
//	errors.As(err, &coded)
//
// finds the code through any wrapping.
package fault

import "fmt"

// Retry says what a repeat of the very same call can bring.
type Retry string

const (
	// RetrySafe: repeating the same call with the same key is safe and may succeed.
	RetrySafe Retry = "retrying is safe"
	// RetryLater: repeating is safe, but only useful after the time the error names.
	RetryLater Retry = "retry later with the same key"
	// RetryNever: the same call can never succeed; change the input or the state first.
	RetryNever Retry = "retrying cannot help"
)

// Code describes one stable error code.
type Code struct {
	// ID is the stable identifier, DFN-nnnn. It never changes its meaning and is never reused.
	ID string
	// Name is the exported sentinel, for example "txn.ErrAmbiguous".
	Name string
	// Meaning says in one sentence what happened.
	Meaning string
	// Action says in one sentence what the reader of the error should do.
	Action string
	// Retry says what a repeat of the same call can bring.
	Retry Retry
}

// Text formats a message and adds the retry advice and the code, so that every error of the library ends alike.
func (c Code) Text(format string, args ...any) string {
	return fmt.Sprintf(format, args...) + "; " + string(c.Retry) + " [" + c.ID + "]"
}

// Sentinel is the kind of an error. Compare with errors.Is.
type Sentinel struct {
	code Code
	text string
}

// New returns the sentinel of a code. The text starts with the package name.
func New(code Code, text string) *Sentinel { return &Sentinel{code: code, text: text} }

// Error implements error.
func (s *Sentinel) Error() string { return s.code.Text("%s", s.text) }

// Code returns the stable identifier, DFN-nnnn.
func (s *Sentinel) Code() string { return s.code.ID }

// Retry returns the advice of the code.
func (s *Sentinel) Retry() string { return string(s.code.Retry) }

// Wrap returns an error of this kind with a message of its own: what failed, and for which key. An optional cause
// stays reachable through errors.Is and errors.As; its text is part of the message only if the format names it.
func (s *Sentinel) Wrap(cause error, format string, args ...any) error {
	return &wrapped{sentinel: s, cause: cause, text: s.code.Text(format, args...)}
}

type wrapped struct {
	sentinel *Sentinel
	cause    error
	text     string
}

func (w *wrapped) Error() string { return w.text }

func (w *wrapped) Unwrap() []error {
	if w.cause == nil {
		return []error{w.sentinel}
	}
	return []error{w.sentinel, w.cause}
}
