package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// Client are the calls that Do makes. *dynamodb.Client satisfies it.
type Client interface {
	Claimer
	txn.Client
}

// Work is what [Requests.Do] does once for a request.
type Work struct {
	// Mode says what the effect is. Required.
	Mode Mode
	// Run does the work and returns its result, and the parts that are to be committed with it. If the Mode is
	// Transactional the effect is in those parts and Run itself changes nothing; if it is External, Run has the effect. Its
	// context ends with the lease. A definite refusal is a result of kind [Rejected], not an error. Required.
	Run func(ctx context.Context, claim *Claim) (Result, []txn.Part, error)
	// Refuse, if set, turns the error of a Commit of the parts into a definite refusal, which is then stored instead. It
	// says false for an error that is none.
	Refuse func(err error) (Result, bool)
}

// Answer is what a request led to, now or when it was first made.
type Answer struct {
	// Result is the result, byte for byte as it is stored.
	Result Result
	// Replayed says that the work was done before.
	Replayed bool
}

// noEffectError marks an error as one without an effect.
type noEffectError struct{ error }

func (e noEffectError) Unwrap() error { return e.error }

// NoEffect says of an error of [Work.Run] that the effect has certainly not happened and will not. An external attempt may
// then be repeated at once; without it, it goes to repair.
func NoEffect(err error) error {
	if err == nil {
		return nil
	}
	return noEffectError{err}
}

// Do claims the request, does the work and completes the request in the transaction that commits the work's parts (AP08).
// A request that was completed before is answered with its stored result, byte for byte. Other errors are those of
// [Requests.Begin], of Run and of Commit.
//
// What happens to the request if the work fails: a transactional one is released, and a repeat begins anew; an external
// one goes to repair, unless the error is one of [NoEffect]. The same if Run panics; the panic goes on. The client's
// context ending does not keep a result from being stored. If even that cannot be written, the lease ends, and the
// request is taken over or goes to repair then.
//
// Cost: Begin and Complete.
func (r *Requests) Do(ctx context.Context, client Client, request Request, work Work) (_ Answer, err error) {
	ctx, op := r.watch.Begin(ctx, "AP08.do")
	defer op.End(&err)
	if work.Run == nil {
		return Answer{}, &InvalidError{Field: "Work.Run", Reason: "is missing"}
	}
	claim, err := r.Begin(ctx, client, request, work.Mode)
	if replayed, ok := Replayed(err); ok {
		watch.Outcome(ctx, observe.Replayed)
		return Answer{Result: replayed.Result, Replayed: true}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	return claim.Run(ctx, client, work)
}

// Run does the work of a claim as [Requests.Do] does.
//
// Cost and errors: those of [Requests.Do], without the beginning.
func (c *Claim) Run(ctx context.Context, client Client, work Work) (_ Answer, err error) {
	ctx, op := c.requests.watch.Begin(ctx, "AP08.run")
	defer op.End(&err)
	lease := max(c.record.LeaseUntil.Sub(c.requests.config.Now()), time.Second)
	returned := false
	defer func() {
		if !returned {
			settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease)
			defer cancel()
			_, _ = c.giveUp(settle, client, errors.New("the work panicked"))
		}
	}()
	watch.Outcome(ctx, observe.Failed) // if the work panics
	result, parts, err := c.work(watch.Outside(ctx), lease, work)
	watch.Outcome(ctx, observe.OK)
	returned = true
	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease) // whatever became of the client, or of the lease
	defer cancel()
	if err != nil {
		return c.failed(settle, client, err)
	}
	return c.commit(settle, client, work, result, parts)
}

func (c *Claim) work(ctx context.Context, lease time.Duration, work Work) (Result, []txn.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	return work.Run(ctx, c)
}

func (c *Claim) commit(ctx context.Context, client Client, work Work, result Result, parts []txn.Part) (Answer, error) {
	commits := txn.New(client, c.requests.config.Txn)
	_, err := commits.Commit(ctx, append([]txn.Part{c.Complete(result)}, parts...)...)
	if err != nil && work.Refuse != nil && !errors.Is(err, ErrLeaseLost) {
		if refusal, ok := work.Refuse(err); ok {
			refusal.Kind = Rejected
			result = refusal
			_, err = commits.Commit(ctx, c.Reject(refusal))
		}
	}
	if err == nil {
		return Answer{Result: result.clone()}, nil
	}
	return c.failed(ctx, client, err)
}

// failed gives the claim up, unless it turns out that the request is completed.
func (c *Claim) failed(ctx context.Context, client Client, cause error) (Answer, error) {
	replayed, ok := Replayed(cause)
	if !ok && !errors.Is(cause, ErrLeaseLost) {
		replayed, ok = c.giveUp(ctx, client, cause)
	}
	if ok {
		watch.Outcome(ctx, observe.Replayed)
		return Answer{Result: replayed.Result, Replayed: true}, nil
	}
	return Answer{}, cause
}

// giveUp ends the attempt without a result: a commit of it that is still on its way can then only fail. If one was applied
// after all, its result is returned.
func (c *Claim) giveUp(ctx context.Context, client Updater, cause error) (*ReplayedError, bool) {
	var none noEffectError
	var err error
	if c.record.Mode == Transactional || errors.As(cause, &none) {
		err = c.Release(ctx, client, cause.Error())
	} else {
		err = c.Repair(ctx, client, Evidence{Reason: cause.Error()})
	}
	return Replayed(err)
}
