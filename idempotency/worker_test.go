package idempotency_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func noWait(time.Duration) time.Duration { return 0 }

// shop is a service with a repair worker, whose prober says what the test tells it.
type shop struct {
	*store
	*testing.T
	requests *idempotency.Requests
	time     *clock
	finding  func(r idempotency.Record) (idempotency.Finding, error)
	asked    []idempotency.Record
	steps    []string
	worker   *idempotency.RepairWorker
}

func newShop(t *testing.T, config idempotency.Config, repair idempotency.RepairConfig) *shop {
	t.Helper()
	s := &shop{store: newStore(t, stores.Options{}), T: t, time: newClock()}
	config.Now, config.NewID, config.Txn = s.time.now, ids("claim"), txn.Config{MaxAttempts: 3, Jitter: noWait}
	s.requests = s.keeper(config)
	repair.Tenants = idempotency.Tenants("nobody", order("10").Tenant)
	repair.Observer = observe.Func(func(_ context.Context, e observe.Event) {
		if e.Err == nil && e.Name != "due" && e.Name != "read" {
			s.steps = append(s.steps, e.Label())
		}
	})
	s.finding = func(idempotency.Record) (idempotency.Finding, error) { return idempotency.Ambiguous("no answer"), nil }
	prober := idempotency.ProberFunc(func(_ context.Context, r idempotency.Record) (idempotency.Finding, error) {
		s.asked = append(s.asked, r)
		return s.finding(r)
	})
	s.worker = idempotency.NewRepairWorker(s.requests, s.client, prober, repair)
	return s
}

// later lets time pass and runs one round.
func (s *shop) later(d time.Duration) idempotency.Round {
	s.Helper()
	s.time.advance(d)
	round, err := s.worker.Once(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return round
}

func (s *shop) state() idempotency.Record { s.Helper(); return get(s.T, s.store, s.requests) }

// A crashed external attempt is found, probed with what is known, and completed together with what else is true by it.
func TestACrashedAttemptIsCompletedFromItsEvidence(t *testing.T) {
	t.Parallel()
	s := newShop(t, idempotency.Config{}, idempotency.RepairConfig{})
	mustBegin(t, s.store, s.requests, idempotency.External)
	if round := s.later(60*time.Second - 1); round != (idempotency.Round{}) {
		t.Errorf("within the grace: %+v", round)
	}
	s.finding = func(idempotency.Record) (idempotency.Finding, error) {
		return idempotency.Found(accepted("ord-1"), s.order("ord-1")), nil
	}
	if round := s.later(1); round != (idempotency.Round{Listed: 1, Completed: 1}) {
		t.Errorf("%+v", round)
	}
	if len(s.asked) != 1 || s.asked[0].Mode != idempotency.External || s.asked[0].Attempt != 1 || s.asked[0].Reason != "the lease ended without an outcome" {
		t.Errorf("asked about %+v", s.asked)
	}
	if s.effects(t) != 1 || s.later(time.Hour) != (idempotency.Round{}) {
		t.Error("the effect is not there once, or the request is listed still")
	}
	_, err := begin(t, s.store, s.requests, order("10"), idempotency.External)
	if replayed, ok := idempotency.Replayed(err); !ok || !reflect.DeepEqual(replayed.Result, accepted("ord-1")) {
		t.Errorf("the repeat: %v", err)
	}
}

// What the owner knew is there when it is needed, whatever came in between.
func TestEvidenceStaysUntilTheEnd(t *testing.T) {
	t.Parallel()
	s := newShop(t, idempotency.Config{}, idempotency.RepairConfig{ProbesMax: 3, RetryMin: time.Minute})
	claim := mustBegin(t, s.store, s.requests, idempotency.External)
	evidence := idempotency.Evidence{Reason: "504 from the provider", Details: map[string]string{"paymentId": "pay-1"}}
	if err := claim.Repair(t.Context(), s.client, evidence); err != nil {
		t.Fatal(err)
	}
	s.finding = func(idempotency.Record) (idempotency.Finding, error) {
		return idempotency.Finding{}, errors.New("504 again")
	}
	for i, wait := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute} {
		round := s.later(wait)
		want := idempotency.Round{Listed: 1, Postponed: 1}
		if i == 2 {
			want = idempotency.Round{Listed: 1, Escalated: 1}
		}
		if round != want {
			t.Errorf("look %d: %+v", i, round)
		}
	}
	for i, r := range s.asked {
		if !reflect.DeepEqual(r.Evidence, evidence.Details) || r.Probes != i+1 {
			t.Errorf("look %d: %+v", i, r)
		}
	}
	if s.later(24*time.Hour) != (idempotency.Round{}) {
		t.Error("an escalated request is due")
	}
	escalated := s.escalated()
	if len(escalated) != 1 || escalated[0].Reason != "504 again" || !reflect.DeepEqual(escalated[0].Evidence, evidence.Details) {
		t.Errorf("escalated: %+v", escalated)
	}
}

func (s *shop) escalated() (all []idempotency.Record) {
	s.Helper()
	for rec, err := range s.requests.Escalated(s.Context(), s.client, order("10").Tenant) {
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, rec)
	}
	return all
}

// Evidence that comes after somebody else has sent the request to repair is not stored, and its owner is told so.
func TestEvidenceThatComesTooLateIsNotTakenForStored(t *testing.T) {
	t.Parallel()
	s := newShop(t, idempotency.Config{}, idempotency.RepairConfig{})
	claim := mustBegin(t, s.store, s.requests, idempotency.External)
	s.time.advance(idempotency.LeaseDefault)
	if _, err := begin(t, s.store, s.requests, order("10"), idempotency.External); !errors.Is(err, idempotency.ErrRepairRequired) {
		t.Fatal(err)
	}
	err := claim.Repair(t.Context(), s.client, idempotency.Evidence{Reason: "504", Details: map[string]string{"paymentId": "pay-1"}})
	if !errors.Is(err, idempotency.ErrLeaseLost) || s.state().Evidence != nil {
		t.Errorf("%v, stored is %v", err, s.state().Evidence)
	}
}

// An absent effect frees the request for its client; if that does not come, the request ends with a definite refusal.
func TestAnAbsentEffectFreesTheRequest(t *testing.T) {
	t.Parallel()
	absent := func(idempotency.Record) (idempotency.Finding, error) { return idempotency.AbsentForGood(), nil }
	for _, comes := range []bool{true, false} {
		s := newShop(t, idempotency.Config{RetryHold: time.Hour}, idempotency.RepairConfig{})
		mustBegin(t, s.store, s.requests, idempotency.External)
		s.finding = absent
		if round := s.later(time.Minute); round != (idempotency.Round{Listed: 1, Released: 1}) || s.state().State != idempotency.Released {
			t.Errorf("%+v, %s", round, s.state().State)
		}
		if comes {
			claim := mustBegin(t, s.store, s.requests, idempotency.External)
			if claim.Attempt() != 2 {
				t.Errorf("attempt %d", claim.Attempt())
			}
			if s.later(time.Second) != (idempotency.Round{}) {
				t.Error("the new attempt is due")
			}
			continue
		}
		if round := s.later(time.Hour + 30*time.Second - 1); round != (idempotency.Round{}) {
			t.Errorf("before its time: %+v", round)
		}
		if round := s.later(1); round != (idempotency.Round{Listed: 1, Abandoned: 1}) {
			t.Errorf("%+v", round)
		}
		_, err := begin(t, s.store, s.requests, order("10"), idempotency.External)
		if replayed, ok := idempotency.Replayed(err); !ok || replayed.Result.Kind != idempotency.Rejected || replayed.Result.Code != idempotency.AbandonedCode {
			t.Errorf("the late repeat: %v", err)
		}
	}
}

// Transactional attempts need no prober: their lease ends, and they are known to have no effect. Who wants to know that
// nobody repeats them lists them.
func TestAWatchedTransactionalAttemptEndsWithoutAProber(t *testing.T) {
	t.Parallel()
	for _, watch := range []bool{true, false} {
		s := newShop(t, idempotency.Config{WatchTransactional: watch, RetryHold: time.Hour}, idempotency.RepairConfig{})
		claim := mustBegin(t, s.store, s.requests, idempotency.Transactional)
		round := s.later(time.Minute)
		if !watch {
			if round != (idempotency.Round{}) {
				t.Errorf("not watched: %+v", round)
			}
			continue
		}
		if round != (idempotency.Round{Listed: 1, Released: 1}) || len(s.asked) > 0 {
			t.Errorf("%+v, asked %v", round, s.asked)
		}
		if _, err := s.commit(t.Context(), 1, claim.Complete(accepted("ord-1")), s.order("ord-1")); !errors.Is(err, idempotency.ErrLeaseLost) || s.effects(t) != 0 {
			t.Errorf("the late commit: %v", err)
		}
		if round := s.later(2 * time.Hour); round != (idempotency.Round{Listed: 1, Abandoned: 1}) {
			t.Errorf("%+v", round)
		}
	}
}

// A worker that dies while it looks leaves the request listed for the next one; a finding that comes too late changes
// nothing.
func TestAWorkerThatStoodStillChangesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t, idempotency.Config{}, idempotency.RepairConfig{})
	mustBegin(t, s.store, s.requests, idempotency.External)
	slow := true
	s.finding = func(idempotency.Record) (idempotency.Finding, error) {
		if slow {
			slow = false
			if round := s.later(59 * time.Second); round != (idempotency.Round{}) {
				t.Errorf("during the lease of the first worker: %+v", round)
			}
			if round := s.later(31 * time.Second); round != (idempotency.Round{Listed: 1, Completed: 1}) {
				t.Errorf("after it: %+v", round)
			}
			return idempotency.AbsentForGood(), nil
		}
		return idempotency.Found(accepted("ord-1")), nil
	}
	if round := s.later(time.Minute); round != (idempotency.Round{Listed: 1, Stale: 1}) {
		t.Errorf("the first worker: %+v", round)
	}
	if rec := s.state(); rec.State != idempotency.Completed || rec.Result.Code != "201" {
		t.Errorf("%+v", rec)
	}
}

// A completion that the parts of the finding stand in the way of is no completion; it is tried again, and escalated.
func TestAFindingThatCannotBeCommittedIsEscalated(t *testing.T) {
	t.Parallel()
	s := newShop(t, idempotency.Config{}, idempotency.RepairConfig{ProbesMax: 1})
	mustBegin(t, s.store, s.requests, idempotency.External)
	if _, err := s.commit(t.Context(), 1, s.order("ord-1")); err != nil {
		t.Fatal(err)
	}
	s.finding = func(idempotency.Record) (idempotency.Finding, error) {
		return idempotency.Found(accepted("ord-1"), s.order("ord-1")), nil
	}
	if round := s.later(time.Minute); round != (idempotency.Round{Listed: 1, Escalated: 1, Failed: 1}) {
		t.Errorf("%+v", round)
	}
}

// What cannot be read is told, and hides nothing: neither an entry of the index nor a record.
func TestDamageHidesNobodyElse(t *testing.T) {
	t.Parallel()
	s := newShop(t, idempotency.Config{Map: shardmap.Fixed(1)}, idempotency.RepairConfig{})
	for _, key := range []string{"a", "b", "c"} {
		r := order("10")
		r.Key = key
		if _, err := begin(t, s.store, s.requests, r, idempotency.External); err != nil {
			t.Fatal(err)
		}
	}
	for key, damage := range map[string]string{"a": "SET repairSk = :x", "b": "SET #v = :x"} {
		in := &dynamodb.UpdateItemInput{TableName: &s.store.requests.Name, Key: txn.Item{"PK": text("TEN#acme-brokers#REQ#" + key), "SK": text("REQUEST")},
			UpdateExpression: &damage, ExpressionAttributeValues: txn.Item{":x": text("DUE#")}}
		if key == "b" {
			in.ExpressionAttributeNames = map[string]string{"#v": "v"}
		}
		if _, err := s.client.UpdateItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	s.time.advance(time.Hour)
	round, err := s.worker.Once(t.Context())
	if !errors.Is(err, idempotency.ErrRecord) || round != (idempotency.Round{Listed: 2, Failed: 1, Postponed: 1}) {
		t.Errorf("%+v, %v", round, err)
	}
}

// Operators decide once, with a name and a reason that stay.
func TestAnOperatorDecidesWithANote(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]idempotency.State{
		"settle": idempotency.Completed, "free": idempotency.Released, "requeue": idempotency.RepairRequired,
	} {
		s := newShop(t, idempotency.Config{}, idempotency.RepairConfig{ProbesMax: 1})
		mustBegin(t, s.store, s.requests, idempotency.External)
		s.later(time.Minute)
		rec := s.escalated()[0]
		note := idempotency.Audit{By: "ann", Reason: "the bank says so", At: s.time.now()}
		decide := func() error {
			part := map[string]txn.Part{
				"settle": s.requests.Settle(rec, accepted("ord-1"), note), "free": s.requests.Free(rec, note),
				"requeue": s.requests.Requeue(rec, note.At, note),
			}[step]
			_, err := s.commit(t.Context(), 1, part)
			return err
		}
		if err := decide(); err != nil || s.state().State != want || len(s.escalated()) > 0 {
			t.Errorf("%s: %v, %s", step, err, s.state().State)
		}
		if err := decide(); !errors.Is(err, idempotency.ErrLeaseLost) {
			t.Errorf("%s by somebody who read the same: %v", step, err)
		}
		notes, err := s.requests.Audits(t.Context(), s.client, rec.Tenant, rec.Key)
		wrote := idempotency.Audit{By: "ann", Reason: "the bank says so", At: note.At, Step: step, Tenant: rec.Tenant, Key: rec.Key,
			Revision: rec.Revision + 1, Attempt: 1, Escalated: "no answer"}
		if err != nil || !slices.Equal(notes, []idempotency.Audit{wrote}) {
			t.Errorf("%s: notes %+v, %v", step, notes, err)
		}
		for _, bad := range []idempotency.Audit{{Reason: "r", At: note.At}, {By: "b", At: note.At}, {By: "b", Reason: "r"}, {By: "\xff", Reason: "r", At: note.At}} {
			if err := refused(t, s.requests.Free(rec, bad)); !errors.Is(err, idempotency.ErrInvalid) {
				t.Errorf("note %+v: %v", bad, err)
			}
		}
	}
}

func TestRunGoesOnUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	s := newShop(t, idempotency.Config{}, idempotency.RepairConfig{})
	mustBegin(t, s.store, s.requests, idempotency.External)
	rounds := 0
	worker := idempotency.NewRepairWorker(s.requests, s.client, idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
		return idempotency.Found(accepted("ord-1")), nil
	}), idempotency.RepairConfig{Tenants: idempotency.Tenants(order("10").Tenant), Sleep: func(_ context.Context, d time.Duration) error {
		s.time.advance(d)
		if rounds++; rounds == 10 {
			return context.Canceled
		}
		return nil
	}})
	if err := worker.Run(t.Context()); !errors.Is(err, context.Canceled) || s.state().State != idempotency.Completed {
		t.Errorf("%v, %s", err, s.state().State)
	}
	for _, config := range []idempotency.RepairConfig{{}, {Tenants: idempotency.Tenants(), Lease: -1}, {Tenants: idempotency.Tenants(), ProbesMax: -1},
		{Tenants: idempotency.Tenants(), RetryMax: 1}, {Tenants: idempotency.Tenants(), Poll: -1}, {Tenants: idempotency.Tenants()},
		{Tenants: idempotency.Tenants(), Abandoned: &idempotency.Result{Code: "\xff"}}} {
		if err := idempotency.NewRepairWorker(s.requests, s.client, nil, config).Run(t.Context()); !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("%+v: %v", config, err)
		}
	}
}
