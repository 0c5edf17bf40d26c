package shardmap_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/shardmap"
)

const lane = "inbox/portfolio"

var (
	day   = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	rules = shardmap.Rules{MaxAge: 10 * time.Second, MaxSkew: 2 * time.Second, Horizon: time.Minute}
)

// bench is a store with a table of maps, and a clock that a test moves.
type bench struct {
	store  *stores.Store
	client *dynamodb.Client
	config shardmap.Config
	maps   *shardmap.Store
	now    time.Time
}

func setup(t stores.TB) *bench {
	t.Helper()
	b := &bench{store: stores.Open(t), now: day}
	b.client = b.store.Client()
	b.config = shardmap.Config{Table: b.store.Table(t, newTable(shardmap.DefaultTable)), Now: func() time.Time { return b.now }}
	b.maps = shardmap.NewStore(b.client, b.config)
	return b
}

func newTable(name string) *dynamodb.CreateTableInput { return stores.Keyed(name, nil) }

// create stores a map of 13 shards.
func (b *bench) create(t *testing.T) shardmap.Versions {
	t.Helper()
	v, err := b.maps.Create(t.Context(), lane, shardmap.Default13(), rules, "ann")
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return v
}

// must fails the test unless a step was taken.
func must(t *testing.T, v shardmap.Versions, err error) shardmap.Versions {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// reshard brings version 2, of 17 shards, to where it places events from the time that it returns.
func (b *bench) reshard(t *testing.T) time.Time {
	t.Helper()
	from := b.now.Add(rules.Notice() + time.Second)
	v, err := b.maps.Propose(t.Context(), lane, shardmap.Proposal{Shards: 17, From: from}, "ann")
	must(t, v, err)
	v, err = b.maps.Admit(t.Context(), lane, 2, "ann")
	must(t, v, err)
	return from
}

// item reads the stored map.
func (b *bench) item(t *testing.T) map[string]types.AttributeValue {
	t.Helper()
	out, err := b.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &b.config.Table, Key: key(), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

func key() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "SHARDMAP#" + lane}, "SK": &types.AttributeValueMemberS{Value: "MAP"},
	}
}

// states are those of all versions, in order.
func states(v shardmap.Versions) string {
	var all []string
	for _, version := range v.All() {
		all = append(all, string(version.State))
	}
	return strings.Join(all, " ")
}

func evidence(watermark time.Time) shardmap.Evidence {
	totals := shardmap.Totals{Count: 41_000, Digest: "9f86d081"}
	return shardmap.Evidence{Watermark: watermark, Expected: totals, Actual: totals}
}
