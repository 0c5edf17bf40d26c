package dynamosim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
)

// collections shows metrics as "key low-high".
func collections(metrics ...types.ItemCollectionMetrics) string {
	shown := make([]string, len(metrics))
	for i, m := range metrics {
		shown[i] = fmt.Sprintf("%s %v-%v", text(m.ItemCollectionKey["pk"]), m.SizeEstimateRangeGB[0], m.SizeEstimateRangeGB[1])
	}
	slices.Sort(shown)
	return strings.Join(shown, ", ")
}

func TestWritesTellTheSizeOfTheirCollections(t *testing.T) {
	b := newBackend(t)
	size := types.ReturnItemCollectionMetricsSize
	item := with(key("p", "s"), "ls", s("l"))

	put, err := b.PutItem(ctx, &dynamodb.PutItemInput{TableName: b.table, Item: item, ReturnItemCollectionMetrics: size})
	if got := collections(*must(t, put, err).ItemCollectionMetrics); got != "p 0-1" {
		t.Errorf("put: %s", got)
	}
	update, err := b.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: b.table, Key: key("p", "s"), UpdateExpression: aws.String("REMOVE ls"), ReturnItemCollectionMetrics: size,
	})
	if got := collections(*must(t, update, err).ItemCollectionMetrics); got != "p 0-1" {
		t.Errorf("update: %s", got)
	}
	remove, err := b.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: b.table, Key: key("p", "s"), ReturnItemCollectionMetrics: size})
	if got := collections(*must(t, remove, err).ItemCollectionMetrics); got != "p 0-1" {
		t.Errorf("delete: %s", got)
	}
	batch, err := b.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		ReturnItemCollectionMetrics: size,
		RequestItems: map[string][]types.WriteRequest{*b.table: {
			putRequest(key("p", "1")), putRequest(key("q", "1")), putRequest(key("p", "2")),
		}},
	})
	if got := collections(must(t, batch, err).ItemCollectionMetrics[*b.table]...); got != "p 0-1, q 0-1" {
		t.Errorf("batch: %s", got)
	}
	tx, err := b.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		ReturnItemCollectionMetrics: size,
		TransactItems:               []types.TransactWriteItem{b.putAction(key("p", "3")), b.checkAction(key("q", "1"), "attribute_exists(pk)")},
	})
	if got := collections(must(t, tx, err).ItemCollectionMetrics[*b.table]...); got != "p 0-1" && !stores.Differs(stores.TransactedCollections) {
		t.Errorf("transaction: %s", got)
	}
	put, err = b.PutItem(ctx, &dynamodb.PutItemInput{TableName: b.table, Item: item})
	if must(t, put, err).ItemCollectionMetrics != nil {
		t.Error("metrics that nobody asked for")
	}
}

func TestATableWithoutLocalIndexesHasNoCollections(t *testing.T) {
	db := dynamosim.New(t)
	if err := db.CreateTable("tab"); err != nil {
		t.Fatal(err)
	}
	out, err := db.Client().PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("tab"), Item: attrs{"PK": s("p"), "SK": s("s")},
		ReturnItemCollectionMetrics: types.ReturnItemCollectionMetricsSize,
	})
	if must(t, out, err).ItemCollectionMetrics != nil {
		t.Error("a table without local indexes has no collections")
	}
}

// The limit is on items and local entries together, by partition key, however the writes come.
func TestACollectionThatIsFullTakesNoMore(t *testing.T) {
	b := backend{dynamosim.New(t, dynamosim.Options{ItemCollectionLimit: 1000}).Client(), aws.String("tab")}
	if _, err := b.CreateTable(ctx, testTable("tab")); err != nil {
		t.Fatal(err)
	}
	sized := func(pk, sk string, bytes int, more ...any) attrs {
		return with(with(key(pk, sk), "body", s(strings.Repeat("x", bytes-10))), more...)
	}
	put := func(item attrs) error {
		_, err := b.PutItem(ctx, &dynamodb.PutItemInput{TableName: b.table, Item: item})
		return err
	}
	var full *types.ItemCollectionSizeLimitExceededException
	if err := put(sized("p", "a", 497, "ls", s("l"))); err != nil { // 500 bytes, and 500 in the local index
		t.Fatal(err)
	}
	if err := put(key("p", "b")); !errors.As(err, &full) {
		t.Errorf("a full collection took an item: %v", err)
	}
	if err := put(sized("q", "a", 497, "gk", s("g"), "gs", n("1"))); err != nil {
		t.Errorf("another collection, and a global index that does not count: %v", err)
	}
	if _, err := b.writeBatch(putRequest(key("p", "b"))); !errors.As(err, &full) {
		t.Errorf("a batch: %v", err)
	}
	if err := put(sized("p", "a", 400)); err != nil {
		t.Errorf("a full collection may shrink: %v", err)
	}
	each := []types.TransactWriteItem{b.putAction(sized("p", "b", 400)), b.putAction(sized("p", "c", 400)), b.putAction(key("r", "a"))}
	if got := reasons(t, b.transact(each...)); got != "None\nItemCollectionSizeLimitExceeded Collection size exceeded\nNone" {
		t.Errorf("each has room, both have not: %s", got)
	}
	if err := b.transact(each[0], each[2]); err != nil {
		t.Error(err)
	}
}
