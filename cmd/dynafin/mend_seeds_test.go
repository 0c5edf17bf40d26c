package main

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
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
		"hours": func(_ context.Context, w *world) error {
			w.now = w.now.Add(2 * time.Hour)
			return nil
		},
		"repaired": repaired,
		"spread":   spread, "backlog": backlog, "drained": drained,
		"rebuild-failed": rebuildFailed, "rebuild-proved": rebuildProved,
		"restored": restored, "settings": settings,
		"mended": mended,
		"audit":  func(_ context.Context, w *world) error { return w.db.CreateTable("Audit") },
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

// backlog leaves twelve events that no relay has taken for ten minutes.
func backlog(ctx context.Context, w *world) error {
	if err := w.db.CreateTable(orders.Name, w.events().Index()); err != nil {
		return err
	}
	end := w.now
	w.now = end.Add(-10 * time.Minute)
	for n := range 12 {
		if err := w.commit(ctx, w.events().Create(w.event(n, "trades"))); err != nil {
			return err
		}
		w.now = w.now.Add(20 * time.Second)
	}
	w.now = end
	return nil
}

// spread leaves 1,300 events that became due just now.
func spread(ctx context.Context, w *world) error {
	if err := w.db.CreateTable(orders.Name, w.events().Index()); err != nil {
		return err
	}
	var parts []txn.Part
	for n := range 1300 {
		parts = append(parts, w.events().Create(w.event(n, "trades")))
		if len(parts) == txn.MaxItems {
			if err := w.commit(ctx, parts...); err != nil {
				return err
			}
			parts = nil
		}
	}
	return nil
}

// drained lets a relay take everything.
func drained(ctx context.Context, w *world) error {
	for {
		waiting, err := w.events().Lag(ctx, w.db.Client(), w.now)
		if err != nil || len(waiting) == 0 {
			return err
		}
		if err := w.publish(ctx, false, nil); err != nil {
			return err
		}
	}
}

func positionEvent(w *world, source string, version int64) projection.Event {
	return projection.Event{Source: source, Version: version, OccurredAt: w.now, ID: source + "-" + strconv.FormatInt(version, 10)}
}

// rebuildFailed has readers on namespace 1, and a build of namespace 2 that lacks a source.
func rebuildFailed(ctx context.Context, w *world) error {
	if err := w.db.CreateTable("Positions"); err != nil {
		return err
	}
	p := projection.New(w.db.Client(), projection.Config{Name: "positions", Table: txn.Table{Name: "Positions"}, Now: w.Now})
	for _, source := range []string{"acme/Position/ACME", "acme/Position/INIT"} {
		for version := range int64(3) {
			if _, err := p.Namespace(1).Apply(ctx, positionEvent(w, source, version+1)); err != nil {
				return err
			}
		}
	}
	next := p.Namespace(2)
	build, err := next.Start(ctx, "rebuild job 7")
	if err != nil {
		return err
	}
	_, err = next.Load(ctx, build, func(yield func(projection.Entry, error) bool) {
		for version := range int64(3) {
			if !yield(projection.Entry{Event: positionEvent(w, "acme/Position/ACME", version+1), Position: strconv.FormatInt(version, 10)}, nil) {
				return
			}
		}
	}, nil)
	if err != nil {
		return err
	}
	var unproved *projection.UnprovedError
	if _, err := next.Prove(ctx, projection.Evidence{Live: p.Namespace(1), By: "rebuild job 7"}); !errors.As(err, &unproved) {
		return errors.Join(errors.New("the build was proved"), err)
	}
	return nil
}

// rebuildProved brings what was missing, and proves the build.
func rebuildProved(ctx context.Context, w *world) error {
	p := projection.New(w.db.Client(), projection.Config{Name: "positions", Table: txn.Table{Name: "Positions"}, Now: w.Now})
	for version := range int64(3) {
		if _, err := p.Namespace(2).Apply(ctx, positionEvent(w, "acme/Position/INIT", version+1)); err != nil {
			return err
		}
	}
	_, err := p.Namespace(2).Prove(ctx, projection.Evidence{Live: p.Namespace(1), By: "rebuild job 7"})
	return err
}

// restored has the tables of the deployment with their items, and without their settings.
func restored(ctx context.Context, w *world) error {
	for _, seed := range []string{"books", "audit", "names", "receipts"} {
		if err := seeds[seed](ctx, w); err != nil {
			return err
		}
	}
	if err := w.db.CreateTable("Orders", w.events().Index()); err != nil {
		return err
	}
	if err := w.db.CreateTable("Idempotency", w.requests().Index()); err != nil {
		return err
	}
	return errors.Join(w.db.CreateTable("Positions"), w.db.CreateTable("Reconciliation", reconcile.New(w.db.Client(), reconcile.Config{}).Index()))
}

// settings sets what a restore leaves out.
func settings(ctx context.Context, w *world) error {
	d, err := deployment.Load(filepath.Join(runbooks, "brokerage.json"))
	if err != nil {
		return err
	}
	tables, err := d.Schema()
	if err != nil {
		return err
	}
	creations, err := tables.Create()
	if err != nil {
		return err
	}
	client := w.db.Client()
	for _, c := range creations {
		if c.TimeToLive != nil {
			if _, err := client.UpdateTimeToLive(ctx, c.TimeToLive); err != nil {
				return err
			}
		}
		protect := &dynamodb.UpdateTableInput{TableName: c.CreateTable.TableName, DeletionProtectionEnabled: aws.Bool(true)}
		if _, err := client.UpdateTable(ctx, protect); err != nil {
			return err
		}
		// The simulator has no backups.
	}
	return nil
}
