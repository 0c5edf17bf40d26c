package projection_test

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// Each row is a sequence of deliveries to one source: the versions, what becomes of each, the view, the gap that is left.
func TestDeliveriesFollowTheTable(t *testing.T) {
	t.Parallel()
	const a, s, p = projection.Applied, projection.Stale, projection.Parked
	for _, c := range []struct {
		name     string
		versions []int64
		results  []projection.Result
		seen     string
		parked   []int64
		missing  int64
	}{
		{"in order", []int64{1, 2, 3}, []projection.Result{a, a, a}, "1 2 3 ", nil, 0},
		{"repeats", []int64{1, 1, 2, 1, 2}, []projection.Result{a, s, a, s, s}, "1 2 ", nil, 0},
		{"a gap that fills", []int64{1, 3, 4, 2}, []projection.Result{a, p, p, a}, "1 2 3 4 ", nil, 0},
		{"from the end", []int64{4, 3, 2, 1}, []projection.Result{p, p, p, a}, "1 2 3 4 ", nil, 0},
		{"two gaps", []int64{1, 3, 5, 2}, []projection.Result{a, p, p, a}, "1 2 3 ", []int64{5}, 4},
		{"a parked repeat", []int64{3, 3, 3}, []projection.Result{p, p, p}, "", []int64{3}, 1},
		{"the gap stays", []int64{1, 3, 1}, []projection.Result{a, p, s}, "1 ", []int64{3}, 2},
		{"both gaps fill", []int64{1, 3, 5, 4, 2}, []projection.Result{a, p, p, p, a}, "1 2 3 4 5 ", nil, 0},
	} {
		b := setup(t)
		for i, version := range c.versions {
			b.apply(t, "order-1", version, c.results[i])
		}
		if seen := b.seen(t, 1, "order-1"); seen != c.seen {
			t.Errorf("%s: the view saw %q, want %q", c.name, seen, c.seen)
		}
		if parked := b.parked(t, "order-1"); !slices.Equal(parked, c.parked) {
			t.Errorf("%s: %v are parked, want %v", c.name, parked, c.parked)
		}
		gaps := b.gaps(t, b.ns)
		if (len(gaps) == 1) != (c.missing > 0) || len(gaps) == 1 && (gaps[0].Missing != c.missing ||
			gaps[0].Parked != int64(len(c.parked)) || gaps[0].Highest != slices.Max(c.parked) || gaps[0].Source != "order-1") {
			t.Errorf("%s: gaps %+v", c.name, gaps)
		}
	}
}

// Sources do not wait for one another, and their gaps are listed over all shards, by name.
func TestGapsOfManySourcesAreListedByName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	for _, source := range []string{"a", "b", "c", "d", "e#f", "e%23f", "g", "h", "i", "j"} {
		b.apply(t, source, 1, projection.Applied)
		if source != "c" {
			b.apply(t, source, 3, projection.Parked)
			want = append(want, source)
		}
	}
	var got []string
	for _, gap := range b.gaps(t, b.ns) {
		got = append(got, gap.Source)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("gaps of %v, want %v", got, want)
	}
	n := 0
	for cp, err := range b.ns.Checkpoints(t.Context()) {
		if err != nil || cp.Version != 1 || cp.Events != 1 || cp.Control.Int64() != 100 {
			t.Errorf("%+v, %v", cp, err)
		}
		n++
	}
	if n != 10 {
		t.Errorf("%d checkpoints", n)
	}
}

// P4: what waits behind a gap is bounded. What is refused is not stored, and says so; what is parked already is.
func TestParkedEventsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ns = b.projection(b.client, projection.Config{ParkedMax: 2}).Namespace(1)
	b.apply(t, "order-1", 3, projection.Parked)
	b.apply(t, "order-1", 5, projection.Parked)
	_, err := b.ns.Apply(t.Context(), changed("order-1", 4))
	var overflow *projection.OverflowError
	if !errors.As(err, &overflow) || overflow.Missing != 1 || overflow.Parked != 2 || overflow.Version != 4 {
		t.Fatalf("%v, want an overflow", err)
	}
	b.apply(t, "order-1", 5, projection.Parked)
	other := changed("order-1", 5)
	other.Payload = nil
	if _, err := b.ns.Apply(t.Context(), other); !errors.Is(err, projection.ErrMismatch) {
		t.Errorf("other content: %v", err)
	}
	b.apply(t, "order-1", 1, projection.Applied)
	b.apply(t, "order-1", 2, projection.Applied)
	b.apply(t, "order-1", 4, projection.Applied)
	if seen := b.seen(t, 1, "order-1"); seen != "1 2 3 4 5 " {
		t.Errorf("the view saw %q", seen)
	}
}

// Two facts under one version are found while one of them is parked, and when it is applied.
func TestAnotherEventUnderAParkedVersionIsAMismatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, "order-1", 2, projection.Parked)
	other := changed("order-1", 2)
	other.ID = "evt-other"
	_, err := b.ns.Apply(t.Context(), other)
	var mismatch *projection.MismatchError
	if !errors.As(err, &mismatch) || mismatch.StoredID != "evt-order-1-2" || mismatch.EventID != "evt-other" {
		t.Fatalf("%v, want a mismatch", err)
	}
	b.refuse = func(e projection.Event) error {
		if e.Version == 2 && e.ID != "evt-other" {
			return errors.New("not now")
		}
		return nil
	}
	if _, err := b.ns.Apply(t.Context(), changed("order-1", 1)); !errors.Is(err, projection.ErrDrain) {
		t.Fatalf("%v, want ErrDrain", err)
	}
	if _, err := b.ns.Apply(t.Context(), other); !errors.Is(err, projection.ErrMismatch) {
		t.Errorf("as the next version: %v, want a mismatch", err)
	}
	if seen := b.seen(t, 1, "order-1"); seen != "1 " {
		t.Errorf("the view saw %q", seen)
	}
}

// What a worker leaves behind a filled gap is drained by the repeat of the event that filled it, by the parked event's own
// repeat, or by Sweep.
func TestWhatWaitsBehindAFilledGapIsDrained(t *testing.T) {
	t.Parallel()
	down := func(e projection.Event) error {
		if e.Version > 1 {
			return errors.New("not now")
		}
		return nil
	}
	for what, drain := range map[string]func(*bench) error{
		"repeat": func(b *bench) error {
			out, err := b.ns.Apply(t.Context(), changed("order-1", 1))
			if out.Result != projection.Stale || out.Drained != 2 || out.Version != 3 {
				t.Errorf("the repeat: %+v", out)
			}
			return err
		},
		"own repeat": func(b *bench) error {
			out, err := b.ns.Apply(t.Context(), changed("order-1", 2))
			if out.Result != projection.Applied || out.Drained != 1 || out.Version != 3 {
				t.Errorf("the parked event's repeat: %+v", out)
			}
			return err
		},
		"sweep": func(b *bench) error {
			n, err := b.ns.Sweep(t.Context())
			if n != 2 {
				t.Errorf("Sweep drained %d", n)
			}
			return err
		},
	} {
		b := setup(t)
		b.apply(t, "order-1", 2, projection.Parked)
		b.apply(t, "order-1", 3, projection.Parked)
		b.refuse = down
		_, err := b.ns.Apply(t.Context(), changed("order-1", 1))
		var left *projection.DrainError
		if !errors.As(err, &left) || left.Version != 2 || !errors.Is(err, projection.ErrView) {
			t.Fatalf("%s: %v, want ErrDrain", what, err)
		}
		if gaps := b.gaps(t, b.ns); len(gaps) != 1 || gaps[0].Missing != 2 {
			t.Errorf("%s: gaps %+v", what, gaps)
		}
		if n, err := b.ns.Sweep(t.Context()); n != 0 || !errors.Is(err, projection.ErrView) {
			t.Errorf("%s: a sweep meanwhile drained %d, %v", what, n, err)
		}
		b.refuse = nil
		if err := drain(b); err != nil || b.seen(t, 1, "order-1") != "1 2 3 " || len(b.gaps(t, b.ns)) != 0 {
			t.Errorf("%s: %v, seen %q", what, err, b.seen(t, 1, "order-1"))
		}
	}
}

// P3: whatever the view says, the checkpoint moves with it or not at all.
func TestARefusedViewKeepsTheCheckpoint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.refuse = func(projection.Event) error { return errBelow }
	if _, err := b.ns.Apply(t.Context(), changed("order-1", 1)); !errors.Is(err, projection.ErrView) || !errors.Is(err, errBelow) {
		t.Errorf("%v, want ErrView", err)
	}
	b.refuse = nil
	guarded := b.projection(b.client, projection.Config{View: func(_ ctx, namespace int, e projection.Event) ([]txn.Part, error) {
		return []txn.Part{txn.Check(b.view, b.viewKey(1, "guard"), txn.If(expression.AttributeExists(expression.Name("PK"))), txn.Label("guard"))}, nil
	}}).Namespace(1)
	if _, err := guarded.Apply(t.Context(), changed("order-1", 1)); !errors.Is(err, txn.ErrCanceled) {
		t.Errorf("%v, want ErrCanceled", err)
	}
	bad := b.projection(b.client, projection.Config{View: func(ctx, int, projection.Event) ([]txn.Part, error) {
		return []txn.Part{txn.BadPart("bad", errBelow)}, nil
	}}).Namespace(1)
	if _, err := bad.Apply(t.Context(), changed("order-1", 1)); !errors.Is(err, txn.ErrInvalid) {
		t.Errorf("%v, want ErrInvalid of txn", err)
	}
	if cp, err := b.ns.Checkpoint(t.Context(), "order-1"); err != nil || cp.Version != 0 {
		t.Errorf("%+v, %v", cp, err)
	}
	b.apply(t, "order-1", 1, projection.Applied)
}

// A lost answer is no conflict (E1), whatever request tokens do (E2), at every request of a gap and its drain.
func TestALostAnswerEndsAsSuccess(t *testing.T) {
	t.Parallel()
	for _, tokens := range anyTokenPolicy {
		for lost := 1; lost <= 8; lost++ {
			b := setup(t, stores.Options{Tokens: tokens})
			client := b.faulty(func(call dynamosim.Call) dynamosim.Fate {
				if call.Sequence == lost {
					return dynamosim.LoseAnswer
				}
				return dynamosim.Deliver
			})
			b.ns = b.projection(client, projection.Config{}).Namespace(1)
			b.apply(t, "order-1", 2, projection.Parked)
			b.apply(t, "order-1", 3, projection.Parked)
			b.apply(t, "order-1", 1, projection.Applied)
			if seen := b.seen(t, 1, "order-1"); seen != "1 2 3 " || len(b.gaps(t, b.ns)) != 0 {
				t.Errorf("tokens %v, answer %d lost: the view saw %q", tokens, lost, seen)
			}
		}
	}
}

func TestManyWorkersApplyEachVersionOnceAndInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const workers, versions = 6, 6
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			for n := range versions {
				version := int64((n+i)%versions + 1)
				for try := 0; ; try++ {
					_, err := b.ns.Apply(t.Context(), changed("order-1", version))
					if err == nil {
						break
					}
					if try > 50 || !errors.Is(err, projection.ErrBusy) && !errors.Is(err, txn.ErrContention) && !errors.Is(err, projection.ErrDrain) {
						t.Errorf("version %d: %v", version, err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	if _, err := b.ns.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if seen := b.seen(t, 1, "order-1"); seen != "1 2 3 4 5 6 " || len(b.gaps(t, b.ns)) != 0 {
		t.Errorf("the view saw %q", seen)
	}
}

// A damaged record is reported, not passed and not overwritten.
func TestADamagedRecordIsReportedAndKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sk, attribute string }{
		{"SOURCE#order-1", "v"}, {"SOURCE#order-1", "parked"}, {"SOURCE#order-1", "updatedAt"}, {"SOURCE#order-1", "control"},
		{"PARKED#order-1#000000000000000003", "digest"}, {"PARKED#order-1#000000000000000003", "payload"},
		{"GAP#order-1", "missing"},
	} {
		b := setup(t)
		b.apply(t, "order-1", 1, projection.Applied)
		b.apply(t, "order-1", 3, projection.Parked)
		item := b.read(t, b.points, b.points.Key(partition, c.sk))
		item[c.attribute] = text("damaged")
		if _, err := b.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.points.Name, Item: item}); err != nil {
			t.Fatal(err)
		}
		_, err := b.ns.Apply(t.Context(), changed("order-1", 2))
		if c.sk == "GAP#order-1" {
			for _, listed := range b.ns.Gaps(t.Context()) {
				err = listed
			}
			break
		}
		var damaged *projection.RecordError
		if !errors.As(err, &damaged) || damaged.Attribute != c.attribute || damaged.SK != c.sk {
			t.Errorf("%s of %s: %v", c.attribute, c.sk, err)
		}
		if after := b.read(t, b.points, b.points.Key(partition, c.sk)); !reflect.DeepEqual(item, after) {
			t.Errorf("%s of %s: the record changed", c.attribute, c.sk)
		}
	}
}
