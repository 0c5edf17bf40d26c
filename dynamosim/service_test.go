package dynamosim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// counter is a database whose requests take time, in a bubble. Its client does not retry.
type counter struct {
	t      *testing.T
	client *dynamodb.Client
}

const serviceTime = 5 * time.Millisecond

// timed runs a proof in a bubble: a transaction on items 1 and 2 has just begun, and what else arrives meets it.
func timed(t *testing.T, times dynamosim.ServiceTime, prove func(*counter)) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{t: t, client: dynamosim.New(t, dynamosim.Options{ServiceTime: times}).Client(func(o *dynamodb.Options) {
			o.Retryer = aws.NopRetryer{}
		})}
		_, err := c.client.CreateTable(t.Context(), testTable("T01"))
		must(t, true, err)
		prove(c)
	})
}

// begin sends a request and returns, at the same moment, where its error will be.
func (c *counter) begin(request func(context.Context) error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- request(c.t.Context()) }()
	synctest.Wait()
	return done
}

func (c *counter) transact(ctx context.Context, token string, items ...string) error {
	in := &dynamodb.TransactWriteItemsInput{}
	if token != "" {
		in.ClientRequestToken = &token
	}
	for _, pk := range items {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("T01"), Key: key(pk, "x"), UpdateExpression: aws.String("ADD hits :one"),
			ExpressionAttributeValues: attrs{":one": n("1")},
		}})
	}
	_, err := c.client.TransactWriteItems(ctx, in)
	return err
}

func (c *counter) transactGet(ctx context.Context, items ...string) error {
	in := &dynamodb.TransactGetItemsInput{}
	for _, pk := range items {
		in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: aws.String("T01"), Key: key(pk, "x")}})
	}
	_, err := c.client.TransactGetItems(ctx, in)
	return err
}

func (c *counter) put(ctx context.Context, pk string) error {
	_, err := c.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("T01"), Item: key(pk, "x")})
	return err
}

func (c *counter) get(ctx context.Context, pk string) error {
	_, err := c.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("T01"), Key: key(pk, "x"), ConsistentRead: aws.Bool(true)})
	return err
}

func (c *counter) batch(ctx context.Context, items ...string) (unprocessed int, err error) {
	var requests []types.WriteRequest
	for _, pk := range items {
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: key(pk, "x")}})
	}
	out, err := c.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"T01": requests}})
	if err != nil {
		return 0, err
	}
	return len(out.UnprocessedItems["T01"]), nil
}

// outcome puts an error in a few words.
func outcome(err error) string {
	var canceled *types.TransactionCanceledException
	var coded interface{ ErrorCode() string }
	switch {
	case errors.As(err, &canceled):
		return codes(canceled)
	case errors.As(err, &coded):
		return coded.ErrorCode()
	case err != nil:
		return err.Error()
	}
	return "ok"
}

func TestWhoMeetsARunningTransaction(t *testing.T) {
	unprocessed := func(c *counter, ctx context.Context) error {
		left, err := c.batch(ctx, "2", "3")
		if err == nil && left > 0 {
			return fmt.Errorf("%d unprocessed", left)
		}
		return err
	}
	times := dynamosim.ServiceTime{Transaction: serviceTime}
	refusing := times
	refusing.BatchConflict = dynamosim.BatchRefused
	tests := map[string]struct {
		times   dynamosim.ServiceTime
		request func(*counter, context.Context) error
		want    string
	}{
		"a write":               {times, func(c *counter, ctx context.Context) error { return c.put(ctx, "1") }, "TransactionConflictException"},
		"a write elsewhere":     {times, func(c *counter, ctx context.Context) error { return c.put(ctx, "3") }, "ok"},
		"a read":                {times, func(c *counter, ctx context.Context) error { return c.get(ctx, "1") }, "ok"},
		"a batch":               {times, unprocessed, "1 unprocessed"},
		"a batch, other policy": {refusing, unprocessed, "TransactionConflictException"},
		"a transaction": {times, func(c *counter, ctx context.Context) error { return c.transact(ctx, "", "3", "2") },
			"None TransactionConflict"},
		"a reading transaction": {times, func(c *counter, ctx context.Context) error { return c.transactGet(ctx, "1", "3") },
			"TransactionConflict None"},
		"itself": {times, func(c *counter, ctx context.Context) error { return c.transact(ctx, "token", "1", "2") },
			"TransactionInProgressException"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			timed(t, test.times, func(c *counter) {
				first := c.begin(func(ctx context.Context) error { return c.transact(ctx, "token", "1", "2") })
				if got := outcome(test.request(c, c.t.Context())); got != test.want {
					t.Errorf("meets a transaction and gets %s, want %s", got, test.want)
				}
				must(t, true, <-first)
				if got := outcome(test.request(c, c.t.Context())); got != "ok" {
					t.Errorf("comes after the transaction and gets %s", got)
				}
			})
		})
	}
}

func TestAReadingTransactionMeetsRunningWrites(t *testing.T) {
	timed(t, dynamosim.ServiceTime{Write: serviceTime}, func(c *counter) {
		put := c.begin(func(ctx context.Context) error { return c.put(ctx, "1") })
		batch := c.begin(func(ctx context.Context) error { _, err := c.batch(ctx, "2"); return err })
		if got := outcome(c.transactGet(c.t.Context(), "1", "2", "3")); got != "TransactionConflict TransactionConflict None" {
			t.Errorf("a reading transaction that meets writes gets %s", got)
		}
		if got := outcome(c.transact(c.t.Context(), "", "1")); got != "ok" {
			t.Errorf("a writing transaction that meets a write gets %s", got)
		}
		must(t, true, errors.Join(<-put, <-batch))
	})
}

func TestAnAnswerTakesItsTime(t *testing.T) {
	times := dynamosim.ServiceTime{Transaction: 5 * time.Millisecond, Write: 3 * time.Millisecond, Read: time.Millisecond}
	timed(t, times, func(c *counter) {
		start := time.Now()
		must(t, true, errors.Join(c.transact(c.t.Context(), "", "1"), c.put(c.t.Context(), "1"), c.get(c.t.Context(), "1")))
		if took := time.Since(start); took != 9*time.Millisecond {
			t.Fatalf("three requests took %v of virtual time", took)
		}
	})
}

func TestItemsMayStayBusyAfterTheAnswer(t *testing.T) {
	timed(t, dynamosim.ServiceTime{Transaction: serviceTime, Linger: time.Millisecond}, func(c *counter) {
		must(t, true, c.transact(c.t.Context(), "", "1"))
		if got := outcome(c.put(c.t.Context(), "1")); got != "TransactionConflictException" {
			t.Errorf("a write right after the answer gets %s", got)
		}
		time.Sleep(time.Millisecond)
		must(t, true, c.put(c.t.Context(), "1"))
	})
}

func TestAClientThatGivesUpHasWrittenAllTheSame(t *testing.T) {
	timed(t, dynamosim.ServiceTime{Write: time.Minute}, func(c *counter) {
		impatient, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		if err := c.put(impatient, "1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error is %v", err)
		}
		out, err := c.client.GetItem(c.t.Context(), &dynamodb.GetItemInput{TableName: aws.String("T01"), Key: key("1", "x")})
		if must(t, out, err).Item == nil {
			t.Fatal("the write that nobody waited for is not there")
		}
	})
}

// rush lets workers transact on one item and returns what happened in order of time. No two requests arrive at one
// moment, because all that a worker does falls on nanoseconds that are its own, modulo 16.
func rush(t *testing.T) (trace string, committed int) {
	synctest.Test(t, func(t *testing.T) {
		timedClient := dynamosim.New(t, dynamosim.Options{ServiceTime: dynamosim.ServiceTime{Transaction: serviceTime}}).Client(
			func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		c := &counter{t: t, client: timedClient}
		_, err := c.client.CreateTable(t.Context(), testTable("T01"))
		must(t, true, err)
		start := time.Now()
		var mu sync.Mutex
		var lines []string
		var all sync.WaitGroup
		for worker := range 10 {
			all.Go(func() {
				time.Sleep(time.Duration(worker))
				for time.Since(start) < time.Second {
					got := outcome(c.transact(t.Context(), "", "hot"))
					mu.Lock()
					lines = append(lines, fmt.Sprintf("%10d %d %s", time.Since(start), worker, got))
					if got == "ok" {
						committed++
					}
					mu.Unlock()
					time.Sleep(time.Duration(worker*worker*16) * 100)
				}
			})
		}
		all.Wait()
		slices.Sort(lines)
		trace = strings.Join(lines, "\n")
	})
	return trace, committed
}

func TestOneItemTakesOneTransactionAtATimeAndTheSameHistoryEveryTime(t *testing.T) {
	first, committed := rush(t)
	if most := int(time.Second/serviceTime) + 1; committed > most || committed < most/2 {
		t.Errorf("%d transactions of %v each on one item in a second", committed, serviceTime)
	}
	if second, _ := rush(t); first != second {
		t.Error("the same workers made another history")
	}
	if !strings.Contains(first, "TransactionConflict") {
		t.Error("nobody met anybody")
	}
}
