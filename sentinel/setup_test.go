package sentinel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

var (
	namesTable = txn.Table{Name: sentinel.DefaultTable}
	orders     = txn.Table{Name: "Orders"}
	day        = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
)

// bench is a database with the tables of names and of their owners.
type bench struct {
	db     *dynamosim.DB
	client *dynamodb.Client
	names  *sentinel.Names
}

func setup(t dynamosim.TB, opts ...dynamosim.Options) *bench {
	t.Helper()
	db := dynamosim.New(t, opts...)
	b := &bench{db: db, client: db.Client(), names: sentinel.New(sentinel.Config{Now: func() time.Time { return day }})}
	createTables(b.client)
	return b
}

// createTables creates the tables of names and of their owners.
func createTables(client *dynamodb.Client) {
	pk, sk := "PK", "SK"
	for _, name := range []string{namesTable.Name, orders.Name} {
		_, err := client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
			TableName:   &name,
			BillingMode: types.BillingModePayPerRequest,
			KeySchema: []types.KeySchemaElement{
				{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange},
			},
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: &pk, AttributeType: types.ScalarAttributeTypeS}, {AttributeName: &sk, AttributeType: types.ScalarAttributeTypeS},
			},
		})
		if err != nil {
			panic(err) // examples have no other way to fail
		}
	}
}

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
		TableName: &namesTable.Name, ConsistentRead: &consistent,
		Key: namesTable.Key("TEN#acme#CLIENTORDER#"+name, "UNIQUE"),
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
func order(id string) txn.Part {
	return txn.Put(orders, orders.Key("TEN#acme#ORDER#"+id, "META"), txn.IfAbsent(), txn.Label("AP01.create"))
}
