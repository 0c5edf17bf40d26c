package sentinel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

// bench is a store with the tables of names and of their owners.
type bench struct {
	store           *stores.Store
	client          *dynamodb.Client
	reserved, owned txn.Table
	names           *sentinel.Names
}

func setup(t stores.TB, opts ...stores.Options) *bench {
	t.Helper()
	store := stores.Open(t, opts...)
	b := &bench{
		store: store, client: store.Client(),
		reserved: txn.Table{Name: store.Table(t, newTable(sentinel.DefaultTable))},
		owned:    txn.Table{Name: store.Table(t, newTable("Orders"))},
	}
	b.names = sentinel.New(sentinel.Config{Table: b.reserved, Now: func() time.Time { return day }})
	return b
}

// createTables creates the tables of an example, which has no other way to fail.
func createTables(client *dynamodb.Client) {
	for _, name := range []string{sentinel.DefaultTable, "Orders"} {
		if _, err := client.CreateTable(context.Background(), newTable(name)); err != nil {
			panic(err)
		}
	}
}

func newTable(name string) *dynamodb.CreateTableInput { return stores.Keyed(name, nil) }

// impatient is a Committer that does not wait between attempts.
func impatient(client txn.Client) *txn.Committer {
	return txn.New(client, txn.Config{Jitter: func(time.Duration) time.Duration { return 0 }})
}

func (b *bench) commit(t *testing.T, parts ...txn.Part) txn.Receipt {
	t.Helper()
	receipt, err := impatient(b.client).Commit(t.Context(), parts...)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return receipt
}

func (b *bench) lookup(t *testing.T, name string) sentinel.Held {
	t.Helper()
	held, err := b.names.Lookup(t.Context(), b.client, "acme", sentinel.ClientOrder, name)
	if err != nil {
		t.Fatalf("look up %q: %v", name, err)
	}
	return held
}

// free fails the test unless nobody holds the name.
func (b *bench) free(t *testing.T, name string) {
	t.Helper()
	_, err := b.names.Lookup(t.Context(), b.client, "acme", sentinel.ClientOrder, name)
	var missing *sentinel.NotFoundError
	if !errors.As(err, &missing) {
		t.Errorf("look up %q: %v, want a NotFoundError", name, err)
	}
}

// item reads the stored record of a name, nil if there is none.
func (b *bench) item(t *testing.T, name string) txn.Item {
	t.Helper()
	consistent := true
	out, err := b.client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &b.reserved.Name, ConsistentRead: &consistent,
		Key: b.reserved.Key("TEN#acme#CLIENTORDER#"+name, "UNIQUE"),
	})
	if err != nil {
		t.Fatalf("read the record of %q: %v", name, err)
	}
	return out.Item
}

func claim(name, owner string) sentinel.Claim {
	return sentinel.Claim{Tenant: "acme", Kind: sentinel.ClientOrder, Name: name, Owner: owner, Command: "req-" + owner}
}

// order creates the owner of a name, as the package asks for.
func (b *bench) order(id string) txn.Part {
	return txn.Put(b.owned, b.owned.Key("TEN#acme#ORDER#"+id, "META"), txn.IfAbsent(), txn.Label("AP01.create"))
}
