package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

func (w *world) requests() *idempotency.Requests {
	return idempotency.New(idempotency.Config{Now: w.Now, Owner: "lambda/8f2c", NewID: func() string { w.ids++; return fmt.Sprint("claim-", w.ids) }})
}

func request(key string) idempotency.Request {
	return idempotency.Request{Tenant: "acme", Key: key, Operation: "payment.charge", SchemaVersion: 1,
		Command: idempotency.NewFields().Amount("price", "19.99", "USD").String("key", key)}
}

// requestTrouble leaves one request that is completed, one that is under way, one whose owner died, and one that repair gave up.
func requestTrouble(ctx context.Context, w *world) error {
	requests, end := w.requests(), w.now
	if err := w.db.CreateTable(idempotency.TableName, requests.Index()); err != nil {
		return err
	}
	w.now = end.Add(-26 * time.Hour)
	if _, err := requests.Begin(ctx, w.db.Client(), request("pay-escalated"), idempotency.External); err != nil {
		return err
	}
	worker := idempotency.NewRepairWorker(requests, w.db.Client(), idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
		return idempotency.Ambiguous("the provider has no record and no final answer"), nil
	}), idempotency.RepairConfig{Tenants: idempotency.Tenants("acme"), ProbesMax: 1, Sleep: func(ctx context.Context, _ time.Duration) error {
		<-ctx.Done()
		return ctx.Err()
	}})
	for range 3 {
		w.now = w.now.Add(10 * time.Minute)
		if _, err := worker.Once(ctx); err != nil {
			return err
		}
	}
	w.now = end.Add(-42 * time.Minute)
	_, err := requests.Begin(ctx, w.db.Client(), request("pay-abandoned-0123456789"), idempotency.External)
	w.now = end.Add(-10 * time.Minute)
	err = errors.Join(err, w.commit(ctx, requests.Once(request("pay-done"), idempotency.Result{
		Code: "201", Body: []byte(`{"charge":"ch-1"}`), Effect: map[string]string{"chargeId": "ch-1"},
	})))
	w.now = end.Add(-10 * time.Second)
	_, running := requests.Begin(ctx, w.db.Client(), request("pay-running"), idempotency.External)
	w.now = end
	return errors.Join(err, running)
}

var portfolio = txn.Table{Name: "Portfolio", PK: "PK", SK: "SK"}

func receipts(ctx context.Context, w *world) error {
	if err := w.db.CreateTable(portfolio.Name); err != nil {
		return err
	}
	received := inbox.New(inbox.Config{Consumer: "portfolio", Table: portfolio, Now: w.Now})
	committer := txn.New(w.db.Client(), txn.Config{})
	for i := range 3 {
		e := inbox.Event{ID: fmt.Sprintf("01J9K2Q4-trades-%06d", i), Type: "trades", Source: fmt.Sprintf("Order order-%d", i), SourceVersion: 1}
		if _, err := received.Process(ctx, committer, e, map[string]string{"positionId": fmt.Sprint("pos-", i)}); err != nil {
			return err
		}
	}
	return nil
}

func names(ctx context.Context, w *world) error {
	if err := w.db.CreateTable("Names"); err != nil {
		return err
	}
	held := sentinel.New(sentinel.Config{Now: w.Now})
	for i := range 2 {
		claim := sentinel.Claim{Tenant: "acme", Kind: sentinel.ClientOrder, Name: fmt.Sprint("C-7", i), Owner: fmt.Sprint("order-", i), Command: fmt.Sprint("key-", i)}
		if err := w.commit(ctx, held.Reserve(claim)); err != nil {
			return err
		}
	}
	return nil
}
