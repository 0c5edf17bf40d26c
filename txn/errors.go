package txn

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dynafin/dynafin/internal/fault"
)

// The kinds of failure. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: the transaction broke a rule that is checked before anything is sent. See [InvalidError].
	ErrInvalid error = fault.New(fault.TxnInvalid, "txn: invalid transaction")
	// ErrCanceled: a condition did not hold. See [CanceledError].
	ErrCanceled error = fault.New(fault.TxnCanceled, "txn: a condition did not hold")
	// ErrAmbiguous: nobody knows yet whether the transaction was applied. See [AmbiguousError].
	ErrAmbiguous error = fault.New(fault.TxnAmbiguous, "txn: outcome unknown")
	// ErrContention: conflicts or throttling outlived the retries. See [ContentionError].
	ErrContention error = fault.New(fault.TxnContention, "txn: items busy")
	// ErrRefused: the request as such was refused. See [RefusedError].
	ErrRefused error = fault.New(fault.TxnRefused, "txn: request refused")
	// ErrNotSent: the context had ended before anything was sent. The context's error is inside.
	ErrNotSent error = errNotSent

	errNotSent = fault.New(fault.TxnNotSent, "txn: not sent")
)

// prefix begins every message of this package.
const prefix = "txn: commit: "

// InvalidError says which parts break which rule. Nothing was sent.
type InvalidError struct {
	// Parts are the labels of the parts that break the rule, in the order given to Commit.
	Parts []string
	// Rule says what is wrong.
	Rule string
	// Err is the reason inside, if there is one: what a part said that could not be built.
	Err error
}

func (e *InvalidError) Error() string {
	return fault.TxnInvalid.Text(prefix+"%s: %s", partList(e.Parts), e.Rule)
}

// Unwrap returns ErrInvalid and the reason inside.
func (e *InvalidError) Unwrap() []error { return joined(e.Err, ErrInvalid) }

// ConditionError is the reason of a failed condition that nobody explained otherwise.
type ConditionError struct {
	// Part is the label of the part that owns the condition.
	Part string
	// Action and Key say which write failed; Key is table, partition key and sort key.
	Action Action
	Key    ItemKey
	// Old is the stored item, nil if there is none. It is never part of the message.
	Old Item
}

func (e *ConditionError) Error() string {
	state := "the item is not there"
	if e.Old != nil {
		state = "the item is there"
	}
	return fault.TxnCanceled.Text(prefix+"condition of %s %s failed: %s", e.Action, e.Key, state)
}

// Unwrap returns ErrCanceled.
func (e *ConditionError) Unwrap() error { return ErrCanceled }

// Reason is what one write of a cancelled transaction had to say.
type Reason struct {
	// Part is the label of the part that owns the write.
	Part string
	// Position is the write's place in the transaction, from 0: the writes of the parts in the order given to Commit.
	Position int
	// Action and Key say which write it is.
	Action Action
	Key    ItemKey
	// Code is DynamoDB's word, for example "ConditionalCheckFailed" or "TransactionConflict".
	Code string
	// Err explains the reason: the part's own typed error for a failed condition.
	Err error

	rival bool // the stored item was shown and is not this Commit's
}

// CanceledError says that the transaction was cancelled because at least one condition did not hold; nothing was
// written. It unwraps to every failed condition's typed error, in the order in which the parts were given to Commit.
type CanceledError struct {
	// Reasons holds the writes that had a reason, in order. Writes without one are left out.
	Reasons []Reason
	// Unsettled says that an earlier attempt of the same Commit got no answer. That copy was not applied when the
	// conditions were judged; it is not known that it never will be. Before acting on the refusal, record it: a
	// rejected result stored under the same idempotency key makes a late copy fail.
	Unsettled bool
	// Err is DynamoDB's error.
	Err error

	settled error
}

// Settler is an error that decides the whole transaction: an idempotency part says so when this very command was
// completed before. Its other parts then lost against their own earlier selves, so a CanceledError that holds a
// Settler unwraps to it alone.
type Settler interface {
	error
	// SettlesCommit says that this error is the outcome of the whole transaction.
	SettlesCommit() bool
}

func (e *CanceledError) Error() string {
	if e.settled != nil {
		return prefix + e.settled.Error()
	}
	said := make([]string, 0, len(e.Reasons)) // each reason brings its own advice and code
	for _, r := range e.Reasons {
		said = append(said, r.Part+": "+strings.TrimPrefix(r.Err.Error(), prefix))
	}
	return prefix + "cancelled: " + listed(said, "; and ")
}

// Unwrap returns the failed conditions' errors in order, then ErrCanceled and DynamoDB's error. Where one of them settles
// the whole transaction it stands alone for all.
func (e *CanceledError) Unwrap() []error {
	if e.settled != nil {
		return joined(e.settled, ErrCanceled, e.Err)
	}
	errs := make([]error, 0, len(e.Reasons)+2)
	for _, r := range e.Reasons {
		if r.Code == conditionFailed {
			errs = append(errs, r.Err)
		}
	}
	return joined(append(errs, ErrCanceled, e.Err)...)
}

// AmbiguousError says that at least one attempt got no answer and nothing proved since whether it was applied.
// Repeat the same command: its durable records tell the truth.
type AmbiguousError struct {
	// Mark is the mark that the transaction would have left on its records, see [MarkAttribute].
	Mark string
	// Parts are the labels of the transaction's parts.
	Parts []string
	// Attempts is how many requests were sent.
	Attempts int
	// Err is the last error. It is not unwrapped to typed reasons: they are no proof here.
	Err error
}

func (e *AmbiguousError) Error() string {
	return fault.TxnAmbiguous.Text(prefix+"%s: no proof of the outcome after %d attempts: %v", partList(e.Parts), e.Attempts, e.Err)
}

// Unwrap returns ErrAmbiguous and the error of AWS or of the transport below the last error. What txn itself made of it is
// left out: contention and refusal promise that nothing was written, and a cancellation names reasons.
func (e *AmbiguousError) Unwrap() []error {
	var canceled *CanceledError
	var contention *ContentionError
	var refused *RefusedError
	switch {
	case errors.As(e.Err, &canceled):
		return []error{ErrAmbiguous}
	case errors.As(e.Err, &contention):
		return joined(ErrAmbiguous, contention.Err)
	case errors.As(e.Err, &refused):
		return joined(ErrAmbiguous, refused.Err)
	default:
		return joined(ErrAmbiguous, e.Err)
	}
}

// ContentionError says that conflicts or throttling lasted until the retry budget was spent. Nothing was written.
type ContentionError struct {
	// Parts are the labels of the parts whose items were busy; all parts if DynamoDB did not say.
	Parts []string
	// Attempts is how many requests were sent.
	Attempts int
	// Err is the last error.
	Err error
}

func (e *ContentionError) Error() string {
	return fault.TxnContention.Text(prefix+"%s: busy or throttled in each of %d attempts", partList(e.Parts), e.Attempts)
}

// Unwrap returns ErrContention and the last error.
func (e *ContentionError) Unwrap() []error { return joined(ErrContention, e.Err) }

// RefusedError says that the request as such was refused. Nothing was written.
type RefusedError struct {
	// Parts are the labels of the parts that DynamoDB named; all parts if it named none.
	Parts []string
	// Tables are the tables of the transaction.
	Tables []string
	// Err is the AWS error.
	Err error
}

func (e *RefusedError) Error() string {
	return fault.TxnRefused.Text(prefix+"%s on %s: %v", partList(e.Parts), strings.Join(e.Tables, ", "), e.Err)
}

// Unwrap returns ErrRefused and the AWS error.
func (e *RefusedError) Unwrap() []error { return joined(ErrRefused, e.Err) }

func notSent(parts []Part, err error) error {
	return errNotSent.Wrap(err, prefix+"%s: %v before anything was sent", partList(labels(parts)), err)
}

func partList(labels []string) string {
	if len(labels) == 0 {
		return "no parts"
	}
	return listed(labels, " + ")
}

// listed joins the first few, so that a hundred parts still make one line of a log. The fields of the error hold all.
func listed(texts []string, separator string) string {
	const most = 10
	if len(texts) <= most {
		return strings.Join(texts, separator)
	}
	return strings.Join(texts[:most], separator) + fmt.Sprintf("%s%d more", separator, len(texts)-most)
}

// joined drops the nil errors.
func joined(errs ...error) []error {
	kept := errs[:0:0]
	for _, err := range errs {
		if err != nil {
			kept = append(kept, err)
		}
	}
	return kept
}
