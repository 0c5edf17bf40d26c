package txn

import (
	"errors"
	"net/http"
	"slices"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/dynafin/dynafin/internal/watch"
)

// outcome is what one attempt tells about the transaction.
type outcome uint8

const (
	applied  outcome = iota // proved by the transaction's own mark
	busy                    // this attempt wrote nothing; another may succeed
	unknown                 // no answer: it may have been applied, or may still be
	badToken                // the token was seen before with something else; the mark must decide
	canceled                // a condition did not hold
	refused                 // the request as such cannot succeed
)

type verdict struct {
	outcome   outcome
	throttled bool
	err       error
}

// DynamoDB's words for why one write of a transaction was not applied.
const (
	reasonNone      = "None"
	conditionFailed = "ConditionalCheckFailed"
)

// refusals are the reasons that no repeat can cure. Every other reason is a conflict or throttling.
var refusals = map[string]bool{"ValidationError": true, "ItemCollectionSizeLimitExceeded": true, "AccessDenied": true}

// unnamed is what the SDK calls an error without a code. DynamoDB names its errors, so something on the way answered,
// perhaps after it had passed the request on.
const unnamed = "UnknownError"

// judge decides what one failed attempt means. Whoever is not sure says unknown.
func (r *run) judge(err error) verdict {
	var cancellation *types.TransactionCanceledException
	if errors.As(err, &cancellation) {
		return r.judgeReasons(cancellation, err)
	}
	if neverSent(err) {
		return verdict{outcome: refused, err: r.refusal(labels(r.parts), err)}
	}
	var answer smithy.APIError
	if !errors.As(err, &answer) || serverFault(err, answer) {
		return verdict{outcome: unknown, err: err}
	}
	code := answer.ErrorCode()
	switch {
	case watch.IsThrottle(code) || watch.IsConflict(code):
		return verdict{outcome: busy, throttled: watch.IsThrottle(code), err: &ContentionError{Parts: labels(r.parts), Err: err}}
	case code == "TransactionInProgressException" || code == unnamed:
		return verdict{outcome: unknown, err: err}
	case code == "IdempotentParameterMismatchException":
		return verdict{outcome: badToken, err: err}
	default:
		return verdict{outcome: refused, err: r.refusal(labels(r.parts), err)}
	}
}

// refusal names the tables too: DynamoDB does not say which one is missing.
func (r *run) refusal(parts []string, err error) error {
	var tables []string
	for i := range r.steps {
		if name := r.steps[i].Table.Name; !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
	}
	return &RefusedError{Parts: parts, Tables: tables, Err: err}
}

// neverSent recognises the errors of a request that did not leave the client.
func neverSent(err error) bool {
	var serialization *smithy.SerializationError
	var params smithy.InvalidParamsError
	var signing *v4.SigningError
	return errors.As(err, &serialization) || errors.As(err, &params) || errors.As(err, &signing)
}

// serverFault says whether the service itself failed; it may have failed after it committed.
func serverFault(err error, answer smithy.APIError) bool {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusInternalServerError {
		return true
	}
	return answer.ErrorFault() == smithy.FaultServer
}

// judgeReasons reads a cancellation: one reason for each write, in order. One own mark proves that the whole transaction
// was applied. Else a reason that settles the transaction decides; if the write that could settle it was too busy to say,
// nothing is decided. Otherwise the worst reason decides: a refusal, a failed condition, conflicts and throttling.
func (r *run) judgeReasons(cancellation *types.TransactionCanceledException, err error) verdict {
	if len(cancellation.CancellationReasons) != len(r.steps) {
		return verdict{outcome: refused, err: r.refusal(labels(r.parts), err)}
	}
	all := &CanceledError{Err: err}
	var refusing, contending []string
	conditions, throttled, unsettled := 0, false, false
	for i, reason := range cancellation.CancellationReasons {
		s := &r.steps[i]
		code := text(reason.Code)
		if code == "" || code == reasonNone {
			continue
		}
		if carries(reason.Item, r.mark) {
			return verdict{outcome: applied}
		}
		old := reason.Item
		if len(old) == 0 {
			old = nil // an item without attributes is no item, however an endpoint spells that
		}
		said := Reason{Part: s.part, Position: i, Action: s.Action, Key: s.key, Code: code, rival: old != nil}
		switch {
		case code == conditionFailed:
			conditions++
			said.Err = s.explain(old)
		case refusals[code]:
			refusing = append(refusing, s.part)
			said.Err = r.refusal([]string{s.part}, errors.New(code+": "+text(reason.Message)))
		default:
			contending = append(contending, s.part)
			throttled = throttled || watch.IsThrottle(code)
			unsettled = unsettled || s.Settles
			said.Err = &ContentionError{Parts: []string{s.part}, Attempts: r.attempts, Err: errors.New(code)}
		}
		all.add(said)
	}
	switch {
	case all.settled != nil: // the record of this very command stands, whatever became since of what its first run wrote
		return verdict{outcome: canceled, err: all}
	case unsettled:
		return verdict{outcome: busy, throttled: throttled, err: &ContentionError{Parts: contending, Err: err}}
	case len(refusing) > 0:
		return verdict{outcome: refused, err: r.refusal(refusing, err)}
	case conditions > 0:
		return verdict{outcome: canceled, err: all}
	default:
		return verdict{outcome: busy, throttled: throttled, err: &ContentionError{Parts: contending, Err: err}}
	}
}

// explain gives the failed condition to the part that owns it.
func (s *step) explain(old Item) error {
	if s.Explain != nil {
		if err := s.Explain(old); err != nil {
			return err
		}
	}
	return &ConditionError{Part: s.part, Action: s.Action, Key: s.key, Old: old}
}

// add keeps a reason, and the first one that settles the whole transaction.
func (e *CanceledError) add(reason Reason) {
	e.Reasons = append(e.Reasons, reason)
	var settler Settler
	if e.settled == nil && errors.As(reason.Err, &settler) && settler.SettlesCommit() {
		e.settled = reason.Err
	}
}
