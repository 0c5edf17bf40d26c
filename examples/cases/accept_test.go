package cases

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

var names = sentinel.New(sentinel.Config{Table: store})

// accept stores an order with its result, its client's ID and its event: one transaction.
func accept(ctx context.Context, client *dynamodb.Client, requestKey, clientOrder, order, body string) (idempotency.Result, error) {
	request := idempotency.Request{Tenant: tenant, Key: requestKey, Operation: "order.accept", Command: idempotency.JSON([]byte(body))}
	result := idempotency.Result{Code: "201", Body: []byte(order)}
	_, err := txn.Commit(ctx, client,
		requests.Once(request, result),
		names.Reserve(sentinel.Claim{Tenant: tenant, Kind: sentinel.ClientOrder, Name: clientOrder, Owner: order, Command: requestKey}),
		txn.Put(store, item("ORDER#"+order, fields{"body": body}), txn.IfAbsent()),
		events.Create(event(order, 1, "OrderAccepted", body)),
	)
	if replay, ok := idempotency.Replayed(err); ok {
		return replay.Result, nil
	}
	return result, err
}

// The process dies behind each of its requests, and the client repeats its order.
func TestCS01_NoAcceptedOrderLacksItsEvent(t *testing.T) {
	// naive stores the order, then its event. A repeat finds the order and is told that it is there.
	naive := func(ctx context.Context, client *dynamodb.Client) error {
		if err := insert(ctx, client, "ORDER#1", fields{"body": body}); err != nil {
			return err
		}
		return insert(ctx, client, "EVENT#1", fields{"order": "1"})
	}
	ours := func(ctx context.Context, client *dynamodb.Client) error {
		_, err := accept(ctx, client, "key-1", "C-1", "1", body)
		return err
	}
	untold := func(s *stage, version work, requests int) (lost bool) {
		_ = version(s.ctx, s.dying(requests)) // the client hears nothing
		_ = version(s.ctx, s.client)          // and repeats; what the naive version answers does not mend anything
		s.wants("orders", s.count("ORDER"), 1)
		return s.count("EVENT") < s.count("ORDER")
	}
	for requests := range 3 {
		t.Run("a crash behind request "+strconv.Itoa(requests), func(t *testing.T) {
			twice(t,
				func(s *stage) { s.wants("an order without an event", untold(s, naive, requests), requests == 1) },
				func(s *stage) {
					s.wants("an order without an event", untold(s, ours, requests), false)
					// The relay and the consumer may repeat; the event is one, whatever happened.
					bus := &outbox.Memory{}
					_, err := outbox.NewRelay(events, s.client, bus, outbox.RelayConfig{}).Once(s.ctx)
					s.must(err)
					s.wants("events published", len(bus.Messages()), 1)
				})
		})
	}
}

const body, otherBody = `{"symbol":"ACME","quantity":"100"}`, `{"symbol":"ACME","quantity":"999"}`

// cached keeps "201" for the key of a request, once the effect is there.
func cached(ctx context.Context, client *dynamodb.Client, newOrder, body string) (code string, err error) {
	hit, err := read(ctx, client, "CACHE#key-1")
	if err != nil || hit != nil {
		return "201", err
	}
	if err := write(ctx, client, "ORDER#"+newOrder, fields{"body": body}); err != nil {
		return "", err
	}
	return "201", write(ctx, client, "CACHE#key-1", fields{"code": "201", "expiresAt": opening.Add(time.Hour).Unix()})
}

// A repeat comes with another body, at the same time, after a crash behind the effect, and after one behind a charge elsewhere.
func TestCS02_ARepeatGetsTheDurableResultOfItsOwnCommand(t *testing.T) {
	t.Run("another body", func(t *testing.T) { twice(t, anotherBodyCached, anotherBody) })
	t.Run("two at once", func(t *testing.T) { twice(t, twoAtOnceCached, twoAtOnce) })
	t.Run("a crash behind the effect", func(t *testing.T) { twice(t, crashCached, crash) })
	t.Run("a crash behind a charge elsewhere", func(t *testing.T) { twice(t, chargedTwice, chargedOnce) })
}

func anotherBodyCached(s *stage) {
	_, err := cached(s.ctx, s.client, "1", body)
	s.must(err)
	code, err := cached(s.ctx, s.client, "2", otherBody)
	s.must(err)
	s.wants("an order that nobody stored was answered", []any{code, s.count("ORDER")}, []any{"201", 1})
}

func anotherBody(s *stage) {
	_, err := accept(s.ctx, s.client, "key-1", "C-1", "1", body)
	s.must(err)
	_, err = accept(s.ctx, s.client, "key-1", "C-2", "2", otherBody)
	s.wants("mismatch", errors.Is(err, idempotency.ErrMismatch), true)
	s.wants("orders", s.count("ORDER"), 1)
}

func twoAtOnceCached(s *stage) {
	s.inTurns("abab",
		func(ctx context.Context, c *dynamodb.Client) error { _, err := cached(ctx, c, "1", body); return err },
		func(ctx context.Context, c *dynamodb.Client) error { _, err := cached(ctx, c, "2", body); return err })
	s.wants("orders of one command", s.count("ORDER"), 2)
}

func twoAtOnce(s *stage) {
	var answers [2]idempotency.Result
	place := func(n int, order string) work {
		return func(ctx context.Context, c *dynamodb.Client) (err error) {
			answers[n], err = accept(ctx, c, "key-1", "C-1", order, body)
			return err
		}
	}
	s.must(errors.Join(s.inTurns("abab", place(0, "1"), place(1, "2"))...))
	s.wants("orders of one command", s.count("ORDER"), 1)
	s.wants("the second answer", string(answers[1].Body), string(answers[0].Body))
}

func crashCached(s *stage) {
	_, _ = cached(s.ctx, s.dying(2), "1", body)
	_, err := cached(s.ctx, s.client, "2", body)
	s.must(err)
	s.wants("orders of one command", s.count("ORDER"), 2)
}

func crash(s *stage) {
	_, _ = accept(s.ctx, s.dying(1), "key-1", "C-1", "1", body)
	answer, err := accept(s.ctx, s.client, "key-1", "C-1", "2", body)
	s.must(err)
	s.wants("orders of one command", s.count("ORDER"), 1)
	s.wants("the order in the answer", string(answer.Body), "1")
}

func chargedTwice(s *stage) {
	charges := 0
	pay := func(client *dynamodb.Client) error {
		hit, err := read(s.ctx, client, "CACHE#pay-1")
		if err != nil || hit != nil {
			return err
		}
		charges++ // the provider is called
		return write(s.ctx, client, "CACHE#pay-1", fields{"code": "201"})
	}
	_ = pay(s.dying(1))
	s.must(pay(s.client))
	s.wants("charges", charges, 2)
}

// chargedOnce plays the crash behind a charge with a lease, a repair queue and the provider's own books as evidence.
func chargedOnce(s *stage) {
	charges, done := 0, idempotency.Result{Code: "201", Body: []byte("charged")}
	request := idempotency.Request{Tenant: tenant, Key: "pay-1", Operation: "pay", Command: idempotency.JSON([]byte(`{"usd":"10"}`))}
	pay := func(client *dynamodb.Client) (idempotency.Answer, error) {
		return requests.Do(s.ctx, client, request, idempotency.Work{
			Mode: idempotency.External,
			Run: func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
				charges++ // the provider is called
				return done, nil, nil
			},
		})
	}
	_, err := pay(s.dying(1))
	s.wants("the first attempt failed", err != nil, true)
	_, err = pay(s.client)
	s.wants("within the lease: in progress", errors.Is(err, idempotency.ErrInProgress), true)
	s.pass(2 * idempotency.LeaseDefault)
	_, err = pay(s.client)
	s.wants("behind it: repair required", errors.Is(err, idempotency.ErrRepairRequired), true)

	evidence := idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
		return idempotency.Found(done), nil // the provider has the charge in its books
	})
	_, err = idempotency.NewRepairWorker(requests, s.client, evidence, idempotency.RepairConfig{Tenants: idempotency.Tenants(tenant)}).Once(s.ctx)
	s.must(err)
	answer, err := pay(s.client)
	s.must(err)
	s.wants("the answer in the end", []any{answer.Replayed, string(answer.Result.Body)}, []any{true, "charged"})
	s.wants("charges", charges, 1)
}
