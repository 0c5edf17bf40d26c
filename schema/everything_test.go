package schema_test

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

const tenant = "acme"

// doEverything sends every kind of request that the primitives send.
func (w *world) doEverything() {
	w.doRequests()
	w.doRepairs()
	w.doNames()
	w.doEvents()
	w.doOperators()
	w.doInbox()
	w.doLedger()
	w.doReservations()
	w.doProjection()
	w.doReconciliation()
	w.doShardMaps()
	w.doScan()
}

// all reads a list to its end.
func all[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

func command(key string) idempotency.Request {
	return idempotency.Request{Tenant: tenant, Key: key, Operation: "order.accept", Command: idempotency.NewFields()}
}

func (w *world) doRequests() {
	w.as("idempotency.once", "commit a result", func() error { return w.commit(w.requests.Once(command("once"), idempotency.Result{Code: "201"})) })
	w.as("idempotency.read", "look up", func() error {
		_, err := w.requests.Lookup(w.Context(), w.client, command("once"))
		return err
	})
	w.as("idempotency.claim", "claim, renew, complete", func() error {
		claim, err := w.requests.Begin(w.Context(), w.client, command("claimed"), idempotency.Transactional)
		w.must(err)
		_, err = claim.Renew(w.Context(), w.client, time.Minute)
		w.must(err)
		return w.commit(claim.Complete(idempotency.Result{Code: "201"}))
	})
}

// prober finds what the test says.
type prober idempotency.Finding

func (p prober) Probe(context.Context, idempotency.Record) (idempotency.Finding, error) {
	return idempotency.Finding(p), nil
}

func (w *world) doRepairs() {
	w.as("idempotency.claim", "hand to repair", func() error {
		claim, err := w.requests.Begin(w.Context(), w.client, command("lost"), idempotency.External)
		w.must(err)
		return claim.Repair(w.Context(), w.client, idempotency.Evidence{Reason: "no answer"})
	})
	tenants := func(context.Context) ([]string, error) { return []string{tenant}, nil }
	w.as("idempotency.repair", "look once, and escalate", func() error {
		later := idempotency.New(idempotency.Config{Table: orders, Now: func() time.Time { return noon.Add(time.Hour) }})
		worker := idempotency.NewRepairWorker(later, w.client, prober{}, idempotency.RepairConfig{Tenants: tenants, ProbesMax: 1, Grace: -1})
		round, err := worker.Once(w.Context())
		if err == nil && round.Escalated != 1 {
			w.Errorf("%+v", round)
		}
		return err
	})
	w.as("idempotency.operate", "list, settle, and read the notes", func() error {
		w.must(all(w.requests.Due(w.Context(), w.client, tenant, noon)))
		for record, err := range w.requests.Escalated(w.Context(), w.client, tenant) {
			w.must(err)
			note := idempotency.Audit{By: "ann", Reason: "the provider says so", At: noon}
			w.must(w.commit(w.requests.Settle(record, idempotency.Result{Code: "201"}, note)))
		}
		notes, err := w.requests.Audits(w.Context(), w.client, tenant, "lost")
		if err == nil && len(notes) != 1 {
			w.Errorf("%d notes", len(notes))
		}
		return err
	})
}

func (w *world) doNames() {
	claim := sentinel.Claim{Tenant: tenant, Kind: sentinel.ClientOrder, Name: "C-77", Owner: "order-1", Command: "key-1"}
	w.as("sentinel.reserve", "reserve", func() error { return w.commit(w.names.Reserve(claim)) })
	w.as("sentinel.read", "look up", func() error {
		_, err := w.names.Lookup(w.Context(), w.client, claim.Tenant, claim.Kind, claim.Name)
		return err
	})
}

// event is one of an ordered aggregate.
func event(version int64) outbox.Event {
	e := outbox.Event{Tenant: tenant, AggregateType: "Order", AggregateID: "order-1", AggregateVersion: version, Type: "OrderAccepted",
		SchemaVersion: 1, OccurredAt: noon.AddDate(-1, 0, 0)}
	e.ID = e.OrderedID()
	return e
}

func (w *world) doEvents() {
	ordered := outbox.New(outbox.Config{Service: "orders", Table: orders, Ordered: true})
	w.as("outbox.create", "create", func() error { return w.commit(ordered.Create(event(1)), ordered.Create(event(2))) })
	w.as("outbox.relay", "publish, in order", func() error {
		relay := outbox.NewRelay(ordered, w.client, &outbox.Memory{}, outbox.RelayConfig{Heed: true})
		for range 2 {
			_, err := relay.Once(w.Context())
			w.must(err)
		}
		return nil
	})
	w.as("outbox.read", "look", func() error {
		_, err := w.events.Get(w.Context(), w.client, event(1).ID)
		w.must(err)
		_, err = w.events.Lag(w.Context(), w.client, noon)
		w.must(err)
		_, err = w.events.Audits(w.Context(), w.client, event(1).ID)
		w.must(err)
		_, err = w.events.Switch(w.Context(), w.client)
		w.must(err)
		w.must(all(w.events.Parked(w.Context(), w.client)))
		return all(w.events.Stuck(w.Context(), w.client, noon))
	})
}

func (w *world) doOperators() {
	e := event(1)
	e.AggregateID = "order-2"
	e.ID = e.StableID()
	w.must(w.commit(w.events.Create(e)))
	down := &outbox.Memory{Refuse: func(outbox.Message) outbox.Result { return outbox.Result{Err: errors.New("the broker is down")} }}
	_, err := outbox.NewRelay(w.events, w.client, down, outbox.RelayConfig{MaxAttempts: 1}).Once(w.Context())
	w.must(err)
	w.as("outbox.operate", "redrive, reschedule, and read the notes", func() error {
		note := outbox.Audit{By: "ann", Reason: "the broker is back", At: noon}
		w.must(all(w.events.Stuck(w.Context(), w.client, noon)))
		for record, err := range w.events.Parked(w.Context(), w.client) {
			w.must(err)
			w.must(w.commit(w.events.Redrive(record, noon, note)))
		}
		record, err := w.events.Get(w.Context(), w.client, e.ID)
		w.must(err)
		w.must(w.events.Reschedule(w.Context(), w.client, record, noon.Add(time.Minute)))
		w.must(w.commit(w.events.Pause(outbox.Switch{}, note)))
		w.must(all(w.events.Ready(w.Context(), w.client, 0, noon, 1)))
		notes, err := w.events.Audits(w.Context(), w.client, e.ID)
		if err == nil && len(notes) != 1 {
			w.Errorf("%d notes", len(notes))
		}
		return err
	})
}

func (w *world) doInbox() {
	e := inbox.Event{ID: "event-1", Type: "OrderFilled"}
	w.as("inbox.receive", "receive", func() error {
		_, err := w.received.Process(w.Context(), txn.New(w.client, txn.Config{}), e, nil)
		return err
	})
	w.as("inbox.read", "look up", func() error {
		_, err := w.received.Lookup(w.Context(), w.client, e)
		return err
	})
	w.as("inbox.operate", "forget", func() error {
		r, err := w.received.Get(w.Context(), w.client, e.ID)
		w.must(err)
		return w.commit(w.received.Forget(r, inbox.Forget{By: "ann", Reason: "the effect was undone", At: r.ProcessedAt.Add(time.Hour)}))
	})
}

func (w *world) dollars(text string) money.Amount {
	usd, err := money.ISO("USD")
	w.must(err)
	amount, err := money.Parse(text, usd)
	w.must(err)
	return amount
}

func (w *world) transfer(id, from, to, amount string) ledger.Transaction {
	return ledger.Transaction{Tenant: tenant, ID: id, EffectiveAt: noon,
		Postings: []ledger.Posting{ledger.Debit(to, w.dollars(amount)), ledger.Credit(from, w.dollars(amount))}}
}

func (w *world) doLedger() {
	usd := w.dollars("1.00").Currency()
	w.as("ledger.open", "open, freeze, and thaw", func() error {
		for _, id := range []string{"bank", "ann"} {
			w.must(w.commit(w.book.OpenAccount(ledger.Account{Tenant: tenant, ID: id, Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true})))
		}
		account, balances, err := w.book.Balances(w.Context(), w.unseen, tenant, "ann")
		w.must(err)
		return w.commit(w.book.SetStatus(account, ledger.StatusFrozen, balances...))
	})
	account, balances, err := w.book.Balances(w.Context(), w.unseen, tenant, "ann")
	w.must(err)
	w.must(w.commit(w.book.SetStatus(account, ledger.StatusOpen, balances...)))
	w.as("ledger.post", "post and reverse", func() error {
		w.must(w.commit(w.book.Post(w.transfer("tx-1", "bank", "ann", "10.00"))))
		entry, err := w.book.Transaction(w.Context(), w.unseen, tenant, "tx-1")
		w.must(err)
		return w.commit(w.book.Reverse(entry, ledger.Reversal{ID: "rev-1", EffectiveAt: noon}))
	})
	w.as("ledger.read", "read", func() error {
		_, _, err := w.book.Balances(w.Context(), w.client, tenant, "ann")
		w.must(err)
		_, err = w.book.Transaction(w.Context(), w.client, tenant, "tx-1")
		w.must(err)
		w.must(all(w.book.Statement(w.Context(), w.client, ledger.StatementQuery{Tenant: tenant, Account: "ann", Month: ledger.MonthOf(noon)})))
		_, err = w.book.TrialBalanceCut(w.Context(), w.client, tenant, "ann", "bank")
		return err
	})
}

func (w *world) doReservations() {
	w.must(w.commit(w.book.Post(w.transfer("tx-2", "bank", "ann", "100.00"))))
	hold := ledger.Reservation{Tenant: tenant, ID: "hold-1", Account: "ann", Amount: w.dollars("-10.00"), ExpiresAt: noon.Add(-time.Second)}
	w.as("ledger.post", "reserve and capture", func() error {
		kept := hold
		kept.ID, kept.ExpiresAt = "hold-2", time.Time{}
		late := hold
		late.ExpiresAt = noon.Add(time.Hour)
		w.must(w.commit(w.book.Reserve(late)))
		w.must(w.commit(w.book.Reserve(kept)))
		r, err := w.book.Reservation(w.Context(), w.unseen, tenant, kept.ID)
		w.must(err)
		return w.commit(w.book.Capture(r, ledger.Capture{Transaction: w.transfer("tx-3", "ann", "bank", "4.00")}))
	})
	w.as("ledger.read", "read reservations", func() error {
		_, err := w.book.Reservation(w.Context(), w.client, tenant, hold.ID)
		w.must(err)
		return all(w.book.Held(w.Context(), w.client, tenant, "ann"))
	})
	later := ledger.New(ledger.Config{Now: func() time.Time { return noon.Add(2 * time.Hour) }})
	w.as("ledger.sweep", "end what has expired", func() error {
		ended := 0
		for shard := range later.Shards() {
			for r, err := range later.Due(w.Context(), w.client, tenant, shard, noon.Add(2*time.Hour)) {
				w.must(err)
				w.must(w.commit(later.Expire(r)))
				ended++
			}
		}
		if ended != 1 {
			w.Errorf("%d reservations were ended", ended)
		}
		return nil
	})
}

func change(version int64) projection.Event {
	return projection.Event{Source: "acme/Order/order-1", Version: version, OccurredAt: noon}
}

func (w *world) doProjection() {
	view := w.projection(w.client)
	first, second, third := view.Namespace(1), view.Namespace(2), view.Namespace(3)
	apply := func(ns *projection.Namespace, versions ...int64) {
		for _, version := range versions {
			_, err := ns.Apply(w.Context(), change(version))
			w.must(err)
		}
	}
	w.as("projection.apply", "apply, with a gap that fills", func() error {
		apply(first, 1, 3, 2)
		apply(third, 1, 3)
		_, err := third.ForceAdvance(w.Context(), projection.Force{Source: change(1).Source, To: 2, By: "ann", Reason: "lost at the source"})
		w.must(err)
		_, err = third.Sweep(w.Context())
		return err
	})
	w.as("projection.read", "look", func() error {
		_, err := first.Checkpoint(w.Context(), change(1).Source)
		w.must(err)
		_, err = view.Alias(w.Context())
		w.must(err)
		return all(first.Gaps(w.Context()))
	})
	w.as("projection.rebuild+projection.apply", "rebuild and cut over", func() error {
		build, err := second.Start(w.Context(), "ann")
		w.must(err)
		source := func(yield func(projection.Entry, error) bool) {
			for version := range int64(3) {
				if !yield(projection.Entry{Event: change(version + 1), Position: "x"}, nil) {
					return
				}
			}
		}
		_, err = second.Load(w.Context(), build, source, nil)
		w.must(err)
		_, err = second.Prove(w.Context(), projection.Evidence{Live: first, By: "ann"})
		w.must(err)
		from, err := view.Alias(w.Context())
		w.must(err)
		_, err = second.Cutover(w.Context(), from, "ann")
		return err
	})
}

func (w *world) doReconciliation() {
	desk := w.desk(w.client)
	const date, batch = "2026-11-29", "cash-1"
	posting := func(yield func(reconcile.Row, error) bool) {
		yield(reconcile.Row{ID: "posting-1", Key: "pay-1", Amount: w.dollars("10.00"), At: noon.Add(-time.Hour)}, nil)
	}
	nothing := func(func(reconcile.Row, error) bool) {}
	w.as("reconcile.run", "create and run", func() error {
		w.must(desk.Create(w.Context(), reconcile.Manifest{Tenant: tenant, Date: date, Batch: batch, Rules: "r", Window: reconcile.Window{Cutoff: noon},
			Left: reconcile.Input{Name: "ledger"}, Right: reconcile.Input{Name: "statement"}}))
		_, err := desk.Run(w.Context(), tenant, date, batch, reconcile.Job{Worker: "nightly", Rules: reconcile.Rules{Name: "r"}, Left: posting, Right: nothing,
			Assign: func(reconcile.Outcome) reconcile.Assignment { return reconcile.Assignment{Owner: "ops", Due: noon} }})
		return err
	})
	w.as("reconcile.operate+reconcile.read", "list and resolve", func() error {
		w.must(all(desk.Batches(w.Context(), tenant, date)))
		for listed, err := range desk.Due(w.Context(), tenant, reconcile.StatusOpen, noon) {
			w.must(err)
			found, err := desk.Break(w.Context(), tenant, listed.Batch, listed.ID)
			w.must(err)
			w.must(w.commit(desk.Resolve(found, reconcile.Evidence{By: "ann", Note: "fee", Reference: "journal-17"})))
		}
		return nil
	})
}

func (w *world) doShardMaps() {
	store := shardmap.NewStore(w.client, shardmap.Config{Table: "ShardMaps", Now: clock})
	w.as("shardmap.operate", "create and propose", func() error {
		_, err := store.Create(w.Context(), "inbox.portfolio", shardmap.Default13(), shardmap.Rules{}, "ann")
		w.must(err)
		_, err = store.Propose(w.Context(), "inbox.portfolio", shardmap.Proposal{Shards: 17, From: noon.Add(24 * time.Hour)}, "ann")
		return err
	})
	w.as("shardmap.read", "load", func() error {
		_, err := store.Load(w.Context(), "inbox.portfolio")
		return err
	})
}

func (w *world) doScan() {
	w.as("export.scan", "scan", func() error {
		scan, err := export.NewScan(w.client, export.ScanConfig{Table: ledger.DefaultTable, Name: "emergency", Now: clock,
			Sleep: func(context.Context, time.Duration) error { return nil }})
		w.must(err)
		return all(scan.Records(w.Context()))
	})
}
