package fanout_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/stores"
)

// bench is a store with a table of trades that are spread over shards, by their symbol in the table and by their
// account in the index.
type bench struct {
	store  *stores.Store
	client *dynamodb.Client
	table  string
}

func setup(t stores.TB) *bench {
	t.Helper()
	store := stores.Open(t)
	return &bench{store: store, client: store.Client(), table: store.Table(t, newTable())}
}

// newTable has an index with text to sort by and one with numbers.
func newTable() *dynamodb.CreateTableInput {
	key := func(pk, sk string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange},
		}
	}
	definition := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	all := &types.Projection{ProjectionType: types.ProjectionTypeAll}
	return &dynamodb.CreateTableInput{
		TableName:   aws.String("Trades"),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   key("PK", "SK"),
		AttributeDefinitions: []types.AttributeDefinition{
			definition("PK", types.ScalarAttributeTypeS), definition("SK", types.ScalarAttributeTypeS),
			definition("shard", types.ScalarAttributeTypeS), definition("at", types.ScalarAttributeTypeS),
			definition("sequence", types.ScalarAttributeTypeN),
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			{IndexName: aws.String("ByTime"), KeySchema: key("shard", "at"), Projection: all},
			{IndexName: aws.String("BySequence"), KeySchema: key("shard", "sequence"), Projection: all},
		},
	}
}

// put stores an item; values are texts, or numbers if they begin with N.
func (b *bench) put(t stores.TB, values map[string]string) {
	t.Helper()
	item := fanout.Attributes{}
	for name, value := range values {
		if number, ok := strings.CutPrefix(value, "N"); ok {
			item[name] = &types.AttributeValueMemberN{Value: number}
		} else {
			item[name] = fanout.Text(value)
		}
	}
	if _, err := b.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &b.table, Item: item}); err != nil {
		t.Fatal("put", err)
	}
}

func (b *bench) delete(t stores.TB, pk, sk string) {
	t.Helper()
	_, err := b.client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{
		TableName: &b.table, Key: fanout.Attributes{"PK": fanout.Text(pk), "SK": fanout.Text(sk)},
	})
	if err != nil {
		t.Fatal("delete", err)
	}
}

// shards returns the branches prefix0, prefix1, ...
func shards(prefix string, n int) (branches []fanout.Branch) {
	for i := range n {
		branches = append(branches, fanout.Branch{Name: fmt.Sprintf("shard %d", i), Partition: fanout.Text(shard(prefix, i))})
	}
	return branches
}

func shard(prefix string, i int) string { return fmt.Sprintf("%s#%d", prefix, i) }

// trades is the query of the table itself.
func (b *bench) trades(prefix string, n int) fanout.Query {
	return fanout.Query{Name: "AP06.trades", Tenant: "acme", Table: b.table, Branches: shards(prefix, n)}
}

// byTime is the query of the index.
func (b *bench) byTime(prefix string, n int) fanout.Query {
	q := b.trades(prefix, n)
	q.Index, q.IndexPK, q.IndexSK = "ByTime", "shard", "at"
	return q
}

// name is the key in the table, by which tests tell items apart.
func name(item fanout.Item) string {
	return text(item.Attributes, "PK") + " " + text(item.Attributes, "SK")
}

func text(item fanout.Attributes, attr string) string {
	value, _ := item[attr].(*types.AttributeValueMemberS)
	if value == nil {
		return ""
	}
	return value.Value
}

// all reads a query page by page.
func all(t stores.TB, r *fanout.Reader, q fanout.Query, limit func() int) (names []string, usage fanout.Usage) {
	t.Helper()
	for cursor := ""; ; {
		page, err := r.Page(context.Background(), q, cursor, limit())
		if err != nil {
			t.Fatal("page", err)
		}
		for _, item := range page.Items {
			names = append(names, name(item))
		}
		usage.Requests += page.Usage.Requests
		usage.Evaluated += page.Usage.Evaluated
		usage.Units += page.Usage.Units
		if cursor = page.Cursor; cursor == "" {
			return names, usage
		}
	}
}

func fixed(n int) func() int { return func() int { return n } }

// spread stores n items over shards, in the table and the indexes.
func (b *bench) spread(t *testing.T, prefix string, shards, n int) {
	t.Helper()
	for i := range n {
		b.put(t, map[string]string{
			"PK": shard(prefix, i%shards), "SK": fmt.Sprintf("%04d", i), "shard": shard(prefix, i*7%shards),
			"at": fmt.Sprintf("%04d", i/3), "sequence": fmt.Sprintf("N%d", i*i-50*i),
		})
	}
}

// clientFunc is a client that a test makes up.
type clientFunc func(context.Context, *dynamodb.QueryInput) (*dynamodb.QueryOutput, error)

func (f clientFunc) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return f(ctx, in)
}
