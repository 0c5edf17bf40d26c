package leaks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// broker says when it has been called, and, if it hangs, answers when its context ends.
type broker struct {
	hangs  bool
	once   sync.Once
	called chan struct{}
}

func (b *broker) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	b.once.Do(func() { close(b.called) })
	if b.hangs {
		<-ctx.Done()
		return nil
	}
	return make([]outbox.Result, len(batch))
}

// events returns an outbox with events, and what the stream of its table shows of them.
func events(t *testing.T, e *endpoint) (*outbox.Outbox, []streams.Record) {
	t.Helper()
	all := outbox.New(outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}})
	if err := e.CreateTable("Orders", all.Index()); err != nil {
		t.Fatal(err)
	}
	out, err := e.client().UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: aws.String("Orders"),
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		event := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: fmt.Sprint("order-", n), AggregateVersion: 1,
			Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: day.AddDate(-1, 0, 0)}
		event.ID = event.StableID()
		if _, err := txn.Commit(t.Context(), e.client(), all.Create(event)); err != nil {
			t.Fatal(err)
		}
	}
	var records []streams.Record
	if _, err := dynamosim.NewFeed(e.StreamsClient(), *out.TableDescription.LatestStreamArn).Poll(t.Context(), func(_ context.Context, batch []streams.Record) error {
		records = append(records, batch...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all, records
}

// A relay, or a handler of the stream, ends after its work, with a broker that hangs, or with a request that hangs.
func TestNoGoroutineOfARelayIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		hangs bool
		hold  string
	}{"works": {false, ""}, "broker hangs": {true, ""}, "claim hangs": {false, "UpdateItem"}, "journal hangs": {false, "PutItem"}, "poll hangs": {false, "Query"}} {
		for _, how := range []string{"Run", "HandleStream"} {
			if how == "HandleStream" && c.hold == "Query" {
				continue // it makes none
			}
			t.Run(name+" "+how, func(t *testing.T) {
				noLeak(t)
				e := newEndpoint()
				all, records := events(t, e)
				b := &broker{hangs: c.hangs, called: make(chan struct{})}
				relay := outbox.NewRelay(all, e.client(), b, outbox.RelayConfig{Drain: 4 * time.Millisecond, Now: func() time.Time { return day }})
				reached := b.called
				if e.hold = c.hold; c.hold != "" {
					reached = e.held
				}
				if how == "HandleStream" && reached == b.called && !c.hangs {
					if round, err := relay.HandleStream(context.WithoutCancel(t.Context()), records); err != nil || round.Completed != 40 {
						t.Errorf("%+v, %v", round, err)
					}
					return
				}
				endsWhile(t, reached, func(ctx context.Context) {
					if how == "Run" {
						if err := relay.Run(ctx); err != nil {
							t.Error(err)
						}
						return
					}
					_, _ = relay.HandleStream(ctx, records)
				})
			})
		}
	}
}

func TestNoGoroutineOfWaitCaughtUpIsLeft(t *testing.T) {
	noLeak(t)
	e := newEndpoint()
	if err := e.CreateTable(projection.DefaultTable); err != nil {
		t.Fatal(err)
	}
	view := func(context.Context, int, projection.Event) ([]txn.Part, error) { return nil, nil }
	orders := projection.New(e.client(), projection.Config{Name: "orders", View: view, Poll: time.Millisecond}).Namespace(1)
	done := make(chan error)
	go func() {
		done <- orders.WaitCaughtUp(context.WithoutCancel(t.Context()), map[string]int64{"order-1": 1})
	}()
	if _, err := orders.Apply(t.Context(), projection.Event{Source: "order-1", Version: 1, OccurredAt: day}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	e.hold = "GetItem"
	endsWhile(t, e.held, func(ctx context.Context) {
		if err := orders.WaitCaughtUp(ctx, map[string]int64{"order-1": 2}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A merged read is left behind after a few items, or in the middle of its requests.
func TestNoGoroutineOfAnAbandonedReadIsLeft(t *testing.T) {
	noLeak(t)
	e := newEndpoint()
	if err := e.CreateTable("Trades"); err != nil {
		t.Fatal(err)
	}
	query := fanout.Query{Name: "trades", Table: "Trades"}
	for shard := range 13 {
		partition := fanout.Text(fmt.Sprint("SYM#X#", shard))
		query.Branches = append(query.Branches, fanout.Branch{Name: fmt.Sprint("shard ", shard), Partition: partition})
		for n := range 20 {
			if _, err := e.client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Trades"),
				Item: fanout.Attributes{"PK": partition, "SK": fanout.Text(fmt.Sprintf("%02d:%d", n, shard))}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	reader := fanout.New(e.client(), fanout.Config{})
	read := 0
	ctx := context.WithoutCancel(t.Context()) // nobody ends it
	for _, err := range reader.All(ctx, query) {
		if read++; err != nil || read == 30 {
			break
		}
	}
	run, err := reader.Start(query, "")
	if err != nil {
		t.Fatal(err)
	}
	for range run.Items(ctx) {
		break
	}
	e.hold = "Query"
	endsWhile(t, e.held, func(ctx context.Context) {
		if _, err := reader.Page(ctx, query, "", 10); err == nil {
			t.Error("a page without an answer")
		}
	})
}

// A batcher is closed with transactions that wait, and again, of another, with a request that hangs.
func TestNoGoroutineOfABatcherIsLeft(t *testing.T) {
	usd, err := money.ISO("USD")
	if err != nil {
		t.Fatal(err)
	}
	for _, hold := range []string{"", "TransactWriteItems"} {
		t.Run("holds "+hold, func(t *testing.T) {
			noLeak(t)
			e := newEndpoint()
			book := ledger.New(ledger.Config{Now: func() time.Time { return day }})
			if err := e.CreateTable(ledger.DefaultTable, book.Indexes()...); err != nil {
				t.Fatal(err)
			}
			if _, err := txn.Commit(t.Context(), e.client(),
				book.OpenAccount(ledger.Account{Tenant: "acme", ID: "bank", Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true}),
				book.OpenAccount(ledger.Account{Tenant: "acme", ID: "customer", Side: ledger.CreditSide}, ledger.Asset{Currency: usd}),
			); err != nil {
				t.Fatal(err)
			}
			e.hold = hold
			batcher := book.Batcher(context.WithoutCancel(t.Context()), txn.New(e.client(), txn.Config{}), ledger.BatchConfig{})
			var callers sync.WaitGroup
			post := func(n int) {
				amount := money.MustParse("1.00 USD")
				_, err := batcher.Post(t.Context(), ledger.Submission{Transaction: ledger.Transaction{Tenant: "acme", ID: fmt.Sprint("in-", n), EffectiveAt: day,
					Postings: []ledger.Posting{ledger.Debit("bank", amount), ledger.Credit("customer", amount)}}})
				if err != nil && hold == "" && !errors.Is(err, ledger.ErrBatcherClosed) {
					t.Error(err)
				}
			}
			for n := range 20 {
				if hold == "" && n == 0 {
					post(n)
				}
				callers.Go(func() { post(n) })
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if hold != "" {
				<-e.held
				cancel()
			}
			if err := batcher.Close(ctx); (err != nil) != (hold != "") {
				t.Errorf("close: %v", err)
			}
			callers.Wait()
		})
	}
}
