package main

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

func init() {
	maps.Copy(seeds, map[string]func(context.Context, *world) error{
		"parked": seedParked,
		"ready":  seedReady,
		"bus-back": func(ctx context.Context, w *world) error {
			w.now = w.now.Add(time.Minute)
			return w.publish(ctx, false, nil)
		},
		"sweep": func(ctx context.Context, w *world) error {
			_, err := w.positions().Sweep(ctx)
			return err
		},
		"repaired": repaired,
		"mended":   mended,
		"audit":    func(_ context.Context, w *world) error { return w.db.CreateTable("Audit") },
	})
}

var seededOutbox = outbox.New(outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}})

// seedReady makes the table Orders and three events of two orders.
func seedReady(ctx context.Context, w *world) error {
	if err := w.db.CreateTable("Orders", seededOutbox.Index()); err != nil {
		return err
	}
	for n := range 3 {
		e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: "order-" + strconv.Itoa(n/2), AggregateVersion: int64(n%2 + 1),
			Type: "trades", SchemaVersion: 1, OccurredAt: w.now.Add(-time.Hour), Payload: []byte("{}")}
		e.ID = "event-" + strconv.Itoa(n)
		if _, err := txn.Commit(ctx, w.db.Client(), seededOutbox.Create(e)); err != nil {
			return err
		}
	}
	return nil
}

// seedParked is seedReady, and a relay that published in vain.
func seedParked(ctx context.Context, w *world) error {
	if err := seedReady(ctx, w); err != nil {
		return err
	}
	down := &outbox.Memory{Refuse: func(outbox.Message) outbox.Result { return outbox.Result{Err: errors.New("503 from bus")} }}
	_, err := outbox.NewRelay(seededOutbox, w.db.Client(), down, outbox.RelayConfig{MaxAttempts: 1, Now: w.Now}).Once(ctx)
	w.now = w.now.Add(10 * time.Minute)
	return err
}

// faultsCommand sets what the network does: lose or unanswered, the operation, "after", and how many are delivered before.
func faultsCommand(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	if w.network = nil; args[0] == "none" {
		return
	}
	fate, ok := map[string]dynamosim.Fate{"lose": dynamosim.LoseRequest, "unanswered": dynamosim.LoseAnswer}[args[0]]
	most, err := strconv.Atoi(args[3])
	if ts.Check(err); !ok {
		ts.Fatalf("no fate %q", args[0])
	}
	delivered := 0
	w.network = func(next aws.HTTPClient) aws.HTTPClient {
		return dynamosim.Faulty(next, func(c dynamosim.Call) dynamosim.Fate {
			if c.Operation != args[1] {
				return dynamosim.Deliver
			}
			if delivered++; delivered > most {
				return fate
			}
			return dynamosim.Deliver
		})
	}
}

func lastRun(ts *testscript.TestScript) string {
	w := worldOf(ts)
	for _, table := range []string{"Orders", "Audit"} {
		for run, err := range (change.Journal{Client: w.db.Client(), Table: txn.Table{Name: table}}).Runs(context.Background(), w.now) {
			if err == nil {
				return run.ID
			}
			break // another script has that table
		}
	}
	ts.Fatalf("there is no run")
	return ""
}

func resumeCommand(ts *testscript.TestScript, neg bool, args []string) {
	runCommand(ts, neg, append(args[1:], "--resume", lastRun(ts)))
}

func lastRunCommand(ts *testscript.TestScript, neg bool, args []string) {
	runCommand(ts, neg, append(args[1:], lastRun(ts)))
}

func (w *world) positions() *projection.Namespace {
	return projection.New(w.db.Client(), projection.Config{Name: "positions", Table: txn.Table{Name: "Positions"}, Now: w.Now}).Namespace(1)
}

// repaired lets a repair worker find out what became of everything, an hour later.
func repaired(ctx context.Context, w *world) error {
	w.now = w.now.Add(time.Hour)
	worker := idempotency.NewRepairWorker(w.requests(), w.db.Client(), idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
		return idempotency.Found(idempotency.Result{Code: "201"}), nil
	}), idempotency.RepairConfig{Tenants: idempotency.Tenants("acme")})
	_, err := worker.Once(ctx)
	return err
}

// mended puts back what tampered has changed.
func mended(ctx context.Context, w *world) error { return setPostingSource(ctx, w, "req-pay-1") }
