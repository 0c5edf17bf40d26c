package dynamosim_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// A saved database is there again, with all that was under way.
func ExampleLoad() {
	db := dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable("Orders"); err != nil {
		panic(err)
	}
	item := map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "order-1"}, "SK": &types.AttributeValueMemberS{Value: "META"},
	}
	_, err := db.Client().PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("Orders"), Item: item})
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := db.Save(&file); err != nil {
		panic(err)
	}

	loaded, err := dynamosim.Load(&file, dynamosim.Options{})
	if err != nil {
		panic(err)
	}
	out, err := loaded.Client().GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("Orders"), Key: item})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(out.Item), "attributes")
	// Output: 2 attributes
}
