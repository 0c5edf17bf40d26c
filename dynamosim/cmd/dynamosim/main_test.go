package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// program is a running dynamosim with an SDK client that reaches it over the loopback interface.
type program struct {
	*dynamodb.Client
	url  string
	stop context.CancelFunc
	exit <-chan int
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, stdout := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- run(ctx, append(args, "-addr", "127.0.0.1:0"), stdout, io.Discard)
		stdout.Close()
	}()
	t.Cleanup(stop)
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("no URL is printed:", err)
	}
	url = strings.TrimSpace(url)
	client := dynamodb.New(dynamodb.Options{
		Region: "eu-west-2", BaseEndpoint: &url, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}, nil
		}),
	})
	return &program{Client: client, url: url, stop: stop, exit: exit}
}

func key(v string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: v}}
}

// createTable makes a table with the key id and a global index on the same attribute.
func (p *program) createTable(t *testing.T) string {
	t.Helper()
	schema := []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}
	out, err := p.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), KeySchema: schema, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("again"), KeySchema: schema, Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return *out.TableDescription.TableArn
}

func (p *program) put(t *testing.T, v string) error {
	_, err := p.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: key(v)})
	return err
}

// count reads how many items of a key the table, or its index, shows.
func (p *program) count(t *testing.T, index *string, v string) int {
	t.Helper()
	out, err := p.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String("things"), IndexName: index, KeyConditionExpression: aws.String("id = :v"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: v}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return int(out.Count)
}

func TestAnSDKReachesTheDatabaseAndAnInterruptStopsIt(t *testing.T) {
	p := start(t, "-region", "eu-west-2")
	if arn, want := p.createTable(t), "arn:aws:dynamodb:eu-west-2:000000000000:table/things"; arn != want {
		t.Errorf("the table is %s, want %s", arn, want)
	}
	if err := p.put(t, "a"); err != nil {
		t.Fatal(err)
	}
	if table, index := p.count(t, nil, "a"), p.count(t, aws.String("again"), "a"); table != 1 || index != 1 {
		t.Errorf("the table shows %d items and the index %d, want 1 and 1", table, index)
	}
	p.stop()
	if code := <-p.exit; code != exitDone {
		t.Errorf("exit code %d", code)
	}
	if err := p.put(t, "b"); err == nil {
		t.Error("a stopped database takes a write")
	}
}

func TestWhatIsSavedAtAnInterruptIsThereAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "saved.db")
	p := start(t, "-save", file, "-region", "eu-west-2")
	arn := p.createTable(t)
	if err := p.put(t, "a"); err != nil {
		t.Fatal(err)
	}
	p.stop()
	if code := <-p.exit; code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	again := start(t, "-load", file)
	if n := again.count(t, nil, "a"); n != 1 {
		t.Errorf("the loaded table shows %d items", n)
	}
	out, err := again.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("things")})
	if err != nil || *out.Table.TableArn != arn {
		t.Errorf("the table is %v, want %s (error %v)", out, arn, err)
	}
	if err := os.WriteFile(file, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"-load", file}, io.Discard, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "DFN-1503") {
		t.Errorf("a file that is none: exit code %d, %s", code, stderr.String())
	}
}

func TestTheLagFlagKeepsIndexesBehind(t *testing.T) {
	p := start(t, "-lag", "1000h", "-seed", "7")
	p.createTable(t)
	if err := p.put(t, "a"); err != nil {
		t.Fatal(err)
	}
	if table, index := p.count(t, nil, "a"), p.count(t, aws.String("again"), "a"); table != 1 || index != 0 {
		t.Errorf("the table shows %d items and the index %d, want 1 and 0", table, index)
	}
}

func TestTheHeatFlagThrottlesAHotKey(t *testing.T) {
	p := start(t, "-heat")
	p.createTable(t)
	large := key("hot")
	large["v"] = &types.AttributeValueMemberS{Value: strings.Repeat("v", 300*1024)}
	var throttled *types.ThrottlingException
	for range 1000 { // 300 units each, far more than any machine is slow
		_, err := p.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: large})
		if errors.As(err, &throttled) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("nothing is throttled")
}

func TestWrongUsageIsTold(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"help":             {[]string{"-h"}, exitDone, "usage: dynamosim"},
		"unknown flag":     {[]string{"-port", "1"}, exitUsage, "usage: dynamosim"},
		"argument":         {[]string{"table"}, exitUsage, `unexpected argument "table"`},
		"negative lag":     {[]string{"-lag", "-1s"}, exitUsage, "below zero"},
		"no duration":      {[]string{"-lag", "5"}, exitUsage, "usage: dynamosim"},
		"no saved file":    {[]string{"-load", "nowhere/a.db"}, exitFailed, "nowhere/a.db"},
		"no address":       {[]string{"-addr", "nowhere"}, exitFailed, "dynamosim: listen"},
		"address is taken": {[]string{"-addr", busy.Addr().String()}, exitFailed, "dynamosim: listen"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), test.args, &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.says) || stdout.Len() > 0 {
				t.Errorf("exit code %d, want %d; it says %q, want %q", code, test.code, stderr.String(), test.says)
			}
		})
	}
}

func TestTheURLIsOneThatAClientCanUse(t *testing.T) {
	for _, test := range []struct{ addr, want string }{
		{"127.0.0.1:8000", "http://127.0.0.1:8000"},
		{"[::]:8000", "http://localhost:8000"},
		{"0.0.0.0:8000", "http://localhost:8000"},
		{"[::1]:8000", "http://[::1]:8000"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", test.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := url(addr); got != test.want {
			t.Errorf("%s is reached at %s, want %s", test.addr, got, test.want)
		}
	}
}
