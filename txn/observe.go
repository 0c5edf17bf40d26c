package txn

import (
	"context"
	"errors"
	"time"

	"github.com/dynafin/dynafin/capacity"
)

// Observation is what an [Observer] learns of one Commit.
type Observation struct {
	// Parts are the labels of the transaction's parts, in order: the access patterns.
	Parts []string
	// Outcome is how it ended. A failed condition is an expected outcome, not a fault.
	Outcome Outcome
	// Attempts is how many requests were sent.
	Attempts int
	// Units are the write units that were reported.
	Units capacity.Units
	// Duration is the whole time, waits included.
	Duration time.Duration
	// Err is the error that Commit returned.
	Err error
}

// Observer is told of every Commit when it ends. It must be safe for concurrent use and return quickly.
type Observer func(ctx context.Context, o Observation)

// Outcome is how a Commit ended.
type Outcome string

// The outcomes of a Commit.
const (
	OutcomeApplied    Outcome = "applied"
	OutcomeRecovered  Outcome = "recovered" // applied by an attempt whose answer was lost
	OutcomeCanceled   Outcome = "canceled"
	OutcomeContention Outcome = "contention"
	OutcomeAmbiguous  Outcome = "ambiguous"
	OutcomeRefused    Outcome = "refused"
	OutcomeNotSent    Outcome = "not_sent" // invalid, or the context had ended
)

// observe describes an ended Commit.
func observe(r *run, receipt Receipt, err error, took time.Duration) Observation {
	return Observation{
		Parts: labels(r.parts), Outcome: outcomeOf(receipt, err), Attempts: r.attempts,
		Units: receipt.Total(), Duration: took, Err: err,
	}
}

func outcomeOf(receipt Receipt, err error) Outcome {
	switch {
	case err == nil && receipt.Recovered:
		return OutcomeRecovered
	case err == nil:
		return OutcomeApplied
	case errors.Is(err, ErrCanceled):
		return OutcomeCanceled
	case errors.Is(err, ErrAmbiguous):
		return OutcomeAmbiguous
	case errors.Is(err, ErrContention):
		return OutcomeContention
	case errors.Is(err, ErrRefused):
		return OutcomeRefused
	default:
		return OutcomeNotSent
	}
}
