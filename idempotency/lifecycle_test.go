package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// life is the model of one request: what it says without a store, and the claims that callers still have in their hands.
type life struct {
	*store
	rt       *rapid.T
	seen     chance.Seen
	time     *clock
	requests *idempotency.Requests
	worker   *idempotency.RepairWorker
	finding  idempotency.Finding

	state    idempotency.State
	mode     idempotency.Mode
	attempt  int
	holder   int // index of the claim that counts, -1: none
	lease    time.Time
	due      time.Time // zero: not listed
	probes   int
	result   idempotency.Result
	claims   []*idempotency.Claim
	watching bool
	last     string // the step by which a claim was given up, while nothing came after it: its repeat recognises itself
}

const (
	lifeHold   = time.Hour
	lifeProbes = 2
	lifeWait   = time.Minute
)

func newLife(rt *rapid.T, seen chance.Seen) *life {
	l := &life{store: newStore(rt, stores.Options{}), rt: rt, seen: seen, time: newClock(), holder: -1, watching: rapid.Bool().Draw(rt, "watch")}
	l.requests = l.keeper(idempotency.Config{Now: l.time.now, NewID: ids("claim"), Map: shardmap.Fixed(1), WatchTransactional: l.watching, RetryHold: lifeHold})
	l.worker = idempotency.NewRepairWorker(l.requests, l.client, idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
		return l.finding, nil
	}), idempotency.RepairConfig{Tenants: idempotency.Tenants(order("10").Tenant), Grace: -1, ProbesMax: lifeProbes, RetryMin: lifeWait, RetryMax: lifeWait})
	return l
}

func (l *life) ended() bool { return !l.time.now().Before(l.lease) }

// became notes a step of the model.
func (l *life) became(step string, state idempotency.State) {
	l.seen[step]++
	l.state, l.last = state, ""
	switch state {
	case idempotency.InProgress:
		l.attempt++
		l.lease = l.time.now().Add(idempotency.LeaseDefault)
	case idempotency.Completed, idempotency.Escalated:
		l.due, l.holder = time.Time{}, -1
	default:
		l.holder = -1
	}
}

func (l *life) begin() {
	mode := rapid.SampledFrom([]idempotency.Mode{idempotency.Transactional, idempotency.External}).Draw(l.rt, "mode")
	step, want := "", error(nil)
	switch {
	case l.state == idempotency.Absent:
		step = "begin"
	case l.state == idempotency.Released:
		step = "resume"
	case l.state == idempotency.InProgress && l.ended() && l.mode == idempotency.Transactional:
		step = "take over"
	case l.state == idempotency.InProgress && l.ended():
		l.became("expire", idempotency.RepairRequired)
		l.due, l.probes, want = l.lease, 0, idempotency.ErrRepairRequired
	case l.state == idempotency.InProgress:
		want = idempotency.ErrInProgress
	case l.state == idempotency.Completed:
		want = idempotency.ErrReplayed
	default:
		want = idempotency.ErrRepairRequired
	}
	claim, err := l.requests.Begin(l.rt.Context(), l.client, order("10"), mode)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		l.rt.Fatalf("begin: %v, want %v", err, want)
	}
	if replayed, ok := idempotency.Replayed(err); ok && !reflect.DeepEqual(replayed.Result, l.result) {
		l.rt.Fatalf("replayed %+v, want %+v", replayed.Result, l.result)
	}
	if step == "" {
		return
	}
	l.became(step, idempotency.InProgress)
	l.mode, l.holder, l.claims, l.due = mode, len(l.claims), append(l.claims, claim), time.Time{}
	if l.watching || mode == idempotency.External {
		l.due = l.lease
	}
}

// act lets the holder of any claim that was ever handed out take a step.
func (l *life) act() {
	if len(l.claims) == 0 {
		return
	}
	i := rapid.IntRange(0, len(l.claims)-1).Draw(l.rt, "claim")
	step := rapid.SampledFrom([]string{"complete", "reject", "release", "repair", "renew"}).Draw(l.rt, "step")
	claim, result := l.claims[i], idempotency.Result{Code: step, Body: fmt.Append(nil, i)}
	var err error
	switch step {
	case "complete":
		_, err = l.commit(l.rt.Context(), 1, claim.Complete(result))
	case "reject":
		_, err = l.commit(l.rt.Context(), 1, claim.Reject(result))
		result.Kind = idempotency.Rejected
	case "release":
		err = claim.Release(l.rt.Context(), l.client, "no effect")
	case "repair":
		err = claim.Repair(l.rt.Context(), l.client, idempotency.Evidence{Reason: "no answer"})
	default:
		_, err = claim.Renew(l.rt.Context(), l.client, idempotency.LeaseDefault)
	}
	if act := fmt.Sprint(step, i); act == l.last && err == nil {
		return
	}
	if i != l.holder {
		l.seen["a late loser"]++
		replayed, ok := idempotency.Replayed(err)
		if !errors.Is(err, idempotency.ErrLeaseLost) || ok != (l.state == idempotency.Completed) || ok && !reflect.DeepEqual(replayed.Result, l.result) {
			l.rt.Fatalf("%s by claim %d, which is not claim %d: %v", step, i, l.holder, err)
		}
		return
	}
	if err != nil {
		l.rt.Fatalf("%s by the holder: %v", step, err)
	}
	switch step {
	case "complete", "reject":
		l.became(step, idempotency.Completed)
		l.result = result
	case "release":
		l.became(step, idempotency.Released)
		l.last = fmt.Sprint(step, i)
		if !l.due.IsZero() {
			l.due = l.time.now().Add(lifeHold)
		}
	case "repair":
		until := l.lease
		l.became(step, idempotency.RepairRequired)
		l.due, l.probes = until, 0
		l.last = fmt.Sprint(step, i)
	default:
		l.seen[step]++
		if until := l.time.now().Add(idempotency.LeaseDefault); until.After(l.lease) {
			l.lease = until
			if !l.due.IsZero() {
				l.due = until
			}
		}
	}
}

// round lets the repair worker take up what is due.
func (l *life) round() {
	verdict := rapid.SampledFrom([]string{"found", "absent", "ambiguous", "ambiguous", "ambiguous"}).Draw(l.rt, "finding")
	l.finding = map[string]idempotency.Finding{"found": idempotency.Found(idempotency.Result{Code: "found"}), "absent": idempotency.AbsentForGood(),
		"ambiguous": idempotency.Ambiguous("no answer")}[verdict]
	round, err := l.worker.Once(l.rt.Context())
	if err != nil || round.Failed > 0 || round.Stale > 0 {
		l.rt.Fatalf("%+v, %v", round, err)
	}
	now := l.time.now()
	if l.due.IsZero() || now.Before(l.due) {
		if round.Listed > 0 {
			l.rt.Fatalf("%+v, and nothing is due", round)
		}
		return
	}
	l.last = ""
	switch {
	case l.state == idempotency.Released:
		l.became("abandon", idempotency.Completed)
		l.result = idempotency.Result{Kind: idempotency.Rejected, Code: idempotency.AbandonedCode}
		return
	case l.state == idempotency.InProgress && l.mode == idempotency.Transactional:
		l.became("lapse", idempotency.Released)
		l.due = now.Add(lifeHold)
		return
	case l.state == idempotency.InProgress:
		l.became("expire", idempotency.RepairRequired)
		l.probes = 0
	}
	l.probes++
	switch {
	case verdict == "found":
		l.became("find", idempotency.Completed)
		l.result = idempotency.Result{Code: "found"}
	case verdict == "absent":
		l.became("allow", idempotency.Released)
		l.due = now.Add(lifeHold)
	case l.probes >= lifeProbes:
		l.became("escalate", idempotency.Escalated)
	default:
		l.seen["postpone"]++
		l.due = now.Add(lifeWait)
	}
}

// decide lets an operator decide, if it is an operator's turn.
func (l *life) decide() {
	if l.state != idempotency.Escalated {
		return
	}
	rec, err := l.requests.Get(l.rt.Context(), l.client, order("10").Tenant, order("10").Key)
	if err != nil {
		l.rt.Fatal(err)
	}
	now := l.time.now()
	note := idempotency.Audit{By: "ann", Reason: "looked at it", At: now}
	step := rapid.SampledFrom([]string{"settle", "free", "requeue"}).Draw(l.rt, "decision")
	var part txn.Part
	switch step {
	case "settle":
		part = l.requests.Settle(rec, idempotency.Result{Code: "settled"}, note)
		l.became(step, idempotency.Completed)
		l.result = idempotency.Result{Code: "settled"}
	case "free":
		part = l.requests.Free(rec, note)
		l.became(step, idempotency.Released)
		l.due = now.Add(lifeHold)
	default:
		part = l.requests.Requeue(rec, now, note)
		l.became(step, idempotency.RepairRequired)
		l.due, l.probes = now, 0
	}
	if _, err := l.commit(l.rt.Context(), 1, part); err != nil {
		l.rt.Fatalf("%s: %v", step, err)
	}
}

func (l *life) wait() {
	l.time.advance(rapid.SampledFrom([]time.Duration{1, time.Second, idempotency.LeaseDefault - 1, idempotency.LeaseDefault, lifeWait, lifeHold}).Draw(l.rt, "wait"))
}

// agrees holds the record against the model.
func (l *life) agrees() {
	if l.state == idempotency.Absent {
		return
	}
	rec, err := l.requests.Get(l.rt.Context(), l.client, order("10").Tenant, order("10").Key)
	if err != nil || rec.State != l.state || rec.Attempt != l.attempt || !reflect.DeepEqual(rec.Result, l.result) ||
		l.state == idempotency.InProgress && !rec.LeaseUntil.Equal(l.lease) {
		l.rt.Fatalf("stored is %+v, %v; want %s, attempt %d until %v, %+v", rec, err, l.state, l.attempt, l.lease, l.result)
	}
}

// TestTheLifeOfARequestIsThatOfItsModel draws what callers, late losers, workers and operators do, and when.
func TestTheLifeOfARequestIsThatOfItsModel(t *testing.T) {
	t.Parallel()
	var wanted []string
	for _, rule := range idempotency.Rules() {
		if rule.Step != "once" && rule.Step != "probe" {
			wanted = append(wanted, rule.Step)
		}
	}
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		l := newLife(rt, seen)
		later := func() { l.wait(); l.round() }
		steps := []func(){l.begin, l.begin, l.act, l.act, l.wait, later, later, later, l.decide, l.decide}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "who")]()
			l.agrees()
		}
	}, append(wanted, "reject", "a late loser")...)
}
