package fanout_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/fanout"
)

// The trades of a busy symbol are spread over three shards and read newest first, two at a time.
func ExampleReader_Page() {
	ctx := context.Background()
	client, query := someTrades(ctx)
	reader := fanout.New(client, fanout.Config{})

	cursor := ""
	for range 2 {
		page, err := reader.Page(ctx, query, cursor, 2)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, item := range page.Items {
			fmt.Println(text(item.Attributes, "SK"), "from", item.Branch)
		}
		fmt.Println("read units:", page.Usage.Units)
		cursor = page.Cursor
	}

	query.Tenant = "other"
	_, err := reader.Page(ctx, query, cursor, 2)
	var refused *fanout.CursorError
	fmt.Println(errors.As(err, &refused), refused.Reason)
	// Output:
	// 09:06 from shard 0
	// 09:05 from shard 2
	// read units: 1.5
	// 09:04 from shard 1
	// 09:03 from shard 0
	// read units: 1.5
	// true belongs to another tenant
}

// An iterator reads the whole list; a Run can be broken off, and resumed by another process.
func ExampleRun_Items() {
	ctx := context.Background()
	client, query := someTrades(ctx)
	reader := fanout.New(client, fanout.Config{})

	run, err := reader.Start(query, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for item, err := range run.Items(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text(item.Attributes, "SK"))
		if item.Branch == "shard 1" {
			break
		}
	}
	resumed, err := reader.Start(query, run.Cursor())
	if err != nil {
		fmt.Println(err)
		return
	}
	for item := range resumed.Items(ctx) {
		fmt.Println(text(item.Attributes, "SK"), "after the break")
	}
	// Output:
	// 09:06
	// 09:05
	// 09:04
	// 09:03 after the break
	// 09:02 after the break
	// 09:01 after the break
}

// someTrades stores six trades on three shards.
func someTrades(ctx context.Context) (*dynamodb.Client, fanout.Query) {
	db := dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable("Trades"); err != nil {
		panic(err) // an example has no other way to fail
	}
	client, table := db.Client(), "Trades"
	for i := range 6 {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: fanout.Attributes{
			"PK": fanout.Text(shard("SYM#X", (i+1)%3)), "SK": fanout.Text(fmt.Sprintf("09:%02d", i+1)),
		}})
		if err != nil {
			panic(err)
		}
	}
	return client, fanout.Query{
		Name: "AP06.trades", Tenant: "acme", Table: table, Branches: shards("SYM#X", 3), Descending: true,
	}
}
