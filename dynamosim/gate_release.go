package dynamosim

import (
	"encoding/json"
	"net/http"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

// Fates that only a [Gate] knows. [Faulty] delivers such requests.
const (
	// LateCommit gives the caller ErrLost now and keeps the request at the gate, so that it can be delivered after the
	// caller has looked and seen nothing.
	LateCommit Fate = iota + InternalErrorAfter + 1
	// ThrottleProvisioned answers with a ProvisionedThroughputExceededException.
	ThrottleProvisioned
	// ThrottleAccount answers with a RequestLimitExceeded.
	ThrottleAccount
	// TokenMismatch answers TransactWriteItems with an IdempotentParameterMismatchException: the service holds the
	// request token for that of another transaction.
	TokenMismatch
	// MixedReasons cancels TransactWriteItems for reasons of several kinds; see [Gate.Mix].
	MixedReasons
)

// String returns the fate in words.
func (f Fate) String() string {
	words := [...]string{
		Deliver: "delivered", LoseRequest: "request lost", LoseAnswer: "answer lost", Throttle: "throttled",
		Conflict: "conflict", InProgress: "token in progress", InternalErrorBefore: "error 500, not applied",
		InternalErrorAfter: "error 500, applied", LateCommit: "delayed, client gave up",
		ThrottleProvisioned: "throttled (provisioned)", ThrottleAccount: "throttled (account)",
		TokenMismatch: "token mismatch", MixedReasons: "mixed reasons",
	}
	if f < 0 || int(f) >= len(words) {
		return "unknown fate"
	}
	return words[f]
}

// Fates lists all fates, the harmless one first.
func Fates() []Fate {
	all := make([]Fate, 0, MixedReasons+1)
	for f := Deliver; f <= MixedReasons; f++ {
		all = append(all, f)
	}
	return all
}

// Writes says whether the request can change anything.
func (p *Pending) Writes() bool {
	switch p.Operation {
	case "GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems", "DescribeTable", "ListTables":
		return false
	}
	return true
}

// Takes says whether a fate means something of its own for this request. A read has nothing that could be applied
// late, a single write has no token, a plain read never conflicts; and for a late request there are two fates left, to
// be delivered and to be lost.
func (p *Pending) Takes(fate Fate) bool {
	if p.Late {
		return fate == Deliver || fate == LoseRequest
	}
	switch fate {
	case LoseAnswer, InternalErrorAfter, LateCommit:
		return p.Writes()
	case Conflict:
		switch p.Operation {
		case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "TransactGetItems":
			return true
		}
		return false
	case InProgress, TokenMismatch, MixedReasons:
		return p.Operation == "TransactWriteItems"
	}
	return fate >= Deliver && fate <= MixedReasons
}

// Released says what became of a request.
type Released struct {
	// Reached says that the database executed the request, whatever the client was told.
	Reached bool
	// Result is what the database answered, or what was answered in its place: "ok", the name of the exception, or the
	// list of cancellation reasons. It is empty for a request that was lost or is still on its way.
	Result string
	// Err is the error of the HTTP client behind the gate.
	Err error
}

// Release lets a request go with its fate. A fate that the request does not take (see [Pending.Takes]) is Deliver; a
// request that is not at the gate any more is left alone.
func (g *Gate) Release(p *Pending, fate Fate) Released {
	if !p.Takes(fate) {
		fate = Deliver
	}
	switch fate {
	case MixedReasons:
		return g.Mix(p, usualMix(p)...)
	case LateCommit:
		p.answer <- answered{err: lost(p.Call)}
		p.Late = true
		return Released{}
	}
	if !g.take(p) {
		return Released{}
	}
	switch fate {
	case LoseRequest:
		return p.tell(nil, lost(p.Call), Released{})
	case LoseAnswer:
		return g.unseen(p, nil, lost(p.Call))
	case InternalErrorAfter:
		return g.unseen(p, response(p.request, engine.InternalErrorReply()), nil)
	case Deliver:
		reply, text, err := g.forward(p, p.Body)
		return p.tell(reply, err, Released{Reached: err == nil, Result: resultOf(reply, text), Err: err})
	}
	refusal := p.refusal(fate)
	reply := response(p.request, refusal)
	return p.tell(reply, nil, Released{Result: resultOf(reply, refusal.Body)})
}

// unseen executes a request and answers something else.
func (g *Gate) unseen(p *Pending, instead *http.Response, lost error) Released {
	reply, text, err := g.forward(p, p.Body)
	if err != nil {
		return p.tell(nil, err, Released{Err: err})
	}
	return p.tell(instead, lost, Released{Reached: true, Result: resultOf(reply, text)})
}

// tell answers the client, if it still waits.
func (p *Pending) tell(reply *http.Response, err error, what Released) Released {
	if !p.Late {
		p.answer <- answered{response: reply, err: err}
	}
	return what
}

// Mix cancels a transaction for the reasons at its positions: "TransactionConflict", "ThrottlingError" or another code
// for an action whose reason the driver chooses, and "" for one whose condition is judged by the database. So a failed
// condition can stand beside a conflict, as it does on a busy day, and is a true one. Nothing is applied: the database gets
// the transaction with a condition that cannot hold on every chosen action. Missing positions are "".
//
// If no position is chosen, or the request is no transaction, it is delivered.
func (g *Gate) Mix(p *Pending, codes ...string) Released {
	impossible, err := poison(p.Body, codes)
	if err != nil || impossible == nil || p.Late {
		return g.Release(p, Deliver)
	}
	if !g.take(p) {
		return Released{}
	}
	reply, text, err := g.forward(p, impossible)
	if err != nil {
		return p.tell(nil, err, Released{Err: err})
	}
	if mixed, ok := overlay(text, codes); ok {
		text = mixed
	}
	reply = response(p.request, engine.Reply{Status: reply.StatusCode, Body: text})
	return p.tell(reply, nil, Released{Result: resultOf(reply, text)})
}

// Actions returns how many actions a transaction has, 0 for any other request.
func (p *Pending) Actions() int {
	if p.Operation != "TransactWriteItems" && p.Operation != "TransactGetItems" {
		return 0
	}
	var in struct{ TransactItems []json.RawMessage }
	if json.Unmarshal(p.Body, &in) != nil {
		return 0
	}
	return len(in.TransactItems)
}

// usualMix lets the database judge every other action, and has a conflict and throttling in turn at the rest.
func usualMix(p *Pending) []string {
	codes := make([]string, p.Actions())
	for i := range codes {
		switch i % 4 {
		case 1:
			codes[i] = reasonConflict
		case 3:
			codes[i] = reasonThrottling
		}
	}
	if len(codes) == 1 {
		codes[0] = reasonThrottling
	}
	return codes
}
