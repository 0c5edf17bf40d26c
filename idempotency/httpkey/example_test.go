package httpkey_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/idempotency/httpkey"
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
