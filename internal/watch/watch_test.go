package watch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// kept is an Observer that keeps what it is told.
type kept struct{ events []observe.Event }

func (k *kept) Observe(_ context.Context, e observe.Event) { k.events = append(k.events, e) }
func (*kept) Measure(context.Context, observe.Measurement) {}

// ticking is a clock that moves a second at each look.
func ticking() func() time.Time {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	return func() time.Time { at = at.Add(time.Second); return at }
}

func open(t *testing.T, fates ...dynamosim.Fate) *dynamodb.Client {
	t.Helper()
	db := dynamosim.Open(dynamosim.Options{})
	next := func(call dynamosim.Call) dynamosim.Fate {
		if call.Operation == "CreateTable" || len(fates) == 0 {
			return dynamosim.Deliver
		}
		fate := fates[0]
		fates = fates[1:]
		return fate
	}
	atOnce := retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	client := db.Client(func(o *dynamodb.Options) {
		o.HTTPClient = dynamosim.Faulty(db, next)
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.Backoff = atOnce })
	})
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Things"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func put(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Things"),
		Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}}}, watch.In(ctx)...)
	return err
}

func get(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("Things"),
		Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}}}, watch.In(ctx)...)
	return err
}

// One operation made of two requests, one of which the SDK itself repeats after a throttle.
func TestAnOperationReportsOnceWithAllItsRequests(t *testing.T) {
	t.Parallel()
	client := open(t, dynamosim.Throttle)
	var seen kept
	outer := watch.New("outbox", "orders", &seen, ticking())
	inner := watch.New("txn", "", &seen, ticking())
	do := func(ctx context.Context) (err error) {
		ctx, op := outer.Begin(ctx, "AP16.claim")
		defer op.End(&err)
		if err := put(ctx, client); err != nil {
			return err
		}
		ctx, nested := inner.Begin(ctx, "AP16.get")
		defer nested.End(&err)
		return get(ctx, client)
	}
	if err := do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(seen.events) != 1 {
		t.Fatalf("%d events", len(seen.events))
	}
	e := seen.events[0]
	got := fmt.Sprintf("%s/%s %s %s, %v on %v: %d requests, %d attempts, %d throttles, %s read, %s written, %s",
		e.Package, e.Scope, e.Label(), e.Outcome, e.Calls, e.Tables, e.Requests, e.Attempts, e.Throttles, e.ReadUnits, e.WriteUnits, e.Duration)
	const want = "outbox/orders AP16.claim ok, [PutItem GetItem] on [Things]: 2 requests, 3 attempts, 1 throttles, 0.5 read, 1 written, 1s"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestACallbackReportsForItself(t *testing.T) {
	t.Parallel()
	client := open(t)
	var seen kept
	w := watch.New("idempotency", "", &seen, ticking())
	do := func(ctx context.Context, label string, work func(context.Context) error) (err error) {
		ctx, op := w.Begin(ctx, label)
		defer op.End(&err)
		watch.Outcome(ctx, observe.Replayed)
		return work(watch.Outside(ctx))
	}
	err := do(t.Context(), "AP08.do", func(ctx context.Context) error {
		return do(ctx, "AP16.get", func(ctx context.Context) error { return get(ctx, client) })
	})
	if err != nil || len(seen.events) != 2 || seen.events[0].Label() != "AP16.get" || seen.events[1].Label() != "AP08.do" ||
		seen.events[0].Requests+seen.events[1].Requests != 0 || seen.events[1].Outcome != observe.Replayed {
		t.Errorf("%v, events %+v", err, seen.events)
	}
}

// Not parallel: the log of the process is swapped.
func TestAPanicOfAnObserverIsLoggedAndTheOperationGoesOn(t *testing.T) {
	var b bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	defer slog.SetDefault(before)
	commits := txn.New(open(t), txn.Config{Observer: panics{}})
	things := txn.Table{Name: "Things", SK: txn.NoSortKey}
	receipt, err := commits.Commit(t.Context(), txn.Put(things, things.Key("a", ""), txn.IfAbsent()))
	if err != nil || receipt.Items != 1 {
		t.Errorf("the commit ended with %v, %v", receipt, err)
	}
	w := watch.New("outbox", "", panics{}, ticking())
	w.Measure(t.Context(), "AP16", observe.Backlog, 1)
	for _, part := range []string{"panic=\"at the start\"", "panic=\"at the end\"", "panic=\"at a measurement\"", "stack="} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the log does not say %s", part)
		}
	}
}

type panics struct{}

func (panics) Start(context.Context, observe.Operation) context.Context { panic("at the start") }
func (panics) Observe(context.Context, observe.Event)                   { panic("at the end") }
func (panics) Measure(context.Context, observe.Measurement)             { panic("at a measurement") }

var errOwn = errors.New("an error of nobody's")

func TestWithoutAnObserverNothingIsAllocated(t *testing.T) {
	w := watch.New("outbox", "orders", nil, nil)
	ctx := context.WithValue(t.Context(), key{}, "a context of a service has values")
	labels := []string{"AP16.claim"}
	var options int
	allocs := testing.AllocsPerRun(1000, func() {
		_ = func() (err error) {
			ctx, op := w.Begin(ctx, "AP16.claim")
			defer op.End(&err)
			watch.Parts(ctx, op, func() []string { return labels })
			watch.Outcome(ctx, observe.Replayed)
			options += len(watch.In(ctx))
			_ = watch.Outside(ctx)
			w.Measure(ctx, "AP16", observe.Backlog, 1)
			return errOwn
		}()
	})
	if allocs != 0 || options != 0 {
		t.Errorf("%v allocations, %d options of requests", allocs, options)
	}
}

type key struct{}
