package projection

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/internal/keys"
)

// Step is one of the seven steps of a [Runbook].
type Step string

// The steps, in their order.
const (
	// StepDeclare: up to which time the dataset must have everything, what is frozen, when readers move.
	StepDeclare Step = "DECLARE"
	// StepTake: which dataset it is.
	StepTake Step = "TAKE"
	// StepValidate: all of it was held against its checksums and counts, its events have no holes, and this is what they add up to.
	StepValidate Step = "VALIDATE"
	// StepBuild: all its events are applied to the new namespace.
	StepBuild Step = "BUILD"
	// StepCatchUp: what came since is applied, too, and there is no gap.
	StepCatchUp Step = "CATCH_UP"
	// StepProve: counts, control totals and versions are right, and whatever else reconciles them.
	StepProve Step = "PROVE"
	// StepCutover: readers use the new namespace.
	StepCutover Step = "CUTOVER"
)

// steps are all steps in their order.
var steps = []Step{StepDeclare, StepTake, StepValidate, StepBuild, StepCatchUp, StepProve, StepCutover}

// RunbookConfig says how a namespace is rebuilt. What is Required is written down with the first step, or with the dataset,
// and cannot be changed in a run that has begun.
type RunbookConfig struct {
	// By is who does it. Required; every step has who did it.
	By string
	// AsOf is the time up to which the dataset must have everything. Required.
	AsOf time.Time
	// Policy says in words what is frozen, when readers move, and what a rollback takes. Required; at most 4,096 bytes.
	Policy string
	// Schema names the version of the code that reads the events and of the View. Required; another one cannot go on with the run.
	Schema string
	// Source is the dataset. Required.
	Source Source
	// Frozen says that nothing has happened since AsOf and nothing will until readers have moved. Then the new namespace must
	// have exactly what the dataset has. Without, it must have that at least, and be as far as Live in every source.
	Frozen bool
	// Live is the namespace that readers use, if it is not of the same Projection value: that one has another shard map. Default:
	// that of the alias when the run was declared.
	Live *Namespace
	// CatchUp gives the events since AsOf, or more: those of an incremental export, or of the outbox. Live events that are
	// delivered to this namespace need not be among them. Optional; it is refused if Frozen.
	CatchUp func(ctx context.Context) iter.Seq2[Event, error]
	// Reconcile compares the new namespace with whatever else knows what must be in it, and returns in words what it compared.
	// An error keeps readers where they are. Optional.
	Reconcile func(ctx context.Context, totals Totals) (evidence string, err error)
	// Passes and MaxBytes are those of [Sorted]. Defaults: as there.
	Passes   int
	MaxBytes int64
	// Progress is told what was written down: the run after each step, and the build after every ProgressEvery events. Optional.
	Progress func(Run, Build)
}

func (c RunbookConfig) validate() error {
	bad := func(field, reason string) error {
		return &InvalidError{Field: "RunbookConfig." + field, Reason: reason}
	}
	for _, field := range []struct{ name, text string }{{"By", c.By}, {"Policy", c.Policy}, {"Schema", c.Schema}} {
		if field.text == "" || !utf8.ValidString(field.text) || len(field.text) > maxForceBytes {
			return bad(field.name, "is empty, not valid UTF-8, or longer than "+strconv.Itoa(maxForceBytes)+" bytes")
		}
	}
	_, err := keys.Time(c.AsOf)
	switch {
	case c.AsOf.IsZero() || err != nil:
		return bad("AsOf", "is missing, or outside the years 1 to 9999")
	case c.Source == nil:
		return bad("Source", "is missing")
	case c.Frozen && c.CatchUp != nil:
		return bad("CatchUp", "has something to catch up with, though nothing happens: it is Frozen")
	case c.Live != nil && c.Live.err != nil:
		return c.Live.err
	case c.Passes < 0 || c.MaxBytes < 0:
		return bad("Passes", "is negative, or MaxBytes is")
	}
	return nil
}

// Runbook is a rebuild of a namespace in seven steps. Each is written down when it is done, with its evidence and a proof that covers the
// steps before it; none is begun without them. So a rebuild can be broken off anywhere, and whoever goes on, a day later and
// elsewhere, goes on behind the last proof. A proof finds accidents and what was edited by hand; it is no signature.
type Runbook struct {
	ns     *Namespace
	config RunbookConfig
	err    error
}

// Runbook returns the runbook of this namespace. A configuration that breaks a rule is reported by each call.
func (ns *Namespace) Runbook(config RunbookConfig) *Runbook {
	r := &Runbook{ns: ns, config: config, err: ns.err}
	if r.err == nil {
		r.err = config.validate()
	}
	return r
}

// Run goes on with the rebuild until a step is done, and returns what is written down. To look at the proof before readers move, stop
// at StepProve. A step that failed is not written down; the next call begins it again, and what it had done before is
// found and not repeated. Errors: ErrInvalid, ErrState (the alias or the build is not what it must be; the dataset is another one
// or does not reach AsOf; another runner was faster), ErrUnproved (what a step must prove does not hold), ErrCorrupt,
// those of Load, Apply, Prove and Cutover, and those of Source, CatchUp and Reconcile.
//
// Cost: 1 write and 1 read unit for each step, and those of Load, of Apply for what is caught up with, of Totals, Prove and
// Cutover. The source is read once to be verified, and Passes times each to be validated and loaded.
func (r *Runbook) Run(ctx context.Context, until Step) (Run, error) {
	last := slices.Index(steps, until)
	if last < 0 {
		return Run{}, &InvalidError{Field: "until", Reason: "is no step"}
	}
	run, err := r.State(ctx)
	for err == nil && len(run.Done) <= last {
		var to Run
		if to, err = r.next(ctx, run); err == nil {
			run = to
			r.progress(run, Build{Namespace: r.ns.number})
		}
	}
	return run, err
}

func (r *Runbook) progress(run Run, build Build) {
	if r.config.Progress != nil {
		r.config.Progress(run, build)
	}
}

// next does the step that follows and writes it down.
func (r *Runbook) next(ctx context.Context, run Run) (Run, error) {
	if len(run.Done) > 0 {
		if err := r.sameRun(run); err != nil {
			return run, err
		}
	}
	step := steps[len(run.Done)]
	work := map[Step]func(context.Context, Run) (map[string]string, error){
		StepDeclare: r.declare, StepTake: r.take, StepValidate: r.validate, StepBuild: r.build, StepCatchUp: r.catchUp,
		StepProve: r.prove, StepCutover: r.cutover,
	}[step]
	evidence, err := work(ctx, run)
	if err != nil {
		return run, err
	}
	return r.record(ctx, run, step, evidence)
}

// sameRun holds the configuration against what was written down.
func (r *Runbook) sameRun(run Run) error {
	declared := run.Evidence(StepDeclare)
	for _, field := range []struct{ name, is string }{
		{"asOf", instantText(r.config.AsOf)}, {"policy", r.config.Policy}, {"schema", r.config.Schema}, {"frozen", strconv.FormatBool(r.config.Frozen)},
	} {
		if declared[field.name] != field.is {
			return r.ns.state(fmt.Sprintf("its rebuild was declared with %s %.256q", field.name, declared[field.name]))
		}
	}
	if taken := run.Evidence(StepTake); taken != nil {
		if d := r.config.Source.Dataset(); d.Name != taken["dataset"] || d.Digest != taken["digest"] {
			return r.ns.state(fmt.Sprintf("its rebuild has taken dataset %.256q with digest %q", taken["dataset"], taken["digest"]))
		}
	}
	return nil
}

// declare writes down the plan, and where readers are.
func (r *Runbook) declare(ctx context.Context, _ Run) (map[string]string, error) {
	var missing *StateError
	if _, err := r.ns.Build(ctx); err == nil {
		return nil, r.ns.state("its build was started before its rebuild was declared")
	} else if !errors.As(err, &missing) {
		return nil, err
	}
	alias, err := r.ns.p.Alias(ctx)
	if err != nil {
		return nil, err
	}
	if alias.Namespace == r.ns.number {
		return nil, r.ns.state("readers are there")
	}
	return map[string]string{
		"asOf": instantText(r.config.AsOf), "policy": r.config.Policy, "schema": r.config.Schema, "frozen": strconv.FormatBool(r.config.Frozen),
		"aliasNamespace": strconv.Itoa(alias.Namespace), "aliasVersion": strconv.FormatInt(alias.Version, 10),
	}, nil
}

// take names the dataset.
func (r *Runbook) take(context.Context, Run) (map[string]string, error) {
	d := r.config.Source.Dataset()
	if d.Name == "" || d.Digest == "" {
		return nil, &InvalidError{Field: "RunbookConfig.Source", Reason: "has no name, or no digest"}
	}
	if d.AsOf.Before(r.config.AsOf) {
		return nil, r.ns.state(fmt.Sprintf("dataset %.256q has everything up to %s only", d.Name, instantText(d.AsOf)))
	}
	return map[string]string{"dataset": d.Name, "digest": d.Digest, "asOf": instantText(d.AsOf), "records": strconv.FormatInt(d.Records, 10)}, nil
}

func (r *Runbook) sorted() Sorted {
	return Sorted{Events: r.config.Source.Events, Passes: r.config.Passes, MaxBytes: r.config.MaxBytes}
}

// validate verifies the dataset and adds up its events.
func (r *Runbook) validate(ctx context.Context, _ Run) (map[string]string, error) {
	if err := r.config.Source.Verify(ctx); err != nil {
		return nil, err
	}
	t := tally{totals: Totals{Control: new(big.Int)}}
	for entry, err := range r.sorted().Entries(ctx, "") {
		if err != nil {
			return nil, err
		}
		if err := r.ns.p.config.check(entry.Event); err != nil {
			return nil, err
		}
		t.count(entry.Event, r.ns.p.config.First)
	}
	if len(t.faults) > 0 {
		return nil, r.unproved(t.faults...)
	}
	return totalsEvidence(t.totals), nil
}

func (r *Runbook) unproved(faults ...string) error {
	return &UnprovedError{Name: r.ns.p.config.Name, Namespace: r.ns.number, Faults: faults}
}

// build applies the dataset to the namespace.
func (r *Runbook) build(ctx context.Context, run Run) (map[string]string, error) {
	build, err := r.ns.Start(ctx, r.config.By)
	if err != nil {
		return nil, err
	}
	if build.State == Building {
		entries := r.sorted().Entries(ctx, build.Position)
		if build, err = r.ns.Load(ctx, build, entries, func(b Build) { r.progress(run, b) }); err != nil {
			return nil, err
		}
	}
	return map[string]string{"startedAt": instantText(build.StartedAt), "read": strconv.FormatInt(build.Read, 10)}, nil
}

// catchUp applies what came since, and holds the namespace against what it must have by now.
func (r *Runbook) catchUp(ctx context.Context, run Run) (map[string]string, error) {
	given := 0
	if r.config.CatchUp != nil {
		for e, err := range r.config.CatchUp(ctx) {
			if err != nil {
				return nil, err
			}
			if _, err := r.ns.Apply(ctx, e); err != nil {
				return nil, err
			}
			given++
		}
	}
	if _, err := r.ns.Sweep(ctx); err != nil {
		return nil, err
	}
	evidence, err := r.evidence(run)
	if err != nil {
		return nil, err
	}
	totals, err := r.compare(ctx, run, evidence)
	if err != nil {
		return nil, err
	}
	caughtUp := totalsEvidence(totals)
	caughtUp["given"] = strconv.Itoa(given)
	return caughtUp, nil
}

// evidence is what the namespace must be: exactly the dataset, or at least as far as the one that readers use.
func (r *Runbook) evidence(run Run) (Evidence, error) {
	if r.config.Frozen {
		want, err := run.totals(StepValidate)
		return Evidence{Want: &want, By: r.config.By}, err
	}
	live := r.config.Live
	if live == nil {
		from, err := run.alias()
		if err != nil {
			return Evidence{}, err
		}
		live = r.ns.p.Namespace(from.Namespace)
	}
	return Evidence{Live: live, By: r.config.By}, live.err
}

// compare adds the namespace up and holds it against the evidence, and against what the dataset had.
func (r *Runbook) compare(ctx context.Context, run Run, evidence Evidence) (Totals, error) {
	had, err := run.totals(StepValidate)
	if err != nil {
		return Totals{}, err
	}
	totals, faults, err := r.ns.compare(ctx, evidence)
	if err != nil {
		return Totals{}, err
	}
	if totals.Sources < had.Sources || totals.Events < had.Events {
		faults = append(faults, fmt.Sprintf("%d sources with %d events, the dataset had %d with %d", totals.Sources, totals.Events, had.Sources, had.Events))
	}
	if len(faults) > 0 {
		return Totals{}, r.unproved(faults[:min(len(faults), MaxFaults)]...)
	}
	return totals, nil
}

// prove has everything compared and reconciled, and then the build proved.
func (r *Runbook) prove(ctx context.Context, run Run) (map[string]string, error) {
	evidence, err := r.evidence(run)
	if err != nil {
		return nil, err
	}
	totals, err := r.compare(ctx, run, evidence)
	if err != nil {
		return nil, err
	}
	reconciled := ""
	if r.config.Reconcile != nil {
		if reconciled, err = r.config.Reconcile(ctx, totals); err != nil {
			return nil, err
		}
	}
	build, err := r.ns.Prove(ctx, evidence)
	if err != nil {
		return nil, err
	}
	proved := totalsEvidence(build.Totals)
	proved["reconciled"] = reconciled
	return proved, nil
}

// cutover moves readers from where they were when the run was declared.
func (r *Runbook) cutover(ctx context.Context, run Run) (map[string]string, error) {
	from, err := run.alias()
	if err != nil {
		return nil, err
	}
	to, err := r.ns.p.Alias(ctx)
	if err == nil && (to.Namespace != r.ns.number || to.Previous != from.Namespace || to.Version != from.Version+1) {
		to, err = r.ns.Cutover(ctx, from, r.config.By) // else an earlier runner did it, and could not write it down
	}
	if err != nil {
		return nil, err
	}
	return map[string]string{"aliasNamespace": strconv.Itoa(to.Namespace), "aliasPrevious": strconv.Itoa(to.Previous), "aliasVersion": strconv.FormatInt(to.Version, 10)}, nil
}
