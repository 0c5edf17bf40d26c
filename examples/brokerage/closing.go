package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// closedPayload is what the rest of the firm is told about an order that ends without being filled.
type closedPayload struct {
	OrderID string `json:"order_id"`
	Account string `json:"account"`
	Status  string `json:"status"`
	Open    string `json:"open"` // what nobody took
}

func closedEvent(tenant, accountID, orderID, status string, at standing, now time.Time) (outbox.Event, error) {
	payload, err := json.Marshal(closedPayload{OrderID: orderID, Account: accountID, Status: status, Open: at.open.String()})
	return outbox.Event{
		ID: "end-" + orderID, Tenant: tenant, Type: orderClosed, SchemaVersion: 1, Payload: payload,
		AggregateType: orderAggregate, AggregateID: orderID, AggregateVersion: at.version + 1, OccurredAt: now, Due: now, CausationID: orderID,
	}, err
}

// closeOrder ends an order that is still open, by a step from the version that is read, together with the event and whatever
// else comes with it. It returns false if the order had ended before.
func (x *execution) closeOrder(ctx context.Context, tenant, accountID, orderID, status string, with ...txn.Part) (closed bool, err error) {
	for range 1 + repeatsMax {
		at, err := x.standing(ctx, working{Tenant: tenant, OrderID: orderID})
		if err != nil || at.ended() {
			return closed && err == nil, err
		}
		event, err := closedEvent(tenant, accountID, orderID, status, at, x.now())
		if err != nil {
			return false, err
		}
		step := expression.Set(expression.Name("version"), expression.Value(at.version+1))
		_, err = x.committer.Commit(ctx, append([]txn.Part{
			txn.Update(ordersTable, ordersTable.Key(orderPK(tenant, orderID), "META"), ending(step, status), txn.Label("AP03.end"),
				txn.If(expression.Name("version").Equal(expression.Value(at.version))),
				txn.Explain(func(txn.Item) error { return errMoved })),
			x.events.Create(event),
		}, with...)...)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, txn.ErrAmbiguous):
			closed = true // perhaps; the order says so when it is read again
		case !errors.Is(err, errMoved) && !errors.Is(err, txn.ErrContention):
			return false, fmt.Errorf("order %s: %w", orderID, err)
		}
	}
	return false, fmt.Errorf("order %s: %w", orderID, errMoved)
}

// closeMarket ends the orders that were good for the day: what their reservations have left goes back in the transaction that
// ends the order. They are found by the reservations that expire (AP12), on every shard of every tenant.
func (b *backOffice) closeMarket(ctx context.Context, tenants []string) error {
	for _, tenant := range tenants {
		for shard := range b.books.ledger.Shards() {
			for r, err := range b.books.ledger.Due(ctx, b.client, tenant, shard, b.clock.now()) {
				if err != nil {
					return err
				}
				if err := b.expire(ctx, r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *backOffice) expire(ctx context.Context, r ledger.Reservation) error {
	closed, err := b.execution.closeOrder(ctx, r.Tenant, r.Account, r.ID, statusExpired, b.books.ledger.Expire(r))
	var ended *ledger.EndedError
	if errors.As(err, &ended) {
		return nil // the index showed what is over
	}
	if closed {
		b.change(func(a *aftermath) { a.Expired++ })
	}
	return err
}
