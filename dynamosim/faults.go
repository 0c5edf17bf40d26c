package dynamosim

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
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
// A fate that the request does not take (see [Pending.Takes]) is Deliver. A request whose fate is [LateCommit] arrives when
// the next request through this Faulty has been answered: the client has given up, looked, and then it lands. To choose
// the moment use a [Gate].
//
// It is safe for concurrent use if choose is.
func Faulty(next aws.HTTPClient, choose func(Call) Fate) aws.HTTPClient {
	return &faulty{next: next, gate: NewGate(next), choose: choose}
}

// faulty is a gate that nobody waits at: the fate of every request is chosen as it arrives.
type faulty struct {
	next   aws.HTTPClient
	gate   *Gate
	choose func(Call) Fate
	calls  atomic.Int64

	mu   sync.Mutex
	late []*Pending
}

// Do implements aws.HTTPClient.
func (f *faulty) Do(req *http.Request) (*http.Response, error) {
	call := callOf(req)
	call.Sequence = int(f.calls.Add(1))
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	answer, err := f.meet(req, call, f.choose(call))
	for _, p := range late {
		f.gate.Release(p, Deliver)
	}
	return answer, err
}

func (f *faulty) meet(req *http.Request, call Call, fate Fate) (*http.Response, error) {
	if fate == Deliver { // the usual case needs no copy of the request
		return f.next.Do(req)
	}
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	p := &Pending{Call: call, Body: body, request: req, answer: make(chan answered, 1)}
	f.gate.hold(p)
	f.gate.Release(p, fate)
	if p.Late {
		f.mu.Lock()
		f.late = append(f.late, p)
		f.mu.Unlock()
	}
	answer := <-p.answer
	return answer.response, answer.err
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
