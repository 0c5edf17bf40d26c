package shardmap_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/shardmap"
)

// The transitions as the package documentation draws them, and nothing else: every state times every step.
func TestTheStateTableIsTheDrawing(t *testing.T) {
	t.Parallel()
	type move struct {
		from shardmap.State
		step shardmap.Step
	}
	drawn := map[move]shardmap.State{
		{"", shardmap.StepCreate}:                  shardmap.Admitting,
		{"", shardmap.StepPropose}:                 shardmap.Proposed,
		{shardmap.Proposed, shardmap.StepAdmit}:    shardmap.Admitting,
		{shardmap.Proposed, shardmap.StepWithdraw}: shardmap.Withdrawn,
		{shardmap.Admitting, shardmap.StepDrain}:   shardmap.Draining,
		{shardmap.Draining, shardmap.StepRetire}:   shardmap.Retired,
	}
	for _, state := range append(shardmap.States(), "") {
		for _, step := range shardmap.Steps() {
			want, possible := drawn[move{state, step}]
			if got, ok := state.After(step); got != want || ok != possible {
				t.Errorf("%s after %s: %q, %v; want %q, %v", step, state, got, ok, want, possible)
			}
		}
	}
}

// Every step in every state: it is taken if the table says so, and refused without a write if not.
func TestEveryStepIsRefusedOutsideItsState(t *testing.T) {
	t.Parallel()
	at := func(b *bench, from time.Time, d time.Duration) { b.now = from.Add(d) }
	reach := map[shardmap.State]func(*testing.T, *bench){
		shardmap.Proposed: func(t *testing.T, b *bench) {
			v, err := b.maps.Propose(t.Context(), lane, shardmap.Proposal{Shards: 17, From: b.now.Add(2 * rules.Notice())}, "ann")
			must(t, v, err)
		},
		shardmap.Admitting: func(t *testing.T, b *bench) { at(b, b.reshard(t), 0) },
		shardmap.Withdrawn: func(t *testing.T, b *bench) {
			v, err := b.maps.Propose(t.Context(), lane, shardmap.Proposal{Shards: 17, From: b.now.Add(2 * rules.Notice())}, "ann")
			must(t, v, err)
			v, err = b.maps.Withdraw(t.Context(), lane, 2, "ann")
			must(t, v, err)
		},
	}
	for state, prepare := range reach {
		for _, step := range shardmap.Steps()[2:] {
			b := setup(t)
			b.create(t)
			prepare(t, b)
			before := b.item(t)
			_, err := take(t, b, step, 2)
			want, possible := state.After(step)
			if possible && step == shardmap.StepDrain {
				possible = false // nothing follows version 2
			}
			if possible != (err == nil) {
				t.Errorf("%s of a version that is %s: %v", step, state, err)
				continue
			}
			var refused *shardmap.StepError
			if !possible && (!errors.As(err, &refused) || !errors.Is(err, shardmap.ErrStep) || refused.State != state || refused.Version != 2) {
				t.Errorf("%s of a version that is %s: %v, want a StepError", step, state, err)
			}
			if !possible && !sameItem(before, b.item(t)) {
				t.Errorf("%s of a version that is %s was refused, and changed the item", step, state)
			}
			if v, err := b.maps.Load(t.Context(), lane); possible && (err != nil || v.All()[1].State != want) {
				t.Errorf("%s of a version that is %s leads to %s, %v", step, state, states(v), err)
			}
		}
	}
}

// take takes a step with evidence that is good enough.
func take(t *testing.T, b *bench, step shardmap.Step, version int) (shardmap.Versions, error) {
	switch step {
	case shardmap.StepAdmit:
		return b.maps.Admit(t.Context(), lane, version, "bob")
	case shardmap.StepWithdraw:
		return b.maps.Withdraw(t.Context(), lane, version, "bob")
	case shardmap.StepDrain:
		return b.maps.Drain(t.Context(), lane, version, b.now.Add(time.Hour), "bob")
	default:
		return b.maps.Retire(t.Context(), lane, version, evidence(b.now.Add(time.Hour)), "bob")
	}
}

// A whole life, with what each step needs: a moment or a piece of evidence less, and it is refused.
func TestEveryStepNeedsItsTimeAndItsEvidence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	ctx := t.Context()
	refused := func(_ shardmap.Versions, err error) func(says string) {
		return func(says string) {
			t.Helper()
			if !errors.Is(err, shardmap.ErrStep) || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want a StepError that says %q", err, says)
			}
		}
	}
	notice, ns := rules.Notice(), time.Nanosecond
	from := b.now.Add(notice + time.Second)
	proposal := shardmap.Proposal{Shards: 17, From: from}

	refused(b.maps.Propose(ctx, lane, shardmap.Proposal{Shards: 17, From: b.now.Add(notice - ns)}, "ann"))("begins in less than 26s")
	v, err := b.maps.Propose(ctx, lane, proposal, "ann")
	must(t, v, err)
	refused(b.maps.Propose(ctx, lane, shardmap.Proposal{Shards: 19, From: from.Add(1)}, "ann"))("version 2 is proposed")

	b.now = from.Add(-notice + ns)
	refused(b.maps.Admit(ctx, lane, 2, "ann"))("less than 26s before its window begins; withdraw it")
	b.now = from.Add(-notice)
	v, err = b.maps.Admit(ctx, lane, 2, "ann")
	must(t, v, err)

	b.now = from.Add(rules.MaxSkew - ns)
	refused(b.maps.Drain(ctx, lane, 1, from, "ann"))("not ended by every clock")
	b.now = from.Add(rules.MaxSkew)
	refused(b.maps.Drain(ctx, lane, 1, from.Add(-ns), "ann"))("watermark is before the end")
	refused(b.maps.Drain(ctx, lane, 2, b.now, "ann"))("no later version")
	v, err = b.maps.Drain(ctx, lane, 1, from, "ann")
	must(t, v, err)

	b.now = from.Add(rules.MaxSkew + rules.Horizon - ns)
	refused(b.maps.Retire(ctx, lane, 1, evidence(from), "ann"))("horizon of 1m0s")
	b.now = b.now.Add(ns)
	open, differ, other := evidence(from), evidence(from), evidence(from)
	open.Remaining, differ.Actual.Count, other.Actual.Digest = 1, 40_999, "00"
	refused(b.maps.Retire(ctx, lane, 1, open, "ann"))("1 records are not done")
	refused(b.maps.Retire(ctx, lane, 1, differ, "ann"))("41000 expected, 40999 found")
	refused(b.maps.Retire(ctx, lane, 1, other, "ann"))("control totals differ")
	v, err = b.maps.Retire(ctx, lane, 1, evidence(from), "ann")
	must(t, v, err)
	if got := states(v); got != "RETIRED ADMITTING" {
		t.Errorf("states: %s", got)
	}
	if last := v.All()[0].History[2]; last.Step != shardmap.StepRetire || last.By != "ann" || last.Evidence.Actual.Count != 41_000 {
		t.Errorf("the history of version 1 ends with %+v", last)
	}
}

// A number is never used twice, and what was withdrawn may be proposed again.
func TestAWithdrawnVersionLeavesTheOneBeforeInPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	proposal := shardmap.Proposal{Shards: 17, From: b.now.Add(2 * rules.Notice())}
	v, err := b.maps.Propose(t.Context(), lane, proposal, "ann")
	must(t, v, err)
	v, err = b.maps.Withdraw(t.Context(), lane, 2, "ann")
	must(t, v, err)
	v, err = b.maps.Propose(t.Context(), lane, proposal, "ann")
	must(t, v, err)
	if got := states(v); got != "ADMITTING WITHDRAWN PROPOSED" {
		t.Fatalf("states: %s", got)
	}
	v, err = b.maps.Admit(t.Context(), lane, 3, "ann")
	must(t, v, err)
	b.now = proposal.From
	v, err = b.maps.Load(t.Context(), lane)
	must(t, v, err)
	for at, want := range map[time.Time]int{proposal.From.Add(-1): 1, proposal.From: 3} {
		if p, err := v.Place(at, "evt-1"); err != nil || p.MapVersion != want {
			t.Errorf("%v: %+v, %v; want version %d", at, p, err, want)
		}
	}
	if live, err := v.Live(); err != nil || len(live) != 2 || live[1].Version != 3 {
		t.Errorf("live: %+v, %v", live, err)
	}
}

// A lost answer is no conflict (E1): the step is recognised, by the SDK's own repeat and by the caller's.
func TestALostAnswerOfAStepIsASuccess(t *testing.T) {
	t.Parallel()
	for _, fate := range []dynamosim.Fate{dynamosim.LoseAnswer, dynamosim.InternalErrorAfter} {
		b := setup(t)
		lossy := shardmap.NewStore(b.store.Faulty(func(call dynamosim.Call) dynamosim.Fate {
			if call.Operation == "PutItem" && call.Attempt == 1 {
				return fate
			}
			return dynamosim.Deliver
		}), b.config)
		v, err := lossy.Create(t.Context(), lane, shardmap.Default13(), rules, "ann")
		must(t, v, err)
		from := b.now.Add(2 * rules.Notice())
		v, err = lossy.Propose(t.Context(), lane, shardmap.Proposal{Shards: 17, From: from}, "ann")
		must(t, v, err)
		v, err = lossy.Admit(t.Context(), lane, 2, "ann")
		must(t, v, err)
		again, err := lossy.Admit(t.Context(), lane, 2, "ann")
		must(t, again, err)
		if v.Revision != 3 || again.Revision != 3 {
			t.Errorf("revisions %d and %d; every step was taken once", v.Revision, again.Revision)
		}
		if _, err := lossy.Admit(t.Context(), lane, 2, "bob"); !errors.Is(err, shardmap.ErrStep) {
			t.Errorf("the same step by somebody else: %v", err)
		}
		again, err = lossy.Create(t.Context(), lane, shardmap.Default13(), rules, "ann")
		must(t, again, err)
		if _, err := lossy.Create(t.Context(), lane, shardmap.Fixed(7), rules, "ann"); !errors.Is(err, shardmap.ErrStored) {
			t.Errorf("another map for the lane: %v", err)
		}
	}
}

// Two operators judge the same map; one step is taken, the other says that it was not.
func TestOneOfTwoStepsAtTheSameTimeIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	from := b.now.Add(2 * rules.Notice())
	v, err := b.maps.Propose(t.Context(), lane, shardmap.Proposal{Shards: 17, From: from}, "ann")
	must(t, v, err)
	slow := shardmap.NewStore(b.store.Faulty(func(call dynamosim.Call) dynamosim.Fate {
		if call.Operation == "PutItem" {
			if _, err := b.maps.Withdraw(t.Context(), lane, 2, "bob"); err != nil {
				t.Error(err)
			}
		}
		return dynamosim.Deliver
	}), b.config)
	_, err = slow.Admit(t.Context(), lane, 2, "ann")
	var lost *shardmap.WriteError
	if !errors.As(err, &lost) || !errors.Is(err, shardmap.ErrWrite) || lost.Err != nil {
		t.Errorf("%v, want a WriteError without a cause", err)
	}
	v, err = b.maps.Load(t.Context(), lane)
	must(t, v, err)
	if got := states(v); got != "ADMITTING WITHDRAWN" {
		t.Errorf("states: %s", got)
	}
}

func TestAStepWithoutAnswerSaysSo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	dead := shardmap.NewStore(noRetry(b.store, func(call dynamosim.Call) dynamosim.Fate {
		if call.Operation == "PutItem" {
			return dynamosim.LoseAnswer
		}
		return dynamosim.Deliver
	}), b.config)
	_, err := dead.Propose(t.Context(), lane, shardmap.Proposal{Shards: 17, From: b.now.Add(time.Hour)}, "ann")
	var unknown *shardmap.WriteError
	if !errors.As(err, &unknown) || unknown.Err == nil || !errors.Is(err, dynamosim.ErrLost) {
		t.Errorf("%v, want a WriteError with its cause", err)
	}
	v, err := b.maps.Propose(t.Context(), lane, shardmap.Proposal{Shards: 17, From: b.now.Add(time.Hour)}, "ann")
	if err != nil || v.Revision != 2 {
		t.Errorf("the repeat: revision %d, %v; want 2, the effect of the first", v.Revision, err)
	}
}

func TestInvalidStepsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	maps := shardmap.NewStore(nil, shardmap.Config{Now: func() time.Time { return day }})
	ctx := t.Context()
	failure := func(_ shardmap.Versions, err error) error { return err }
	bad := shardmap.Rules{MaxAge: time.Microsecond, MaxSkew: time.Second, Horizon: time.Hour}
	for what, c := range map[string]struct {
		err  error
		kind error
	}{
		"no lane":      {failure(maps.Load(ctx, "")), shardmap.ErrInvalid},
		"odd lane":     {failure(maps.Load(ctx, "a#b")), shardmap.ErrInvalid},
		"long lane":    {failure(maps.Load(ctx, strings.Repeat("a", 201))), shardmap.ErrInvalid},
		"nobody":       {failure(maps.Admit(ctx, lane, 2, "")), shardmap.ErrInvalid},
		"bad rules":    {failure(maps.Create(ctx, lane, shardmap.Default13(), bad, "ann")), shardmap.ErrInvalid},
		"no shards":    {failure(maps.Create(ctx, lane, shardmap.Map{HashVersion: 1}, rules, "ann")), shardmap.ErrMap},
		"no time":      {failure(maps.Propose(ctx, lane, shardmap.Proposal{Shards: 17}, "ann")), shardmap.ErrInvalid},
		"unknown hash": {failure(maps.Propose(ctx, lane, shardmap.Proposal{Shards: 17, HashVersion: 2, From: day}, "ann")), shardmap.ErrMap},
		"no watermark": {failure(maps.Drain(ctx, lane, 1, time.Time{}, "ann")), shardmap.ErrInvalid},
		"negative":     {failure(maps.Retire(ctx, lane, 1, shardmap.Evidence{Watermark: day, Remaining: -1}, "ann")), shardmap.ErrInvalid},
		"long digest": {failure(maps.Retire(ctx, lane, 1, shardmap.Evidence{Watermark: day,
			Actual: shardmap.Totals{Digest: strings.Repeat("d", 129)}}, "ann")), shardmap.ErrInvalid},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("%s: %v, want %v", what, c.err, c.kind)
		}
	}
}
