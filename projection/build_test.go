package projection_test

import (
	"errors"
	"fmt"
	"iter"
	"math/big"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// archive is a full source of events, which can begin behind a position.
type archive []projection.Event

func (a archive) from(position string) iter.Seq2[projection.Entry, error] {
	start := 0
	_, _ = fmt.Sscan(position, &start)
	return func(yield func(projection.Entry, error) bool) {
		for i := start; i < len(a); i++ {
			if !yield(projection.Entry{Event: a[i], Position: fmt.Sprint(i + 1)}, nil) {
				return
			}
		}
	}
}

// newArchive has some versions of some sources, mixed, each source in order.
func newArchive(sources, versions int) (a archive) {
	for version := range versions {
		for source := range sources {
			a = append(a, changed(fmt.Sprint("order-", source), int64(version+1)))
		}
	}
	return a
}

func TestARebuildIsProvedBeforeReadersMove(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := newArchive(5, 3)
	for _, e := range all {
		if _, err := b.ns.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	// Another map: a rebuild is how a projection is resharded.
	wide := b.projection(b.client, projection.Config{Map: shardmap.Map{Version: 2, HashVersion: shardmap.HashV1, Shards: 11}})
	next := wide.Namespace(2)
	build, err := next.Start(t.Context(), "ann")
	if err != nil || build.State != projection.Building || build.By != "ann" || !build.StartedAt.Equal(day) {
		t.Fatalf("%+v, %v", build, err)
	}
	alias, err := b.p.Alias(t.Context())
	if err != nil || alias.Namespace != 1 || alias.Version != 0 {
		t.Fatalf("%+v, %v", alias, err)
	}
	live := b.ns
	evidence := projection.Evidence{Live: live, By: "ann"}
	if _, err := next.Prove(t.Context(), evidence); !errors.Is(err, projection.ErrState) {
		t.Errorf("proved before it was loaded: %v", err)
	}
	if _, err := next.Cutover(t.Context(), alias, "ann"); !errors.Is(err, projection.ErrState) {
		t.Errorf("cut over before it was proved: %v", err)
	}
	if build, err = next.Load(t.Context(), build, all[:10].from(build.Position), nil); err != nil || build.State != projection.Loaded || build.Read != 10 {
		t.Fatalf("%+v, %v", build, err)
	}
	var unproved *projection.UnprovedError
	if _, err := next.Prove(t.Context(), evidence); !errors.As(err, &unproved) || len(unproved.Faults) != 5 || !strings.Contains(err.Error(), "readers see version 3") {
		t.Errorf("behind the live namespace: %v", err)
	}
	for _, e := range all[10:] { // live events are delivered to both namespaces
		if _, err := next.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	want := projection.Totals{Sources: 5, Events: 15, Control: big.NewInt(5 * (100 + 200 + 300))}
	evidence.Want = &want
	if build, err = next.Prove(t.Context(), evidence); err != nil || build.State != projection.Proved || build.Totals.Events != 15 || build.Totals.Control.Cmp(want.Control) != 0 {
		t.Fatalf("%+v, %v", build, err)
	}
	moved, err := next.Cutover(t.Context(), alias, "ann")
	if err != nil || moved.Namespace != 2 || moved.Previous != 1 || moved.Version != 1 {
		t.Fatalf("%+v, %v", moved, err)
	}
	if again, err := next.Cutover(t.Context(), alias, "ann"); err != nil || again != moved {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	if _, err := next.Cutover(t.Context(), alias, "bob"); !errors.Is(err, projection.ErrState) {
		t.Errorf("by what was read before: %v", err)
	}
	if stored, err := b.p.Alias(t.Context()); err != nil || stored != moved {
		t.Errorf("%+v, %v", stored, err)
	}
	if b.seen(t, 1, "order-0") != "1 2 3 " || b.seen(t, 2, "order-0") != "1 2 3 " {
		t.Errorf("namespaces hold %q and %q", b.seen(t, 1, "order-0"), b.seen(t, 2, "order-0"))
	}
	back, err := b.p.Rollback(t.Context(), moved, "bob")
	if err != nil || back.Namespace != 1 || back.Previous != 2 || back.Version != 2 {
		t.Errorf("roll back: %+v, %v", back, err)
	}
	if again, err := b.p.Rollback(t.Context(), moved, "bob"); err != nil || again != back {
		t.Errorf("roll back again: %+v, %v", again, err)
	}
	if forth, err := next.Cutover(t.Context(), back, "ann"); err != nil || forth.Namespace != 2 || forth.Version != 3 {
		t.Errorf("cut over again: %+v, %v", forth, err)
	}
	if _, err := b.p.Rollback(t.Context(), moved, "carl"); !errors.Is(err, projection.ErrState) {
		t.Errorf("roll back by an alias of two moves ago: %v", err)
	}
	if _, err := b.p.Rollback(t.Context(), alias, "bob"); !errors.Is(err, projection.ErrState) {
		t.Errorf("roll back to nowhere: %v", err)
	}
	b.movesByParts(t, next)
	b.refusesMadeUpAliases(t)
}

// movesByParts moves readers there and back in transactions of the caller's own. A repeat is refused.
func (b *bench) movesByParts(t *testing.T, next *projection.Namespace) {
	t.Helper()
	for _, move := range []func(projection.Alias) txn.Part{
		func(a projection.Alias) txn.Part { return b.p.RollbackPart(a, "ann") },
		func(a projection.Alias) txn.Part { return next.CutoverPart(a, "ann") },
	} {
		from, err := b.p.Alias(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := txn.Commit(t.Context(), b.client, move(from)); err != nil {
			t.Errorf("from namespace %d: %v", from.Namespace, err)
		}
		if to, err := b.p.Alias(t.Context()); err != nil || to.Namespace != from.Previous || to.Previous != from.Namespace || to.Version != from.Version+1 {
			t.Errorf("from %+v to %+v: %v", from, to, err)
		}
		if _, err := txn.Commit(t.Context(), b.client, move(from)); !errors.Is(err, projection.ErrState) {
			t.Errorf("a repeat: %v", err)
		}
	}
}

// refusesMadeUpAliases holds that readers go back to where they were only.
func (b *bench) refusesMadeUpAliases(t *testing.T) {
	t.Helper()
	stored, err := b.p.Alias(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made := stored
	made.Previous = 7 // which nobody built, let alone proved
	if to, err := b.p.Rollback(t.Context(), made, "bob"); !errors.Is(err, projection.ErrState) {
		t.Errorf("roll back to where readers never were: %+v, %v", to, err)
	}
	if now, err := b.p.Alias(t.Context()); err != nil || now != stored {
		t.Errorf("%+v, %v", now, err)
	}
}

// Before the first cutover there is one alias only, whatever somebody makes up.
func TestAnAliasThatNeverWasMovesNoReaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, made := range []projection.Alias{{Namespace: 1, Previous: 5}, {Namespace: 3, Previous: 1}, {Previous: 2}} {
		if to, err := b.p.Rollback(t.Context(), made, "bob"); !errors.Is(err, projection.ErrState) {
			t.Errorf("%+v: %+v, %v", made, to, err)
		}
	}
	if stored, err := b.p.Alias(t.Context()); err != nil || stored != (projection.Alias{Namespace: 1}) {
		t.Errorf("%+v, %v", stored, err)
	}
}

// A build goes on where it was after a crash, at any request, and two runners do no harm.
func TestALoadGoesOnBehindItsPosition(t *testing.T) {
	t.Parallel()
	all := newArchive(3, 400)
	b := setup(t)
	ns := b.projection(b.client, projection.Config{View: func(ctx, int, projection.Event) ([]txn.Part, error) { return nil, nil }}).Namespace(2)
	build, err := ns.Start(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	torn := func(yield func(projection.Entry, error) bool) {
		n := 0
		for entry, err := range all.from("") {
			if n++; n > 700 {
				yield(projection.Entry{}, errBelow)
				return
			}
			if !yield(entry, err) {
				return
			}
		}
	}
	notes := 0
	if _, err := ns.Load(t.Context(), build, torn, func(projection.Build) { notes++ }); !errors.Is(err, errBelow) || notes != 1 {
		t.Fatalf("%v after %d notes", err, notes)
	}
	stale := build
	build, err = ns.Start(t.Context(), "bob")
	if err != nil || build.Position != "500" || build.Read != 500 || build.By != "ann" {
		t.Fatalf("%+v, %v", build, err)
	}
	if build, err = ns.Load(t.Context(), build, all.from(build.Position), nil); err != nil || build.State != projection.Loaded || build.Read != 1200 {
		t.Fatalf("%+v, %v", build, err)
	}
	if _, err := ns.Load(t.Context(), stale, all.from(""), nil); !errors.Is(err, projection.ErrState) {
		t.Errorf("a second runner: %v", err)
	}
	if _, err := ns.Load(t.Context(), build, all.from(""), nil); !errors.Is(err, projection.ErrState) {
		t.Errorf("a load of what is loaded: %v", err)
	}
	if totals, err := ns.Totals(t.Context()); err != nil || totals.Sources != 3 || totals.Events != 1200 {
		t.Errorf("%+v, %v", totals, err)
	}
}

// Each fault of a proof by itself.
func TestWhatIsWrongIsNotProved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says  string
		spoil func(b *bench, next *projection.Namespace) projection.Evidence
	}{
		{"misses version 2", func(b *bench, next *projection.Namespace) projection.Evidence {
			_, _ = next.Apply(t.Context(), changed("order-0", 3))
			return projection.Evidence{Live: b.ns}
		}},
		{"is missing", func(b *bench, next *projection.Namespace) projection.Evidence {
			b.apply(t, "other", 1, projection.Applied)
			return projection.Evidence{Live: b.ns}
		}},
		{"readers see 1 and 100", func(b *bench, next *projection.Namespace) projection.Evidence {
			b.apply(t, "other", 1, projection.Applied)
			e := changed("other", 1)
			e.Control = 99
			_, _ = next.Apply(t.Context(), e)
			return projection.Evidence{Live: b.ns}
		}},
		{"control total is 100, not 0", func(b *bench, next *projection.Namespace) projection.Evidence {
			return projection.Evidence{Want: &projection.Totals{Sources: 1, Events: 1}}
		}},
		{"1 sources with 1 events", func(b *bench, next *projection.Namespace) projection.Evidence {
			return projection.Evidence{Want: &projection.Totals{Sources: 2, Events: 2, Control: big.NewInt(100)}}
		}},
	} {
		b := setup(t)
		b.apply(t, "order-0", 1, projection.Applied)
		next := b.p.Namespace(2)
		build, err := next.Start(t.Context(), "ann")
		if err == nil {
			_, err = next.Load(t.Context(), build, newArchive(1, 1).from(""), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		evidence := c.spoil(b, next)
		evidence.By = "ann"
		_, err = next.Prove(t.Context(), evidence)
		if !errors.Is(err, projection.ErrUnproved) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.says, err)
		}
		if build, err := next.Build(t.Context()); err != nil || build.State != projection.Loaded {
			t.Errorf("%s: the build is %+v, %v", c.says, build, err)
		}
	}
}

// A lost answer of any request of a rebuild ends as success, or as an error that its repeat cures.
func TestARebuildSurvivesEachLostAnswer(t *testing.T) {
	t.Parallel()
	for lost := 1; lost <= 14; lost++ {
		b := setup(t)
		client := b.faulty(func(call dynamosim.Call) dynamosim.Fate {
			if call.Sequence == lost {
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		})
		p := b.projection(client, projection.Config{})
		ns := p.Namespace(2)
		rebuild := func() error {
			alias, err := p.Alias(t.Context())
			if err != nil || alias.Namespace == 2 {
				return err
			}
			build, err := ns.Start(t.Context(), "ann")
			if err == nil && build.State == projection.Building {
				build, err = ns.Load(t.Context(), build, newArchive(2, 1).from(build.Position), nil)
			}
			if err == nil && build.State == projection.Loaded {
				_, err = ns.Prove(t.Context(), projection.Evidence{Want: &projection.Totals{Sources: 2, Events: 2, Control: big.NewInt(200)}, By: "ann"})
			}
			if err == nil {
				_, err = ns.Cutover(t.Context(), alias, "ann")
			}
			return err
		}
		err := rebuild()
		for try := 0; err != nil && try < 2; try++ {
			err = rebuild()
		}
		alias, aliasErr := b.p.Alias(t.Context())
		if err != nil || aliasErr != nil || alias.Namespace != 2 || alias.Version != 1 {
			t.Errorf("answer %d lost: %+v, %v, %v", lost, alias, err, aliasErr)
		}
	}
}
