package projection_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/shardmap"
)

// source is a stored map that can fail.
type source struct {
	*shardmap.Loader
	down bool
}

func (s *source) Versions(ctx context.Context) (shardmap.Versions, error) {
	if s.down {
		return shardmap.Versions{}, shardmap.ErrStale
	}
	return s.Loader.Versions(ctx)
}

// A projection goes from 7 shards to 13 while events come: the old namespace stays where it is, the new one, built after the
// new version of the map took over, is on the new shards, and both have seen every version once.
func TestAProjectionIsReshardedByARebuildUnderAStoredMap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := day
	clock := func() time.Time { return now }
	store := shardmap.NewStore(b.client, shardmap.Config{Table: b.points.Name, Now: clock})
	maps := &source{Loader: store.Loader("projection/portfolio")}
	if _, err := store.Create(t.Context(), "projection/portfolio", shardmap.Fixed(7), shardmap.Rules{}, "ann"); err != nil {
		t.Fatal(err)
	}
	p := b.projection(b.client, projection.Config{Maps: maps, Now: clock})
	live, next := p.Namespace(1), p.Namespace(2)
	all := newArchive(20, 3)
	apply := func(ns *projection.Namespace, e projection.Event) {
		t.Helper()
		if _, err := ns.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range all[:30] {
		apply(live, e)
	}
	if _, err := next.Apply(t.Context(), all[0]); !errors.Is(err, projection.ErrState) {
		t.Errorf("applied to a namespace that has no time yet: %v", err)
	}
	from := now.Add(10 * time.Minute)
	_, err := store.Propose(t.Context(), "projection/portfolio", shardmap.Proposal{Shards: 13, From: from}, "ann")
	if err == nil {
		_, err = store.Admit(t.Context(), "projection/portfolio", 2, "ann")
	}
	if err != nil {
		t.Fatal(err)
	}
	now = from
	build, err := next.Start(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := live.Start(t.Context(), "ann"); err != nil { // moves nothing: namespace 1 was there before
		t.Fatal(err)
	}
	for _, e := range all[30:50] {
		apply(live, e)
	}
	if build, err = next.Load(t.Context(), build, all[:45].from(build.Position), nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range all[45:] {
		apply(live, e)
		apply(next, e)
	}
	alias, err := p.Alias(t.Context())
	if err == nil {
		if _, err = next.Prove(t.Context(), projection.Evidence{Live: live, By: "ann"}); err == nil {
			_, err = next.Cutover(t.Context(), alias, "ann")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b.eachOnItsShards(t, b.projection(b.client, projection.Config{Maps: maps, Now: clock})) // a process that knows nothing yet
	maps.down = true
	failsClosed(t, live, all[0])
}

// eachOnItsShards looks at the records of both namespaces.
func (b *bench) eachOnItsShards(t *testing.T, p *projection.Projection) {
	t.Helper()
	for number, version := range map[int]int{1: 1, 2: 2} {
		for i := range 20 {
			name := fmt.Sprint("order-", i)
			placed, err := shardmap.Map{Version: version, HashVersion: 1, Shards: map[int]int{1: 7, 2: 13}[version]}.Place(name)
			if err != nil {
				t.Fatal(err)
			}
			pk := fmt.Sprintf("PROJ#portfolio@%d#V#%04d#SHARD#%04d", number, version, placed.Shard)
			if item := b.read(t, b.points, b.points.Key(pk, "SOURCE#"+name)); item == nil {
				t.Fatalf("%s is not at %s", name, pk)
			}
			if lag, err := p.Namespace(number).Lag(t.Context(), name, 3); err != nil || lag.Behind != 0 || b.seen(t, number, name) != "1 2 3 " {
				t.Errorf("namespace %d: %+v, %v, the view saw %s", number, lag, err, b.seen(t, number, name))
			}
		}
	}
}

// failsClosed holds without a map that may be used: nothing is applied and nothing is listed.
func failsClosed(t *testing.T, live *projection.Namespace, e projection.Event) {
	t.Helper()
	_, applied := live.Apply(t.Context(), e)
	_, forced := live.ForceAdvance(t.Context(), projection.Force{Source: "order-1", To: 9, By: "ann", Reason: "lost"})
	_, swept := live.Sweep(t.Context())
	var gaps, parked error
	for _, gaps = range live.Gaps(t.Context()) {
	}
	for _, parked = range live.ParkedEvents(t.Context(), "order-1") {
	}
	for what, err := range map[string]error{"apply": applied, "force": forced, "sweep": swept, "gaps": gaps, "parked": parked} {
		if !errors.Is(err, shardmap.ErrStale) {
			t.Errorf("%s: %v, want ErrStale", what, err)
		}
	}
}
