package reconcile_test

import (
	"context"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// side is a source of three payments.
func side(name string, amounts ...string) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		for i, amount := range amounts {
			row := reconcile.Row{ID: fmt.Sprint(name, i+1), Key: fmt.Sprint("pay-", i+1), Amount: money.MustParse(amount), At: day.Add(-time.Hour)}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// A comparison needs no store.
func Example() {
	ctx := context.Background()
	c, err := reconcile.Load(ctx, reconcile.Options{}, side("posting", "10.00 USD", "20.00 USD", "5.00 USD"), side("line", "10.00 USD", "20.50 USD"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	summary, err := c.Match(ctx, reconcile.Rules{}, reconcile.Window{Cutoff: day}, func(o reconcile.Outcome) error {
		fmt.Println(o.Kind, o.Key, o.Drift, o.Faults)
		return nil
	})
	fmt.Println(summary.Breaks(), "breaks", err)
	// Output:
	// MATCHED pay-1 0.00 USD []
	// MISMATCHED pay-2 0.50 USD [amount]
	// MISSING pay-3 -5.00 USD []
	// 2 breaks <nil>
}

// A batch keeps its breaks as work: each has an owner and a due time, and closes with evidence.
func ExampleReconciler_Run() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{})
	desk := reconcile.New(db.Client(), reconcile.Config{Now: func() time.Time { return day }})
	if err := db.CreateTable(reconcile.DefaultTable, desk.Index()); err != nil {
		fmt.Println(err)
		return
	}
	err := desk.Create(ctx, reconcile.Manifest{
		Tenant: "acme", Date: "2026-11-29", Batch: "cash-1", Rules: "cash-3", Window: reconcile.Window{Cutoff: day},
		Left: reconcile.Input{Name: "ledger"}, Right: reconcile.Input{Name: "statement", Control: &reconcile.Totals{Rows: 2}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	summary, err := desk.Run(ctx, "acme", "2026-11-29", "cash-1", reconcile.Job{
		Worker: "nightly", Rules: reconcile.Rules{Name: "cash-3"},
		Left: side("posting", "10.00 USD", "20.00 USD"), Right: side("line", "10.00 USD", "20.50 USD"),
		Assign: func(reconcile.Outcome) reconcile.Assignment {
			return reconcile.Assignment{Owner: "finance-ops", Due: day.Add(24 * time.Hour)}
		},
	})
	fmt.Println(summary.Breaks(), "break,", err)
	for b, err := range desk.Breaks(ctx, "acme", "cash-1") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(b.Kind, b.Key, b.Drift, b.Owner)
		_, err = txn.Commit(ctx, db.Client(), desk.Resolve(b, reconcile.Evidence{By: "ann", Note: "fee of the bank", Reference: "journal-17"}))
		fmt.Println("resolved", err)
	}
	// Output:
	// 1 break, <nil>
	// MISMATCHED pay-2 0.50 USD finance-ops
	// resolved <nil>
}
