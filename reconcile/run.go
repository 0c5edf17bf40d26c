package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// Job is what a run of a batch needs besides its record.
type Job struct {
	// Worker names who runs it. Required.
	Worker string
	// Rules must have the name that the manifest has.
	Rules Rules
	// Left and Right are the rows. Every attempt must give the same, in any order.
	Left, Right Rows
	// Options bound memory and workers.
	Options Options
	// Assign says who owns a break and by when it should be resolved. Required: a break without an owner is nobody's.
	Assign func(Outcome) Assignment
	// Observe is told every outcome, matched or not, in the order of the keys. It may be nil.
	Observe func(Outcome)
}

// Assignment is who must resolve a break, and by when.
type Assignment struct {
	// Owner must resolve it. Required.
	Owner string
	// Due is by when.
	Due time.Time
}

// Run runs a batch to its end: it takes the batch over, reads both sides, holds them against the manifest, writes every break
// once, and stores the summary. A COMPLETED batch is not run again; its stored summary is returned. Any other that failed or
// whose owner fell silent is started from the beginning, and gives the same breaks, once each: their IDs follow from
// their rows. A break that somebody has worked on meanwhile stays as it is.
//
// Errors: [InvalidError] and [NotFoundError] before anything is written; [StateError] if another owner runs it;
// [SourceError] and [ControlError] with no break written; those of package txn; ErrWrite if a break could not be written.
// After any of them Run may be called again.
//
// Cost: 1 read unit for each 4 KiB of the batch, 2 write units for each KiB of it three times (begun, read, completed), and
// once more for each third of a lease that it takes; for each new break 1 write unit for each KiB begun and 1 for its entry
// in the index, and for one that exists 1.
func (r *Reconciler) Run(ctx context.Context, tenant, date, batch string, job Job) (_ Summary, err error) {
	ctx, op := r.watch.Begin(ctx, "AP14.run")
	defer op.End(&err)
	if err := job.check(); err != nil {
		return Summary{}, err
	}
	stored, err := r.Batch(ctx, tenant, date, batch)
	if err != nil {
		return Summary{}, err
	}
	switch {
	case stored.State == BatchCompleted:
		watch.Outcome(ctx, observe.Replayed)
		return stored.Summary, nil
	case stored.Rules != job.Rules.Name:
		return Summary{}, &InvalidError{Field: "Job.Rules.Name", Reason: fmt.Sprintf("is not %q, which the manifest names", stored.Rules)}
	case stored.State == BatchRunning && r.config.Now().Before(stored.Lease):
		return Summary{}, &StateError{Batch: batch, State: string(stored.State), Version: stored.Version, Read: stored.Version}
	}
	a := &attempt{r: r, job: job, batch: stored}
	if err := a.begin(ctx); err != nil {
		return Summary{}, err
	}
	summary, err := a.work(ctx)
	if err == nil {
		return summary, nil
	}
	return Summary{}, errors.Join(err, a.fail(ctx, err))
}

func (j Job) check() error {
	switch {
	case required(j.Worker) != "":
		return &InvalidError{Field: "Job.Worker", Reason: required(j.Worker)}
	case j.Assign == nil:
		return &InvalidError{Field: "Job.Assign", Reason: "is nil"}
	case j.Left == nil:
		return &InvalidError{Field: "Job.Left", Reason: "is nil"}
	case j.Right == nil:
		return &InvalidError{Field: "Job.Right", Reason: "is nil"}
	}
	if field, reason := j.Rules.check(); field != "" {
		return &InvalidError{Field: "Job." + field, Reason: reason}
	}
	return nil
}

// attempt is one run of a batch. Its batch is as it wrote it last.
type attempt struct {
	r     *Reconciler
	job   Job
	batch Batch
	lost  bool // the batch is another's now
}

func (a *attempt) work(ctx context.Context) (Summary, error) {
	comparison, err := Load(watch.Outside(ctx), a.job.Options, a.job.Left, a.job.Right)
	if err != nil {
		return Summary{}, err
	}
	defer comparison.Close()
	if err := a.control(comparison); err != nil {
		return Summary{}, err
	}
	if err := a.found(ctx, comparison); err != nil {
		return Summary{}, err
	}
	w := a.r.newWriter(ctx, a.batch)
	summary, err := comparison.Match(ctx, a.job.Rules, a.batch.Window, func(o Outcome) error {
		if a.job.Observe != nil {
			a.job.Observe(o)
		}
		if err := a.renew(ctx); err != nil {
			return err
		}
		if !o.Kind.Break() {
			return nil
		}
		return w.write(o, a.job.Assign(o))
	})
	if err := errors.Join(err, w.wait()); err != nil {
		return Summary{}, err
	}
	return summary, a.complete(ctx, summary)
}

// control holds what was read against the manifest, and against what an earlier attempt read.
func (a *attempt) control(c *Comparison) error {
	left, right := c.Totals()
	for _, side := range []struct {
		side     Side
		got      Totals
		declared *Totals
		before   *Totals
	}{{Left, left, a.batch.Left.Control, a.batch.FoundLeft}, {Right, right, a.batch.Right.Control, a.batch.FoundRight}} {
		for since, want := range map[string]*Totals{"the manifest": side.declared, "an earlier attempt": side.before} {
			if want == nil {
				continue
			}
			if total := side.got.differs(*want); total != "" {
				return &ControlError{Batch: a.batch.Batch, Side: side.side, Total: total, Got: side.got, Since: since}
			}
		}
	}
	return nil
}

// begin is OPEN, FAILED, or RUNNING with an ended lease -> RUNNING.
func (a *attempt) begin(ctx context.Context) error {
	s := a.step("AP14.begin")
	s.Set(attrState, text(string(BatchRunning)))
	s.Set(attrAttempt, number(a.batch.Attempt+1))
	s.Set(attrOwner, text(a.job.Worker))
	s.lease(a.r)
	s.Remove(attrFailure, attrEnded)
	if err := a.commit(ctx, s); err != nil {
		return err
	}
	a.batch.State, a.batch.Owner, a.batch.Attempt = BatchRunning, a.job.Worker, a.batch.Attempt+1
	return nil
}

// found stores what was read, so that a later attempt can be held against it.
func (a *attempt) found(ctx context.Context, c *Comparison) error {
	left, right := c.Totals()
	s := a.step("AP14.read")
	for attr, totals := range map[string]Totals{attrLeft: left, attrRight: right} {
		encoded, err := totals.encode()
		if err != nil {
			return &InvalidError{Field: attr, Reason: err.Error()}
		}
		s.setIn(attr, fieldFound, encoded)
	}
	s.lease(a.r)
	return a.commit(ctx, s)
}

// renew extends the lease once a third of it is over.
func (a *attempt) renew(ctx context.Context) error {
	if a.batch.Lease.Sub(a.r.config.Now()) > a.r.config.Lease*2/3 {
		return nil
	}
	s := a.step("AP14.renew")
	s.lease(a.r)
	return a.commit(ctx, s)
}

// complete is RUNNING -> COMPLETED.
func (a *attempt) complete(ctx context.Context, summary Summary) error {
	s := a.step("AP14.complete")
	s.Set(attrState, text(string(BatchCompleted)))
	s.time(attrEnded, a.r.config.Now())
	s.Remove(attrLease)
	outcomes, rows, drifts := txn.Item{}, txn.Item{}, txn.Item{}
	for kind, n := range summary.Outcomes {
		outcomes[string(kind)], rows[string(kind)] = number(n), number(summary.Rows[kind])
		list, err := amounts(summary.Drifts[kind])
		if err != nil {
			return &InvalidError{Field: attrDrifts, Reason: err.Error()}
		}
		drifts[string(kind)] = list
	}
	for attr, m := range map[string]txn.Item{attrOutcomes: outcomes, attrRows: rows, attrDrifts: drifts} {
		s.Set(attr, &types.AttributeValueMemberM{Value: m})
	}
	return a.commit(ctx, s)
}

// fail is RUNNING -> FAILED with the reason, unless the batch is another's. It also works when the context has ended, for
// the length of a lease at most: else the batch would wait for its lease to end.
func (a *attempt) fail(ctx context.Context, reason error) error {
	if a.lost {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(a.r.config.Lease, 10*time.Second))
	defer cancel()
	s := a.step("AP14.fail")
	s.Set(attrState, text(string(BatchFailed)))
	s.Set(attrFailure, text(cut(reason.Error())))
	s.time(attrEnded, a.r.config.Now())
	s.Remove(attrLease)
	return a.commit(ctx, s)
}

// cut bounds a text that is stored, at a boundary between characters.
func cut(s string) string {
	for len(s) > maxText {
		s = s[:maxText]
		for len(s) > 0 && s[len(s)-1]&0xC0 == 0x80 {
			s = s[:len(s)-1]
		}
		if len(s) > 0 && s[len(s)-1] >= 0xC0 {
			s = s[:len(s)-1]
		}
	}
	return s
}

// step is a change of the batch as this attempt wrote it last.
func (a *attempt) step(label string) *change {
	key, err := a.batch.key()
	s := a.r.change(label, key, a.batch.Version)
	s.fail(err)
	s.explain = func(old *decoder) error {
		return &StateError{Batch: a.batch.Batch, State: old.optional(attrState), Version: old.number(attrVersion), Read: a.batch.Version}
	}
	return s
}

func (a *attempt) commit(ctx context.Context, s *change) error {
	_, err := a.r.committer.Commit(ctx, s.part())
	if err != nil {
		a.lost = a.lost || errors.Is(err, ErrState)
		return err
	}
	a.batch.Version++
	if !s.until.IsZero() {
		a.batch.Lease = s.until
	}
	return nil
}

func (s *change) lease(r *Reconciler) {
	s.until = r.config.Now().Add(r.config.Lease)
	s.time(attrLease, s.until)
}
