package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// exampleBook is a ledger with two accounts: the bank account of the house, which may go anywhere, and what the house
// owes to customer 7, which may not fall below nothing.
func exampleBook(client txn.Client) *ledger.Ledger {
	book := ledger.New(ledger.Config{Now: func() time.Time { return day }})
	_, err := txn.Commit(context.Background(), client,
		book.OpenAccount(ledger.Account{Tenant: "acme", ID: "bank", Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true}),
		book.OpenAccount(ledger.Account{Tenant: "acme", ID: "customer-7", Side: ledger.CreditSide}, ledger.Asset{Currency: usd}),
	)
	if err != nil {
		panic(err)
	}
	return book
}

// A customer pays in 100 dollars and tries to spend 120. Nobody reads a balance beforehand, and the refusal knows it.
func Example() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, ledger.New(ledger.Config{}))
	book := exampleBook(client)

	post := func(id, debit, credit string, amount money.Amount) error {
		_, err := txn.Commit(ctx, client, book.Post(ledger.Transaction{
			Tenant: "acme", ID: id, EffectiveAt: day,
			Postings: []ledger.Posting{ledger.Debit(debit, amount), ledger.Credit(credit, amount)},
		}))
		return err
	}
	fmt.Println("pay in:", post("in-1", "bank", "customer-7", money.MustParse("100.00 USD")))

	err := post("out-1", "customer-7", "bank", money.MustParse("120.00 USD"))
	var poor *ledger.InsufficientError
	if errors.As(err, &poor) {
		fmt.Println("refused:", poor.Available, "available,", poor.Need, "needed")
	}
	fmt.Println("again:", ledger.Repeated(post("in-1", "bank", "customer-7", money.MustParse("100.00 USD"))))

	balance, err := book.Balance(ctx, client, "acme", "customer-7", usd)
	fmt.Println(balance.Posted, err)
	// Output:
	// pay in: <nil>
	// refused: 100.00 USD available, 120.00 USD needed
	// again: true
	// 100.00 USD <nil>
}

// An order reserves what it may cost, is executed in two parts, and the rest is given back.
func ExampleLedger_Capture() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, ledger.New(ledger.Config{}))
	book := exampleBook(client)
	commit := func(part txn.Part) {
		if _, err := txn.Commit(ctx, client, part); err != nil {
			fmt.Println(err)
		}
	}
	pay := func(id, debit, credit, amount string) ledger.Transaction {
		a := money.MustParse(amount)
		return ledger.Transaction{Tenant: "acme", ID: id, EffectiveAt: day,
			Postings: []ledger.Posting{ledger.Debit(debit, a), ledger.Credit(credit, a)}}
	}
	show := func() ledger.Reservation {
		b, err := book.Balance(ctx, client, "acme", "customer-7", usd)
		if err != nil {
			fmt.Println(err)
		}
		r, err := book.Reservation(ctx, client, "acme", "order-1")
		if err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%s: posted %s, reserved %s, available %s\n", r.State, b.Posted.Text(), b.Reserved.Text(), b.Available.Text())
		return r
	}
	commit(book.Post(pay("in-1", "bank", "customer-7", "100.00 USD")))
	commit(book.Reserve(ledger.Reservation{
		Tenant: "acme", ID: "order-1", Account: "customer-7", Amount: money.MustParse("80.00 USD"), ExpiresAt: day.Add(time.Hour),
	}))
	r := show()
	commit(book.Capture(r, ledger.Capture{Transaction: pay("fill-1", "customer-7", "bank", "50.00 USD")}))
	r = show()
	commit(book.Capture(r, ledger.Capture{Transaction: pay("fill-2", "customer-7", "bank", "10.00 USD"), Final: true}))
	show()
	// Output:
	// OPEN: posted 100.00, reserved 80.00, available 20.00
	// OPEN: posted 50.00, reserved 30.00, available 20.00
	// CAPTURED: posted 40.00, reserved 0.00, available 40.00
}

// A payment is taken back in parts. Together they never exceed it, even if they are under way at the same time.
func ExampleLedger_Reverse() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, ledger.New(ledger.Config{}))
	book := exampleBook(client)
	paid := money.MustParse("100.00 USD")
	_, err := txn.Commit(ctx, client, book.Post(ledger.Transaction{Tenant: "acme", ID: "in-1", EffectiveAt: day,
		Postings: []ledger.Posting{ledger.Debit("bank", paid), ledger.Credit("customer-7", paid)}}))
	fmt.Println("paid:", err)

	original, err := book.Transaction(ctx, client, "acme", "in-1")
	fmt.Println("read:", err)
	refund := func(id, amount string) error {
		part := money.MustParse(amount)
		_, err := txn.Commit(ctx, client, book.Reverse(original, ledger.Reversal{ID: id, EffectiveAt: day.Add(time.Hour),
			Parts: []ledger.ReversedPart{{Line: 0, Amount: part}, {Line: 1, Amount: part.Neg()}}}))
		return err
	}
	fmt.Println("60:", refund("refund-1", "60.00 USD"))
	var exceeds *ledger.ExceedsError
	if errors.As(refund("refund-2", "60.00 USD"), &exceeds) {
		fmt.Println("60 more:", exceeds.Left, "left of line", exceeds.Line)
	}
	fmt.Println("40:", refund("refund-3", "40.00 USD"))
	links, err := book.Links(ctx, client, original)
	fmt.Println(links.ReversedBy, err)
	// Output:
	// paid: <nil>
	// read: <nil>
	// 60: <nil>
	// 60 more: 40.00 USD left of line 0
	// 40: <nil>
	// [refund-1 refund-3] <nil>
}

// A month is closed: what comes late for it is refused, and its totals stand.
func ExampleLedger_ClosePeriod() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, ledger.New(ledger.Config{}))
	book := exampleBook(client)
	post := func(id string, at time.Time) error {
		a := money.MustParse("5.00 USD")
		_, err := txn.Commit(ctx, client, book.Post(ledger.Transaction{Tenant: "acme", ID: id, EffectiveAt: at,
			Postings: []ledger.Posting{ledger.Debit("bank", a), ledger.Credit("customer-7", a)}}))
		return err
	}
	november, december := time.Date(2026, 11, 30, 23, 59, 59, 999_999_999, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	fmt.Println(post("t-1", november), post("t-2", december))

	balance, err := book.Balance(ctx, client, "acme", "bank", usd)
	fmt.Println("read:", err)
	_, err = txn.Commit(ctx, client, book.ClosePeriod(balance, "2026-11"))
	fmt.Println("close:", err)

	var closed *ledger.PeriodClosedError
	if errors.As(post("t-3", november), &closed) {
		fmt.Println("late:", closed.Account, closed.Month, "is closed")
	}
	seal, err := book.Seal(ctx, client, balance, "2026-11")
	fmt.Println(seal.Count, "posting,", seal.Through.Sum, err)
	// Output:
	// <nil> <nil>
	// read: <nil>
	// close: <nil>
	// late: bank 2026-11 is closed
	// 1 posting, 5.00 USD <nil>
}
