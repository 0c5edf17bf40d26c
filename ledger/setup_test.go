package ledger_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

const tenant = "acme"

var (
	books  = txn.Table{Name: ledger.DefaultTable}
	day    = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	usd, _ = money.ISO("USD")
	eur, _ = money.ISO("EUR")
)

// bench is a database with a ledger whose clock the test sets.
type bench struct {
	db     *dynamosim.DB
	client *dynamodb.Client
	book   *ledger.Ledger
	now    time.Time
}

func setup(t dynamosim.TB, config ledger.Config, opts ...dynamosim.Options) *bench {
	t.Helper()
	b := &bench{now: day}
	b.db = dynamosim.New(t, opts...)
	b.client = b.db.Client()
	config.Now = func() time.Time { return b.now }
	b.book = ledger.New(config)
	createTable(b.client, b.book)
	return b
}

// createTable creates the ledger's table with its indexes.
func createTable(client *dynamodb.Client, book *ledger.Ledger) {
	pk, sk := aws.String("PK"), aws.String("SK")
	_, err := client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName:   &books.Name,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   []types.KeySchemaElement{{AttributeName: pk, KeyType: types.KeyTypeHash}, {AttributeName: sk, KeyType: types.KeyTypeRange}},
		AttributeDefinitions: append(book.IndexAttributes(),
			types.AttributeDefinition{AttributeName: pk, AttributeType: types.ScalarAttributeTypeS},
			types.AttributeDefinition{AttributeName: sk, AttributeType: types.ScalarAttributeTypeS}),
		GlobalSecondaryIndexes: book.Indexes(),
	})
	if err != nil {
		panic(err) // examples have no other way to fail
	}
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

// dump is everything that is stored, by key.
func (b *bench) dump(t dynamosim.TB) map[string]txn.Item {
	t.Helper()
	all := map[string]txn.Item{}
	in := &dynamodb.ScanInput{TableName: &books.Name, ConsistentRead: aws.Bool(true)}
	for {
		out, err := b.client.Scan(context.Background(), in)
		if err != nil {
			panic(err) // the calm client does not fail
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
