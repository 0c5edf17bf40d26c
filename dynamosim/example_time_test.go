package dynamosim_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// byStatus is a global index of orders by status.
var byStatus = types.GlobalSecondaryIndex{
	IndexName:  aws.String("byStatus"),
	KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
	Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
}

func putOrder(client *dynamodb.Client, order, status string) error {
	_, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: aws.String("orders"),
		Item: map[string]types.AttributeValue{
			"PK":     &types.AttributeValueMemberS{Value: order},
			"SK":     &types.AttributeValueMemberS{Value: "META"},
			"status": &types.AttributeValueMemberS{Value: status},
		},
	})
	return err
}

// withStatus counts the orders that the index shows with a status.
func withStatus(client *dynamodb.Client, status string) int {
	out, err := client.Query(context.Background(), &dynamodb.QueryInput{
		TableName: aws.String("orders"), IndexName: byStatus.IndexName,
		KeyConditionExpression:    aws.String("#s = :s"),
		ExpressionAttributeNames:  map[string]string{"#s": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberS{Value: status}},
	})
	if err != nil {
		return -1
	}
	return int(out.Count)
}

// An index hears of a write when the test lets it. Until then a reader that trusts the index sees an order that was
// filled long ago as open.
func ExampleDB_PropagateIndexes() {
	db := dynamosim.Open(dynamosim.Options{IndexLag: dynamosim.IndexLag{Stepped: true}})
	if err := db.CreateTable("orders", byStatus); err != nil {
		fmt.Println(err)
		return
	}
	client := db.Client()
	show := func() { fmt.Println("open", withStatus(client, "OPEN"), "filled", withStatus(client, "FILLED")) }

	if err := putOrder(client, "o-1", "OPEN"); err != nil {
		fmt.Println(err)
	}
	db.PropagateIndexes(-1)
	if err := putOrder(client, "o-1", "FILLED"); err != nil {
		fmt.Println(err)
	}
	show()
	fmt.Println(db.IndexBacklogs()[0].Pending, "entries to go: one leaves OPEN, one comes to FILLED")
	db.PropagateIndexes(-1)
	show()
	// Output:
	// open 1 filled 0
	// 2 entries to go: one leaves OPEN, one comes to FILLED
	// open 0 filled 1
}

// All orders of a day have one status, so they share one partition of the index. The table is idle, and yet its writes
// are throttled.
func ExampleHeat() {
	now := time.Date(2026, 11, 29, 9, 30, 0, 0, time.UTC)
	db := dynamosim.Open(dynamosim.Options{Now: func() time.Time { return now }, Heat: &dynamosim.Heat{}})
	if err := db.CreateTable("orders", byStatus); err != nil {
		fmt.Println(err)
		return
	}
	client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })

	var throttled *types.ThrottlingException
	written := 0
	for !errors.As(putOrder(client, fmt.Sprint("o-", written), "OPEN"), &throttled) {
		written++
	}
	reason := throttled.ThrottlingReasons[0]
	fmt.Println(written, "orders in this second, then", *reason.Reason)
	fmt.Println("of", *reason.Resource)

	hottest := db.Hottest(1)[0]
	fmt.Println("hottest key:", hottest.Key, "of", hottest.Index, "with", hottest.Write.Peak, "write units in a second")
	// Output:
	// 1000 orders in this second, then IndexWriteKeyRangeThroughputExceeded
	// of arn:aws:dynamodb:us-east-1:000000000000:table/orders/index/byStatus
	// hottest key: OPEN of byStatus with 1000 write units in a second
}
