package idempotency

import (
	"context"
	"time"

	"github.com/dynafin/dynafin/txn"
)

// Rule is one step of the state machine.
type Rule struct {
	Step     string
	From, To State
}

// Rules returns the state machine.
func Rules() (rules []Rule) {
	for step, rule := range transitions {
		rules = append(rules, Rule{string(step), rule.from, rule.to})
	}
	return rules
}

// StepClient are the calls of all steps.
type StepClient interface {
	Updater
	txn.Client
}

// Take applies a step to a record as it was read, without asking whether its time has come. Steps that give the record to
// somebody give it under the token.
func (r *Requests) Take(ctx context.Context, client StepClient, name string, rec Record, token string, now time.Time) error {
	claim := &Claim{requests: r, record: rec}
	wanted := rec
	wanted.ClaimID, wanted.Mode, wanted.LeaseUntil = token, External, now.Add(time.Minute)
	note := Audit{By: "ops@acme", Reason: "looked at it", At: now}
	done := Result{Code: "200", Body: []byte(name)}
	c := r.change(step(name), &rec, now)
	var part txn.Part
	switch step(name) {
	case stepRenew:
		_, err := claim.Renew(ctx, client, time.Hour)
		return err
	case stepTakeOver, stepResume:
		c = r.again(step(name), &rec, &wanted, now)
	case stepRelease:
		return claim.Release(ctx, client, "no effect")
	case stepRepair:
		return claim.Repair(ctx, client, Evidence{Reason: "no answer", Details: map[string]string{"paymentId": "pay-1"}})
	case stepExpire:
		c = r.expire(&rec, now)
	case stepProbe:
		c.requireLease()
		c.held("repair-1", token, now.Add(time.Minute))
		c.due(now.Add(time.Minute))
	case stepLapse, stepAllow, stepPostpone:
		c.left()
		c.because("found out", nil)
		c.due(now.Add(time.Hour))
	case stepEscalate:
		c.left()
		c.because("not known", nil)
		c.escalated(now)
	case stepAbandon:
		c.complete(done, now)
		c.mine = func(stored *Record) bool { return stored.State == Completed && stored.Revision == rec.Revision+1 }
	case stepComplete:
		part = claim.Complete(done)
	case stepFind:
		c.complete(done, now)
		part = c.part("AP18.find")
	case stepSettle:
		part = r.Settle(rec, done, note)
	case stepFree:
		part = r.Free(rec, note)
	case stepRequeue:
		part = r.Requeue(rec, now, note)
	}
	if part.Writes() > 0 || part.Err() != nil {
		_, err := txn.New(client, txn.Config{}).Commit(ctx, part)
		return err
	}
	_, err := c.apply(ctx, client)
	return err
}
