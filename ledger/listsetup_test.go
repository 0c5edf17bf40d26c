package ledger_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// openWide opens a debit account without minimums, in dollars and euros, spread over stripes and lanes.
func (b *bench) openWide(t *testing.T, name string, stripes, lanes int) {
	t.Helper()
	b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: name, Side: ledger.DebitSide, Assets: 2, Stripes: stripes, Lanes: lanes},
		ledger.Asset{Currency: usd, NoMinimum: true}, ledger.Asset{Currency: eur, NoMinimum: true}))
}

// record posts a transaction of these lines, whatever bucket they go to.
func (b *bench) record(t *testing.T, id string, at time.Time, lines ...ledger.Posting) {
	t.Helper()
	if err := b.post(t, ledger.Transaction{Tenant: tenant, ID: id, EffectiveAt: at, Postings: lines}); err != nil {
		t.Fatalf("post %s: %v", id, err)
	}
}

// pay posts dollars from the credited account to the debited one.
func (b *bench) pay(t *testing.T, id string, at time.Time, debit, credit, amount string) {
	t.Helper()
	b.record(t, id, at, ledger.Debit(debit, dollars(amount)), ledger.Credit(credit, dollars(amount)))
}

// closeBooks closes all balances of an account through a month.
func (b *bench) closeBooks(t *testing.T, account string, through ledger.Month) {
	t.Helper()
	_, all, err := b.book.Balances(t.Context(), b.client, tenant, account)
	if err != nil {
		t.Fatal(err)
	}
	for _, balance := range all {
		b.commit(t, b.book.ClosePeriod(balance, through))
	}
}

// meter is a client that adds up what reading takes.
type meter struct {
	*dynamodb.Client
	mu    sync.Mutex
	units capacity.Units
}

func (m *meter) add(c *types.ConsumedCapacity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.units += capacity.FromWire(*c.CapacityUnits)
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.GetItem(ctx, in, opts...)
	if err == nil {
		m.add(out.ConsumedCapacity)
	}
	return out, err
}

func (m *meter) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.Query(ctx, in, opts...)
	if err == nil {
		m.add(out.ConsumedCapacity)
	}
	return out, err
}

// postingKey is where a posting of an account on stripe and lane 0 and in bucket 0 is.
func postingKey(t *testing.T, account, id string, line int, at time.Time) txn.Item {
	t.Helper()
	key, err := keys.Posting{
		Tenant: tenant, Account: account, Month: string(ledger.MonthOf(at)), At: at, Transaction: id, Line: line,
	}.Key()
	if err != nil {
		t.Fatal(err)
	}
	return key.Attributes("PK", "SK")
}

// stored reads an item, behind the ledger's back.
func (b *bench) stored(t *testing.T, key txn.Item) txn.Item {
	t.Helper()
	out, err := b.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &b.books.Name, Key: key})
	if err != nil || out.Item == nil {
		t.Fatalf("%v: %v", key, err)
	}
	return out.Item
}

// forge stores an item, behind the ledger's back.
func (b *bench) forge(t *testing.T, item txn.Item) {
	t.Helper()
	if _, err := b.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.books.Name, Item: item}); err != nil {
		t.Fatal(err)
	}
}

// lose deletes an item, behind the ledger's back.
func (b *bench) lose(t *testing.T, key txn.Item) {
	t.Helper()
	if _, err := b.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &b.books.Name, Key: key}); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) asOf(t *testing.T, account string, asset money.Currency, at ledger.AsOf) ledger.Total {
	t.Helper()
	total, err := b.book.BalanceAt(t.Context(), b.client, tenant, account, asset, at)
	if err != nil {
		t.Fatalf("balance of %s as of %v: %v", account, at, err)
	}
	return total
}

// verify verifies the dollars of an account to the end.
func (b *bench) verify(t *testing.T, of ledger.Verification) ledger.Report {
	t.Helper()
	of.Tenant = tenant
	if of.Asset == (money.Currency{}) {
		of.Asset = usd
	}
	report, err := b.book.Verify(t.Context(), b.client, of)
	if err != nil || !report.Done {
		t.Fatalf("verify %s: %+v, %v", of.Account, report, err)
	}
	return report
}
