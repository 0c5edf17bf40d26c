package dynamosim_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		dynamosim.Open(dynamosim.Options{})
	}
}

func benchTable(b *testing.B) (*dynamodb.Client, *string) {
	client := dynamosim.New(b).Client()
	if _, err := client.CreateTable(ctx, testTable("bench")); err != nil {
		b.Fatal(err)
	}
	return client, aws.String("bench")
}

func BenchmarkGetItem(b *testing.B) {
	client, table := benchTable(b)
	item := with(key("a", "b"), "state", s("accepted"), "amount", n("1250.75"), "note", s(strings.Repeat("x", 100)))
	if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key("a", "b")}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTransactWriteItems writes four new items of the size of an accepted order, one of them 1.2 KiB, under
// conditions, two of them with an entry in an index.
func BenchmarkTransactWriteItems(b *testing.B) {
	client, table := benchTable(b)
	body := s(strings.Repeat("x", 1000))
	absent := aws.String("attribute_not_exists(pk)")
	i := 0
	for b.Loop() {
		i++
		pk := strconv.Itoa(i)
		put := func(sk string, more ...any) types.TransactWriteItem {
			return types.TransactWriteItem{Put: &types.Put{
				TableName: table, Item: with(key(pk, sk), more...), ConditionExpression: absent,
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			}}
		}
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			ClientRequestToken:     aws.String(pk),
			ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
			TransactItems: []types.TransactWriteItem{
				put("order", "body", body, "amount", n("1250.75"), "gk", s("account"), "gs", n(pk)),
				put("request", "result", s(strings.Repeat("y", 400))),
				put("name", "owner", s("order")),
				put("event", "payload", s(strings.Repeat("z", 400)), "gk", s("ready"), "gs", n(pk)),
			},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	client, table := benchTable(b)
	for i := range 100 {
		item := with(key("a", strconv.Itoa(i)), "note", s(strings.Repeat("x", 100)))
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item}); err != nil {
			b.Fatal(err)
		}
	}
	in := &dynamodb.QueryInput{
		TableName: table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attrs{":p": s("a")},
	}
	for b.Loop() {
		if _, err := client.Query(ctx, in); err != nil {
			b.Fatal(err)
		}
	}
}
