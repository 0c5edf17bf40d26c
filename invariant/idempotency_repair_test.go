package invariant_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/invariant"
)

// takePayments is the story of a till.
func takePayments(w *invariant.World) {
	t := newTill(w)
	for i := range 1 + w.Choose("more payments", 2) {
		t.pay(fmt.Sprint("pay-", i), w.Choose("booked or charged", 2) == 1)
	}
	if w.Choose("somebody goes away", 2) == 1 {
		t.abandon("abandoned", w.Choose("booked or charged", 2) == 1)
	}
	for i := range 2 {
		t.repair(i)
	}
	t.operate()
	w.Run()
	w.Settle()
	w.Check("one answer to everybody", invariant.SameAnswers(w.Answers()))
	w.Check("every request is completed, or listed with its reason", t.ended())
	w.Check("what clients were told is what is stored", t.told())
	for _, step := range []string{"a replay", "a repeat is told to wait", "a repeat is told of repair", "a late loser is refused",
		"a transactional attempt is taken over", "an external attempt is allowed again", "a charge comes after it was voided",
		"AP18.expire", "AP18.lapse", "AP18.probe", "AP18.postpone", "AP18.find", "AP18.allow", "AP18.escalate", "AP18.abandon",
		"AP18.settle", "AP18.free", "AP18.requeue"} {
		w.Sometimes(step, t.steps[step])
	}
}

// told compares answers with records.
func (t *till) told() error {
	records := t.records()
	for _, a := range t.w.Answers() {
		rec := records[a.Command]
		if string(a.Body) == waits && rec.State == idempotency.Escalated {
			continue
		}
		if stored := fmt.Sprintf("%s %s%s", rec.Result.Kind, rec.Result.Code, rec.Result.Body); rec.State != idempotency.Completed || stored != string(a.Body) {
			return fmt.Errorf("%s was told %q, stored is %s %q", a.Worker, a.Body, rec.State, stored)
		}
	}
	return nil
}

var badTill = invariant.Config{IndexLag: 20 * time.Second, SkewMax: 3 * time.Second, Steps: 400, SettleSteps: 20_000, SettleTime: 12 * time.Hour}

func TestEveryRequestEndsOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	invariant.Check(t, badTill, takePayments)
}

// Calmer weather and one payment of each kind: every fault at every request.
func TestRequestsSurviveEachFaultAtEachRequest(t *testing.T) {
	t.Parallel()
	config := invariant.Config{SkewMax: -1, Copies: 1, SettleSteps: 20_000, SettleTime: 12 * time.Hour}
	runs := invariant.EachFault(t, config, func(w *invariant.World) {
		till := newTill(w)
		till.pay("booked", false)
		till.pay("charged", true)
		till.repair(0)
		till.operate()
		w.Run()
		w.Settle()
		w.Check("one answer to everybody", invariant.SameAnswers(w.Answers()))
		w.Check("every request is completed, or listed with its reason", till.ended())
		w.Check("what clients were told is what is stored", till.told())
	})
	if runs < 30 {
		t.Errorf("%d runs", runs)
	}
}
