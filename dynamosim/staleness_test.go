package dynamosim_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
)

// aging is a database with stale reads, two items written always together, and a record of when each version came.
type aging struct {
	t      testing.TB
	now    time.Time
	client *dynamodb.Client
	since  []time.Time // of version 1, 2, ...
}

const stalenessMax = time.Second

func newAging(t testing.TB, seed uint64) *aging {
	a := &aging{t: t, now: time.Unix(1_000_000, 0)}
	db := dynamosim.Open(dynamosim.Options{Now: func() time.Time { return a.now }, Staleness: stalenessMax, Seed: seed})
	a.client = db.Client()
	_, err := a.client.CreateTable(ctx, testTable("T01"))
	must(t, true, err)
	return a
}

// write stores the next version of both items. The local index orders them by version.
func (a *aging) write() {
	a.since = append(a.since, a.now)
	version := n(strconv.Itoa(len(a.since)))
	var writes []types.TransactWriteItem
	for _, sk := range []string{"x", "y"} {
		item := with(key("1", sk), "v", version, "ls", s(fmt.Sprintf("%03d", len(a.since))))
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("T01"), Item: item}})
	}
	_, err := a.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	must(a.t, true, err)
}

// version reads the version of an item, 0 if there is none.
func version(item attrs) int {
	if item == nil {
		return 0
	}
	v, _ := strconv.Atoi(text(item["v"]))
	return v
}

func (a *aging) get(strong bool) int {
	out, err := a.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String("T01"), Key: key("1", "x"), ConsistentRead: aws.Bool(strong),
	})
	return version(must(a.t, out, err).Item)
}

func (a *aging) batchGet() int {
	out, err := a.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"T01": {Keys: []map[string]types.AttributeValue{key("1", "x")}}},
	})
	for _, item := range must(a.t, out, err).Responses["T01"] {
		return version(item)
	}
	return 0
}

// query reads both items and fails unless they are of one version: a page sees one moment.
func (a *aging) query(index *string) int {
	out, err := a.client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String("T01"), IndexName: index, KeyConditionExpression: aws.String("pk = :p"),
		ExpressionAttributeValues: attrs{":p": s("1")},
	})
	items := must(a.t, out, err).Items
	switch {
	case len(items) == 0:
		return 0
	case len(items) != 2 || version(items[0]) != version(items[1]):
		a.t.Fatalf("a page shows %v", items)
	}
	return version(items[0])
}

// allowed fails unless a version was the latest at some moment within the bound.
func (a *aging) allowed(how string, got int) {
	horizon := a.now.Add(-stalenessMax)
	if got < len(a.since) && !a.since[got].After(horizon) {
		a.t.Fatalf("%s shows version %d, replaced %v ago", how, got, a.now.Sub(a.since[got]))
	}
}

func TestAnEventualReadShowsAPriorVersionWithinTheBoundAndAStrongOneNever(t *testing.T) {
	stale, reads := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		a := newAging(t, rapid.Uint64().Draw(r, "seed"))
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			a.write()
			a.now = a.now.Add(time.Duration(rapid.IntRange(0, int(stalenessMax)).Draw(r, "wait")))
			for how, got := range map[string]int{
				"GetItem": a.get(false), "BatchGetItem": a.batchGet(),
				"Query": a.query(nil), "Query of a local index": a.query(aws.String("byLocal")),
			} {
				a.allowed(how, got)
				reads++
				if got < len(a.since) {
					stale++
				}
			}
			if got := a.get(true); got != len(a.since) {
				t.Fatalf("a strong read shows version %d of %d", got, len(a.since))
			}
		}
		a.now = a.now.Add(stalenessMax)
		if got := a.get(false); got != len(a.since) {
			t.Fatalf("after the bound a read shows version %d of %d", got, len(a.since))
		}
	})
	if stale == 0 || stale == reads {
		t.Fatalf("%d of %d reads were stale", stale, reads)
	}
}
