package observe_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// books is a ledger with the accounts bank and customer, and a way to pay from one to the other.
type books struct {
	*desk
	book    *ledger.Ledger
	usd     money.Currency
	commits *txn.Committer
}

func openBooks(t *testing.T) books {
	t.Helper()
	d := newDesk(t)
	usd, err := money.ISO("USD")
	if err != nil {
		t.Fatal(err)
	}
	b := books{d, ledger.New(ledger.Config{Observer: d, Now: d.clock}), usd, txn.New(d.client, txn.Config{Observer: d, Now: d.clock})}
	d.table(ledger.DefaultTable, b.book.Indexes()...)
	d.commit(
		b.book.OpenAccount(ledger.Account{Tenant: "acme", ID: "bank", Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true}),
		b.book.OpenAccount(ledger.Account{Tenant: "acme", ID: "customer", Side: ledger.CreditSide}, ledger.Asset{Currency: usd}))
	return b
}

func (b books) pay(id, debit, credit, amount string) ledger.Transaction {
	a := money.MustParse(amount)
	return ledger.Transaction{Tenant: "acme", ID: id, EffectiveAt: day,
		Postings: []ledger.Posting{ledger.Debit(debit, a), ledger.Credit(credit, a)}}
}

func TestEveryOperationOfALedgerReportsOnce(t *testing.T) {
	t.Parallel()
	b := openBooks(t)
	d, book, ctx := b.desk, b.book, t.Context()
	post := func(tx ledger.Transaction) func() error {
		return func() error {
			_, err := book.Commit(ctx, b.commits, func() []txn.Part { return []txn.Part{book.Post(tx)} })
			return err
		}
	}
	d.once("AP10.commit", observe.OK, post(b.pay("in-1", "bank", "customer", "100.00 USD")))
	d.once("AP10.commit", observe.Replayed, post(b.pay("in-1", "bank", "customer", "100.00 USD")))
	d.once("AP10.commit", observe.Rejected, post(b.pay("in-1", "bank", "customer", "50.00 USD"))) // another one of this name
	d.once("AP10.commit", observe.Rejected, post(b.pay("out-1", "customer", "bank", "120.00 USD")))
	d.commit(book.Reserve(ledger.Reservation{Tenant: "acme", ID: "r-1", Account: "customer", Amount: money.MustParse("10.00 USD"),
		ExpiresAt: day.Add(time.Hour)}))

	batcher := book.Batcher(ctx, b.commits, ledger.BatchConfig{Linger: -1})
	together := func(tx ledger.Transaction, outcome observe.Outcome) {
		t.Helper()
		told := d.sums(func() {
			_, _ = batcher.Post(ctx, ledger.Submission{Transaction: tx})
		})
		if len(told) != 2 || told[0].Label() != "AP10.round" || told[1].Label() != "AP10.post" || told[1].Outcome != outcome || told[1].Requests != 0 {
			t.Errorf("a batch of one told %v", told)
		}
	}
	together(b.pay("in-2", "bank", "customer", "1.00 USD"), observe.OK)
	together(b.pay("in-2", "bank", "customer", "1.00 USD"), observe.Replayed)
	together(b.pay("out-2", "customer", "bank", "500.00 USD"), observe.Rejected)
	if waiting, told := d.measured["ledger backlog"]; waiting != 0 || !told {
		t.Errorf("measured %v", d.measured)
	}
	if err := batcher.Close(ctx); err != nil {
		t.Error(err)
	}
	b.reads(ctx)
}

func (b books) reads(ctx context.Context) {
	d, book, client := b.desk, b.book, b.client
	entry, err := book.Transaction(ctx, client, "acme", "in-1")
	if err != nil {
		d.Fatal(err)
	}
	balance, err := book.Balance(ctx, client, "acme", "customer", b.usd)
	if err != nil {
		d.Fatal(err)
	}
	query := ledger.StatementQuery{Tenant: "acme", Account: "customer", Month: ledger.MonthOf(day)}
	of := ledger.Verification{Tenant: "acme", Account: "customer", Asset: b.usd}
	at := ledger.AsOf{EffectiveAt: day}
	for label, read := range map[string]func() error{
		"AP12.account":           func() error { _, err := book.Account(ctx, client, "acme", "bank"); return err },
		"AP12.balance":           func() error { _, err := book.Balance(ctx, client, "acme", "bank", b.usd); return err },
		"AP12.balances":          func() error { _, _, err := book.Balances(ctx, client, "acme", "bank"); return err },
		"AP12.total":             func() error { _, err := book.Total(ctx, client, "acme", "bank", b.usd); return err },
		"AP12.balanceat":         func() error { _, err := book.BalanceAt(ctx, client, "acme", "bank", b.usd, at); return err },
		"AP12.reservation":       func() error { _, err := book.Reservation(ctx, client, "acme", "r-1"); return err },
		"AP12.due":               func() error { return drained(book.Due(ctx, client, "acme", 0, day)) },
		"AP12.held":              func() error { return drained(book.Held(ctx, client, "acme", "customer")) },
		"AP12.trial":             func() error { _, err := book.TrialBalance(ctx, client, "acme", "bank", "customer"); return err },
		"AP12.trialat":           func() error { _, err := book.TrialBalanceAt(ctx, client, at, "acme", "bank", "customer"); return err },
		"AP12.cut":               func() error { _, err := book.TrialBalanceCut(ctx, client, "acme", "bank", "customer"); return err },
		"AP10.transaction":       func() error { _, err := book.Transaction(ctx, client, "acme", "in-1"); return err },
		"AP10.links":             func() error { _, err := book.Links(ctx, client, entry); return err },
		"AP11.statement":         func() error { return drained(book.Statement(ctx, client, query)) },
		"AP11.page":              func() error { _, err := book.StatementPage(ctx, client, query, "", 10); return err },
		"AP11.seals":             func() error { return drained(book.Seals(ctx, client, balance)) },
		"AP14.verify":            func() error { _, err := book.Verify(ctx, client, of); return err },
		"AP14.verifytransaction": func() error { _, err := book.VerifyTransaction(ctx, client, "acme", "in-1"); return err },
	} {
		d.once(label, observe.OK, read)
	}
	d.once("AP11.seal", observe.NotFound, func() error { _, err := book.Seal(ctx, client, balance, ledger.MonthOf(day)); return err })
	d.once("AP12.balance", observe.NotFound, func() error { _, err := book.Balance(ctx, client, "acme", "nobody", b.usd); return err })
	ended, cancel := context.WithCancel(ctx)
	cancel()
	d.sums(func() { _, _ = book.Account(ended, client, "acme", "bank") })
	if len(d.events) != 1 || d.events[0].Outcome != observe.Abandoned {
		d.Errorf("a read whose context had ended told %v", d.events)
	}
}

func TestEveryOperationOfAProjectionReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := t.Context()
	d.table(projection.DefaultTable)
	view := func(context.Context, int, projection.Event) ([]txn.Part, error) { return nil, nil }
	p := projection.New(d.client, projection.Config{Name: "orders", View: view, Observer: d, Now: d.clock})
	live, next := p.Namespace(1), p.Namespace(2)
	event := func(version int64) projection.Event {
		return projection.Event{Source: "order-1", Version: version, OccurredAt: day}
	}
	apply := func(version int64) func() error {
		return func() error { _, err := live.Apply(ctx, event(version)); return err }
	}
	d.once("AP13.apply", observe.OK, apply(1))
	d.once("AP13.apply", observe.Replayed, apply(1))
	d.once("AP13.apply", observe.Deferred, apply(3))
	d.now = d.now.Add(time.Hour)
	d.once("AP13.gaps", observe.OK, func() error { return drained(live.Gaps(ctx)) })
	if d.measured["projection gaps"] != 1 || d.measured["projection parked"] != 1 || d.measured["projection oldest.age"] != int64(time.Hour) {
		t.Errorf("measured %v", d.measured)
	}
	d.once("AP13.parked", observe.OK, func() error { return drained(live.ParkedEvents(ctx, "order-1")) })
	d.once("AP13.force.part", observe.OK, func() error {
		_, err := live.ForcePart(ctx, projection.Force{Source: "order-1", To: 2, By: "ann", Reason: "lost"})
		return err
	})
	d.once("AP13.force", observe.OK, func() error {
		_, err := live.ForceAdvance(ctx, projection.Force{Source: "order-1", To: 2, By: "ann", Reason: "lost"})
		return err
	})
	d.once("AP13.forced", observe.OK, func() error { return drained(live.ForcedAdvances(ctx)) })
	d.once("AP13.sweep", observe.OK, func() error { _, err := live.Sweep(ctx); return err })
	d.once("AP13.checkpoint", observe.OK, func() error { _, err := live.Checkpoint(ctx, "order-1"); return err })
	d.once("AP13.checkpoint", observe.OK, func() error { _, err := live.Lag(ctx, "order-1", 4); return err })
	d.once("AP13.checkpoints", observe.OK, func() error { return drained(live.Checkpoints(ctx)) })
	d.once("AP13.totals", observe.OK, func() error { _, err := live.Totals(ctx); return err })

	var build projection.Build
	d.once("AP13.build", observe.Stale, func() error { _, err := next.Build(ctx); return err })
	d.once("AP13.start", observe.OK, func() (err error) { build, err = next.Start(ctx, "ann"); return err })
	source := func(yield func(projection.Entry, error) bool) {
		for version := range int64(3) {
			if !yield(projection.Entry{Event: event(version + 1)}, nil) {
				return
			}
		}
	}
	told := d.sums(func() { build, _ = next.Load(ctx, build, source, nil) })
	if len(told) != 5 || told[0].Label() != "AP13.apply" || told[3].Label() != "AP13.save" || told[4].Label() != "AP13.build" ||
		told[0].Scope != "orders@2" {
		t.Errorf("a load of three told %v", told)
	}
	prove := func() error {
		_, err := next.Prove(ctx, projection.Evidence{Want: &projection.Totals{Sources: 1, Events: 3}, By: "ann"})
		return err
	}
	d.once("AP13.prove", observe.OK, prove)
	var alias projection.Alias
	d.once("AP07.alias", observe.OK, func() (err error) { alias, err = p.Alias(ctx); return err })
	d.once("AP13.cutover", observe.OK, func() (err error) { alias, err = next.Cutover(ctx, alias, "ann"); return err })
	d.once("AP13.rollback", observe.OK, func() error { _, err := p.Rollback(ctx, alias, "ann"); return err })
	runbook := p.Namespace(3).Runbook(projection.RunbookConfig{By: "ann", AsOf: day, Policy: "none", Schema: "1", Source: nothing{}, Live: live})
	d.once("AP13.runbook", observe.OK, func() error { _, err := runbook.State(ctx); return err })
	d.sums(func() { _, _ = runbook.Run(ctx, projection.StepDeclare) })
	d.saw("projection", "AP13.record", "AP13.save")
}

// nothing is an archive without events.
type nothing struct{}

func (nothing) Dataset() projection.Dataset {
	return projection.Dataset{Name: "none", Digest: "none", AsOf: day}
}
func (nothing) Verify(context.Context) error { return nil }
func (nothing) Events(context.Context) iter.Seq2[projection.Event, error] {
	return func(func(projection.Event, error) bool) {}
}

func TestEveryOperationOfAReconcilerReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := t.Context()
	r := reconcile.New(d.client, reconcile.Config{Observer: d, Now: d.clock})
	d.table(reconcile.DefaultTable, r.Index())
	date := day.Format(time.DateOnly)
	create := func() error {
		return r.Create(ctx, reconcile.Manifest{Tenant: "acme", Date: date, Batch: "cash", Rules: "cash", Window: reconcile.Window{Cutoff: day},
			Left: reconcile.Input{Name: "ledger"}, Right: reconcile.Input{Name: "statement"}})
	}
	rows := func(amounts ...string) reconcile.Rows {
		return func(yield func(reconcile.Row, error) bool) {
			for i, amount := range amounts {
				id := string(rune('a' + i))
				if !yield(reconcile.Row{ID: id, Key: id, Amount: money.MustParse(amount), At: day.Add(-time.Hour)}, nil) {
					return
				}
			}
		}
	}
	run := func() error {
		_, err := r.Run(ctx, "acme", date, "cash", reconcile.Job{Worker: "nightly", Rules: reconcile.Rules{Name: "cash"},
			Left: rows("10.00 USD", "20.00 USD"), Right: rows("10.00 USD", "20.50 USD"),
			Assign: func(reconcile.Outcome) reconcile.Assignment {
				return reconcile.Assignment{Owner: "ops", Due: day.Add(time.Hour)}
			}})
		return err
	}
	d.once("AP14.create", observe.OK, create)
	d.once("AP14.create", observe.OK, create)
	d.once("AP14.read", observe.OK, func() error { _, err := r.Batch(ctx, "acme", date, "cash"); return err })
	d.once("AP14.list", observe.OK, func() error { return drained(r.Batches(ctx, "acme", date)) })
	d.once("AP14.run", observe.OK, run)
	d.once("AP14.run", observe.Replayed, run)
	d.once("AP15.batch", observe.OK, func() error { return drained(r.Breaks(ctx, "acme", "cash")) })
	d.once("AP15.due", observe.OK, func() error { return drained(r.Due(ctx, "acme", reconcile.StatusOpen, time.Time{})) })
	d.once("AP15.read", observe.NotFound, func() error { _, err := r.Break(ctx, "acme", "cash", "none"); return err })
	d.once("AP15.ageing", observe.OK, func() error { _, err := r.Ageing(ctx, "acme", day); return err })
	d.once("AP15.queue", observe.OK, func() error { _, err := r.Queue(ctx, day.Add(2*time.Hour), "acme"); return err })
	if d.measured["reconcile discrepancies.open"] != 1 || d.measured["reconcile oldest.age"] != int64(time.Hour) {
		t.Errorf("measured %v", d.measured)
	}
}
