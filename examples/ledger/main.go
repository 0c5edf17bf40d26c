// Command ledger shows the pattern: accounts are opened, a deposit is posted, an order holds funds, captures part of them and
// gives back the rest, a payment is reversed in part, and at the end every balance is proved from its postings. It runs
// on the embedded engine and prints what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program.
func run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintln(stderr, "usage: ledger")
		return 2
	}
	client := dynamosim.Open(dynamosim.Options{}).Client() // in production: the *dynamodb.Client that you have
	book := ledger.New(ledger.Config{Now: func() time.Time { return now }})
	w := &wallet{client, book, stdout}
	for _, chapter := range []func(context.Context) error{w.createTable, w.tell, w.prove} {
		if err := chapter(ctx); err != nil {
			fmt.Fprintf(stderr, "ledger: %v\n", err)
			return 1
		}
	}
	return 0
}

const tenant = "acme"

var now = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// wallet is a service that keeps customers' money and pays merchants from it.
type wallet struct {
	client *dynamodb.Client
	book   *ledger.Ledger
	out    io.Writer
}

// accounts of the wallet: what it has in the bank, and what it owes to a customer, to a merchant and to itself. Only the
// customer's has a minimum, of nothing: a customer cannot spend what is not there.
var accounts = []struct {
	id        string
	side      ledger.Side
	noMinimum bool
}{
	{"bank", ledger.DebitSide, true},
	{"customer-7", ledger.CreditSide, false},
	{"merchant-3", ledger.CreditSide, true},
	{"fees", ledger.CreditSide, true},
}

// step is one DynamoDB transaction of the story. Its parts are built when its turn has come.
type step struct {
	what  string
	parts func(context.Context) ([]txn.Part, error)
}

// story is a day of one customer. Posting and holding read nothing beforehand; what takes up an earlier hold or
// payment begins with that record.
func (w *wallet) story() []step {
	deposit := post("deposit-1", ledger.Debit("bank", usd("100.00")), ledger.Credit("customer-7", usd("100.00")))
	return []step{
		{"open four accounts", w.open},
		{"deposit 100.00", just(w.book.Post(deposit))},
		{"deposit it again: no answer came", just(w.book.Post(deposit))},
		{"hold 80.00 for an order", just(w.book.Reserve(ledger.Reservation{
			Tenant: tenant, ID: "order-1", Account: "customer-7", Amount: usd("80.00"), ExpiresAt: now.Add(time.Hour),
		}))},
		{"spend 30.00", just(w.book.Post(post("pay-1", ledger.Debit("customer-7", usd("30.00")), ledger.Credit("merchant-3", usd("30.00")))))},
		{"capture 50.00 of the hold", w.capture},
		{"release the rest of the hold", w.release},
		{"refund 20.00", w.refund("refund-1", usd("20.00"))},
		{"refund 40.00", w.refund("refund-2", usd("40.00"))},
	}
}

func just(part txn.Part) func(context.Context) ([]txn.Part, error) {
	return func(context.Context) ([]txn.Part, error) { return []txn.Part{part}, nil }
}

func (w *wallet) open(context.Context) (parts []txn.Part, err error) {
	for _, a := range accounts {
		account := ledger.Account{Tenant: tenant, ID: a.id, Side: a.side}
		parts = append(parts, w.book.OpenAccount(account, ledger.Asset{Currency: usd("0").Currency(), NoMinimum: a.noMinimum}))
	}
	return parts, nil
}

// capture posts a part of what is held, a fee with it.
func (w *wallet) capture(ctx context.Context) ([]txn.Part, error) {
	held, err := w.book.Reservation(ctx, w.client, tenant, "order-1")
	shipped := post("order-1-shipped",
		ledger.Debit("customer-7", usd("50.00")), ledger.Credit("merchant-3", usd("48.50")), ledger.Credit("fees", usd("1.50")))
	return []txn.Part{w.book.Capture(held, ledger.Capture{Transaction: shipped})}, err
}

func (w *wallet) release(ctx context.Context) ([]txn.Part, error) {
	held, err := w.book.Reservation(ctx, w.client, tenant, "order-1")
	return []txn.Part{w.book.Release(held)}, err
}

// refund reverses a part of the payment. What was posted stays; the reversal is a transaction of its own, linked to it. All
// reversals together are never more than the payment, however often and by however many it is tried.
func (w *wallet) refund(id string, amount money.Amount) func(context.Context) ([]txn.Part, error) {
	return func(ctx context.Context) ([]txn.Part, error) {
		shipped, err := w.book.Transaction(ctx, w.client, tenant, "order-1-shipped")
		lines := []ledger.ReversedPart{{Line: 0, Amount: amount}, {Line: 1, Amount: amount.Neg()}} // the customer's and the merchant's
		return []txn.Part{w.book.Reverse(shipped, ledger.Reversal{ID: id, EffectiveAt: now, Parts: lines})}, err
	}
}

// tell carries out the story and prints what comes of every step, and what the customer has then.
func (w *wallet) tell(ctx context.Context) error {
	fmt.Fprintf(w.out, "%-80s%s\n%-34s%-46s%8s%10s%11s\n", "", "CUSTOMER-7", "STEP", "RESULT", "POSTED", "RESERVED", "AVAILABLE")
	for _, s := range w.story() {
		parts, err := s.parts(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		_, err = txn.Commit(ctx, w.client, parts...)
		result, err := meaning(err)
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		customer, err := w.book.Balance(ctx, w.client, tenant, "customer-7", usd("0").Currency())
		if err != nil {
			return err
		}
		fmt.Fprintf(w.out, "%-34s%-46s%8s%10s%11s\n", s.what, result, customer.Posted.Text(), customer.Reserved.Text(), customer.Available.Text())
	}
	return nil
}

// meaning says in words how a step ended. An error that is no part of the story is returned.
func meaning(err error) (string, error) {
	var poor *ledger.InsufficientError
	var exceeds *ledger.ExceedsError
	switch {
	case err == nil:
		return "done", nil
	case ledger.Repeated(err):
		return "was done before, nothing changes", nil
	case errors.As(err, &poor):
		return fmt.Sprintf("refused: %s available, %s needed", poor.Available, poor.Need), nil
	case errors.As(err, &exceeds):
		return fmt.Sprintf("refused: %s left of line %d", exceeds.Left, exceeds.Line), nil
	}
	return "", err
}

// prove prints all balances, and proves each from its postings.
func (w *wallet) prove(ctx context.Context) error {
	var ids []string
	for _, a := range accounts {
		ids = append(ids, a.id)
	}
	balances, err := w.book.TrialBalance(ctx, w.client, tenant, ids...)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.out, "\n%-12s%9s   %s\n", "ACCOUNT", "BALANCE", "POSTINGS THAT PROVE IT")
	for _, row := range balances.Rows {
		proof, err := w.book.Verify(ctx, w.client, ledger.Verification{Tenant: tenant, Account: row.Account, Asset: row.Currency})
		if err = errors.Join(err, proof.Err()); err != nil {
			return err
		}
		fmt.Fprintf(w.out, "%-12s%9s   %d\n", row.Account, row.Signed.Text(), proof.Postings)
	}
	for _, sum := range balances.Sums {
		fmt.Fprintf(w.out, "%-12s%9s\n", "all", sum.Text())
	}
	return nil
}

func post(id string, postings ...ledger.Posting) ledger.Transaction {
	return ledger.Transaction{Tenant: tenant, ID: id, EffectiveAt: now, Postings: postings}
}

func usd(amount string) money.Amount { return money.MustParse(amount + " USD") }

func (w *wallet) createTable(ctx context.Context) error {
	pk, sk := aws.String("PK"), aws.String("SK")
	_, err := w.client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(ledger.DefaultTable),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   []types.KeySchemaElement{{AttributeName: pk, KeyType: types.KeyTypeHash}, {AttributeName: sk, KeyType: types.KeyTypeRange}},
		AttributeDefinitions: append(w.book.IndexAttributes(),
			types.AttributeDefinition{AttributeName: pk, AttributeType: types.ScalarAttributeTypeS},
			types.AttributeDefinition{AttributeName: sk, AttributeType: types.ScalarAttributeTypeS}),
		GlobalSecondaryIndexes: w.book.Indexes(),
	})
	return err
}
