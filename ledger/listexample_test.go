package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// aQuarter is a ledger in which customer 7 pays in 100 dollars in October, 20 in November, and spends 30 in December.
func aQuarter(ctx context.Context) (*dynamodb.Client, *ledger.Ledger) {
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, ledger.New(ledger.Config{}))
	book := exampleBook(client)
	for i, tx := range []struct{ id, debit, credit, amount string }{
		{"in-1", "bank", "customer-7", "100.00 USD"}, {"in-2", "bank", "customer-7", "20.00 USD"}, {"out-1", "customer-7", "bank", "30.00 USD"},
	} {
		a := money.MustParse(tx.amount)
		_, err := txn.Commit(ctx, client, book.Post(ledger.Transaction{
			Tenant: "acme", ID: tx.id, EffectiveAt: time.Date(2026, time.October+time.Month(i), 5, 9, 0, 0, 0, time.UTC),
			Postings: []ledger.Posting{ledger.Debit(tx.debit, a), ledger.Credit(tx.credit, a)},
		}))
		if err != nil {
			panic(err) // an example has no other way to fail
		}
	}
	return client, book
}

// A statement is read page by page; its opening balance is the one a nanosecond before it begins.
func ExampleLedger_StatementPage() {
	ctx := context.Background()
	client, book := aQuarter(ctx)
	november := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	opening, err := book.BalanceAt(ctx, client, "acme", "customer-7", usd, ledger.AsOf{EffectiveAt: november.Add(-1)})
	fmt.Println("opening", opening.Posted, err)

	query := ledger.StatementQuery{Tenant: "acme", Account: "customer-7", Asset: usd, From: november}
	balance := opening.Signed
	for cursor := ""; ; {
		page, err := book.StatementPage(ctx, client, query, cursor, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, line := range page.Lines {
			if balance, err = balance.Add(line.Amount); err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(line.EffectiveAt.Format(time.DateOnly), line.Transaction, line.Amount, "now", balance.Neg())
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	// Output:
	// opening 100.00 USD <nil>
	// 2026-11-05 in-2 -20.00 USD now 120.00 USD
	// 2026-12-05 out-1 30.00 USD now 90.00 USD
}

// The balances of all accounts add up to zero, now and as of any time.
func ExampleLedger_TrialBalance() {
	ctx := context.Background()
	client, book := aQuarter(ctx)
	show := func(trial ledger.TrialBalance, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, row := range trial.Rows {
			fmt.Print(row.Account, " ", row.Signed, ", ")
		}
		fmt.Println("balanced:", trial.Balanced())
	}
	show(book.TrialBalance(ctx, client, "acme", "bank", "customer-7"))
	endOfNovember := ledger.AsOf{EffectiveAt: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC).Add(-1)}
	show(book.TrialBalanceAt(ctx, client, endOfNovember, "acme", "bank", "customer-7"))
	show(book.TrialBalanceCut(ctx, client, "acme", "bank", "customer-7"))
	// Output:
	// bank 90.00 USD, customer-7 -90.00 USD, balanced: true
	// bank 120.00 USD, customer-7 -120.00 USD, balanced: true
	// bank 90.00 USD, customer-7 -90.00 USD, balanced: true
}

// A nightly job proves a balance. It stores its checkpoint after every step, and another process may go on from there.
func ExampleLedger_Verify() {
	ctx := context.Background()
	client, book := aQuarter(ctx)
	var checkpoint string
	enough := errors.New("the night is over")
	_, err := book.Verify(ctx, client, ledger.Verification{
		Tenant: "acme", Account: "customer-7", Asset: usd,
		Progress: func(p ledger.Progress) error {
			checkpoint = p.Checkpoint
			if p.Month == "2026-12" {
				return enough
			}
			return nil
		},
	})
	fmt.Println(err)

	report, err := book.Verify(ctx, client, ledger.Verification{Tenant: "acme", Account: "customer-7", Asset: usd, Checkpoint: checkpoint})
	fmt.Println(report.Months, "months,", report.Postings, "postings,", report.Recomputed.Sum, err, report.Err())

	// Somebody changes a posting in the table.
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(ledger.DefaultTable), Key: txn.Item{
		"PK": text("TEN#acme#ACCT#customer-7#MONTH#2026-11#BKT#00"), "SK": text("POST#2026-11-05T09:00:00.000000000Z#in-2#0001"),
	}})
	fmt.Println("read:", err)
	out.Item["amount"] = number("-200000")
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(ledger.DefaultTable), Item: out.Item})
	fmt.Println("changed:", err)

	report, err = book.Verify(ctx, client, ledger.Verification{Tenant: "acme", Account: "customer-7", Asset: usd, Locate: true})
	fmt.Println(report.Months, "months", err)
	for _, f := range report.Findings {
		fmt.Println(f.Kind, f.Month, f.Transaction, f.Detail)
	}
	// Output:
	// the night is over
	// 3 months, 3 postings, -90.00 USD <nil> <nil>
	// read: <nil>
	// changed: <nil>
	// 2 months <nil>
	// CHANGED 2026-11  as many postings as were posted, 1, but not the same
	// CHANGED 2026-11 in-2 is not what its transaction says
}

// What is reserved in an account is listed by expiry.
func ExampleLedger_Held() {
	ctx := context.Background()
	client, book := aQuarter(ctx)
	for i, amount := range []string{"40.00 USD", "25.00 USD"} {
		_, err := txn.Commit(ctx, client, book.Reserve(ledger.Reservation{
			Tenant: "acme", ID: fmt.Sprint("order-", i+1), Account: "customer-7", Amount: money.MustParse(amount),
			ExpiresAt: day.Add(time.Duration(2-i) * time.Hour),
		}))
		if err != nil {
			fmt.Println(err)
		}
	}
	for r, err := range book.Held(ctx, client, "acme", "customer-7") {
		fmt.Println(r.ID, r.Left, r.ExpiresAt.Format(time.TimeOnly), err)
	}
	// Output:
	// order-2 25.00 USD 15:18:00 <nil>
	// order-1 40.00 USD 16:18:00 <nil>
}
