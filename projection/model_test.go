package projection_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/shardmap"
)

// Inside a process a duplicate of a parked event, a crash between gap and drain, and a forced gap meet every loss of the
// network; the model is a map in memory.

var anyFate = []dynamosim.Fate{
	dynamosim.Deliver, dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.Throttle, dynamosim.Conflict, dynamosim.InProgress,
	dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter,
}

// modelled is what the model knows of a source.
type modelled struct {
	current, skipped int64
	parked           map[int64]bool
	seen             string
}

func (m *modelled) apply(version int64) {
	m.current = version
	m.seen += fmt.Sprint(version, " ")
	delete(m.parked, version)
}

func (m *modelled) drain() {
	for m.parked[m.current+1] {
		m.apply(m.current + 1)
	}
}

// deliver says what must become of a version, and lets it happen.
func (m *modelled) deliver(version int64, parkedMax int) projection.Result {
	switch {
	case version <= m.current:
		return projection.Stale
	case version == m.current+1:
		m.apply(version)
		m.drain()
		return projection.Applied
	case len(m.parked) >= parkedMax && !m.parked[version]:
		return "overflow"
	default:
		m.parked[version] = true
		return projection.Parked
	}
}

// machine is a projection behind a bad network, and its model.
type machine struct {
	*bench
	t       *testing.T
	flaky   *projection.Namespace
	fates   []dynamosim.Fate
	sources map[string]*modelled
	seenAll map[string]int
	touched string // the source of the last step
}

const modelParkedMax = 2

func newMachine(t *testing.T, rt *rapid.T, survived map[string]int) *machine {
	m := &machine{t: t, seenAll: survived, sources: map[string]*modelled{}}
	m.bench = setup(rt, stores.Options{
		Tokens:             rapid.SampledFrom(anyTokenPolicy).Draw(rt, "tokens"),
		CanceledKeepsToken: rapid.Bool().Draw(rt, "canceled keeps token"),
	})
	config := projection.Config{ParkedMax: modelParkedMax, Map: shardmap.Fixed(2)}
	m.ns = m.projection(m.client, config).Namespace(1)
	m.flaky = m.projection(m.faulty(func(dynamosim.Call) dynamosim.Fate {
		if len(m.fates) == 0 {
			return dynamosim.Deliver
		}
		fate := m.fates[0]
		m.fates = m.fates[1:]
		m.seenAll[fmt.Sprint(fate)]++
		return fate
	}), config).Namespace(1)
	for _, source := range []string{"a#b", "a%23b"} {
		m.sources[source] = &modelled{parked: map[int64]bool{}}
	}
	return m
}

// trouble draws what the next requests meet, and whether the view refuses.
func (m *machine) trouble(rt *rapid.T) {
	m.fates = rapid.SliceOfN(rapid.SampledFrom(anyFate), 0, 6).Draw(rt, "fates")
	if rapid.IntRange(0, 5).Draw(rt, "view") == 0 {
		after := rapid.IntRange(0, 2).Draw(rt, "events before the view refuses")
		m.refuse = func(projection.Event) error {
			if after--; after < 0 {
				return errBelow
			}
			return nil
		}
	}
}

func (m *machine) calm() { m.fates, m.refuse = nil, nil }

func drawSource(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"a#b", "a%23b"}).Draw(rt, "source")
}

// deliver delivers a version over the bad network, and then, if that failed, over a good one, as a transport does.
func (m *machine) deliver(rt *rapid.T) {
	source := drawSource(rt)
	m.touched = source
	known := m.sources[source]
	version := max(1, known.current+rapid.Int64Range(-1, 5).Draw(rt, "ahead"))
	before := known.current
	want := known.deliver(version, modelParkedMax)
	m.trouble(rt)
	out, err := m.flaky.Apply(m.t.Context(), changed(source, version))
	m.calm()
	first := true
	for err != nil && !errors.Is(err, projection.ErrOverflow) {
		first = false
		m.seenAll["delivered again"]++
		if out, err = m.ns.Apply(m.t.Context(), changed(source, version)); err != nil && !errors.Is(err, projection.ErrOverflow) {
			rt.Fatalf("version %d of %s over a good network: %v", version, source, err)
		}
	}
	switch {
	case want == "overflow":
		if !errors.Is(err, projection.ErrOverflow) {
			rt.Fatalf("version %d of %s: %+v, %v; want an overflow", version, source, out, err)
		}
	case err != nil:
		rt.Fatalf("version %d of %s: %v; want %s", version, source, err, want)
	case out.Result != want && !(want == projection.Applied && out.Result == projection.Stale): // it was applied, the answer lost
		rt.Fatalf("version %d of %s at %d: %+v; want %s", version, source, before, out, want)
	case out.Result != want && first:
		m.seenAll["applied and found"]++
	}
	m.seenAll[string(want)]++
	if out.Drained > 0 {
		m.seenAll["drained"]++
	}
}

func (m *machine) force(rt *rapid.T) {
	source := drawSource(rt)
	m.touched = source
	known := m.sources[source]
	f := projection.Force{Source: source, To: known.current + rapid.Int64Range(1, 3).Draw(rt, "to"), By: "ann", Reason: "lost"}
	passes := false
	for version := range known.parked {
		passes = passes || version <= f.To
	}
	m.trouble(rt)
	_, err := m.flaky.ForceAdvance(m.t.Context(), f)
	m.calm()
	for try := 0; err != nil && !errors.Is(err, projection.ErrInvalid); try++ {
		if _, err = m.ns.ForceAdvance(m.t.Context(), f); try > 2 {
			rt.Fatalf("force %s to %d over a good network: %v", source, f.To, err)
		}
	}
	if passes != errors.Is(err, projection.ErrInvalid) {
		rt.Fatalf("force %s to %d past parked %v: %v", source, f.To, known.parked, err)
	}
	if !passes {
		known.skipped += f.To - known.current
		known.current = f.To
		known.drain()
		m.seenAll["forced"]++
	}
}

// agree holds everything that is stored against the model.
func (m *machine) agree(rt *rapid.T) {
	gaps := map[string]projection.Gap{}
	for _, gap := range m.gaps(rt, m.ns) {
		gaps[gap.Source] = gap
	}
	for source, known := range m.sources {
		if source != m.touched {
			continue // nothing but its own events can change it
		}
		cp, err := m.ns.Checkpoint(m.t.Context(), source)
		if err != nil || cp.Version != known.current || cp.Skipped != known.skipped || cp.Parked != int64(len(known.parked)) {
			rt.Fatalf("%s: %+v, %v; the model has %+v", source, cp, err, known)
		}
		if seen := m.seen(rt, 1, source); seen != known.seen {
			rt.Fatalf("%s: the view saw %q, the model %q", source, seen, known.seen)
		}
		highest := int64(0)
		for _, version := range m.parked(rt, source) {
			if !known.parked[version] {
				rt.Fatalf("%s: version %d is parked", source, version)
			}
			highest = version
		}
		gap, open := gaps[source]
		if open != (len(known.parked) > 0) || open && (gap.Missing != known.current+1 || gap.Parked != int64(len(known.parked)) || gap.Highest != highest) {
			rt.Fatalf("%s: gap %+v; the model has %+v", source, gap, known)
		}
	}
}

func TestEverySourceIsAnOrderedListWithAWaitingRoom(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		m := newMachine(t, rt, seen)
		for range rapid.IntRange(4, 20).Draw(rt, "steps") {
			if rapid.IntRange(0, 5).Draw(rt, "step") == 5 {
				m.force(rt)
			} else {
				m.deliver(rt)
			}
			m.agree(rt)
		}
	}, append(chance.Names(anyFate), "APPLIED", "STALE", "PARKED", "overflow", "drained", "forced", "delivered again")...)
}
