package dynamosim_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
)

// Concurrent increments under a condition on the old value lose no update: each success was alone.
func TestConcurrentConditionalWritesLoseNothing(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: with(key("p", "s"), "hits", n("0"))})
	const workers, rounds = 8, 25
	var done sync.WaitGroup
	won := make([]int, workers)
	for w := range workers {
		done.Go(func() {
			for range rounds {
				out, err := b.GetItem(ctx, &dynamodb.GetItemInput{TableName: b.table, Key: key("p", "s"), ConsistentRead: aws.Bool(true)})
				if err != nil {
					t.Error(err)
					return
				}
				old, _ := strconv.Atoi(text(out.Item["hits"]))
				_, err = b.UpdateItem(ctx, &dynamodb.UpdateItemInput{
					TableName: b.table, Key: key("p", "s"), UpdateExpression: aws.String("SET hits = :new"), ConditionExpression: aws.String("hits = :old"),
					ExpressionAttributeValues: attrs{":old": n(strconv.Itoa(old)), ":new": n(strconv.Itoa(old + 1))},
				})
				if err == nil {
					won[w]++
				}
			}
		})
	}
	done.Wait()
	total := 0
	for _, count := range won {
		total += count
	}
	if got := b.stored(t, key("p", "s")); got != "hits="+strconv.Itoa(total)+" pk=p sk=s" || total < rounds {
		t.Errorf("%d successes, stored is %q", total, got)
	}
}

func TestDatabasesShareNothing(t *testing.T) {
	one, two := dynamosim.New(t).Client(), dynamosim.New(t).Client()
	for range 2 { // the same name twice would be an error in one database
		if _, err := one.CreateTable(ctx, testTable("table")); err != nil {
			t.Fatal(err)
		}
		one, two = two, one
	}
}

// aTest is a test that can be ended by hand.
type aTest struct{ end func() }

func (a *aTest) Helper()          {}
func (a *aTest) Cleanup(f func()) { a.end = f }

func TestADatabaseEndsWithItsTest(t *testing.T) {
	test := &aTest{}
	client := dynamosim.New(test).Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if _, err := client.CreateTable(ctx, testTable("table")); err != nil {
		t.Fatal(err)
	}
	test.end()
	_, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("table")})
	if !errors.Is(err, dynamosim.ErrClosed) {
		t.Errorf("error is %v, want ErrClosed", err)
	}
}

func TestACanceledContextSendsNothing(t *testing.T) {
	db := dynamosim.New(t)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err := db.Client().ListTables(gone, &dynamodb.ListTablesInput{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if got := len(db.Stats().Requests); got != 0 {
		t.Errorf("%d operations arrived", got)
	}
}

// What DynamoDB leaves unordered depends on the seed, and only on the seed.
func TestEqualIndexKeysComeInSeededOrder(t *testing.T) {
	order := func(seed uint64) string {
		b := backend{dynamosim.New(t, dynamosim.Options{Seed: seed}).Client(), aws.String("table")}
		if _, err := b.CreateTable(ctx, testTable("table")); err != nil {
			t.Fatal(err)
		}
		for _, sk := range []string{"1", "2", "3", "4", "5", "6"} {
			b.alone(t, write{put: with(key("p", sk), "gk", s("g"), "gs", n("7"))})
		}
		return b.sortKeys(t, "gk = :g", attrs{":g": s("g")}, index("byGroup"))
	}
	if first, again := order(1), order(1); first != again {
		t.Error("one seed, two orders")
	}
	if order(1) == order(2) && order(1) == order(3) {
		t.Error("three seeds, one order")
	}
}
