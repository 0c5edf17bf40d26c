package dynamosim_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// streamedAccounts creates the table of accounts with a stream of both images.
func streamedAccounts(client *dynamodb.Client) (streamARN string, err error) {
	in := *accounts
	in.StreamSpecification = &types.StreamSpecification{
		StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
	}
	out, err := client.CreateTable(context.Background(), &in)
	if err != nil {
		return "", err
	}
	return *out.TableDescription.LatestStreamArn, nil
}

// tail reads a page of every shard of a stream.
func tail(client *dynamodbstreams.Client, streamARN string, show func(streams.Record)) error {
	ctx := context.Background()
	described, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &streamARN})
	if err != nil {
		return err
	}
	for _, shard := range described.StreamDescription.Shards {
		start, err := client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &streamARN, ShardId: shard.ShardId, ShardIteratorType: streams.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			return err
		}
		page, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: start.ShardIterator})
		if err != nil {
			return err
		}
		for _, record := range page.Records {
			show(record)
		}
	}
	return nil
}

// The SDK's own streams client tails what happens to a table.
func ExampleDB_StreamsClient() {
	db := dynamosim.Open(dynamosim.Options{})
	client := db.Client()
	arn, err := streamedAccounts(client)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := open(client, "alice"); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.TransactWriteItems(context.Background(), deposit("alice", "10")); err != nil {
		fmt.Println(err)
		return
	}
	balance := func(image map[string]streams.AttributeValue) string {
		if n, ok := image["balance"].(*streams.AttributeValueMemberN); ok {
			return n.Value
		}
		return "none"
	}
	err = tail(db.StreamsClient(), arn, func(r streams.Record) {
		fmt.Println(r.EventName, "balance", balance(r.Dynamodb.OldImage), "to", balance(r.Dynamodb.NewImage))
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// INSERT balance none to 0
	// MODIFY balance 0 to 10
}

// A consumer that adds up what it is told is wrong as soon as a batch comes twice, as batches may. One that remembers
// what it has seen is right.
func ExampleFeed() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{Streams: dynamosim.StreamOptions{Interleave: true}})
	client := db.Client()
	arn, err := streamedAccounts(client)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, account := range []string{"alice", "bob", "carol"} {
		if err := open(client, account); err != nil {
			fmt.Println(err)
			return
		}
	}
	feed := dynamosim.NewFeed(db.StreamsClient(), arn)
	feed.Repeat = func(string, []streams.Record) bool { return true }

	told, seen := 0, map[string]bool{}
	_, err = feed.Poll(ctx, func(_ context.Context, batch []streams.Record) error {
		told += len(batch)
		for _, record := range batch {
			seen[*record.EventID] = true
		}
		return nil
	})
	fmt.Println("told of", told, "accounts, opened", len(seen), err)
	// Output: told of 6 accounts, opened 3 <nil>
}
