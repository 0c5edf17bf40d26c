// Package stores gives a test its store: a database of its own in this process, or, when DYNAMODB_ENDPOINT is set, tables
// of its own at that endpoint, be it DynamoDB or another implementation. A test that takes its store from here says what
// every store must do; it never skips: what an endpoint cannot do fails there.
//
//	store := stores.Open(t)
//	orders := store.Table(t, &dynamodb.CreateTableInput{TableName: aws.String("Orders"), ...})
//	client := store.Client()
//
// Only tests import this package. docs/endpoints.md says how to run them at an endpoint, and what differs where.
package stores

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
)

// EndpointVariable names the environment variable with the URL of the endpoint.
const EndpointVariable = "DYNAMODB_ENDPOINT"

// Endpoint returns the URL of the endpoint that the tests run at, "" if they run in process.
func Endpoint() string { return os.Getenv(EndpointVariable) }

// TB is the part of testing.TB and *rapid.T that a store needs.
type TB interface {
	dynamosim.TB
	// Fatal ends the test.
	Fatal(args ...any)
	// Error marks the test as failed.
	Error(args ...any)
}

// Options are what a test may ask of a store. They change how request tokens are treated, in process and at an endpoint
// alike.
type Options struct {
	// Tokens is what becomes of ClientRequestToken.
	Tokens dynamosim.TokenPolicy
	// CanceledKeepsToken makes a cancelled transaction occupy its token.
	CanceledKeepsToken bool
}

// Store is where one test keeps its tables.
type Store struct {
	sdk  dynamodb.Options
	pick func(name string) string // names a table
}

// Open returns an empty store. At most one Options counts.
func Open(t TB, opts ...Options) *Store {
	t.Helper()
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	if Endpoint() == "" {
		db := dynamosim.New(t, dynamosim.Options{TokenPolicy: o.Tokens, CanceledKeepsToken: o.CanceledKeepsToken})
		return &Store{sdk: db.Client().Options(), pick: func(name string) string { return name }}
	}
	// A run must not meet the tables of another, on whatever machine that is.
	prefix := "dynafin-test-" + strings.ToLower(rand.Text()) + "-"
	sdk := remote(Endpoint())
	o.treatTokens(&sdk)
	return &Store{sdk: sdk, pick: func(name string) string { return prefix + name }}
}

// Client returns the SDK's client of the store.
func (s *Store) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(s.sdk.Copy(), optFns...)
}

// Do sends a request as it is; it makes Store an aws.HTTPClient, behind which a test may put its own network.
func (s *Store) Do(req *http.Request) (*http.Response, error) { return s.sdk.HTTPClient.Do(req) }

// Faulty returns a client whose requests meet the fates that choose decides, on their way to the store.
func (s *Store) Faulty(choose func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	return Faulty(s.Client(), choose)
}

// At returns a client of an endpoint. Region and credentials come from AWS_* variables; an emulator wants some, whatever
// they are.
func At(endpoint string) *dynamodb.Client { return dynamodb.New(remote(endpoint)) }

// Faulty returns a client like the given one, whose requests meet the fates that choose decides.
func Faulty(client *dynamodb.Client, choose func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	o := client.Options()
	o.HTTPClient = dynamosim.Faulty(o.HTTPClient, choose)
	return dynamodb.New(o)
}

// tableWait is how long a table may take to become usable.
const tableWait = 5 * time.Minute

// Table creates a table under a name of this store's own, made from the given one, waits until it can be used, and
// returns the name. The table is deleted when the test ends.
func (s *Store) Table(t TB, in *dynamodb.CreateTableInput) string {
	t.Helper()
	create := *in
	name := s.pick(aws.ToString(in.TableName))
	create.TableName = &name
	ctx, client := context.Background(), s.Client()
	if _, err := client.CreateTable(ctx, &create); err != nil {
		t.Fatal("create table", name, err)
	}
	if Endpoint() == "" {
		return name // the table is ready, and ends with its database
	}
	t.Cleanup(func() {
		if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Error("delete table", name, err)
		}
	})
	ready := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Second, 5*time.Second
	})
	if err := ready.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, tableWait); err != nil {
		t.Fatal("wait for table", name, err)
	}
	return name
}

// connections are kept over the tests of a process.
var connections = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = 64 })

// remote returns the options of a client of an endpoint.
func remote(endpoint string) dynamodb.Options {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &endpoint,
		Region:       environment("AWS_REGION", "us-east-1"),
		HTTPClient:   connections,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{
				AccessKeyID:     environment("AWS_ACCESS_KEY_ID", "test"),
				SecretAccessKey: environment("AWS_SECRET_ACCESS_KEY", "test"),
				SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
			}, nil
		}),
	}).Options()
}

func environment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
