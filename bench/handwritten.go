package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The same command by hand, as careful teams write it.

var requestsTable = aws.String("Requests")

func record(key, status string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": text("TEN#acme#REQ#" + key), "SK": text("REQUEST"), "status": text(status), "result": text(`{"payment":"` + key + `"}`),
		"expiresAt": &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(30*24*time.Hour).Unix(), 10)},
	}
}

// byHand is one transaction: the record if it is absent, and the balance. Nobody compares the command of a repeat.
func byHand(client *dynamodb.Client) func(ctx context.Context, key string) error {
	return func(ctx context.Context, key string) error {
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: requestsTable, Item: record(key, "COMPLETED"), ConditionExpression: aws.String("attribute_not_exists(PK)"),
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}},
			{Update: &types.Update{TableName: aws.String(accounts), Key: account(), UpdateExpression: aws.String("ADD balance :one"), ExpressionAttributeValues: addOne()}},
		}})
		var canceled *types.TransactionCanceledException
		if errors.As(err, &canceled) && len(canceled.CancellationReasons) == 2 && aws.ToString(canceled.CancellationReasons[0].Code) == "ConditionalCheckFailed" {
			if canceled.CancellationReasons[0].Item["result"] == nil {
				return fmt.Errorf("%s has no result", key)
			}
			return nil
		}
		return err
	}
}

// inSteps is what Powertools does, in Go: claim, work, complete.
func inSteps(client *dynamodb.Client) func(ctx context.Context, key string) error {
	return func(ctx context.Context, key string) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: requestsTable, Item: record(key, "IN_PROGRESS"),
			ConditionExpression: aws.String("attribute_not_exists(PK)"), ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld})
		var exists *types.ConditionalCheckFailedException
		if errors.As(err, &exists) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(accounts), Key: account(),
			UpdateExpression: aws.String("ADD balance :one"), ExpressionAttributeValues: addOne()}); err != nil {
			return err
		}
		done := record(key, "COMPLETED")
		_, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: requestsTable, Key: map[string]types.AttributeValue{"PK": done["PK"], "SK": done["SK"]},
			UpdateExpression: aws.String("SET #s = :s"), ExpressionAttributeNames: map[string]string{"#s": "status"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":s": done["status"]}})
		return err
	}
}
