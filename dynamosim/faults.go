package dynamosim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

// Call is one request on its way to a database.
type Call struct {
	// Operation is, for example, "PutItem".
	Operation string
	// Attempt is 1 for a first attempt and more for a retry by the SDK itself.
	Attempt int
	// InvocationID is the same for all attempts of one SDK call.
	InvocationID string
	// Sequence counts all requests through one Faulty, from 1.
	Sequence int
}

// Fate is what happens to a request.
type Fate int

const (
	// Deliver passes the request on and its answer back.
	Deliver Fate = iota
	// LoseRequest never passes the request on; the caller gets ErrLost.
	LoseRequest
	// LoseAnswer passes the request on, and whatever it did is done; the caller gets ErrLost.
	LoseAnswer
	// Throttle answers with a ThrottlingException.
	Throttle
	// Conflict answers as if the items were part of another running transaction: a single write gets a
	// TransactionConflictException, a transaction is cancelled with TransactionConflict for each of its actions. Operations
	// that never conflict are delivered.
	Conflict
	// InProgress answers TransactWriteItems with a TransactionInProgressException: the first request with this token is
	// still running. Other operations are delivered.
	InProgress
	// InternalErrorBefore answers with an InternalServerError and executes nothing.
	InternalErrorBefore
	// InternalErrorAfter executes the request and answers with an InternalServerError all the same.
	InternalErrorAfter
)

// Faulty puts a bad network and a busy service in front of a database, simulated or real: choose decides the fate of
// every request before it is sent. Give the result to the SDK as its HTTPClient:
//
//	client := db.Client(func(o *dynamodb.Options) { o.HTTPClient = dynamosim.Faulty(db, choose) })
//
// It is safe for concurrent use if choose is.
func Faulty(next aws.HTTPClient, choose func(Call) Fate) aws.HTTPClient {
	return &faulty{next: next, choose: choose}
}

type faulty struct {
	next   aws.HTTPClient
	choose func(Call) Fate
	calls  atomic.Int64
}

// Do implements aws.HTTPClient.
func (f *faulty) Do(req *http.Request) (*http.Response, error) {
	call := callOf(req)
	call.Sequence = int(f.calls.Add(1))
	switch fate := f.choose(call); fate {
	case LoseRequest:
		return nil, lost(call)
	case LoseAnswer:
		if err := f.deliverUnseen(req); err != nil {
			return nil, err
		}
		return nil, lost(call)
	case InternalErrorAfter:
		if err := f.deliverUnseen(req); err != nil {
			return nil, err
		}
		return response(req, engine.InternalErrorReply()), nil
	case Throttle, Conflict, InProgress, InternalErrorBefore:
		return f.refuse(req, call, fate)
	default:
		return f.next.Do(req)
	}
}

// deliverUnseen executes a request and drops its answer.
func (f *faulty) deliverUnseen(req *http.Request) error {
	answer, err := f.next.Do(req)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// refuse answers in place of the database, where the operation has such an answer.
func (f *faulty) refuse(req *http.Request, call Call, fate Fate) (*http.Response, error) {
	transaction := call.Operation == "TransactWriteItems" || call.Operation == "TransactGetItems"
	single := call.Operation == "PutItem" || call.Operation == "UpdateItem" || call.Operation == "DeleteItem"
	switch {
	case fate == InternalErrorBefore:
		return response(req, engine.InternalErrorReply()), nil
	case fate == Throttle:
		return response(req, engine.ThrottledReply()), nil
	case fate == Conflict && single:
		return response(req, engine.ConflictReply()), nil
	case fate == Conflict && transaction:
		actions, err := countActions(req)
		if err != nil {
			return nil, err
		}
		return response(req, engine.CanceledByConflictReply(actions)), nil
	case fate == InProgress && call.Operation == "TransactWriteItems":
		return response(req, engine.InProgressReply()), nil
	default:
		return f.next.Do(req)
	}
}

// countActions reads how many actions a transaction has.
func countActions(req *http.Request) (int, error) {
	body, err := readBody(req)
	if err != nil {
		return 0, err
	}
	var in struct{ TransactItems []json.RawMessage }
	if err := json.Unmarshal(body, &in); err != nil {
		return 0, err
	}
	return len(in.TransactItems), nil
}

// callOf reads what the SDK says about its request. Its retry header is, for example, "attempt=2; max=4".
func callOf(req *http.Request) Call {
	call := Call{Operation: operationOf(req), Attempt: 1, InvocationID: req.Header.Get("Amz-Sdk-Invocation-Id")}
	for field := range strings.SplitSeq(req.Header.Get("Amz-Sdk-Request"), ";") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(field), "attempt="); ok {
			if n, err := strconv.Atoi(text); err == nil {
				call.Attempt = n
			}
		}
	}
	return call
}
