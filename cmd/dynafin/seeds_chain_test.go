package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// chain takes one order all the way: request, name, entry and event in one transaction; published, received, projected.
func chain(ctx context.Context, w *world) error {
	for _, seed := range []func(context.Context, *world) error{requestTrouble, names, books, receipts, view, breaks} {
		if err := seed(ctx, w); err != nil {
			return err
		}
	}
	if err := w.db.CreateTable(orders.Name, w.events().Index()); err != nil {
		return err
	}
	w.now = w.now.Add(time.Minute)
	e := w.event(900, "trades")
	e.CausationID = "key-900"
	request := request("key-900")
	price := money.MustParse("1.00 USD")
	if err := w.commit(ctx,
		w.requests().Once(request, idempotency.Result{Code: "201", Effect: map[string]string{"entry": "pay-900", "event": e.ID, "orderId": "order-900"}}),
		sentinel.New(sentinel.Config{Now: w.Now}).Reserve(sentinel.Claim{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-900", Owner: "order-900", Command: "key-900"}),
		ledger.New(ledger.Config{Now: w.Now}).Post(ledger.Transaction{Tenant: "acme", ID: "pay-900", EffectiveAt: w.now, Source: "key-900",
			Postings: []ledger.Posting{ledger.Debit("customer-7", price), ledger.Credit("revenue", price)}}),
		w.events().Create(e),
	); err != nil {
		return err
	}
	received := inbox.New(inbox.Config{Consumer: "portfolio", Table: portfolio, Now: w.Now})
	_, received900 := received.Process(ctx, txn.New(w.db.Client(), txn.Config{}), inbox.Event{ID: e.ID, Type: e.Type}, map[string]string{"positionId": "pos-900"})
	positions := projection.New(w.db.Client(), projection.Config{Name: "positions", Table: txn.Table{Name: "Positions"}, Now: w.Now}).Namespace(1)
	_, applied := positions.Apply(ctx, projection.Event{Source: e.AggregateKey(), Version: 1, OccurredAt: w.now})
	return errors.Join(w.publish(ctx, false, nil), received900, applied)
}

// chainParked parks the event of another order.
func chainParked(ctx context.Context, w *world) error {
	e := w.event(901, "trades")
	if err := w.commit(ctx, w.events().Create(e), w.requests().Once(request("order-901"), idempotency.Result{Code: "201", Effect: map[string]string{"event": e.ID}})); err != nil {
		return err
	}
	return w.publish(ctx, false, func(outbox.Message) outbox.Result { return outbox.Result{Err: fmt.Errorf("no bus")} })
}
