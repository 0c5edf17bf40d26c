package inbox_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

var anyTokenPolicy = []dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}

// bench is a store with a table of receipts and one of what consumers protect.
type bench struct {
	store           *stores.Store
	client          *dynamodb.Client
	receipts, state txn.Table
	received        *inbox.Inbox
}

func setup(t stores.TB, opts ...stores.Options) *bench {
	t.Helper()
	store := stores.Open(t, opts...)
	b := &bench{
		store: store, client: store.Client(),
		receipts: txn.Table{Name: store.Table(t, newTable(inbox.DefaultTable))},
		state:    txn.Table{Name: store.Table(t, newTable("Positions"))},
	}
	b.received = b.inbox(inbox.Config{})
	return b
}

// inbox returns an inbox on the table of the bench.
func (b *bench) inbox(config inbox.Config) *inbox.Inbox {
	config.Consumer, config.Table = "portfolio", b.receipts
	if config.Now == nil {
		config.Now = func() time.Time { return day }
	}
	return inbox.New(config)
}

// createTables creates the tables of an example, which has no other way to fail.
func createTables(client *dynamodb.Client) {
	for _, name := range []string{inbox.DefaultTable, "Positions"} {
		if _, err := client.CreateTable(context.Background(), newTable(name)); err != nil {
			panic(err)
		}
	}
}

func newTable(name string) *dynamodb.CreateTableInput { return stores.Keyed(name, nil) }

func noWait(time.Duration) time.Duration { return 0 }

// impatient is a Committer that does not wait between attempts.
func impatient(client txn.Client) *txn.Committer {
	return txn.New(client, txn.Config{Jitter: noWait})
}

// filled is an event, and effectOf what it leads to.
func filled(id string) inbox.Event {
	return inbox.Event{ID: id, Type: "OrderFilled", Source: "acme/Order/order-1", SourceVersion: 3, Payload: []byte(`{"quantity":"10"}`)}
}

func effectOf(e inbox.Event) map[string]string { return map[string]string{"positionId": "pos-" + e.ID} }

// count is protected state that an event must change once: it adds one to the counter of the event.
func (b *bench) count(id string) txn.Part {
	return txn.Update(b.state, b.state.Key("EVENT#"+id, "COUNT"), expression.Add(expression.Name("n"), expression.Value(1)))
}

// counted is how often the event has had its effect.
func (b *bench) counted(t stores.TB, id string) int {
	t.Helper()
	item := b.read(t, b.state, "EVENT#"+id, "COUNT")
	if item == nil {
		return 0
	}
	n, err := strconv.Atoi(item["n"].(*types.AttributeValueMemberN).Value)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (b *bench) read(t stores.TB, table txn.Table, pk, sk string) txn.Item {
	t.Helper()
	consistent := true
	out, err := b.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &table.Name, ConsistentRead: &consistent, Key: table.Key(pk, sk)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// process delivers an event, which must succeed.
func (b *bench) process(t *testing.T, received *inbox.Inbox, e inbox.Event) inbox.Outcome {
	t.Helper()
	outcome, err := received.Process(t.Context(), impatient(b.client), e, effectOf(e), b.count(e.ID))
	if err != nil {
		t.Fatalf("process %s: %v", e.ID, err)
	}
	return outcome
}

var (
	map13 = shardmap.Default13()
	map17 = shardmap.Map{Version: 2, HashVersion: shardmap.HashV1, Shards: 17}
)
