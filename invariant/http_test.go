package invariant_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/idempotency/httpkey"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

var (
	lamps      = txn.Table{Name: "Orders"}
	lampEvents = outbox.New(outbox.Config{Service: "shop"})
)

// newShop is the service under test: an HTTP handler, with client, clock and chance as parameters.
func newShop(p *invariant.Process) (http.Handler, error) {
	keys, err := httpkey.New(httpkey.Config{
		Requests: idempotency.New(idempotency.Config{Now: p.Now, NewID: p.NewID, Txn: p.Txn()}),
		Client:   p.Client(), Mode: idempotency.Transactional, Txn: p.Txn(),
		Tenant: func(*http.Request) (string, error) { return "shop", nil },
	})
	if err != nil {
		return nil, err
	}
	return keys.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := p.NewID()
		created := outbox.Event{Tenant: "shop", AggregateType: "Order", AggregateID: id, AggregateVersion: 1,
			Type: "OrderCreated", SchemaVersion: 1, OccurredAt: p.Now()}
		created.ID = created.StableID()
		err := httpkey.Current(r.Context()).Commit(r.Context(), httpkey.Response{Status: http.StatusCreated, Body: []byte(id)},
			txn.Put(lamps, lamps.Key("ORDER#"+id, "ORDER"), txn.IfAbsent()),
			lampEvents.Create(created),
		)
		if err != nil {
			http.Error(w, "try again", http.StatusServiceUnavailable)
		}
	})), nil
}

// buy is the client: it sends the request again, with the same key, until it has an answer.
func buy(ctx context.Context, p *invariant.Process, key string) ([]byte, error) {
	shop, err := newShop(p)
	if err != nil {
		return nil, err
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/orders", strings.NewReader("one lamp"))
	r.Header.Set(httpkey.Header, key)
	w := httptest.NewRecorder()
	shop.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		return nil, fmt.Errorf("%d: %s", w.Code, w.Body)
	}
	return w.Body.Bytes(), nil
}

// A service tests its own handler: every request of it meets every fault.
func TestAnHTTPHandlerIsSafeToRepeat(t *testing.T) {
	runs := invariant.EachFault(t, invariant.Config{}, func(w *invariant.World) {
		w.Table("Orders")
		w.Table("Idempotency", idempotency.New(idempotency.Config{}).Index())
		w.Table("Outbox", lampEvents.Index())
		for _, key := range []string{"ann-1", "bob-1"} {
			w.Command(key, func(ctx context.Context, p *invariant.Process) ([]byte, error) { return buy(ctx, p, key) })
		}
		w.Run()
		w.Settle()
		w.Check("every client is told one thing", invariant.SameAnswers(w.Answers()))
		w.Check("one order and one event for each key", count(w, 2, "Orders", "Outbox"))
	})
	if runs < 20 {
		t.Errorf("%d runs: the story has fewer requests than it should", runs)
	}
}

// count compares how many items the tables have.
func count(w *invariant.World, want int, tables ...string) error {
	for _, table := range tables {
		found, err := w.Client().Scan(w.Context(), &dynamodb.ScanInput{TableName: &table})
		if err != nil {
			return err
		}
		if len(found.Items) != want {
			return fmt.Errorf("%s has %d items, want %d", table, len(found.Items), want)
		}
	}
	return nil
}
