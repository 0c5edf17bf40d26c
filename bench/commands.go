package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/txn"
)

// A command adds one to a balance, once for each idempotency key, and has a result that its repeats get back.

// CommandFigure is what one way of making a command idempotent costs. Units are in halves, times in nanoseconds.
type CommandFigure struct {
	Name string
	// First is a command that is new, Repeat one that was done before.
	First, Repeat CommandCost
	// Allocations are those of the client for a new command; -1 if they cannot be counted.
	Allocations int
	// Balance is what a hundred commands made of a balance of 0, when the first answer to the write of the balance was lost.
	Balance int
}

// CommandCost is for one command.
type CommandCost struct{ Requests, Reads, Writes, Nanoseconds int }

const (
	accounts   = "Accounts"
	lossyRuns  = 100
	warmUpRuns = 50
)

// runner runs commands with the keys prefix+first, prefix+first+1, ... and returns how long that took.
type runner func(ctx context.Context, prefix string, first, count int) (time.Duration, error)

// sequence makes a runner of a function that runs one command.
func sequence(one func(ctx context.Context, key string) error) runner {
	return func(ctx context.Context, prefix string, first, count int) (time.Duration, error) {
		started := time.Now()
		for i := first; i < first+count; i++ {
			if err := one(ctx, fmt.Sprint(prefix, i)); err != nil {
				return 0, err
			}
		}
		return time.Since(started), nil
	}
}

// measureCommands runs one way on an engine of its own.
func measureCommands(ctx context.Context, name string, count int, open func(url string, client *dynamodb.Client) runner) (f CommandFigure, err error) {
	m, err := newMeter()
	if err != nil {
		return f, err
	}
	defer m.close()
	client := m.client()
	for _, table := range []*dynamodb.CreateTableInput{keyed(accounts), keyed("Requests"), {TableName: aws.String("Powertools"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}}}} {
		if _, err := client.CreateTable(ctx, table); err != nil {
			return f, err
		}
	}
	run := open(m.url, client)
	f = CommandFigure{Name: name, Allocations: -1}
	if _, err := run(ctx, "warm-", 0, warmUpRuns); err != nil {
		return f, err
	}
	for _, cost := range []*CommandCost{&f.First, &f.Repeat} {
		before := m.bill()
		took, err := run(ctx, "key-", 0, count)
		if err != nil {
			return f, err
		}
		b := m.bill().minus(before)
		*cost = CommandCost{Requests: perCommand(b.requests, count), Reads: perCommand(int(b.reads), count), Writes: perCommand(int(b.writes), count),
			Nanoseconds: int(took.Nanoseconds()) / count}
	}
	before, err := balance(ctx, client)
	if err != nil {
		return f, err
	}
	m.loss.set(true)
	if _, err := run(ctx, "lossy-", 0, lossyRuns); err != nil {
		return f, err
	}
	m.loss.set(false)
	after, err := balance(ctx, client)
	f.Balance = after - before
	return f, err
}

// perCommand is exact if every command costs the same, which these do.
func perCommand(n, count int) int { return (n + count/2) / count }

func keyed(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS}}}
}

func balance(ctx context.Context, client *dynamodb.Client) (n int, err error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(accounts), Key: account(), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return 0, err
	}
	if stored, ok := out.Item["balance"].(*types.AttributeValueMemberN); ok {
		_, err = fmt.Sscan(stored.Value, &n)
	}
	return n, err
}

func account() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": text("account-1"), "SK": text("BALANCE")}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func addOne() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}
}

// payment is the balance's part of the transaction.
func payment() txn.Part {
	return txn.NewPart("pay", txn.Write{Action: txn.ActionUpdate, Table: txn.Table{Name: accounts}, Key: account(), Update: "ADD balance :one", Values: addOne()})
}

func request(key string) idempotency.Request {
	return idempotency.Request{Tenant: "acme", Key: key, Operation: "pay", Command: idempotency.NewFields().Decimal("amount", "1.00")}
}

func result(key string) idempotency.Result {
	return idempotency.Result{Code: "201", Body: []byte(`{"payment":"` + key + `"}`)}
}

// once is idempotency.Once: the record and the effect are one transaction.
func once(client *dynamodb.Client) func(ctx context.Context, key string) error {
	requests, committer := idempotency.New(idempotency.Config{Table: txn.Table{Name: "Requests"}}), txn.New(client, txn.Config{})
	return func(ctx context.Context, key string) error {
		_, err := committer.Commit(ctx, requests.Once(request(key), result(key)), payment())
		if _, replayed := idempotency.Replayed(err); replayed {
			return nil
		}
		return err
	}
}

// do is idempotency.Do: a claim on a lease, the work, and then the result and the effect in one transaction.
func do(client *dynamodb.Client) func(ctx context.Context, key string) error {
	requests := idempotency.New(idempotency.Config{Table: txn.Table{Name: "Requests"}})
	return func(ctx context.Context, key string) error {
		_, err := requests.Do(ctx, client, request(key), idempotency.Work{Mode: idempotency.Transactional,
			Run: func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
				return result(key), []txn.Part{payment()}, nil
			}})
		return err
	}
}

// allocations are those of the client alone: it talks to a network that answers at once.
func allocations(one func(ctx context.Context, key string) error) (int, error) {
	var failed error
	i := 0
	n := testing.AllocsPerRun(200, func() {
		i++
		if err := one(context.Background(), fmt.Sprint("key-", i)); err != nil {
			failed = err
		}
	})
	return int(n), failed
}

// canned is a client whose every request is answered with an empty success.
func canned() *dynamodb.Client {
	o := clientOf("http://127.0.0.1:1").Options()
	o.HTTPClient = answers{}
	return dynamodb.New(o)
}

type answers struct{}

func (answers) Do(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader("{}")), ContentLength: 2, Request: r}, nil
}

// way is one way of making commands idempotent: a runner on an engine, and the function of one command if it is in Go.
type way struct {
	name string
	open func(url string, client *dynamodb.Client) runner
	one  func(client *dynamodb.Client) func(ctx context.Context, key string) error
}

// ways are all of them; Powertools only with Node.js.
func ways(node bool) (all []way) {
	inGo := func(name string, one func(client *dynamodb.Client) func(ctx context.Context, key string) error) {
		all = append(all, way{name, func(_ string, client *dynamodb.Client) runner { return sequence(one(client)) }, one})
	}
	inGo("`Requests.Once`", once)
	inGo("one transaction, by hand", byHand)
	inGo("`Requests.Do`", do)
	inGo("claim, work, complete, by hand", inSteps)
	if node {
		all = append(all, way{name: "Powertools, TypeScript", open: func(url string, _ *dynamodb.Client) runner { return powertools(url) }})
	}
	return all
}

// measureAllCommands takes the ways in turns, and the fastest turn of each counts.
func measureAllCommands(ctx context.Context, s size, node bool) ([]CommandFigure, error) {
	all := ways(node)
	figures := make([]CommandFigure, len(all))
	for turn := range s.turns {
		for i, w := range all {
			f, err := measureCommands(ctx, w.name, s.commands, w.open)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			if before := figures[i]; turn > 0 {
				f.First.Nanoseconds = min(f.First.Nanoseconds, before.First.Nanoseconds)
				f.Repeat.Nanoseconds = min(f.Repeat.Nanoseconds, before.Repeat.Nanoseconds)
			}
			figures[i] = f
		}
	}
	for i, w := range all {
		if w.one == nil {
			continue
		}
		var err error
		if figures[i].Allocations, err = allocations(w.one(canned())); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return figures, nil
}
