package projection

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxFaults is how many faults an [UnprovedError] lists.
const MaxFaults = 20

// Totals adds up the checkpoints of this namespace, with strong reads, as they are one after the other: they mean something
// only while no event is applied. Errors: ErrInvalid, ErrCorrupt, and those of package fanout.
//
// Cost: 1 read unit for each shard and each 4 KiB begun of checkpoints in it.
func (ns *Namespace) Totals(ctx context.Context) (_ Totals, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.totals")
	defer op.End(&err)
	sum := Totals{Control: new(big.Int)}
	for cp, err := range ns.checkpoints(ctx, true) {
		if err != nil {
			return Totals{}, err
		}
		sum.add(cp)
	}
	return sum, nil
}

func (t *Totals) add(cp Checkpoint) {
	t.Sources++
	t.Events += cp.Events
	t.Skipped += cp.Skipped
	t.Control.Add(t.Control, cp.Control)
}

// Evidence is what a namespace is held against.
type Evidence struct {
	// Want are totals that the namespace must have exactly, from the manifest of a full source while nothing new is
	// delivered. Optional.
	Want *Totals
	// Live is the namespace that readers use. Every source must be as far as there, and one that is exactly as far must have
	// the same number of events and the same control figure. Optional.
	Live *Namespace
	// By is who proves it. Required.
	By string
}

// Prove holds this namespace against the evidence and, if there is no gap and everything agrees, marks its build as Proved. At
// least one of Want and Live is required. If something differs the error is an [UnprovedError] that says what, and nothing
// changes. Errors: also ErrInvalid, ErrState (the source was not read to its end), ErrWrite, those of package fanout.
//
// Cost: that of Totals, of Gaps at twice the price, of Totals in Live, and 1 write unit.
func (ns *Namespace) Prove(ctx context.Context, evidence Evidence) (_ Build, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.prove")
	defer op.End(&err)
	if _, err := ns.buildKey(evidence.By); err != nil {
		return Build{}, err
	}
	if evidence.Want == nil && evidence.Live == nil {
		return Build{}, &InvalidError{Field: "Evidence", Reason: "has neither Want nor Live"}
	}
	if live := evidence.Live; live != nil && live.err != nil {
		return Build{}, live.err
	}
	build, err := ns.Build(ctx)
	if err != nil {
		return Build{}, err
	}
	if build.State != Loaded && build.State != Proved {
		return build, ns.state("its build is " + string(build.State) + ", not " + string(Loaded))
	}
	totals, faults, err := ns.compare(ctx, evidence)
	if err != nil {
		return build, err
	}
	if len(faults) > 0 {
		return build, &UnprovedError{Name: ns.p.config.Name, Namespace: ns.number, Faults: faults[:min(len(faults), MaxFaults)]}
	}
	c := newChange()
	c.set(attrState, text(string(Proved)))
	c.set(attrBy, text(evidence.By))
	c.set(attrSources, number(totals.Sources))
	c.set(attrEvents, number(totals.Events))
	c.set(attrSkipped, number(totals.Skipped))
	c.set(attrControl, &types.AttributeValueMemberN{Value: totals.Control.String()})
	if err := ns.save(ctx, build, c); err != nil {
		return build, err
	}
	return ns.Build(ctx)
}

// compare returns the totals of the namespace and what is wrong with it. The live one is read first, so what is delivered
// meanwhile can only put this namespace ahead.
func (ns *Namespace) compare(ctx context.Context, evidence Evidence) (Totals, []string, error) {
	var faults []string
	fault := func(format string, args ...any) {
		if len(faults) < MaxFaults {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	live := map[string]Checkpoint{}
	if evidence.Live != nil {
		for cp, err := range evidence.Live.checkpoints(ctx, true) {
			if err != nil {
				return Totals{}, nil, err
			}
			live[cp.Source] = cp
		}
	}
	for gap, err := range ns.gaps(ctx, true) {
		if err != nil {
			return Totals{}, nil, err
		}
		fault("source %q misses version %d", gap.Source, gap.Missing)
	}
	sum := Totals{Control: new(big.Int)}
	for cp, err := range ns.checkpoints(ctx, true) {
		if err != nil {
			return Totals{}, nil, err
		}
		sum.add(cp)
		other, known := live[cp.Source]
		delete(live, cp.Source)
		switch {
		case known && cp.Version < other.Version:
			fault("source %q is at version %d, readers see version %d", cp.Source, cp.Version, other.Version)
		case known && cp.Version == other.Version && (cp.Events != other.Events || cp.Control.Cmp(other.Control) != 0):
			fault("source %q has %d events and control %s, readers see %d and %s", cp.Source, cp.Events, cp.Control, other.Events, other.Control)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(live)) {
		if live[source].Version >= evidence.Live.p.config.First {
			fault("source %q is missing", source)
		}
	}
	if want := evidence.Want; want != nil {
		if sum.Sources != want.Sources || sum.Events != want.Events || sum.Skipped != want.Skipped {
			fault("%d sources with %d events and %d skipped versions, not %d with %d and %d",
				sum.Sources, sum.Events, sum.Skipped, want.Sources, want.Events, want.Skipped)
		}
		if sum.Control.Cmp(want.control()) != 0 {
			fault("the control total is %s, not %s", sum.Control, want.control())
		}
	}
	return sum, faults, nil
}
