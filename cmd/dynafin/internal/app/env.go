package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/dynafin/dynafin/dynamosim"
)

// Env is everything a run of the program gets from outside. Nothing else reads a clock, an environment or a terminal, so
// a test that fills it in gets the same bytes each time.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv reads an environment variable.
	Getenv func(string) string
	// Now is the clock of this machine. A saved simulator brings its own, see [App.Now].
	Now func() time.Time
	// Sleep waits for no longer than the context.
	Sleep func(context.Context, time.Duration) error
	// NewID makes the ID of a run, unique.
	NewID func() string
	// OutTerminal and InTerminal say whether a person reads stdout, and answers on stdin.
	OutTerminal, InTerminal bool
	// Simulator, if set, is the DynamoDB of a run without --load, for tests.
	Simulator *dynamosim.DB
	// Network, if set, is between the program and the Simulator.
	Network func(aws.HTTPClient) aws.HTTPClient
}

// The exit codes.
const (
	// ExitOK: done, and nothing is wrong.
	ExitOK = 0
	// ExitFailed: could not run, or not to its end.
	ExitFailed = 1
	// ExitUsage: called in a way that means nothing. Nothing was read.
	ExitUsage = 2
	// ExitFindings: ran, and found something that needs a person.
	ExitFindings = 3
)

// UsageError says that the program was called in a way that means nothing.
type UsageError struct{ Reason string }

func (e *UsageError) Error() string { return e.Reason }

// Usage makes a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// FindingsError ends a command that ran to its end and found something that needs a person.
type FindingsError struct{ Summary string }

func (e *FindingsError) Error() string { return e.Summary }

// Findings makes a FindingsError. The summary is one line and says how many.
func Findings(format string, args ...any) error { return &FindingsError{fmt.Sprintf(format, args...)} }

// exitCode says how the program ends.
func exitCode(err error) int {
	var usage *UsageError
	var findings *FindingsError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &findings):
		return ExitFindings
	}
	return ExitFailed
}
