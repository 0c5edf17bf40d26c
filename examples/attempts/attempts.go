package main

import (
	"context"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// attempt takes an order for a client's key, tells the warehouse, and returns what the client is told. An error is no
// answer: the client sends the same again.
type attempt func(ctx context.Context, p *process, key string) (answer string, err error)

// writeThenPublish is what most services do.
func writeThenPublish(ctx context.Context, p *process, _ string) (string, error) {
	id := p.newID()
	if err := p.put(ctx, "ORDER#"+id); err != nil {
		return "", err
	}
	return "ordered: " + id, p.publish(id)
}

// keyFirst remembers the keys that it has seen, so that a repeat is recognised.
func keyFirst(ctx context.Context, p *process, key string) (string, error) {
	if isNew, err := p.putNew(ctx, "KEY#"+key); !isNew || err != nil {
		return "was ordered before", err
	}
	return writeThenPublish(ctx, p, key)
}

// keyLast remembers a key when all is done.
func keyLast(ctx context.Context, p *process, key string) (string, error) {
	if known, err := p.has(ctx, "KEY#"+key); known || err != nil {
		return "was ordered before", err
	}
	answer, err := writeThenPublish(ctx, p, key)
	if err != nil {
		return "", err
	}
	return answer, p.put(ctx, "KEY#"+key)
}

// oneTransaction stores order, answer and event together; a relay publishes.
func oneTransaction(ctx context.Context, p *process, key string) (string, error) {
	id := p.newID()
	answer := "ordered: " + id
	_, err := p.committer.Commit(ctx,
		p.requests.Once(idempotency.Request{Tenant: "acme", Key: key, Operation: "order", Command: idempotency.NewFields()},
			idempotency.Result{Code: "201", Body: []byte(answer)}),
		txn.Put(orders, orders.Key("ORDER#"+id, "ITEM"), txn.IfAbsent()),
		events.Create(created(id)),
	)
	if replay, ok := idempotency.Replayed(err); ok {
		answer, err = string(replay.Result.Body), nil
	}
	return answer, err
}

// created is the event that reports an order.
func created(id string) outbox.Event {
	e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: id, AggregateVersion: 1, Type: "OrderCreated", SchemaVersion: 1, OccurredAt: noon}
	e.ID = e.StableID()
	return e
}
