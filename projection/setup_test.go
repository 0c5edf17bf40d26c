package projection_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

var anyTokenPolicy = []dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}

// bench is a store with a table of checkpoints and one of the view.
type bench struct {
	store        *stores.Store
	client       *dynamodb.Client
	points, view txn.Table
	refuse       func(projection.Event) error
	p            *projection.Projection
	ns           *projection.Namespace
}

func setup(t stores.TB, opts ...stores.Options) *bench {
	t.Helper()
	store := stores.Open(t, opts...)
	b := &bench{
		store: store, client: store.Client(),
		points: txn.Table{Name: store.Table(t, newTable(projection.DefaultTable))},
		view:   txn.Table{Name: store.Table(t, newTable("Portfolio"))},
	}
	b.p = b.projection(b.client, projection.Config{})
	b.ns = b.p.Namespace(1)
	return b
}

func noWait(time.Duration) time.Duration { return 0 }

// projection returns a projection on the tables of the bench, whose view shows for each source which versions it has seen,
// and in which order.
func (b *bench) projection(client projection.Client, config projection.Config) *projection.Projection {
	config.Name, config.Table = "portfolio", b.points
	if config.View == nil {
		config.View = b.seeing
	}
	if config.Now == nil {
		config.Now = func() time.Time { return day }
	}
	config.Txn.Jitter = noWait
	return projection.New(client, config)
}

func (b *bench) seeing(_ context.Context, namespace int, e projection.Event) ([]txn.Part, error) {
	if b.refuse != nil {
		if err := b.refuse(e); err != nil {
			return nil, err
		}
	}
	list := expression.Name("versions")
	seen := expression.Set(list, expression.ListAppend(expression.IfNotExists(list, expression.Value([]int64{})), expression.Value([]int64{e.Version})))
	return []txn.Part{txn.Update(b.view, b.viewKey(namespace, e.Source), seen, txn.Label("AP07.update"))}, nil
}

func (b *bench) viewKey(namespace int, source string) txn.Item {
	return b.view.Key(txn.JoinKey("NS", strconv.Itoa(namespace), "ORDER", source), "VIEW")
}

// seen returns which versions of a source the view has, in the order in which they came.
func (b *bench) seen(t stores.TB, namespace int, source string) string {
	t.Helper()
	item := b.read(t, b.view, b.viewKey(namespace, source))
	list, ok := item["versions"].(*types.AttributeValueMemberL)
	if !ok {
		return ""
	}
	text := ""
	for _, v := range list.Value {
		text += v.(*types.AttributeValueMemberN).Value + " "
	}
	return text
}

func (b *bench) read(t stores.TB, table txn.Table, key txn.Item) txn.Item {
	t.Helper()
	consistent := true
	out, err := b.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &table.Name, ConsistentRead: &consistent, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// createTables creates the tables of an example, which has no other way to fail.
func createTables(client *dynamodb.Client) {
	for _, name := range []string{projection.DefaultTable, "Portfolio"} {
		if _, err := client.CreateTable(context.Background(), newTable(name)); err != nil {
			panic(err)
		}
	}
}

func newTable(name string) *dynamodb.CreateTableInput { return stores.Keyed(name, nil) }

// changed is version n of a source.
func changed(source string, n int64) projection.Event {
	return projection.Event{Source: source, Version: n, ID: fmt.Sprintf("evt-%s-%d", source, n), Type: "OrderChanged",
		OccurredAt: day.Add(time.Duration(n) * time.Minute), Payload: []byte(fmt.Sprint("state ", n)), Control: 100 * n}
}

// apply delivers a version, which must end as wanted.
func (b *bench) apply(t *testing.T, source string, n int64, want projection.Result) projection.Outcome {
	t.Helper()
	out, err := b.ns.Apply(t.Context(), changed(source, n))
	if err != nil || out.Result != want {
		t.Fatalf("version %d of %s: %+v, %v; want %s", n, source, out, err, want)
	}
	return out
}

// gaps lists the gaps.
func (b *bench) gaps(t stores.TB, ns *projection.Namespace) (all []projection.Gap) {
	t.Helper()
	for gap, err := range ns.Gaps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, gap)
	}
	return all
}

func (b *bench) parked(t stores.TB, source string) (versions []int64) {
	t.Helper()
	for e, err := range b.ns.ParkedEvents(context.Background(), source) {
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, e.Version)
	}
	return versions
}

// faulty is a client over a bad network that does not retry by itself, so nothing waits.
func (b *bench) faulty(choose func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	return b.store.Client(func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = dynamosim.Faulty(b.store, choose), aws.NopRetryer{}
	})
}

// ctx shortens the signatures of views.
type ctx = context.Context

var errBelow = errors.New("from below")

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// partition is that of order-1 in namespace 1: the shard is part of the format.
const partition = "PROJ#portfolio@1#V#0001#SHARD#0000"
