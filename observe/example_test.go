package observe_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// One Observer serves every package; here it counts what a Commit costs.
func Example() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	orders := txn.Table{Name: "Orders"}
	createTable(ctx, client, orders.Name)

	watch := observe.Func(func(_ context.Context, e observe.Event) {
		fmt.Printf("%s %s: %s after %d attempt, %s write units in %v\n", e.Package, e.Name, e.Outcome, e.Attempts, e.WriteUnits, e.Tables)
	})
	commits := txn.New(client, txn.Config{Observer: watch})
	for range 2 {
		_, _ = commits.Commit(ctx, txn.Put(orders, orders.Key("ORDER#1", "META"), txn.IfAbsent()))
	}
	// Output:
	// txn commit: ok after 1 attempt, 2 write units in [Orders]
	// txn commit: rejected after 1 attempt, 0 write units in [Orders]
}

// The log shows what is worth a look; with the level Debug it shows everything.
func ExampleSlog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	watch := observe.Slog(logger)
	claim := observe.Operation{Package: "outbox", Scope: "orders", Pattern: "AP16", Name: "claim"}
	watch.Observe(context.Background(), observe.Event{Operation: claim, Outcome: observe.OK})
	watch.Observe(context.Background(), observe.Event{Operation: claim, Outcome: observe.Busy, Duration: time.Second, Attempts: 3, Throttles: 3})
	// Output:
	// level=WARN msg="dynafin: operation" package=outbox pattern=AP16 operation=claim outcome=busy duration=1s scope=orders attempts=3 throttles=3
}

// A program that logs and counts has both told.
func ExampleMulti() {
	units := map[string]string{}
	count := observe.Func(func(_ context.Context, e observe.Event) { units[e.Label()] = e.ReadUnits.String() })
	watch := observe.Multi(observe.Slog(nil), count)
	watch.Observe(context.Background(), observe.Event{Operation: observe.Operation{Package: "sentinel", Pattern: "AP17", Name: "lookup"},
		Outcome: observe.OK, ReadUnits: 2})
	fmt.Println(units)
	// Output: map[AP17.lookup:1]
}

func createTable(ctx context.Context, client *dynamodb.Client, name string) {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		panic(err)
	}
}
