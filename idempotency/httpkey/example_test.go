package httpkey_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/idempotency/httpkey"
	"github.com/dynafin/dynafin/txn"
)

// A client repeats a payment because it got no answer, and then uses its key for another one.
func ExampleMiddleware_Wrap() {
	requests, db := idempotency.New(idempotency.Config{}), dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable(idempotency.TableName, requests.Index()); err != nil {
		fmt.Println(err)
	}
	keys, err := httpkey.New(httpkey.Config{
		Requests: requests, Client: db.Client(),
		Tenant: func(*http.Request) (string, error) { return "acme", nil }, // in production: from what was authenticated
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	payments := 0
	handler := keys.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		payments++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "payment %d", payments)
	}))

	for _, amount := range []string{"10.00", "10.00", "11.00"} {
		r := httptest.NewRequest(http.MethodPost, "/payments", strings.NewReader(amount))
		r.Header.Set(httpkey.Header, `"key-1"`)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(amount, w.Code, w.Header().Get(httpkey.ReplayedHeader), w.Body)
	}
	// Output:
	// 10.00 201  payment 1
	// 10.00 201 true payment 1
	// 11.00 422  {"type":"about:blank","title":"Idempotency-Key is already used","status":422,"detail":"It belongs to another request. Use a new key for this one."}
}

// An order and the response that tells of it are one transaction. Keys are optional, for clients that do not send them yet.
func ExampleExchange_Commit() {
	requests, db := idempotency.New(idempotency.Config{}), dynamosim.Open(dynamosim.Options{})
	orders := txn.Table{Name: "Orders"}
	for _, err := range []error{db.CreateTable(idempotency.TableName, requests.Index()), db.CreateTable("Orders")} {
		if err != nil {
			fmt.Println(err)
		}
	}
	client := db.Client()
	keys, err := httpkey.New(httpkey.Config{
		Requests: requests, Client: client, Mode: idempotency.Transactional, Optional: true,
		Tenant: func(*http.Request) (string, error) { return "acme", nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	commit := func(ctx context.Context, response httpkey.Response, parts ...txn.Part) error {
		if exchange := httpkey.Current(ctx); exchange != nil {
			return exchange.Commit(ctx, response, parts...)
		}
		_, err := txn.Commit(ctx, client, parts...)
		return err
	}
	count := 0
	handler := keys.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count++
		created := httpkey.Response{Status: http.StatusCreated, Body: fmt.Appendf(nil, "order-%d", count)}
		order := txn.Put(orders, orders.Key("ORDER#"+string(created.Body), "ORDER"), txn.IfAbsent())
		if err := commit(r.Context(), created, order); err != nil {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(created.Status)
		w.Write(created.Body)
	}))

	for _, key := range []string{"key-1", "key-1", "", ""} {
		r := httptest.NewRequest(http.MethodPost, "/orders", strings.NewReader("one lamp"))
		if key != "" {
			r.Header.Set(httpkey.Header, key)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Printf("%q %d %s\n", key, w.Code, w.Body)
	}
	// Output:
	// "key-1" 201 order-1
	// "key-1" 201 order-1
	// "" 201 order-2
	// "" 201 order-3
}
