package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
)

func TestABatchRunsOnceAndKeepsItsSummary(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Fatal(err)
	}
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Errorf("the same manifest again: %v", err)
	}
	other := manifest()
	other.Window.Grace = time.Hour
	if err := b.desk.Create(t.Context(), other); !errors.Is(err, reconcile.ErrExists) {
		t.Errorf("another manifest: %v", err)
	}
	summary, err := b.desk.Run(t.Context(), tenant, date, batch, job("ann"))
	if err != nil {
		t.Fatal(err)
	}
	if got := told(b.breaks(t)); !slices.Equal(got, jobBreaks) {
		t.Errorf("breaks %q", got)
	}
	never := job("bob")
	never.Left = func(func(reconcile.Row, error) bool) { t.Error("a completed batch was read again") }
	again, err := b.desk.Run(t.Context(), tenant, date, batch, never)
	if err != nil || again.Breaks() != 3 || again.Left.Digest != summary.Left.Digest || again.Outcomes[reconcile.Matched] != 1 ||
		!slices.Equal(again.Drifts[reconcile.Mismatched], []money.Amount{money.MustParse("0.50 USD")}) {
		t.Errorf("%+v, %v", again, err)
	}
	stored := b.batch(t)
	if stored.State != reconcile.BatchCompleted || stored.Attempt != 1 || stored.Owner != "ann" || !stored.Lease.IsZero() || !stored.Ended.Equal(day) {
		t.Errorf("%+v", stored)
	}
	var listed []string
	for one, err := range b.desk.Batches(t.Context(), tenant, date) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, one.Batch)
	}
	if !slices.Equal(listed, []string{batch}) {
		t.Errorf("the day has %q", listed)
	}
}

// Nothing is written of inputs that are not what the manifest says, or that changed since an earlier attempt.
func TestInputsThatAreNotTheDeclaredOnesWriteNoBreak(t *testing.T) {
	t.Parallel()
	control := func(rows int64, sum string) *reconcile.Totals {
		return &reconcile.Totals{Rows: rows, Sums: []money.Amount{money.MustParse(sum)}}
	}
	for what, c := range map[string]struct {
		declared *reconcile.Totals
		total    string
	}{
		"the right ones": {control(3, "6.00 USD"), ""}, "rows": {control(4, "6.00 USD"), "rows"}, "sums": {control(3, "6.01 USD"), "sums"},
		"digest": {&reconcile.Totals{Rows: 3, Digest: "0"}, "digest"}, "only rows": {&reconcile.Totals{Rows: 3}, ""},
	} {
		b, m := setup(t), manifest()
		m.Left.Control = c.declared
		if err := b.desk.Create(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		_, err := b.desk.Run(t.Context(), tenant, date, batch, job("ann"))
		var differs *reconcile.ControlError
		switch {
		case c.total == "" && err != nil:
			t.Errorf("%s: %v", what, err)
		case c.total != "" && (!errors.As(err, &differs) || differs.Total != c.total || len(b.breaks(t)) != 0 || b.batch(t).State != reconcile.BatchFailed):
			t.Errorf("%s: %v, %+v", what, err, b.batch(t))
		}
	}
	b := setup(t)
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Fatal(err)
	}
	broken := job("ann")
	broken.Assign = func(reconcile.Outcome) reconcile.Assignment { return reconcile.Assignment{} } // fails after the totals are stored
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, broken); !errors.Is(err, reconcile.ErrInvalid) {
		t.Fatal(err)
	}
	changed := job("bob")
	changed.Right = rows("r1 a 1.00USD -1")
	var differs *reconcile.ControlError
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, changed); !errors.As(err, &differs) || differs.Since != "an earlier attempt" {
		t.Errorf("%v", err)
	}
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, job("bob")); err != nil {
		t.Error(err)
	}
	if got := told(b.breaks(t)); !slices.Equal(got, jobBreaks) {
		t.Errorf("breaks %q", got)
	}
}

// faulty is a client whose n-th request meets a fate, without retries of the SDK's own; with dead, every later one is lost:
// the process has died.
func (b *bench) faulty(n int, fate dynamosim.Fate, dead bool) (*dynamodb.Client, *int) {
	sent := new(int)
	plain := b.store.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	return stores.Faulty(plain, func(dynamosim.Call) dynamosim.Fate {
		*sent++
		switch {
		case *sent == n:
			return fate
		case *sent > n && dead:
			return dynamosim.LoseRequest
		}
		return dynamosim.Deliver
	}), sent
}

// Every request of a run times every fate, with and without the death of its process: the next run completes the batch, with
// the same breaks, once each, and what somebody did to a break meanwhile stays (R4).
func TestAnyCrashAndRestartGivesTheSameBreaksOnce(t *testing.T) {
	t.Parallel()
	fates := slices.DeleteFunc(dynamosim.Fates(), func(f dynamosim.Fate) bool { return f == dynamosim.Deliver })
	for n := 1; ; n++ {
		reached := false
		for _, fate := range fates {
			for _, dead := range []bool{false, true} {
				b := setup(t)
				client, sent := b.faulty(n, fate, dead)
				desk := reconcile.New(client, reconcile.Config{Table: b.table, Writers: 1, Now: func() time.Time { return b.now }, Txn: quick})
				err := desk.Create(t.Context(), manifest())
				if err == nil {
					_, err = desk.Run(t.Context(), tenant, date, batch, job("ann"))
				}
				reached = reached || *sent >= n
				b.restart(t, err == nil)
				if got := told(b.breaks(t)); !slices.Equal(got, jobBreaks) {
					t.Fatalf("request %d, %v, dead %t: breaks %q", n, fate, dead, got)
				}
			}
		}
		if !reached {
			if n < 9 { // create, read, begin, found, three breaks, complete
				t.Errorf("a run has %d requests", n-1)
			}
			return
		}
	}
}

// restart runs the batch to its end after the lease of a dead run, having resolved a break that is there already.
func (b *bench) restart(t *testing.T, done bool) {
	t.Helper()
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Fatal(err)
	}
	before := b.breaks(t)
	for _, one := range before {
		b.commit(t, b.desk.Resolve(one, reconcile.Evidence{By: "ops", Note: "found", Reference: "doc-1"}))
	}
	b.now = b.now.Add(reconcile.DefaultLease + time.Second)
	summary, err := b.desk.Run(t.Context(), tenant, date, batch, job("bob"))
	if err != nil || summary.Breaks() != 3 {
		t.Fatalf("%+v, %v", summary, err)
	}
	if stored := b.batch(t); stored.State != reconcile.BatchCompleted || done && stored.Owner != "ann" {
		t.Fatalf("%+v", stored)
	}
	resolved := 0
	for _, one := range b.breaks(t) {
		if one.Status == reconcile.StatusResolved {
			resolved++
		}
	}
	if resolved != len(before) {
		t.Fatalf("%d breaks were resolved, %d are", len(before), resolved)
	}
}

// A run that was paused past its lease changes nothing: not the batch, and no break that is there.
func TestALateRunChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Fatal(err)
	}
	late := job("ann")
	late.Right = func(yield func(reconcile.Row, error) bool) {
		if _, err := b.desk.Run(t.Context(), tenant, date, batch, job("bob")); !errors.Is(err, reconcile.ErrState) {
			t.Errorf("within the lease: %v", err)
		}
		b.now = b.now.Add(reconcile.DefaultLease)
		if _, err := b.desk.Run(t.Context(), tenant, date, batch, job("bob")); err != nil {
			t.Errorf("after it: %v", err)
		}
		job("ann").Right(yield)
	}
	var moved *reconcile.StateError
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, late); !errors.As(err, &moved) || moved.State != string(reconcile.BatchCompleted) {
		t.Errorf("the late run: %v", err)
	}
	if stored := b.batch(t); stored.State != reconcile.BatchCompleted || stored.Owner != "bob" || stored.Attempt != 2 {
		t.Errorf("%+v", stored)
	}
	if got := told(b.breaks(t)); !slices.Equal(got, jobBreaks) {
		t.Errorf("breaks %q", got)
	}
}

// A long run keeps its batch by renewing its lease.
func TestALongRunRenewsItsLease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Fatal(err)
	}
	slow := job("ann")
	slow.Observe = func(reconcile.Outcome) { b.now = b.now.Add(reconcile.DefaultLease / 2) }
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, slow); err != nil {
		t.Fatal(err)
	}
	if stored := b.batch(t); stored.Version < 8 { // created, begun, read, renewed four times, completed
		t.Errorf("%+v", stored)
	}
}

func TestASourceThatFailsFailsTheBatchWithItsReason(t *testing.T) {
	t.Parallel()
	down := errors.New("the bank does not answer")
	for what, c := range map[string]struct {
		left reconcile.Rows
		kind error
	}{
		"an error":       {func(yield func(reconcile.Row, error) bool) { yield(reconcile.Row{}, down) }, down},
		"no ID":          {given([]reconcile.Row{{Key: "a"}}), reconcile.ErrSource},
		"one ID for two": {rows("l a 1.00USD", "l a 2.00USD"), reconcile.ErrSource},
	} {
		b := setup(t)
		if err := b.desk.Create(t.Context(), manifest()); err != nil {
			t.Fatal(err)
		}
		j := job("ann")
		j.Left = c.left
		_, err := b.desk.Run(t.Context(), tenant, date, batch, j)
		if stored := b.batch(t); !errors.Is(err, c.kind) || stored.State != reconcile.BatchFailed || stored.Failure == "" || len(b.breaks(t)) != 0 {
			t.Errorf("%s: %v, %+v", what, err, stored)
		}
	}
}

func TestACancelledRunStopsAndFailsTheBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	j := job("ann")
	j.Observe = func(reconcile.Outcome) { cancel() }
	if _, err := b.desk.Run(ctx, tenant, date, batch, j); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if stored := b.batch(t); stored.State != reconcile.BatchFailed {
		t.Errorf("%+v", stored)
	}
}

// A state that differs is a break every day. Where two days have batches of one ID, the second does not take the first one's break,
// which somebody may have closed, for its own: it fails and says why.
func TestABatchDoesNotTakeTheBreaksOfAnotherDayForItsOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	states := job("ann")
	states.Left, states.Right = rows("l1 a 1.00USD"), rows()
	for _, day := range []string{date, "2026-11-30"} {
		m := manifest()
		m.Date = day
		if err := b.desk.Create(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		_, err := b.desk.Run(t.Context(), tenant, day, batch, states)
		var exists *reconcile.ExistsError
		if day == date {
			if err != nil {
				t.Fatal(err)
			}
			if one := b.byKey(t, "a"); one.Date != date {
				t.Errorf("%+v", one)
			}
			b.commit(t, b.desk.Resolve(b.byKey(t, "a"), reconcile.Evidence{By: "ann", Note: "posted", Reference: "t-1"}))
		} else if !errors.As(err, &exists) || exists.Date != date || exists.Batch != batch {
			t.Errorf("the break of the second day: %v", err)
		}
	}
}

// The day of a batch is a good ID for it. Then its breaks stand beside the day's batches, and neither is taken for the other.
func TestABatchMayBeNamedByItsDay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := manifest()
	m.Batch = date
	if err := b.desk.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := b.desk.Run(t.Context(), tenant, date, date, job("ann")); err != nil {
		t.Fatal(err)
	}
	batches, breaks := 0, 0
	for _, err := range b.desk.Batches(t.Context(), tenant, date) {
		if batches++; err != nil {
			t.Error(err)
		}
	}
	for _, err := range b.desk.Breaks(t.Context(), tenant, date) {
		if breaks++; err != nil {
			t.Error(err)
		}
	}
	if batches != 1 || breaks != 3 {
		t.Errorf("%d batches and %d breaks", batches, breaks)
	}
}
