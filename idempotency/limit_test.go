package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/txn"
)

// A record that is let through is never larger than the limit, whatever else stands in it by then: its place in the index, its
// shard, what repair noted, and the longest mark.
func TestNoRecordOutgrowsItsLimit(t *testing.T) {
	t.Parallel()
	marks := 0
	longest := txn.Config{NewMark: func() string { marks++; return fmt.Sprintf("%036d", marks) }}
	for _, limit := range []int{1024, capacity.MaxItemBytes} {
		s, now := newStore(t, stores.Options{}), newClock()
		requests := s.keeper(idempotency.Config{Now: now.now, RecordBytesMax: limit, Owner: "orders-api-3"})
		keyed := func(n int) idempotency.Request {
			r := order("10")
			r.Key = strings.Repeat("k", n)
			return r
		}
		within := func(what string, r idempotency.Request) {
			t.Helper()
			if size := capacity.ItemSize(s.record(t, r)); size > limit {
				t.Errorf("%s: %d bytes, at most %d are allowed", what, size, limit)
			}
		}
		begun := keyed(largest(900, func(n int) bool {
			_, err := requests.Begin(t.Context(), nobody{}, keyed(n), idempotency.External)
			return !errors.Is(err, idempotency.ErrTooLarge)
		}))
		mustBeginRequest(t, s, requests, begun)
		within("begun", begun)

		claim := mustBeginRequest(t, s, requests, keyed(1))
		complete := func(n int) txn.Part { return claim.Complete(idempotency.Result{Body: make([]byte, n)}) }
		most := largest(limit, func(n int) bool { return complete(n).Err() == nil })
		if _, err := txn.New(s.client, longest).Commit(t.Context(), complete(most)); err != nil {
			t.Errorf("a result of %d bytes of at most %d: %v", most, limit, err)
		}
		within("completed", keyed(1))

		mustBeginRequest(t, s, requests, keyed(2))
		now.advance(time.Hour)
		worker := idempotency.NewRepairWorker(requests, s.client, idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
			return idempotency.Ambiguous("no answer"), nil
		}), idempotency.RepairConfig{Tenants: idempotency.Tenants(begun.Tenant), ProbesMax: 1})
		if _, err := worker.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		rec, err := requests.Get(t.Context(), s.client, begun.Tenant, keyed(2).Key)
		if err != nil {
			t.Fatal(err)
		}
		settle := func(n int) txn.Part {
			return requests.Settle(rec, idempotency.Result{Body: make([]byte, n)}, idempotency.Audit{By: "ann", Reason: "asked", At: now.now()})
		}
		most = largest(limit, func(n int) bool { return settle(n).Err() == nil })
		if _, err := txn.New(s.client, longest).Commit(t.Context(), settle(most)); err != nil {
			t.Errorf("settled with %d bytes of at most %d: %v", most, limit, err)
		}
		within("settled", keyed(2))
	}
}

// largest is the largest number below limit for which something holds that holds for smaller ones.
func largest(limit int, holds func(n int) bool) int {
	return sort.Search(limit, func(n int) bool { return n > 0 && !holds(n) }) - 1
}

func mustBeginRequest(t *testing.T, s *store, requests *idempotency.Requests, r idempotency.Request) *idempotency.Claim {
	t.Helper()
	claim, err := requests.Begin(t.Context(), s.client, r, idempotency.External)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

// nobody is a store that does not answer.
type nobody struct{ idempotency.Claimer }

func (nobody) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return nil, errors.New("nobody answers")
}
