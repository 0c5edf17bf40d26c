package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// Requests of many customers pay into the bank account of the house at once. Each has its own answer; together
// they write the bank's balance once or twice.
func ExampleLedger_Batcher() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, ledger.New(ledger.Config{}))
	book := exampleBook(client)
	batcher := book.Batcher(ctx, txn.New(client, txn.Config{}), ledger.BatchConfig{})

	post := func(id, debit, credit, amount string) error {
		a := money.MustParse(amount)
		posted, err := batcher.Post(ctx, ledger.Submission{Transaction: ledger.Transaction{
			Tenant: "acme", ID: id, EffectiveAt: day,
			Postings: []ledger.Posting{ledger.Debit(debit, a), ledger.Credit(credit, a)},
		}})
		if posted.Repeated {
			return errors.New("was posted before")
		}
		return err
	}
	fmt.Println("first:", post("in-0", "bank", "customer-7", "5.00 USD"))

	answers := make([]error, 4)
	var all sync.WaitGroup
	all.Go(func() { answers[0] = post("in-1", "bank", "customer-7", "10.00 USD") })
	all.Go(func() { answers[1] = post("in-0", "bank", "customer-7", "5.00 USD") })
	all.Go(func() { answers[2] = post("in-2", "bank", "customer-8", "1.00 USD") })
	all.Go(func() { answers[3] = post("out-1", "customer-7", "bank", "99.00 USD") })
	all.Wait()

	fmt.Println("pays in:", answers[0])
	fmt.Println("pays in again:", answers[1])
	fmt.Println("of nobody:", errors.Is(answers[2], ledger.ErrNotFound))
	fmt.Println("too much:", errors.Is(answers[3], ledger.ErrInsufficient))
	fmt.Println("close:", batcher.Close(ctx))
	balance, err := book.Balance(ctx, client, "acme", "customer-7", usd)
	fmt.Println(balance.Posted, err)
	// Output:
	// first: <nil>
	// pays in: <nil>
	// pays in again: was posted before
	// of nobody: true
	// too much: true
	// close: <nil>
	// 15.00 USD <nil>
}

// A request brings its idempotency record along: it is committed with the posting, and decides what a repeat gets.
func ExampleBatcher_Post() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, ledger.New(ledger.Config{}))
	book := exampleBook(client)
	requests := idempotency.New(idempotency.Config{Table: txn.Table{Name: ledger.DefaultTable}})
	batcher := book.Batcher(ctx, txn.New(client, txn.Config{}), ledger.BatchConfig{})

	pay := func() (string, error) {
		a := money.MustParse("10.00 USD")
		request := idempotency.Request{Tenant: "acme", Key: "key-1", Operation: "pay.in", Command: idempotency.NewFields().Amount("amount", a.Text(), "USD")}
		_, err := batcher.Post(ctx, ledger.Submission{
			Transaction: ledger.Transaction{Tenant: "acme", ID: "in-1", EffectiveAt: day,
				Postings: []ledger.Posting{ledger.Debit("bank", a), ledger.Credit("customer-7", a)}},
			Parts: []txn.Part{requests.Once(request, idempotency.Result{Code: "201", Body: []byte("paid")})},
		})
		if replayed, ok := idempotency.Replayed(err); ok {
			return "again: " + string(replayed.Result.Body), nil
		}
		return "paid", err
	}
	fmt.Println(pay())
	fmt.Println(pay())
	fmt.Println(batcher.Close(ctx))
	// Output:
	// paid <nil>
	// again: paid <nil>
	// <nil>
}

// An account of the house is spread over stripes and lanes, and its balance is their sum.
func ExampleAccount_Spread() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, ledger.New(ledger.Config{}))
	book := exampleBook(client)
	fees := ledger.Account{Tenant: "acme", ID: "fees", Side: ledger.CreditSide, Stripes: 4, Lanes: 2}
	_, err := txn.Commit(ctx, client, book.OpenAccount(fees, ledger.Asset{Currency: usd, NoMinimum: true}))
	fmt.Println("open:", err)

	fee := money.MustParse("0.25 USD")
	for i := range 8 {
		tx := fees.Spread(ledger.Transaction{Tenant: "acme", ID: fmt.Sprint("fee-", i), EffectiveAt: day,
			Postings: []ledger.Posting{ledger.Debit("bank", fee), ledger.Credit("fees", fee)}})
		if _, err := txn.Commit(ctx, client, book.Post(tx)); err != nil {
			fmt.Println(err)
		}
	}
	total, err := book.Total(ctx, client, "acme", "fees", usd)
	fmt.Println(total.Posted, "in", total.Postings, "postings", err)
	// Output:
	// open: <nil>
	// 2.00 USD in 8 postings <nil>
}
