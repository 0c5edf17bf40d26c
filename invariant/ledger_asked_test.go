package invariant_test

import (
	"errors"
	"fmt"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// asked is something that a client asks for, once, however many attempts it takes. The model is told of it operation by
// operation.
type asked struct {
	ops      []invariant.AuthorityOp
	answered []func(output any)
	// doubt says that a copy may still be on its way: a refusal is no answer any more.
	doubt bool
}

// begin notes what is asked for. When the same is asked again in one life it is the same, and not another.
func (c *clerk) begin(ops ...invariant.AuthorityOp) *asked {
	key := fmt.Sprint(ops)
	if a := c.open[key]; a != nil {
		return a
	}
	a := &asked{ops: ops}
	c.open[key] = a
	for _, op := range ops {
		a.answered = append(a.answered, c.p.Begin(op))
	}
	return a
}

// done tells the model that all of it happened.
func (a *asked) done() string {
	for _, answered := range a.answered {
		answered(invariant.AuthorityDone)
	}
	return invariant.AuthorityDone
}

// refused gives the operations their answers, unless a copy may still change them. Where there is none, nothing happened.
func (a *asked) refused(answer func(op invariant.AuthorityOp) string) (first string) {
	for i, op := range a.ops {
		said := answer(op)
		if first == "" {
			first = said
		}
		switch {
		case a.doubt:
		case said == "":
			a.answered[i](invariant.NoEffect)
		default:
			a.answered[i](said)
		}
	}
	return first
}

func nothing(invariant.AuthorityOp) string { return "" }

// ended notes what is known after an attempt. The word is what a client may be told; an error means that the outcome is
// open, or that the same again may succeed.
func (a *asked) ended(err error) (word string, again error) {
	var canceled *txn.CanceledError
	var refused *ledger.RefusedError
	var ended *ledger.EndedError
	errors.As(err, &canceled)
	switch {
	case err == nil, ledger.Repeated(err):
		a.doubt = false
		return a.done(), nil
	case errors.Is(err, txn.ErrAmbiguous), canceled != nil && canceled.Unsettled:
		a.doubt = true
		return "", err
	case errors.As(err, &refused):
		a.doubt = false // nor will any copy
		a.refused(nothing)
		return "refused: " + refused.Reason, nil
	case errors.As(err, &ended) && (ended.State == ledger.StateExpired || ended.State == ledger.StateOpen), errors.Is(err, ledger.ErrInvalid):
		a.refused(nothing) // by the clock of this clerk, which the model knows nothing of
		return "its time has come", nil
	case errors.As(err, &ended) && ended.State == ledger.StateRefused:
		a.refused(nothing)
		return "nothing there", nil
	case errors.As(err, &ended):
		if a.ops[0].Do == invariant.AuthorityRelease {
			a.doubt = false
			return a.done(), nil
		}
		a.refused(func(op invariant.AuthorityOp) string { return ofHold(op, invariant.AuthorityEnded) })
		return invariant.AuthorityEnded, nil
	case errors.Is(err, ledger.ErrExceeds):
		a.refused(func(op invariant.AuthorityOp) string { return ofHold(op, invariant.AuthorityExceeds) })
		return invariant.AuthorityExceeds, nil
	case errors.Is(err, ledger.ErrNotFound):
		a.refused(nothing)
		return "nothing there", nil
	case canceled == nil || errors.Is(err, ledger.ErrVersion) || ofAny(a.ops, canceled) == "":
		return "", err
	}
	return a.refused(func(op invariant.AuthorityOp) string { return ofAccount(op, canceled) }), nil
}

// ofHold is what a refusal of a reservation says of an operation. That of a reversal says nothing about any.
func ofHold(op invariant.AuthorityOp, word string) string {
	if op.Do == invariant.AuthorityCapture || op.Do == invariant.AuthorityRelease {
		return word
	}
	return ""
}

// ofAccount is what the reasons of a cancelled commit say of an operation.
func ofAccount(op invariant.AuthorityOp, canceled *txn.CanceledError) string {
	for _, reason := range canceled.Reasons {
		var status *ledger.StatusError
		var closed *ledger.PeriodClosedError
		var poor *ledger.InsufficientError
		switch {
		case errors.As(reason.Err, &status) && status.Account == op.Account:
			return invariant.AuthorityFrozen
		case errors.As(reason.Err, &closed) && closed.Account == op.Account:
			return invariant.AuthorityClosed
		case errors.As(reason.Err, &poor) && poor.Account == op.Account:
			available, err := poor.Available.MinorInt64()
			if err != nil {
				panic(err)
			}
			return invariant.Insufficient(available)
		}
	}
	return ""
}

// ofAny is the first word that a cancelled commit has for any of the operations.
func ofAny(ops []invariant.AuthorityOp, canceled *txn.CanceledError) string {
	for _, op := range ops {
		if word := ofAccount(op, canceled); word != "" {
			return word
		}
	}
	return ""
}
