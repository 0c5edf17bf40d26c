package dynamosim_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// accounts is a table with a partition key "id".
var accounts = &dynamodb.CreateTableInput{
	TableName:            aws.String("accounts"),
	AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	BillingMode:          types.BillingModePayPerRequest,
}

// deposit is a transaction that adds to the balance of an account that must exist.
func deposit(account, amount string) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		TransactItems: []types.TransactWriteItem{{Update: &types.Update{
			TableName:           accounts.TableName,
			Key:                 map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: account}},
			UpdateExpression:    aws.String("SET balance = balance + :amount"),
			ConditionExpression: aws.String("attribute_exists(id)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":amount": &types.AttributeValueMemberN{Value: amount},
			},
		}}},
	}
}

func open(client *dynamodb.Client, account string) error {
	_, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: accounts.TableName,
		Item: map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: account}, "balance": &types.AttributeValueMemberN{Value: "0"},
		},
	})
	return err
}

func balance(client *dynamodb.Client, account string) string {
	out, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: accounts.TableName,
		Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: account}},
	})
	if err != nil {
		return err.Error()
	}
	return out.Item["balance"].(*types.AttributeValueMemberN).Value
}

// The SDK's own client talks to a database in memory.
func Example() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	if _, err := client.CreateTable(ctx, accounts); err != nil {
		fmt.Println(err)
		return
	}
	if err := open(client, "alice"); err != nil {
		fmt.Println(err)
		return
	}

	out, err := client.TransactWriteItems(ctx, deposit("alice", "19.990"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("balance", balance(client, "alice"), "for", *out.ConsumedCapacity[0].WriteCapacityUnits, "write units")

	_, err = client.TransactWriteItems(ctx, deposit("bob", "1"))
	var canceled *types.TransactionCanceledException
	fmt.Println(errors.As(err, &canceled), *canceled.CancellationReasons[0].Code)
	// Output:
	// balance 19.99 for 2 write units
	// true ConditionalCheckFailed
}

// An answer that is lost after the commit looks like any broken connection. The SDK repeats the transaction with the same
// token, so the deposit counts once.
func ExampleFaulty() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{})
	choose := func(call dynamosim.Call) dynamosim.Fate {
		if call.Operation == "TransactWriteItems" && call.Attempt == 1 {
			return dynamosim.LoseAnswer
		}
		return dynamosim.Deliver
	}
	client := db.Client(func(o *dynamodb.Options) { o.HTTPClient = dynamosim.Faulty(db, choose) })
	if _, err := client.CreateTable(ctx, accounts); err != nil {
		fmt.Println(err)
		return
	}
	if err := open(client, "alice"); err != nil {
		fmt.Println(err)
		return
	}
	_, err := client.TransactWriteItems(ctx, deposit("alice", "10"))
	fmt.Println(err, db.Stats().Requests["TransactWriteItems"], "requests, balance", balance(client, "alice"))
	// Output: <nil> 2 requests, balance 10
}

// The same payment arrives twice at a database that has forgotten its token, and counts twice. A request token is a
// help and no record, which is why a library for money keeps its own.
func ExampleOptions_tokenPolicy() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{TokenPolicy: dynamosim.IgnoreTokens})
	client := db.Client()
	if _, err := client.CreateTable(ctx, accounts); err != nil {
		fmt.Println(err)
		return
	}
	if err := open(client, "alice"); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		in := deposit("alice", "10")
		in.ClientRequestToken = aws.String("payment-4711")
		if _, err := client.TransactWriteItems(ctx, in); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("balance", balance(client, "alice"))
	// Output: balance 20
}
