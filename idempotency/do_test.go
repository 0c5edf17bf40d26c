package idempotency_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/txn"
)

// attempt is one call of Do whose work is counted.
type attempt struct {
	*store
	requests *idempotency.Requests
	time     *clock
	runs     int
}

func newAttempt(t *testing.T, options stores.Options) *attempt {
	s, time := newStore(t, options), newClock()
	impatient := txn.Config{MaxAttempts: 3, Jitter: noWait}
	return &attempt{store: s, time: time, requests: s.keeper(idempotency.Config{Now: time.now, NewID: ids("claim"), Txn: impatient})}
}

func (a *attempt) do(ctx context.Context, mode idempotency.Mode, run func(ctx context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error)) (idempotency.Answer, error) {
	return a.requests.Do(ctx, a.client, order("10"), idempotency.Work{Mode: mode, Run: func(ctx context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		a.runs++
		return run(ctx, claim)
	}})
}

func (a *attempt) accept(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
	return accepted("ord-1"), []txn.Part{a.order("ord-1")}, nil
}

func TestDoRunsOnceAndReplays(t *testing.T) {
	t.Parallel()
	for _, mode := range []idempotency.Mode{idempotency.Transactional, idempotency.External} {
		a := newAttempt(t, stores.Options{})
		for i := range 3 {
			answer, err := a.do(t.Context(), mode, a.accept)
			if err != nil || answer.Replayed != (i > 0) || !reflect.DeepEqual(answer.Result, accepted("ord-1")) {
				t.Errorf("%s, call %d: %+v, %v", mode, i, answer, err)
			}
		}
		if a.runs != 1 || a.effects(t) != 1 {
			t.Errorf("%s: %d runs, %d effects", mode, a.runs, a.effects(t))
		}
	}
}

// What becomes of a request whose work fails: a transactional one may be begun anew at once, an external one goes to
// repair, unless it is known to have had no effect.
func TestWhatBecomesOfWorkThatFails(t *testing.T) {
	t.Parallel()
	down := errors.New("the provider is down")
	fails := func(err error) func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		return func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
			return idempotency.Result{}, nil, err
		}
	}
	for _, c := range []struct {
		name string
		mode idempotency.Mode
		err  error
		want idempotency.State
	}{
		{"transactional", idempotency.Transactional, down, idempotency.Released},
		{"external", idempotency.External, down, idempotency.RepairRequired},
		{"external without effect", idempotency.External, idempotency.NoEffect(down), idempotency.Released},
	} {
		a := newAttempt(t, stores.Options{})
		if _, err := a.do(t.Context(), c.mode, fails(c.err)); !errors.Is(err, down) {
			t.Errorf("%s: %v", c.name, err)
		}
		rec := get(t, a.store, a.requests)
		if rec.State != c.want || rec.Reason != down.Error() {
			t.Errorf("%s: %s because %q", c.name, rec.State, rec.Reason)
		}
		answer, err := a.do(t.Context(), c.mode, a.accept)
		if c.want == idempotency.Released && (err != nil || a.effects(t) != 1 || get(t, a.store, a.requests).Attempt != 2) {
			t.Errorf("%s: the repeat: %+v, %v", c.name, answer, err)
		}
		if c.want == idempotency.RepairRequired && (!errors.Is(err, idempotency.ErrRepairRequired) || a.runs != 1) {
			t.Errorf("%s: the repeat: %+v, %v after %d runs", c.name, answer, err, a.runs)
		}
	}
}

func TestAPanicStoresNothingAndGoesOn(t *testing.T) {
	t.Parallel()
	for mode, want := range map[idempotency.Mode]idempotency.State{
		idempotency.Transactional: idempotency.Released, idempotency.External: idempotency.RepairRequired,
	} {
		a := newAttempt(t, stores.Options{})
		func() {
			defer func() {
				if recover() != "out of ideas" {
					t.Error("the panic did not go on")
				}
			}()
			_, _ = a.do(t.Context(), mode, func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
				panic("out of ideas")
			})
		}()
		if rec := get(t, a.store, a.requests); rec.State != want || rec.Reason != "the work panicked" {
			t.Errorf("%s: %s because %q", mode, rec.State, rec.Reason)
		}
	}
}

// A client that has gone does not keep the result from being stored.
func TestTheResultIsStoredAlsoIfTheClientHasGone(t *testing.T) {
	t.Parallel()
	a := newAttempt(t, stores.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	answer, err := a.do(ctx, idempotency.External, func(ctx context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		cancel()
		return a.accept(ctx, claim)
	})
	if err != nil || answer.Replayed || get(t, a.store, a.requests).State != idempotency.Completed {
		t.Errorf("%+v, %v", answer, err)
	}
}

// A commit that nobody got an answer to is settled before Do returns: either it was applied and its result is the
// answer, or it can never be any more.
func TestALostCommitIsSettledByGivingUp(t *testing.T) {
	t.Parallel()
	for fate, applied := range map[dynamosim.Fate]bool{dynamosim.LoseAnswer: true, dynamosim.LoseRequest: false} {
		for _, mode := range []idempotency.Mode{idempotency.Transactional, idempotency.External} {
			a := newAttempt(t, stores.Options{})
			a.fate = func(call dynamosim.Call) dynamosim.Fate {
				if call.Operation == "TransactWriteItems" {
					if fate == dynamosim.LoseAnswer {
						defer func() { fate = dynamosim.LoseRequest }() // the retries learn nothing
					}
					return fate
				}
				return dynamosim.Deliver
			}
			answer, err := a.do(t.Context(), mode, a.accept)
			state := get(t, a.store, a.requests).State
			switch {
			case applied && (err != nil || !reflect.DeepEqual(answer.Result, accepted("ord-1")) || state != idempotency.Completed):
				t.Errorf("%s, applied: %+v, %v, %s", mode, answer, err, state)
			case !applied && (!errors.Is(err, txn.ErrAmbiguous) || state == idempotency.InProgress || state == idempotency.Completed):
				t.Errorf("%s, not applied: %+v, %v, %s", mode, answer, err, state)
			}
			fate = map[bool]dynamosim.Fate{true: dynamosim.LoseAnswer, false: dynamosim.LoseRequest}[applied]
		}
	}
}

// A part that is refused for good becomes a stored refusal, which is replayed although it would pass by then.
func TestARefusedPartBecomesAStoredRefusal(t *testing.T) {
	t.Parallel()
	a := newAttempt(t, stores.Options{})
	if _, err := a.commit(t.Context(), 1, a.order("ord-1")); err != nil {
		t.Fatal(err)
	}
	work := idempotency.Work{Mode: idempotency.Transactional, Run: a.accept, Refuse: func(err error) (idempotency.Result, bool) {
		return idempotency.Result{Code: "TAKEN"}, errors.Is(err, txn.ErrCanceled)
	}}
	want := idempotency.Result{Kind: idempotency.Rejected, Code: "TAKEN"}
	for i := range 2 {
		answer, err := a.requests.Do(t.Context(), a.client, order("10"), work)
		if err != nil || answer.Replayed != (i > 0) || !reflect.DeepEqual(answer.Result, want) {
			t.Errorf("call %d: %+v, %v", i, answer, err)
		}
	}
	if n := a.effects(t); n != 1 {
		t.Errorf("%d orders", n)
	}
}

// Who is too late gets the result of who was not.
func TestALateLoserOfDoReplaysTheWinner(t *testing.T) {
	t.Parallel()
	a := newAttempt(t, stores.Options{})
	answer, err := a.do(t.Context(), idempotency.Transactional, func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		a.time.advance(idempotency.LeaseDefault)
		if winner, err := a.do(t.Context(), idempotency.Transactional, a.accept); err != nil || winner.Replayed {
			t.Errorf("the winner: %+v, %v", winner, err)
		}
		return accepted("ord-2"), []txn.Part{a.order("ord-2")}, nil
	})
	if err != nil || !answer.Replayed || !reflect.DeepEqual(answer.Result, accepted("ord-1")) || a.effects(t) != 1 {
		t.Errorf("the loser: %+v, %v, %d effects", answer, err, a.effects(t))
	}
}

func TestDoWithoutWorkClaimsNothing(t *testing.T) {
	t.Parallel()
	a := newAttempt(t, stores.Options{})
	if _, err := a.requests.Do(t.Context(), a.client, order("10"), idempotency.Work{Mode: idempotency.External}); !errors.Is(err, idempotency.ErrInvalid) || a.calls.Load() > 0 {
		t.Errorf("%v after %d calls", err, a.calls.Load())
	}
	if idempotency.NoEffect(nil) != nil {
		t.Error("no error without an effect is an error")
	}
}

// The work's time ends with the lease.
func TestTheContextOfTheWorkEndsWithTheLease(t *testing.T) {
	t.Parallel()
	a := newAttempt(t, stores.Options{})
	_, err := a.do(t.Context(), idempotency.External, func(ctx context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		if _, ok := ctx.Deadline(); !ok || claim.Record().LeaseUntil.Sub(noon) != idempotency.LeaseDefault {
			t.Error("the context has no end")
		}
		return idempotency.Result{}, nil, nil
	})
	if err != nil {
		t.Error(err)
	}
}
