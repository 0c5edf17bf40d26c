package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/txn"
)

// openStore returns a client with an empty table of requests and one of orders.
func openStore(ctx context.Context) *dynamodb.Client {
	client := dynamosim.Open(dynamosim.Options{}).Client()
	for _, table := range []*dynamodb.CreateTableInput{requestTable(idempotency.TableName), newTable("Orders")} {
		if _, err := client.CreateTable(ctx, table); err != nil {
			panic(err)
		}
	}
	return client
}

// accept accepts an order once: the order and the durable result are written together.
func accept(ctx context.Context, client *dynamodb.Client, key, orderID, quantity string) (idempotency.Result, error) {
	requests := idempotency.New(idempotency.Config{})
	orders := txn.Table{Name: "Orders"}

	result := idempotency.Result{
		Code:   "201",
		Body:   []byte(`{"order":"` + orderID + `"}`),
		Effect: map[string]string{"orderId": orderID},
	}
	_, err := txn.Commit(ctx, client,
		requests.Once(idempotency.Request{
			Tenant: "acme", Key: key, Operation: "order.accept", SchemaVersion: 1,
			Command: idempotency.NewFields().String("symbol", "ACME").Decimal("quantity", quantity),
		}, result),
		txn.Put(orders, orders.Key("TEN#acme#ORDER#"+orderID, "META"), txn.IfAbsent()),
	)
	if replay, ok := idempotency.Replayed(err); ok {
		return replay.Result, nil
	}
	return result, err
}

// A client repeats its order. The service would call the second one ord-2, but it never comes to be.
func ExampleRequests_Once() {
	ctx := context.Background()
	client := openStore(ctx)

	first, err := accept(ctx, client, "key-1", "ord-1", "10")
	fmt.Println(first.Code, string(first.Body), err)

	again, err := accept(ctx, client, "key-1", "ord-2", "10.0")
	fmt.Println(again.Code, string(again.Body), err)
	// Output:
	// 201 {"order":"ord-1"} <nil>
	// 201 {"order":"ord-1"} <nil>
}

// A client reuses a key for another order. It gets neither the first one's result nor an order.
func ExampleMismatchError() {
	ctx := context.Background()
	client := openStore(ctx)

	if _, err := accept(ctx, client, "key-1", "ord-1", "10"); err != nil {
		fmt.Println(err)
	}
	_, err := accept(ctx, client, "key-1", "ord-2", "11")
	var mismatch *idempotency.MismatchError
	if errors.As(err, &mismatch) {
		fmt.Println("409: key", mismatch.Key, "belongs to another", mismatch.StoredOperation)
	}
	// Output:
	// 409: key key-1 belongs to another order.accept
}

// A definite refusal is a result: it is committed alone, and a repeat gets it back even if the order would pass by then.
func ExampleRejected() {
	ctx := context.Background()
	client := openStore(ctx)
	requests := idempotency.New(idempotency.Config{})
	request := idempotency.Request{
		Tenant: "acme", Key: "key-1", Operation: "order.accept",
		Command: idempotency.JSON([]byte(`{"symbol":"ACME","quantity":1e6}`)),
	}

	refusal := idempotency.Result{Kind: idempotency.Rejected, Code: "INSUFFICIENT_FUNDS"}
	_, err := txn.Commit(ctx, client, requests.Once(request, refusal))
	fmt.Println("recorded:", err)

	request.Command = idempotency.JSON([]byte(`{ "quantity": 1000000, "symbol": "ACME" }`)) // the same order, spelt anew
	_, err = txn.Commit(ctx, client, requests.Once(request, idempotency.Result{Code: "201"}))
	if replay, ok := idempotency.Replayed(err); ok {
		fmt.Println("replayed:", replay.Result.Kind, replay.Result.Code)
	}
	// Output:
	// recorded: <nil>
	// replayed: REJECTED INSUFFICIENT_FUNDS
}

// Somebody wants to know what became of a request, without sending it again.
func ExampleRequests_Lookup() {
	ctx := context.Background()
	client := openStore(ctx)
	requests := idempotency.New(idempotency.Config{})
	request := idempotency.Request{Tenant: "acme", Key: "key-1", Operation: "ping", Command: idempotency.NewFields()}

	_, err := requests.Lookup(ctx, client, request)
	fmt.Println(errors.Is(err, idempotency.ErrNotFound))

	if _, err := txn.Commit(ctx, client, requests.Once(request, idempotency.Result{Body: []byte("pong")})); err != nil {
		fmt.Println(err)
	}
	result, err := requests.Lookup(ctx, client, request)
	fmt.Println(string(result.Body), err)
	// Output:
	// true
	// pong <nil>
}

// A payment is made at a provider, which no transaction covers: the request is claimed first, and completed afterwards
// together with what else is true by then. Its repeat gets the first one's result.
func ExampleRequests_Do() {
	ctx := context.Background()
	client := openStore(ctx)
	requests := idempotency.New(idempotency.Config{})
	orders := txn.Table{Name: "Orders"}
	charge := idempotency.Work{
		Mode: idempotency.External,
		Run: func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
			fmt.Println("the provider charges the card")
			paid := txn.Put(orders, orders.Key("TEN#acme#ORDER#ord-1", "PAYMENT"), txn.IfAbsent())
			return idempotency.Result{Code: "201", Body: []byte("paid")}, []txn.Part{paid}, nil
		},
	}
	for range 2 {
		answer, err := requests.Do(ctx, client, idempotency.Request{
			Tenant: "acme", Key: "key-1", Operation: "order.pay", Command: idempotency.NewFields().String("order", "ord-1"),
		}, charge)
		fmt.Println(string(answer.Result.Body), answer.Replayed, err)
	}
	// Output:
	// the provider charges the card
	// paid false <nil>
	// paid true <nil>
}

// A process dies while the provider charges. Nobody charges again; a worker asks the provider, and completes the request.
func ExampleRepairWorker() {
	ctx, now := context.Background(), time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	client := openStore(ctx)
	requests := idempotency.New(idempotency.Config{Now: func() time.Time { return now }})
	pay := idempotency.Request{Tenant: "acme", Key: "key-1", Operation: "order.pay", Command: idempotency.NewFields()}
	if _, err := requests.Begin(ctx, client, pay, idempotency.External); err != nil {
		fmt.Println(err)
	}

	now = now.Add(time.Hour) // the process has died
	_, err := requests.Begin(ctx, client, pay, idempotency.External)
	fmt.Println("a repeat waits for repair:", errors.Is(err, idempotency.ErrRepairRequired))

	provider := idempotency.ProberFunc(func(_ context.Context, r idempotency.Record) (idempotency.Finding, error) {
		fmt.Println("what became of", r.Key, "and why do you ask?", r.Reason)
		return idempotency.Found(idempotency.Result{Code: "201", Body: []byte("paid")}), nil
	})
	worker := idempotency.NewRepairWorker(requests, client, provider, idempotency.RepairConfig{Tenants: idempotency.Tenants("acme")})
	round, err := worker.Once(ctx)
	fmt.Println("completed:", round.Completed, err)

	_, err = requests.Begin(ctx, client, pay, idempotency.External)
	if replay, ok := idempotency.Replayed(err); ok {
		fmt.Println("a repeat gets:", string(replay.Result.Body))
	}
	// Output:
	// a repeat waits for repair: true
	// what became of key-1 and why do you ask? the lease ended without an outcome
	// completed: 1 <nil>
	// a repeat gets: paid
}

func ExampleCanonicalJSON() {
	canonical, err := idempotency.CanonicalJSON([]byte(`{ "quantity": 10.50, "symbol": "\u0041CME", "id": 9007199254740993 }`))
	fmt.Println(string(canonical), err)

	_, err = idempotency.CanonicalJSON([]byte(`{"quantity":1,"quantity":2}`))
	fmt.Println(err)
	// Output:
	// {"id":9007199254740993,"quantity":105e-1,"symbol":"ACME"} <nil>
	// idempotency: command: JSON at byte 14 is a duplicate; retrying cannot help [DFN-1302]
}
