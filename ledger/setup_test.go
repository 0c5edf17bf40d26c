package ledger_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

const tenant = "acme"

var (
	day    = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	usd, _ = money.ISO("USD")
	eur, _ = money.ISO("EUR")
)

// bench is a store with a ledger whose clock the test sets.
type bench struct {
	store  *stores.Store
	client *dynamodb.Client
	books  txn.Table
	book   *ledger.Ledger
	now    time.Time
}

func setup(t stores.TB, config ledger.Config, opts ...stores.Options) *bench {
	t.Helper()
	store := stores.Open(t, opts...)
	b := &bench{
		store: store, client: store.Client(), now: day,
		books: txn.Table{Name: store.Table(t, newTable(ledger.New(ledger.Config{})))},
	}
	config.Table, config.Now = b.books, func() time.Time { return b.now }
	b.book = ledger.New(config)
	return b
}

// createTable creates the table of an example, which has no other way to fail.
func createTable(client *dynamodb.Client, book *ledger.Ledger) {
	if _, err := client.CreateTable(context.Background(), newTable(book)); err != nil {
		panic(err)
	}
}

func newTable(book *ledger.Ledger) *dynamodb.CreateTableInput {
	return stores.Keyed(ledger.DefaultTable, book.IndexAttributes(), book.Indexes()...)
}

// impatient is a Committer that does not wait between attempts.
func impatient(client txn.Client) *txn.Committer {
	return txn.New(client, txn.Config{Jitter: func(time.Duration) time.Duration { return 0 }})
}

func (b *bench) commit(t *testing.T, parts ...txn.Part) txn.Receipt {
	t.Helper()
	receipt, err := b.try(t, parts...)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return receipt
}

func (b *bench) try(t *testing.T, parts ...txn.Part) (txn.Receipt, error) {
	t.Helper()
	return impatient(b.client).Commit(t.Context(), parts...)
}

// open opens accounts with dollars: a name that ends in + is a debit account, one in - a credit account, both with a
// minimum of zero; any other is a debit account without a minimum.
func (b *bench) open(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		account, asset := ledger.Account{Tenant: tenant, ID: name, Side: ledger.DebitSide, Assets: 2}, ledger.Asset{Currency: usd}
		switch name[len(name)-1] {
		case '+':
		case '-':
			account.Side = ledger.CreditSide
		default:
			asset.NoMinimum = true
		}
		b.commit(t, b.book.OpenAccount(account, asset))
	}
}

func dollars(text string) money.Amount {
	a, err := money.Parse(text, usd)
	if err != nil {
		panic(err)
	}
	return a
}

func euros(text string) money.Amount {
	a, err := money.Parse(text, eur)
	if err != nil {
		panic(err)
	}
	return a
}

// transfer debits one account and credits another.
func transfer(id, debit, credit, amount string) ledger.Transaction {
	return ledger.Transaction{
		Tenant: tenant, ID: id, EffectiveAt: day, Source: "order-" + id,
		Postings: []ledger.Posting{ledger.Debit(debit, dollars(amount)), ledger.Credit(credit, dollars(amount))},
	}
}

func (b *bench) balance(t *testing.T, account string) ledger.Balance {
	t.Helper()
	balance, err := b.book.Balance(t.Context(), b.client, tenant, account, usd)
	if err != nil {
		t.Fatalf("balance of %q: %v", account, err)
	}
	return balance
}

// has fails the test unless the account has posted, reserved and available what is said, in its own view.
func (b *bench) has(t *testing.T, account, posted, reserved, available string) {
	t.Helper()
	now := b.balance(t, account)
	got := []string{now.Posted.Text(), now.Reserved.Text(), now.Available.Text()}
	if want := []string{posted, reserved, available}; !slices.Equal(got, want) {
		t.Errorf("%s has posted, reserved, available %v, want %v", account, got, want)
	}
}

func (b *bench) entry(t *testing.T, id string) ledger.Entry {
	t.Helper()
	entry, err := b.book.Transaction(t.Context(), b.client, tenant, id)
	if err != nil {
		t.Fatalf("transaction %q: %v", id, err)
	}
	return entry
}

func (b *bench) reservation(t *testing.T, id string) ledger.Reservation {
	t.Helper()
	r, err := b.book.Reservation(t.Context(), b.client, tenant, id)
	if err != nil {
		t.Fatalf("reservation %q: %v", id, err)
	}
	return r
}

// dump is everything that is stored, by key, without the marks that every commit makes anew.
func (b *bench) dump(t stores.TB) map[string]txn.Item {
	t.Helper()
	all := map[string]txn.Item{}
	in := &dynamodb.ScanInput{TableName: &b.books.Name, ConsistentRead: aws.Bool(true)}
	for {
		out, err := b.client.Scan(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			all[item["PK"].(*types.AttributeValueMemberS).Value+" / "+item["SK"].(*types.AttributeValueMemberS).Value] = item
		}
		if len(out.LastEvaluatedKey) == 0 {
			return all
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// untouched fails the test unless try is refused with an error of the kind, and nothing that is stored changes.
func (b *bench) untouched(t *testing.T, what string, kind error, parts ...txn.Part) error {
	t.Helper()
	before := b.dump(t)
	_, err := b.try(t, parts...)
	if !errors.Is(err, kind) {
		t.Errorf("%s: %v, want %v", what, err, kind)
	}
	if !reflect.DeepEqual(b.dump(t), before) {
		t.Errorf("%s changed what is stored", what)
	}
	return err
}
