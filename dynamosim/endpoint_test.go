package dynamosim_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
)

// backend is a client and a fresh test table. The tests that use it say what DynamoDB does, so they run against the
// simulator and, when DYNAMODB_ENDPOINT is set, against whatever answers there.
type backend struct {
	*dynamodb.Client
	table *string
}

// tables numbers the tables of this process, because several processes may share an endpoint.
var tables atomic.Int64

func newBackend(t testing.TB) backend {
	t.Helper()
	b := backend{client(t), aws.String(fmt.Sprintf("dynafin-test-%d-%d", os.Getpid(), tables.Add(1)))}
	_, err := b.CreateTable(ctx, testTable(*b.table))
	if err != nil {
		t.Fatal(err)
	}
	waiter := dynamodb.NewTableExistsWaiter(b.Client)
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: b.table}, time.Minute); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: b.table}); err != nil {
			t.Error(err)
		}
	})
	return b
}

func client(t testing.TB) *dynamodb.Client {
	endpoint := os.Getenv("DYNAMODB_ENDPOINT")
	if endpoint == "" {
		return dynamosim.New(t).Client()
	}
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
}
