package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// books opens three accounts and posts four transactions, one of which reverses another, and reserves funds.
func books(ctx context.Context, w *world) error {
	book := ledger.New(ledger.Config{Now: w.Now})
	if err := w.db.CreateTable(ledger.DefaultTable, book.Indexes()...); err != nil {
		return err
	}
	usd, err := money.ISO("USD")
	if err != nil {
		return err
	}
	for _, account := range []struct {
		id   string
		side ledger.Side
		free bool
	}{{"cash", ledger.DebitSide, true}, {"customer-7", ledger.CreditSide, false}, {"revenue", ledger.CreditSide, true}} {
		asset := ledger.Asset{Currency: usd, NoMinimum: account.free}
		if err := w.commit(ctx, book.OpenAccount(ledger.Account{Tenant: "acme", ID: account.id, Side: account.side}, asset)); err != nil {
			return err
		}
	}
	post := func(id, from, to, amount string) error {
		price := money.MustParse(amount)
		return w.commit(ctx, book.Post(ledger.Transaction{
			Tenant: "acme", ID: id, EffectiveAt: w.now.Add(-time.Hour), Source: "req-" + id,
			Postings: []ledger.Posting{ledger.Debit(from, price), ledger.Credit(to, price)},
		}))
	}
	for _, p := range [][4]string{{"deposit-1", "cash", "customer-7", "100.00 USD"}, {"pay-1", "customer-7", "revenue", "19.99 USD"}, {"pay-2", "customer-7", "revenue", "5.00 USD"}} {
		if err := post(p[0], p[1], p[2], p[3]); err != nil {
			return err
		}
	}
	original, err := book.Transaction(ctx, w.db.Client(), "acme", "pay-2")
	if err != nil {
		return err
	}
	return w.commit(ctx,
		book.Reverse(original, ledger.Reversal{ID: "undo-pay-2", EffectiveAt: w.now, Source: "INC-881"}),
	)
}

// tampered changes a posting behind the ledger's back.
func tampered(ctx context.Context, w *world) error { return setPostingSource(ctx, w, "somebody else") }

// setPostingSource writes the source of the first posting of revenue, as no ledger does.
func setPostingSource(ctx context.Context, w *world, source string) error {
	client := w.db.Client()
	out, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String(ledger.DefaultTable), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: txn.Item{":pk": &types.AttributeValueMemberS{Value: "TEN#acme#ACCT#revenue#MONTH#2026-11#BKT#00"}},
	})
	if err != nil || len(out.Items) == 0 {
		return fmt.Errorf("no postings: %w", err)
	}
	item := out.Items[0]
	item["source"] = &types.AttributeValueMemberS{Value: source}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(ledger.DefaultTable), Item: item})
	return err
}

// view applies events of two sources, of which one misses its second version.
func view(ctx context.Context, w *world) error {
	if err := w.db.CreateTable("Positions"); err != nil {
		return err
	}
	positions := projection.New(w.db.Client(), projection.Config{Name: "positions", Table: txn.Table{Name: "Positions"}, Now: w.Now}).Namespace(1)
	end := w.now
	w.now = end.Add(-190 * time.Minute)
	for _, e := range []struct {
		source  string
		version int64
	}{{"acme/Position/ACME", 1}, {"acme/Position/ACME", 2}, {"acme/Position/INIT", 1}, {"acme/Position/INIT", 3}, {"acme/Position/INIT", 4}} {
		if _, err := positions.Apply(ctx, projection.Event{Source: e.source, Version: e.version, OccurredAt: w.now}); err != nil {
			return err
		}
	}
	w.now = end
	return nil
}

// breaks runs a batch that finds three breaks, and resolves one of them.
func breaks(ctx context.Context, w *world) error {
	desk := reconcile.New(w.db.Client(), reconcile.Config{Now: w.Now})
	if err := w.db.CreateTable(reconcile.DefaultTable, desk.Index()); err != nil {
		return err
	}
	end := w.now
	w.now = end.Add(-25 * time.Hour)
	if err := desk.Create(ctx, reconcile.Manifest{
		Tenant: "acme", Date: "2026-11-28", Batch: "cash-1", Rules: "cash-3", Window: reconcile.Window{Cutoff: w.now},
		Left: reconcile.Input{Name: "ledger"}, Right: reconcile.Input{Name: "statement"},
	}); err != nil {
		return err
	}
	_, err := desk.Run(ctx, "acme", "2026-11-28", "cash-1", reconcile.Job{
		Worker: "nightly", Rules: reconcile.Rules{Name: "cash-3"},
		Left: side("posting", w.now, "10.00 USD", "20.00 USD", "5.00 USD"), Right: side("line", w.now, "10.00 USD", "20.50 USD", "", "1204.05 USD"),
		Assign: func(reconcile.Outcome) reconcile.Assignment {
			return reconcile.Assignment{Owner: "finance-ops", Due: w.now.Add(24 * time.Hour)}
		},
	})
	if err != nil {
		return err
	}
	for b, err := range desk.Breaks(ctx, "acme", "cash-1") {
		if err != nil {
			return err
		}
		if b.Kind == reconcile.Missing {
			err = w.commit(ctx, desk.Resolve(b, reconcile.Evidence{By: "ann", Note: "late, came today", Reference: "statement 2026-11-29"}))
		}
		if err != nil {
			return err
		}
	}
	w.now = end
	return nil
}

// side gives a row for each amount that is not "".
func side(name string, at time.Time, amounts ...string) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		for i, text := range amounts {
			if text == "" {
				continue
			}
			row := reconcile.Row{ID: fmt.Sprintf("%s-%d", name, i+1), Key: fmt.Sprintf("pay-%d", i+1), Amount: money.MustParse(text), At: at.Add(-time.Hour)}
			if !yield(row, nil) {
				return
			}
		}
	}
}
