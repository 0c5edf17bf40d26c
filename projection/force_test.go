package projection_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

func force(to int64) projection.Force {
	return projection.Force{Source: "order-1", To: to, By: "ann", Reason: "version 2 was lost by the producer, ticket 17"}
}

// P3: only a recorded decision passes versions that never came, and what waits behind them follows.
func TestAForcedAdvanceIsRecordedAndDrains(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, "order-1", 1, projection.Applied)
	b.apply(t, "order-1", 4, projection.Parked)
	b.apply(t, "order-1", 5, projection.Parked)
	out, err := b.ns.ForceAdvance(t.Context(), force(3))
	if err != nil || out.Version != 5 || out.Drained != 2 || out.Result != projection.Applied {
		t.Fatalf("%+v, %v", out, err)
	}
	cp, err := b.ns.Checkpoint(t.Context(), "order-1")
	if err != nil || cp.Version != 5 || cp.Events != 3 || cp.Skipped != 2 || b.seen(t, 1, "order-1") != "1 4 5 " || len(b.gaps(t, b.ns)) != 0 {
		t.Errorf("%+v, %v, seen %q", cp, err, b.seen(t, 1, "order-1"))
	}
	for range 2 {
		n := 0
		for audit, err := range b.ns.ForcedAdvances(t.Context()) {
			if err != nil || audit.Force != force(3) || audit.From != 1 || !audit.At.Equal(day) {
				t.Errorf("%+v, %v", audit, err)
			}
			n++
		}
		if n != 1 {
			t.Errorf("%d audit records", n)
		}
		if out, err := b.ns.ForceAdvance(t.Context(), force(3)); err != nil || out.Result != projection.Stale || out.Version != 5 {
			t.Errorf("again: %+v, %v", out, err)
		}
	}
	for _, late := range []int64{2, 3} {
		b.apply(t, "order-1", late, projection.Stale)
	}
}

func TestAForceThatWouldLoseSomethingIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, "order-1", 1, projection.Applied)
	b.apply(t, "order-1", 4, projection.Parked)
	other := force(3)
	other.By = "bob"
	long := force(3)
	long.Reason = ""
	for field, f := range map[string]projection.Force{
		"To": force(4), "By": {Source: "order-1", To: 3, Reason: "x"}, "Reason": long, "Source": {To: 3, By: "ann", Reason: "x"},
	} {
		var invalid *projection.InvalidError
		if _, err := b.ns.ForceAdvance(t.Context(), f); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, to := range []int64{-1, 0, 1, projection.MaxVersion + 1} {
		if _, err := b.ns.ForceAdvance(t.Context(), force(to)); !errors.Is(err, projection.ErrInvalid) {
			t.Errorf("to %d: %v", to, err)
		}
	}
	if cp, err := b.ns.Checkpoint(t.Context(), "order-1"); err != nil || cp.Version != 1 || cp.Parked != 1 {
		t.Errorf("%+v, %v", cp, err)
	}
	if _, err := b.ns.ForceAdvance(t.Context(), force(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ns.ForceAdvance(t.Context(), other); !errors.Is(err, projection.ErrInvalid) {
		t.Errorf("another decision about the same versions: %v", err)
	}
}

// A source of which nothing came can be forced, too, and a lost answer ends as success.
func TestALostForceEndsAsSuccess(t *testing.T) {
	t.Parallel()
	for _, parked := range []bool{true, false} {
		b := setup(t)
		if parked {
			b.apply(t, "order-1", 5, projection.Parked)
		}
		lost := false
		client := b.faulty(func(call dynamosim.Call) dynamosim.Fate {
			if call.Operation == "TransactWriteItems" && !lost {
				lost = true
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		})
		ns := b.projection(client, projection.Config{}).Namespace(1)
		out, err := ns.ForceAdvance(t.Context(), force(4))
		if err != nil || out.Version != map[bool]int64{true: 5, false: 4}[parked] {
			t.Errorf("parked %v: %+v, %v", parked, out, err)
		}
	}
}

func TestWaitCaughtUpLooksAgainUntilTheHeadIsReached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var slept time.Duration
	ns := b.projection(b.client, projection.Config{Poll: time.Minute, Now: func() time.Time { return day.Add(time.Hour) },
		Sleep: func(_ ctx, d time.Duration) error {
			slept += d
			if slept > 3*time.Minute {
				return errBelow
			}
			b.apply(t, "order-1", int64(slept/time.Minute), projection.Applied)
			return nil
		}}).Namespace(1)
	if err := ns.WaitCaughtUp(t.Context(), map[string]int64{"order-1": 2}); err != nil || slept != 2*time.Minute {
		t.Errorf("after %v: %v", slept, err)
	}
	lag, err := ns.Lag(t.Context(), "order-1", 5)
	if err != nil || lag.Version != 2 || lag.Behind != 3 || lag.Age != 58*time.Minute {
		t.Errorf("%+v, %v", lag, err)
	}
	if err := ns.WaitCaughtUp(t.Context(), map[string]int64{"order-1": 9}); !errors.Is(err, errBelow) {
		t.Errorf("%v", err)
	}
}

// A receipt among the view's parts stops another event under a known ID, and says nothing new about a repeat.
func TestAReceiptInTheViewJoinsTheTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	view, _ := receipts(b)
	ns := b.projection(b.client, projection.Config{View: view}).Namespace(1)
	for _, want := range []projection.Result{projection.Applied, projection.Stale} {
		if out, err := ns.Apply(t.Context(), changed("order-1", 1)); err != nil || out.Result != want {
			t.Errorf("%+v, %v; want %s", out, err, want)
		}
	}
	other := changed("order-1", 1)
	other.Payload = []byte("other")
	if _, err := ns.Apply(t.Context(), other); !isMismatch(err) {
		t.Errorf("other content: %v, want the receipt's mismatch", err)
	}
	twice := changed("order-1", 2)
	twice.ID = changed("order-1", 1).ID
	if _, err := ns.Apply(t.Context(), twice); err == nil {
		t.Error("an event ID counts for two versions")
	}
	if cp, err := ns.Checkpoint(t.Context(), "order-1"); err != nil || cp.Version != 1 {
		t.Errorf("%+v, %v", cp, err)
	}
}

// A force without the View moves the source and applies nothing: who has the View goes on from there.
func TestAForcePartLeavesWhatFollowsToTheView(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, "order-1", 1, projection.Applied)
	b.apply(t, "order-1", 4, projection.Parked)
	for to, reason := range map[int64]string{1: "is not ahead", 4: "would pass the parked version 4", 5: "would pass the parked version 4"} {
		var invalid *projection.InvalidError
		if _, err := b.ns.ForcePart(t.Context(), force(to)); !errors.As(err, &invalid) || !strings.Contains(invalid.Reason, reason) {
			t.Errorf("to %d: %v", to, err)
		}
	}
	part, err := b.ns.ForcePart(t.Context(), force(3))
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := txn.Commit(t.Context(), b.client, part)
	if err != nil || receipt.Total().String() != "6" {
		t.Errorf("%s units, %v", receipt.Total(), err)
	}
	if seen := b.seen(t, 1, "order-1"); seen != "1 " || len(b.gaps(t, b.ns)) != 1 {
		t.Errorf("before a sweep: seen %q, %d gaps", seen, len(b.gaps(t, b.ns)))
	}
	if _, err := txn.Commit(t.Context(), b.client, part); !errors.Is(err, txn.ErrCanceled) {
		t.Errorf("a late copy: %v", err)
	}
	if drained, err := b.ns.Sweep(t.Context()); err != nil || drained != 1 || b.seen(t, 1, "order-1") != "1 4 " || len(b.gaps(t, b.ns)) != 0 {
		t.Errorf("%d drained, %v, seen %q", drained, err, b.seen(t, 1, "order-1"))
	}
	for audit, err := range b.ns.ForcedAdvances(t.Context()) {
		if err != nil || audit.Force != force(3) {
			t.Errorf("%+v, %v", audit, err)
		}
	}
}
