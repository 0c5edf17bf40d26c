package shardmap_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// A reshard from 13 to 17 under load loses and doubles nothing, with skewed clocks, lost answers, late commits, old maps in
// use, and producers that give an event a second time: every event has one effect, its repeats never change
// version, and readers find it.
func TestAReshardUnderLoadLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		w := newWorld(rt)
		for range rapid.IntRange(20, 90).Draw(rt, "steps") {
			w.act()
		}
		w.finish()
		for what, n := range w.seen {
			seen[what] += n
		}
	},
		"placed by version 1", "placed by version 2", "repeat after the reshard", "second time, other version", "other place refused",
		"too old", "ahead", "undecided", "retired", "unknown outcome", "held map used", "read with two live", "step taken", "step refused",
		"step unknown", "step recognised", "withdrawn")
}

// act does one thing.
func (w *world) act() {
	w.drawTrouble()
	switch what := rapid.SampledFrom([]string{
		"new", "new", "new", "repeat", "repeat", "second time", "wait", "wait", "wait long", "operate", "operate", "operate", "operate", "meddle", "hold", "use held", "read",
	}).Draw(w.rt, "what"); what {
	case "new":
		one := w.drawWorker()
		e := &event{id: fmt.Sprintf("evt-%d", len(w.events)), at: []time.Time{w.drawWorker().clock()}, placed: map[time.Time]int{}}
		if rapid.IntRange(0, 9).Draw(w.rt, "ahead") == 0 {
			e.at[0] = e.at[0].Add(rules.MaxAge)
		}
		w.events = append(w.events, e)
		w.deliver(one, w.load(one), e, e.at[0])
	case "repeat", "second time", "use held":
		w.again(what)
	case "wait":
		w.now = w.now.Add(time.Duration(rapid.IntRange(1, 9000).Draw(w.rt, "ms")) * time.Millisecond)
		w.drawWorker().adjust(w.rt)
	case "wait long":
		w.now = w.now.Add(time.Duration(rapid.IntRange(10, 70).Draw(w.rt, "seconds")) * time.Second)
	case "operate":
		w.operate()
	case "meddle":
		w.meddle()
	case "hold":
		one := w.drawWorker()
		if v := w.load(one); v != nil {
			w.held = append(w.held, held{one, *v})
		}
	case "read":
		w.read(w.drawWorker())
	}
	w.trouble, w.troubled = dynamosim.Deliver, 0
}

// finish lets the operator go on without trouble, and repeats every event.
func (w *world) finish() {
	for range rapid.IntRange(0, 6).Draw(w.rt, "more steps") {
		w.now = w.now.Add(rules.Notice() - time.Second)
		w.operate()
	}
	for _, e := range w.events {
		if len(e.at) == 1 {
			w.deliver(w.workers[0], w.load(w.workers[0]), e, e.at[0])
		}
	}
	w.read(w.workers[1])
}

// again delivers an event that was delivered before: as it was, with another time, or by an old map.
func (w *world) again(what string) {
	if len(w.events) == 0 {
		return
	}
	e := w.events[rapid.IntRange(0, len(w.events)-1).Draw(w.rt, "event")]
	late := w.now.Add(rules.MaxSkew).After(slices.MinFunc(e.at, time.Time.Compare).Add(rules.Horizon))
	if late && (len(e.at) > 1 || what == "second time") {
		return // past the horizon only an event's own time tells that it was there before
	}
	at := e.at[rapid.IntRange(0, len(e.at)-1).Draw(w.rt, "time")]
	one := w.drawWorker()
	v := w.load(one)
	switch what {
	case "second time":
		at = w.drawWorker().clock()
		e.at = append(e.at, at)
	case "use held":
		if len(w.held) == 0 {
			return
		}
		h := w.held[rapid.IntRange(0, len(w.held)-1).Draw(w.rt, "held")]
		one, v = h.w, &h.v
	}
	w.deliver(one, v, e, at)
}

// load asks a worker's loader; nil if it has no map that may be used.
func (w *world) load(one *worker) *shardmap.Versions {
	v, err := one.loader.Versions(context.Background())
	if err == nil {
		return &v
	}
	if !errors.Is(err, shardmap.ErrStale) {
		w.rt.Fatalf("load: %v", err)
	}
	w.seen["too old"]++
	return nil
}

// deliver places an event and commits its record and its effect.
func (w *world) deliver(one *worker, v *shardmap.Versions, e *event, at time.Time) {
	if v == nil {
		return
	}
	p, err := v.Place(at, e.id)
	if err != nil {
		w.notPlaced(err)
		return
	}
	others, err := v.Others(p, e.id)
	if err != nil {
		w.rt.Fatalf("others: %v", err)
	}
	if before, again := e.placed[at]; again && before != p.MapVersion {
		w.rt.Fatalf("%s of %v was placed by version %d, now by version %d", e.id, at, before, p.MapVersion)
	} else if again && len(others) > 0 {
		w.seen["repeat after the reshard"]++
	}
	for time, version := range e.placed {
		if !time.Equal(at) && version != p.MapVersion {
			w.seen["second time, other version"]++
		}
	}
	e.placed[at] = p.MapVersion
	w.seen[fmt.Sprintf("placed by version %d", min(p.MapVersion, 2))]++
	if v.Revision < w.stored().Revision {
		w.seen["held map used"]++
	}
	_, err = one.client.Commit(context.Background(), w.parts(e, p, others)...)
	w.judge(e, p, err)
}

func (w *world) notPlaced(err error) {
	var stale *shardmap.StaleError
	switch {
	case errors.Is(err, shardmap.ErrRetired):
		w.seen["retired"]++
	case !errors.As(err, &stale):
		w.rt.Fatalf("place: %v", err)
	case stale.Reason == shardmap.TooOld:
		w.seen["too old"]++
	case stale.Reason == shardmap.Ahead:
		w.seen["ahead"]++
	case stale.Reason == shardmap.Undecided:
		w.seen["undecided"]++
	}
}

// judge holds the outcome against the effects.
func (w *world) judge(e *event, p shardmap.Placement, err error) {
	effects := w.effects(e)
	switch {
	case err == nil:
		if e.applied || effects != "1" {
			w.rt.Fatalf("%s has %s effects, and had one before: %v", e.id, effects, e.applied)
		}
	case errors.Is(err, txn.ErrCanceled):
		if effects != "1" {
			w.rt.Fatalf("%s is refused and has %s effects: %v", e.id, effects, err)
		}
		if !slices.Contains(w.standing(e), p.MapVersion) {
			w.seen["other place refused"]++
		}
	case errors.Is(err, txn.ErrAmbiguous):
		w.seen["unknown outcome"]++
	default:
		w.rt.Fatalf("commit: %v", err)
	}
	if effects != "0" && effects != "1" {
		w.rt.Fatalf("%s has %s effects", e.id, effects)
	}
	e.applied = e.applied || effects == "1"
}

// read finds every event that had its effect, once, unless its version is retired.
func (w *world) read(one *worker) {
	v := w.load(one)
	if v == nil {
		return
	}
	live, err := v.Live()
	if err != nil {
		w.rt.Fatalf("live: %v", err)
	}
	if len(live) > 1 {
		w.seen["read with two live"]++
	}
	found := w.list(one.reader, live)
	for _, e := range w.events {
		standing := w.standing(e)
		if want := w.effects(e); fmt.Sprint(len(standing)) != want {
			w.rt.Fatalf("%s has records under %v and %s effects", e.id, standing, want)
		}
		visited := slices.ContainsFunc(live, func(m shardmap.Map) bool { return slices.Contains(standing, m.Version) })
		if n := found["EVENT#"+e.id]; n > 1 || visited != (n == 1) {
			w.rt.Fatalf("%s, under %v, is found %d times under %+v", e.id, standing, n, live)
		}
		for _, version := range standing {
			if state := w.stored().All()[version-1].State; !visited && state != shardmap.Retired {
				w.rt.Fatalf("%s is under version %d, which is %s, and a reader visits %+v", e.id, version, state, live)
			}
		}
	}
}

// stored is the map as it is.
func (w *world) stored() shardmap.Versions {
	troubled := w.troubled
	w.troubled = 0
	defer func() { w.troubled = troubled }()
	v, err := w.workers[0].maps.Load(context.Background(), lane)
	if err != nil {
		w.rt.Fatalf("load: %v", err)
	}
	return v
}

// operate takes the step that is next in a reshard, in time or not.
func (w *world) operate() {
	all := w.stored().All()
	last := all[len(all)-1]
	if last.State == shardmap.Proposed {
		if rapid.IntRange(0, 5).Draw(w.rt, "withdraw") == 0 {
			w.step(shardmap.StepWithdraw, last.Version)
		} else {
			w.step(shardmap.StepAdmit, last.Version)
		}
		return
	}
	var current shardmap.Version // the one that takes over, if there is one
	for _, version := range all {
		if version.State == shardmap.Admitting {
			current = version
		}
	}
	for _, version := range all {
		switch {
		case version.State == shardmap.Draining:
			w.step(shardmap.StepRetire, version.Version)
			return
		case version.State == shardmap.Admitting && version.Version != current.Version:
			w.step(shardmap.StepDrain, version.Version)
			return
		}
	}
	w.step(shardmap.StepPropose, 0)
}

// meddle takes any step on any version.
func (w *world) meddle() {
	steps := shardmap.Steps()[1:]
	w.step(steps[rapid.IntRange(0, len(steps)-1).Draw(w.rt, "step")], rapid.IntRange(1, 4).Draw(w.rt, "version"))
}

func (w *world) step(step shardmap.Step, version int) {
	ctx, one := context.Background(), w.drawWorker()
	now := one.clock()
	before := w.stored()
	var v shardmap.Versions
	var err error
	switch step {
	case shardmap.StepPropose:
		extra := time.Duration(rapid.IntRange(-1000, 9000).Draw(w.rt, "extra")) * time.Millisecond
		v, err = one.maps.Propose(ctx, lane, shardmap.Proposal{Shards: 17, From: now.Add(rules.Notice() + extra)}, "ann")
	case shardmap.StepAdmit:
		v, err = one.maps.Admit(ctx, lane, version, "ann")
	case shardmap.StepWithdraw:
		v, err = one.maps.Withdraw(ctx, lane, version, "ann")
	case shardmap.StepDrain:
		v, err = one.maps.Drain(ctx, lane, version, now, "ann")
	case shardmap.StepRetire:
		v, err = one.maps.Retire(ctx, lane, version, evidence(now), "ann")
	}
	switch {
	case err == nil && v.Revision == before.Revision:
		w.seen["step recognised"]++
	case err == nil:
		w.seen["step taken"]++
		if step == shardmap.StepWithdraw {
			w.seen["withdrawn"]++
		}
	case errors.Is(err, shardmap.ErrStep):
		w.seen["step refused"]++
	case errors.Is(err, shardmap.ErrWrite), errors.Is(err, shardmap.ErrStale):
		w.seen["step unknown"]++
	default:
		w.rt.Fatalf("%s of version %d: %v", step, version, err)
	}
}
