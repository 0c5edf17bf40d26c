package invariant_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/txn"
)

var silent = idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
	return idempotency.Ambiguous("no answer"), nil
})

// A request that nobody knows the end of is found, whatever state it was left in.
func TestRequestsEndedFindsWhatIsLost(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	requests := idempotency.New(idempotency.Config{Now: func() time.Time { return now }})
	db := dynamosim.New(t)
	if err := db.CreateTable(idempotency.TableName, requests.Index()); err != nil {
		t.Fatal(err)
	}
	client := db.Client()
	wants := func(what, want string) {
		t.Helper()
		err := invariant.RequestsEnded(t.Context(), client, requests, "acme", []string{"pay"})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	wants("no record", "no record")
	claim, err := requests.Begin(t.Context(), client, payment("pay"), idempotency.External)
	if err != nil {
		t.Fatal(err)
	}
	wants("in progress", "IN_PROGRESS")
	if err := claim.Repair(t.Context(), client, idempotency.Evidence{Reason: "no answer"}); err != nil {
		t.Fatal(err)
	}
	wants("in repair", "REPAIR_REQUIRED")
	now = now.Add(time.Hour)
	worker := idempotency.NewRepairWorker(requests, client, silent, idempotency.RepairConfig{Tenants: idempotency.Tenants("acme"), ProbesMax: 1})
	if round, err := worker.Once(t.Context()); err != nil || round.Escalated != 1 {
		t.Fatalf("%+v, %v", round, err)
	}
	wants("escalated", "")
	rec, err := requests.Get(t.Context(), client, "acme", "pay")
	if err != nil {
		t.Fatal(err)
	}
	note := idempotency.Audit{By: "ann", Reason: "called the provider", At: now}
	if _, err := txn.Commit(t.Context(), client, requests.Settle(rec, charged("pay/1"), note)); err != nil {
		t.Fatal(err)
	}
	wants("completed", "")
}
