package idempotency

import (
	"cmp"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/internal/ambient"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// RepairClient are the calls that a RepairWorker makes. *dynamodb.Client satisfies it.
type RepairClient interface {
	RepairReader
	Updater
	txn.Client
}

// RepairConfig configures [NewRepairWorker]. Everything but Tenants has a default.
type RepairConfig struct {
	// Tenants returns whose requests the worker repairs; it is asked in every round. Required. See [Tenants].
	Tenants func(ctx context.Context) ([]string, error)
	// Owner names the worker in records, for people. Default: "repair".
	Owner string
	// Lease is how long one request belongs to the worker, and how long the [Prober] has for it. Default: 1 min; at most
	// [LeaseMax].
	Lease time.Duration
	// Grace is how long after the end of its lease an attempt is left alone: more than clocks differ, and long enough for
	// its last call to have reached the other system. Default: 30 s. Negative: none.
	Grace time.Duration
	// ProbesMax is after how many looks in vain a request is escalated. Default: 10.
	ProbesMax int
	// RetryMin and RetryMax bound the wait before the next look: RetryMin doubled with each, at most RetryMax. Defaults:
	// 30 s and 1 h.
	RetryMin, RetryMax time.Duration
	// Abandoned is the result of a request that is known to have no effect and that its client did not repeat within
	// Config.RetryHold. Default: a rejection with the code [AbandonedCode].
	Abandoned *Result
	// Poll is the wait between rounds. Default: 15 s.
	Poll time.Duration
	// Sleep waits, for no longer than the context. Default: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Observer is told of every step: due and read of what is repaired, then probe, find, postpone, allow, escalate, lapse,
	// expire or abandon of one request, and after each round how many were due. Default: that of the Requests.
	Observer observe.Observer
}

// AbandonedCode is the code of a request that nobody repeated, unless configured otherwise.
const AbandonedCode = "ABANDONED"

// Round counts what one round of a RepairWorker did.
type Round struct {
	// Listed is how many entries the index showed; Stale how many of them were somebody else's by then, or done with.
	Listed, Stale int
	// Completed, Released, Postponed, Escalated and Abandoned are how many requests went which way.
	Completed, Released, Postponed, Escalated, Abandoned int
	// Failed is how many steps had no definite answer. Those requests come again.
	Failed int
}

// Tenants is a fixed list for [RepairConfig.Tenants].
func Tenants(tenants ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return tenants, nil }
}

func (c RepairConfig) withDefaults() RepairConfig {
	c.Owner = cmp.Or(c.Owner, "repair")
	c.Lease, c.Grace = cmp.Or(c.Lease, time.Minute), cmp.Or(c.Grace, 30*time.Second)
	c.Grace = max(c.Grace, 0)
	c.ProbesMax = cmp.Or(c.ProbesMax, 10)
	c.RetryMin, c.RetryMax = cmp.Or(c.RetryMin, 30*time.Second), cmp.Or(c.RetryMax, time.Hour)
	c.Poll = cmp.Or(c.Poll, 15*time.Second)
	if c.Abandoned == nil {
		c.Abandoned = &Result{Kind: Rejected, Code: AbandonedCode}
	}
	if c.Sleep == nil {
		c.Sleep = ambient.Sleep
	}
	return c
}

func (c RepairConfig) validate() error {
	var faults []error
	rule := func(holds bool, field, reason string) {
		if !holds {
			faults = append(faults, &InvalidError{Field: "RepairConfig." + field, Reason: reason})
		}
	}
	rule(c.Tenants != nil, "Tenants", "is missing")
	rule(utf8.ValidString(c.Owner), "Owner", "is not valid UTF-8")
	rule(c.Lease >= time.Second && c.Lease <= LeaseMax, "Lease", "is out of range")
	rule(c.Grace <= LeaseMax, "Grace", "is out of range")
	rule(c.ProbesMax > 0, "ProbesMax", "is below 1")
	rule(c.RetryMin > 0 && c.RetryMax >= c.RetryMin && c.RetryMax <= 7*24*time.Hour, "RetryMax", "or RetryMin is out of range")
	rule(c.Poll > 0, "Poll", "is not above zero")
	if err := c.Abandoned.validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// RepairWorker finds requests whose attempts did not say how they ended, finds out, and ends them (AP18). Any number of
// workers may run. Every step is a write on condition of what was read, so two that meet do nothing twice.
type RepairWorker struct {
	requests *Requests
	client   RepairClient
	prober   Prober
	config   RepairConfig
	err      error
}

// NewRepairWorker returns a RepairWorker. A configuration that breaks a rule is reported by Once and Run.
func NewRepairWorker(requests *Requests, client RepairClient, prober Prober, config RepairConfig) *RepairWorker {
	config = config.withDefaults()
	if config.Observer != nil {
		told := *requests
		told.watch = watch.New("idempotency", "", config.Observer, requests.config.Now)
		requests = &told
	}
	w := &RepairWorker{requests: requests, client: client, prober: prober, config: config, err: errors.Join(requests.err, config.validate())}
	if prober == nil {
		w.err = errors.Join(w.err, &InvalidError{Field: "prober", Reason: "is missing"})
	}
	return w
}

// Run repairs round by round until the context ends, whose error it returns. A round that fails is told to the Observer.
//
// Cost: that of [RepairWorker.Once] each [RepairConfig.Poll].
func (w *RepairWorker) Run(ctx context.Context) error {
	if w.err != nil {
		return w.err
	}
	for {
		_, _ = w.Once(ctx) // what failed was observed, and is due again
		if err := w.config.Sleep(ctx, w.config.Poll); err != nil {
			return err
		}
	}
}

// Once takes up every request that is due now. The error is what could not be listed; of single requests the Observer is
// told.
//
// Cost: half a read unit for each tenant and shard, and for each request that is due 1 read unit and the steps in the package
// documentation.
func (w *RepairWorker) Once(ctx context.Context) (Round, error) {
	if w.err != nil {
		return Round{}, w.err
	}
	var round Round
	tenants, err := w.config.Tenants(ctx)
	if err != nil {
		return round, err
	}
	var faults []error
	for _, tenant := range tenants {
		cutoff := w.requests.config.Now().Add(-w.config.Grace)
		for entry, err := range w.requests.Due(ctx, w.client, tenant, cutoff) {
			if err != nil {
				faults = append(faults, err)
				continue
			}
			round.Listed++
			w.repair(ctx, &round, entry)
		}
		if err := ctx.Err(); err != nil {
			return round, err
		}
	}
	if err := errors.Join(faults...); err != nil {
		return round, err
	}
	w.requests.watch.Measure(ctx, "AP18", observe.RepairsDue, int64(round.Listed))
	return round, nil
}

// take takes a step, which is a change by itself, and says whether it was taken.
func (w *RepairWorker) take(ctx context.Context, round *Round, c *change) (*Record, bool) {
	var after *Record
	err := w.report(ctx, c.step, func(ctx context.Context) (err error) {
		after, err = c.apply(ctx, w.client)
		return err
	})
	return after, round.took(err)
}

// report makes a step an operation.
func (w *RepairWorker) report(ctx context.Context, step step, do func(context.Context) error) (err error) {
	ctx, op := w.requests.watch.Begin(ctx, "AP18."+string(step))
	defer op.End(&err)
	return do(ctx)
}

// took notes how a step ended, and says whether it was taken.
func (r *Round) took(err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, ErrLeaseLost):
		r.Stale++
	default:
		r.Failed++
	}
	return false
}

// repair takes up one request. Only what a strong read shows counts, and only if it is at the place where it was listed:
// what has moved since is listed there, or done with.
func (w *RepairWorker) repair(ctx context.Context, round *Round, entry Listed) {
	var rec Record
	err := w.report(ctx, "read", func(ctx context.Context) (err error) {
		rec, err = w.requests.Get(ctx, w.client, entry.Tenant, entry.Key)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		round.Stale++
		return
	}
	if err != nil {
		round.Failed++
		return
	}
	now := w.requests.config.Now()
	switch {
	case !rec.listedAt.Equal(entry.At):
		round.Stale++
	case rec.State == Released:
		c := w.requests.change(stepAbandon, &rec, now)
		c.complete(w.config.Abandoned.clone(), now)
		c.mine = func(stored *Record) bool { return stored.State == Completed && stored.Revision == rec.Revision+1 }
		if _, ok := w.take(ctx, round, c); ok {
			round.Abandoned++
		}
	case rec.State == InProgress && rec.Mode == Transactional:
		c := w.requests.change(stepLapse, &rec, now)
		c.requireLease()
		c.left()
		c.because("the lease ended, and nothing was committed", nil)
		c.due(now.Add(w.requests.config.RetryHold))
		if _, ok := w.take(ctx, round, c); ok {
			round.Released++
		}
	case rec.State == InProgress:
		if after, ok := w.take(ctx, round, w.requests.expire(&rec, now)); ok {
			w.probe(ctx, round, after)
		}
	case rec.State == RepairRequired:
		w.probe(ctx, round, &rec)
	}
}

// probe takes the request over on a lease, lets the service look, and does what the finding says.
func (w *RepairWorker) probe(ctx context.Context, round *Round, rec *Record) {
	token, err := w.requests.newID()
	now := w.requests.config.Now()
	until := now.Add(w.config.Lease)
	c := w.requests.change(stepProbe, rec, now)
	c.requireLease()
	c.held(w.config.Owner, token, until)
	c.Set(attrProbes, numberAttr(int64(rec.Probes+1)))
	c.due(until)
	if c.err == nil {
		c.err = err
	}
	rec, ok := w.take(ctx, round, c)
	if !ok {
		return
	}
	looking, cancel := context.WithTimeout(ctx, w.config.Lease)
	finding, err := w.prober.Probe(looking, *rec)
	cancel()
	if err != nil {
		finding = Ambiguous(err.Error())
	}
	if finding.verdict == found {
		c := w.requests.change(stepFind, rec, w.requests.config.Now())
		c.complete(finding.result.clone(), w.requests.config.Now())
		err := w.report(ctx, stepFind, func(ctx context.Context) error {
			commits := txn.New(w.client, w.requests.config.Txn)
			_, err := commits.Commit(ctx, append([]txn.Part{c.part("AP18.find")}, finding.parts...)...)
			return err
		})
		if round.took(err) {
			round.Completed++
		}
		if err == nil || errors.Is(err, ErrLeaseLost) {
			return
		}
		finding = Ambiguous(err.Error())
	}
	w.conclude(ctx, round, rec, finding)
}

// conclude ends a look that did not complete the request.
func (w *RepairWorker) conclude(ctx context.Context, round *Round, rec *Record, finding Finding) {
	now := w.requests.config.Now()
	next, count := stepPostpone, &round.Postponed
	switch {
	case finding.verdict == absent:
		next, count = stepAllow, &round.Released
		finding.reason = "there was no effect"
	case rec.Probes >= w.config.ProbesMax:
		next, count = stepEscalate, &round.Escalated
	}
	c := w.requests.change(next, rec, now)
	c.left()
	c.because(cmp.Or(finding.reason, "not known"), nil)
	switch next {
	case stepAllow:
		c.due(now.Add(w.requests.config.RetryHold))
	case stepEscalate:
		c.escalated(now)
	default:
		c.due(now.Add(w.wait(rec.Probes)))
	}
	if _, ok := w.take(ctx, round, c); ok {
		*count++
	}
}

// wait is how long after a look in vain the next one follows.
func (w *RepairWorker) wait(probes int) time.Duration {
	wait := w.config.RetryMin
	for i := 1; i < probes && wait < w.config.RetryMax; i++ {
		wait *= 2
	}
	return min(wait, w.config.RetryMax)
}
