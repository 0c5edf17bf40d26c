package idempotency_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/txn"
)

// clock is a clock that a test moves.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock() *clock {
	c := &clock{}
	start := noon
	c.at.Store(&start)
	return c
}

func (c *clock) now() time.Time { return *c.at.Load() }
func (c *clock) advance(d time.Duration) {
	next := c.now().Add(d)
	c.at.Store(&next)
}

func begin(t *testing.T, s *store, requests *idempotency.Requests, r idempotency.Request, mode idempotency.Mode) (*idempotency.Claim, error) {
	t.Helper()
	claim, err := requests.Begin(t.Context(), s.client, r, mode)
	if (claim == nil) == (err == nil) {
		t.Fatalf("claim %v, error %v", claim, err)
	}
	return claim, err
}

func mustBegin(t *testing.T, s *store, requests *idempotency.Requests, mode idempotency.Mode) *idempotency.Claim {
	t.Helper()
	claim, err := begin(t, s, requests, order("10"), mode)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

// I2: exactly one of N concurrent callers runs.
func TestOneOfManyCallersGetsTheClaim(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	requests := s.keeper(idempotency.Config{Now: at(noon), NewID: ids("claim")})
	var won, waiting atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := requests.Begin(t.Context(), s.client, order("10"), idempotency.Transactional)
			switch {
			case err == nil:
				won.Add(1)
			case errors.Is(err, idempotency.ErrInProgress):
				waiting.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || waiting.Load() != 15 {
		t.Errorf("%d claims, %d told to wait", won.Load(), waiting.Load())
	}
}

// I3, E5: before the end of the lease callers wait for exactly the rest of it; from its end on one takes over.
func TestALeaseEndsAtItsEndAndNotANanosecondBefore(t *testing.T) {
	t.Parallel()
	for _, mode := range []idempotency.Mode{idempotency.Transactional, idempotency.External} {
		for after, free := range map[time.Duration]bool{29 * time.Second: false, 30*time.Second - 1: false, 30 * time.Second: true, 30*time.Second + 1: true} {
			s, time := newStore(t, stores.Options{}), newClock()
			requests := s.keeper(idempotency.Config{Now: time.now, NewID: ids("claim"), Owner: "api-1"})
			mustBegin(t, s, requests, mode)
			time.advance(after)
			claim, err := begin(t, s, requests, order("10"), mode)
			var waiting *idempotency.InProgressError
			switch {
			case !free && (!errors.As(err, &waiting) || waiting.RetryAfter != 30e9-after || waiting.Owner != "api-1" || waiting.Attempt != 1):
				t.Errorf("%s, after %v: %v, %+v", mode, after, err, waiting)
			case free && mode == idempotency.Transactional && (err != nil || claim.Attempt() != 2):
				t.Errorf("%s, after %v: %v", mode, after, err)
			case free && mode == idempotency.External && !errors.Is(err, idempotency.ErrRepairRequired):
				t.Errorf("%s, after %v: %v", mode, after, err)
			}
		}
	}
}

// I5: what the first owner does after a takeover says lease lost and changes nothing; the commit of its effect fails whole.
func TestALateLoserChangesNothing(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		s, time := newStore(t, stores.Options{}), newClock()
		requests := s.keeper(idempotency.Config{Now: time.now, NewID: ids("claim")})
		first := mustBegin(t, s, requests, idempotency.Transactional)
		time.advance(idempotency.LeaseDefault)
		second := mustBegin(t, s, requests, idempotency.Transactional)
		if done {
			if _, err := s.commit(t.Context(), 1, second.Complete(accepted("ord-2")), s.order("ord-2")); err != nil {
				t.Fatal(err)
			}
		}
		before := s.record(t, order("10"))
		_, complete := s.commit(t.Context(), 1, first.Complete(accepted("ord-1")), s.order("ord-1"))
		_, reject := s.commit(t.Context(), 1, first.Reject(idempotency.Result{Code: "NO"}))
		_, renew := first.Renew(t.Context(), s.client, 60e9)
		for step, err := range map[string]error{
			"complete": complete, "reject": reject, "renew": renew, "release": first.Release(t.Context(), s.client, "late"),
			"repair": first.Repair(t.Context(), s.client, idempotency.Evidence{Reason: "late"}),
		} {
			var lost *idempotency.LeaseLostError
			if !errors.As(err, &lost) || lost.StoredAttempt != 2 || lost.Attempt != 1 {
				t.Errorf("%s: %v", step, err)
			}
			replayed, ok := idempotency.Replayed(err)
			if ok != done || done && !reflect.DeepEqual(replayed.Result, accepted("ord-2")) {
				t.Errorf("%s: replays %v", step, replayed)
			}
		}
		if after := s.record(t, order("10")); !reflect.DeepEqual(before, after) {
			t.Errorf("the record changed from %v to %v", before, after)
		}
		if n, want := s.effects(t), map[bool]int{true: 1}[done]; n != want {
			t.Errorf("%d effects, want %d", n, want)
		}
	}
}

// I7: nobody runs an external attempt again because its lease ended; it is listed for repair with its reason, and what the
// next caller says about the mode does not matter.
func TestAnExternalAttemptIsNeverTakenOver(t *testing.T) {
	t.Parallel()
	for _, asked := range []idempotency.Mode{idempotency.Transactional, idempotency.External} {
		s, time := newStore(t, stores.Options{}), newClock()
		requests := s.keeper(idempotency.Config{Now: time.now, NewID: ids("claim")})
		mustBegin(t, s, requests, idempotency.External)
		time.advance(3600e9)
		for range 2 {
			_, err := begin(t, s, requests, order("10"), asked)
			var repair *idempotency.RepairRequiredError
			if !errors.As(err, &repair) || repair.State != idempotency.RepairRequired || repair.Reason != "the lease ended without an outcome" {
				t.Errorf("%v, %+v", err, repair)
			}
		}
		if due := dueAt(t, s, requests, time.now()); len(due) != 1 || due[0].Key != order("10").Key {
			t.Errorf("listed: %v", due)
		}
	}
}

// I4: a record in progress without a lease is nobody's to take; it goes to repair.
func TestARecordWithoutALeaseGoesToRepair(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	requests := s.keeper(idempotency.Config{Now: at(noon), NewID: ids("claim")})
	mustBegin(t, s, requests, idempotency.Transactional)
	_, err := s.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &s.requests.Name,
		Key: txn.Item{"PK": s.record(t, order("10"))["PK"], "SK": text("REQUEST")}, UpdateExpression: aws.String("REMOVE leaseUntil")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begin(t, s, requests, order("10"), idempotency.Transactional); !errors.Is(err, idempotency.ErrRepairRequired) {
		t.Error(err)
	}
	if due := dueAt(t, s, requests, noon); len(due) != 1 {
		t.Errorf("listed: %v", due)
	}
}

func dueAt(t *testing.T, s *store, requests *idempotency.Requests, cutoff time.Time) (due []idempotency.Listed) {
	t.Helper()
	for entry, err := range requests.Due(t.Context(), s.client, order("10").Tenant, cutoff) {
		if err != nil {
			t.Fatal(err)
		}
		due = append(due, entry)
	}
	return due
}

// I1: another command under the key of a request is a mismatch in every state, and changes nothing.
func TestAMismatchIsFoundInEveryState(t *testing.T) {
	t.Parallel()
	for _, state := range states {
		s, time := newStore(t, stores.Options{}), newClock()
		requests := s.keeper(idempotency.Config{Now: time.now, NewID: ids("claim"), Cache: idempotency.NewCache(9, 9999)})
		in(t, s, requests, state)
		before := s.record(t, order("10"))
		time.advance(3600e9)
		for range 2 { // the second may come from the cache
			if _, err := begin(t, s, requests, order("11"), idempotency.Transactional); !errors.Is(err, idempotency.ErrMismatch) {
				t.Errorf("%s: %v", state, err)
			}
		}
		if after := s.record(t, order("10")); !reflect.DeepEqual(before, after) {
			t.Errorf("%s: the record changed from %v to %v", state, before, after)
		}
	}
}

// E1: a Begin whose answer is lost on its way recognises itself when the SDK sends it again.
func TestALostAnswerOfBeginIsNoRival(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	s.fate = func(dynamosim.Call) dynamosim.Fate {
		if s.calls.Load() == 1 {
			return dynamosim.LoseAnswer
		}
		return dynamosim.Deliver
	}
	requests := s.keeper(idempotency.Config{Now: at(noon), NewID: ids("claim")})
	claim := mustBegin(t, s, requests, idempotency.External)
	if claim.Attempt() != 1 || s.calls.Load() != 2 {
		t.Errorf("attempt %d after %d calls", claim.Attempt(), s.calls.Load())
	}
}

// A claim whose answer took longer than its lease is not handed out: somebody else may have the request by then.
func TestAClaimThatComesTooLateIsNotHandedOut(t *testing.T) {
	t.Parallel()
	s, time := newStore(t, stores.Options{}), newClock()
	requests := s.keeper(idempotency.Config{Now: time.now, NewID: ids("claim")})
	s.fate = func(dynamosim.Call) dynamosim.Fate {
		time.advance(idempotency.LeaseDefault)
		return dynamosim.Deliver
	}
	if _, err := begin(t, s, requests, order("10"), idempotency.External); !errors.Is(err, idempotency.ErrInProgress) {
		t.Error(err)
	}
}

// O7: a lease moves forward only, also when a clock goes back.
func TestALeaseNeverMovesBackward(t *testing.T) {
	t.Parallel()
	for _, mode := range []idempotency.Mode{idempotency.Transactional, idempotency.External} {
		s, time := newStore(t, stores.Options{}), newClock()
		requests := s.keeper(idempotency.Config{Now: time.now, NewID: ids("claim")})
		claim := mustBegin(t, s, requests, mode)
		for _, c := range []struct{ off, lease, until int64 }{{0, 60, 60}, {10, 60, 70}, {-3600, 60, 70}, {0, 1, 70}} {
			time.advance(duration(c.off))
			until, err := claim.Renew(t.Context(), s.client, duration(c.lease))
			if err != nil || until.Sub(noon) != duration(c.until) {
				t.Errorf("renewed until %v, %v; want noon and %v", until, err, duration(c.until))
			}
			time.advance(-duration(c.off))
		}
		if due := dueAt(t, s, requests, noon.Add(duration(70)-1)); len(due) != 0 {
			t.Errorf("%s: due before the lease has ended: %v", mode, due)
		}
		if due := dueAt(t, s, requests, noon.Add(duration(70))); len(due) != map[idempotency.Mode]int{idempotency.External: 1}[mode] {
			t.Errorf("%s: due when the lease has ended: %v", mode, due)
		}
		if err := claim.Repair(t.Context(), s.client, idempotency.Evidence{Reason: "no answer"}); err != nil {
			t.Error(err)
		}
		if due := dueAt(t, s, requests, noon.Add(duration(70)-1)); len(due) != 0 {
			t.Errorf("%s: its repair is due before the lease has ended, while the effect may be under way: %v", mode, due)
		}
	}
}

func duration(seconds int64) time.Duration { return time.Duration(seconds) * time.Second }

// I4: a lease of zero or less, and what else breaks a rule, is refused before anything is sent.
func TestWhatAClaimRefusesIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	claim := mustBegin(t, s, s.keeper(idempotency.Config{Now: at(noon), RecordBytesMax: 1024}), idempotency.External)
	calls := s.calls.Load()
	_, zero := claim.Renew(t.Context(), s.client, 0)
	_, negative := claim.Renew(t.Context(), s.client, -1)
	_, long := claim.Renew(t.Context(), s.client, idempotency.LeaseMax+1)
	_, mode := s.keeper(idempotency.Config{}).Begin(t.Context(), s.client, order("10"), 0)
	_, lease := s.keeper(idempotency.Config{Lease: -1}).Begin(t.Context(), s.client, order("10"), idempotency.External)
	_, token := s.keeper(idempotency.Config{NewID: func() string { return "" }}).Begin(t.Context(), s.client, order("10"), idempotency.External)
	long36 := order("10")
	long36.Key = strings.Repeat("k", 1000)
	_, unlisted := s.keeper(idempotency.Config{}).Begin(t.Context(), s.client, long36, idempotency.Transactional)
	for what, err := range map[string]error{
		"lease of zero": zero, "negative lease": negative, "lease without end": long, "no mode": mode, "configured lease": lease,
		"no token": token, "key too long to be listed": unlisted,
		"evidence too large": claim.Repair(t.Context(), s.client, idempotency.Evidence{Details: map[string]string{"x": strings.Repeat("x", 2048)}}),
		"bad evidence":       claim.Repair(t.Context(), s.client, idempotency.Evidence{Details: map[string]string{"": "x"}}),
		"bad result":         refused(t, claim.Complete(idempotency.Result{Code: "\xff"})),
	} {
		if !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := refused(t, claim.Complete(idempotency.Result{Body: make([]byte, 1024)})); !errors.Is(err, idempotency.ErrTooLarge) {
		t.Errorf("result too large: %v", err)
	}
	if s.calls.Load() != calls {
		t.Error("something was sent")
	}
}

// I8: what was completed is replayed byte for byte, whoever asks and however.
func TestACompletedRequestIsReplayed(t *testing.T) {
	t.Parallel()
	for i, result := range []idempotency.Result{accepted("ord-1"), {}, {Body: []byte{}}, {Kind: idempotency.Rejected, Code: "NO_FUNDS", Body: []byte("0")}} {
		s := newStore(t, stores.Options{})
		cache := idempotency.NewCache(10, 1<<20)
		requests := s.keeper(idempotency.Config{Now: at(noon), NewID: ids("claim"), Cache: cache})
		claim := mustBegin(t, s, requests, idempotency.Transactional)
		if _, err := s.commit(t.Context(), 1, claim.Complete(result), s.order("ord-1")); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err := begin(t, s, requests, order("10.0"), idempotency.External)
			if replayed, ok := idempotency.Replayed(err); !ok || !reflect.DeepEqual(replayed.Result, result) {
				t.Errorf("result %d: %v", i, err)
			} else if len(replayed.Result.Body) > 0 {
				replayed.Result.Body[0] = 'x' // belongs to the caller
			}
		}
		if _, err := s.commit(t.Context(), 1, requests.Once(order("10"), idempotency.Result{})); !errors.Is(err, idempotency.ErrReplayed) {
			t.Errorf("result %d: by Once: %v", i, err)
		}
		if found, err := requests.Lookup(t.Context(), s.client, order("10")); err != nil || !reflect.DeepEqual(found, result) {
			t.Errorf("result %d: by Lookup: %+v, %v", i, found, err)
		}
	}
}

// I10: the cache answers without a call, holds completed results only, and no more than it may.
func TestTheCacheHoldsCompletedResultsOnlyAndIsBounded(t *testing.T) {
	t.Parallel()
	s, time := newStore(t, stores.Options{}), newClock()
	requests := s.keeper(idempotency.Config{Now: time.now, NewID: ids("claim"), Cache: idempotency.NewCache(2, 600), RecordBytesMax: 1024})
	keyed := func(i int) idempotency.Request {
		r := order("10")
		r.Key = fmt.Sprintf("key-%d", i)
		return r
	}
	asks := func(i int) bool { // whether the store is asked
		before := s.calls.Load()
		_, _ = begin(t, s, requests, keyed(i), idempotency.Transactional)
		return s.calls.Load() > before
	}
	for i := range 3 {
		claim, err := begin(t, s, requests, keyed(i), idempotency.Transactional)
		if err != nil {
			t.Fatal(err)
		}
		if !asks(i) {
			t.Error("an attempt in progress was answered from memory")
		}
		if _, err := s.commit(t.Context(), 1, claim.Complete(idempotency.Result{Body: make([]byte, 100*i)})); err != nil {
			t.Fatal(err)
		}
	}
	for step, want := range []struct {
		key  int
		asks bool
	}{{0, true}, {0, false}, {1, true}, {0, false}, {2, true}, {0, false}, {1, true}, {2, true}, {2, false}} {
		if got := asks(want.key); got != want.asks {
			t.Errorf("step %d: key %d asks the store: %v", step, want.key, got)
		}
	}
	time.advance(idempotency.RetentionDefault)
	if !asks(2) {
		t.Error("a result that may have been cleaned up was answered from memory")
	}
	none := s.keeper(idempotency.Config{Now: time.now, Cache: idempotency.NewCache(0, 0)})
	for range 2 {
		before := s.calls.Load()
		if _, err := begin(t, s, none, keyed(1), idempotency.Transactional); !errors.Is(err, idempotency.ErrReplayed) || s.calls.Load() == before {
			t.Errorf("a cache of nothing: %v", err)
		}
	}
}
