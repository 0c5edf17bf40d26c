package dynamosim_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// A lease that is over is not gone: the item stays until DynamoDB gets round to it, and whoever takes its absence for
// the end of the lease waits for days. Here the sweeper comes when the test says so.
func ExampleDB_SweepExpired() {
	ctx := context.Background()
	now := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	db := dynamosim.Open(dynamosim.Options{Now: func() time.Time { return now }})
	client := db.Client()
	if _, err := client.CreateTable(ctx, accounts); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               accounts.TableName,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: aws.String("expiresAt")},
	}); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: accounts.TableName, Item: map[string]types.AttributeValue{
		"id":        &types.AttributeValueMemberS{Value: "lease"},
		"expiresAt": &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Add(time.Minute).Unix(), 10)},
	}}); err != nil {
		fmt.Println(err)
		return
	}
	count := func() int32 {
		out, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: accounts.TableName})
		if err != nil {
			fmt.Println(err)
			return 0
		}
		return out.Count
	}
	now = now.Add(48 * time.Hour)
	fmt.Println("two days later:", count(), "item")
	fmt.Println("swept:", db.SweepExpired(nil))
	fmt.Println("then:", count(), "items")
	// Output:
	// two days later: 1 item
	// swept: 1
	// then: 0 items
}

// Adding an index to a table in use takes its time, and code that reads the index has to wait for it.
func ExampleOptions_updateStep() {
	ctx := context.Background()
	now := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	db := dynamosim.Open(dynamosim.Options{Now: func() time.Time { return now }, UpdateStep: 5 * time.Minute})
	client := db.Client()
	if _, err := client.CreateTable(ctx, accounts); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName:            accounts.TableName,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("owner"), AttributeType: types.ScalarAttributeTypeS}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName:  aws.String("byOwner"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("owner"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}}},
	}); err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: accounts.TableName})
		if err != nil {
			fmt.Println(err)
			return
		}
		index := out.Table.GlobalSecondaryIndexes[0]
		fmt.Println(out.Table.TableStatus, index.IndexStatus, aws.ToBool(index.Backfilling))
		now = now.Add(5 * time.Minute)
	}
	// Output:
	// UPDATING CREATING false
	// ACTIVE CREATING true
	// ACTIVE ACTIVE false
}
