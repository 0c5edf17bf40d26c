package main

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// firstVersion is the version of an order when it is accepted; every later change raises it.
const firstVersion = 1

// statusAccepted is the status of an order that has no fill yet.
const statusAccepted = "ACCEPTED"

// The keys of the Orders table (IDX01) and its two order indexes (IDX02, IDX03). Components need no escaping: tenant,
// account and order ID consist of the letters that fields.code allows, which '#' is not one of.
func orderPK(o order) string   { return "TEN#" + o.Tenant + "#ORDER#" + o.id() }
func accountPK(o order) string { return "TEN#" + o.Tenant + "#ACCT#" + o.Account }
func statusPK(o order, status string) string {
	return accountPK(o) + "#STATUS#" + status
}
func placedSK(o order) string { return "ORD#" + timestamp(o.At) + "#" + o.id() }

// orderItem is the stored order. Amounts are exact numbers with their currency and scale beside them.
func orderItem(o order, now time.Time) (txn.Item, error) {
	item := ordersTable.Key(orderPK(o), "META")
	for name, value := range map[string]string{
		"accountPk": accountPK(o), "accountSk": placedSK(o),
		"statusPk": statusPK(o, statusAccepted), "statusSk": placedSK(o),
		"orderId": o.id(), "clientOrderId": o.ClientOrderID, "requestKey": o.RequestKey,
		"tenant": o.Tenant, "account": o.Account, "symbol": o.Symbol, "side": o.Side, "type": o.Type,
		"timeInForce": o.TimeInForce, "status": statusAccepted, "currency": o.Currency.Code(),
		"placedAt": timestamp(o.At), "acceptedAt": timestamp(now), "trader": o.Trader, "instructions": o.Instructions,
	} {
		if value != "" {
			item[name] = &types.AttributeValueMemberS{Value: value}
		}
	}
	for name, value := range map[string]int{"v": 1, "version": firstVersion} {
		item[name] = &types.AttributeValueMemberN{Value: strconv.Itoa(value)}
	}
	for name, amount := range map[string]*money.Amount{"quantity": &o.Quantity, "limitPrice": o.limitPrice()} {
		if amount == nil {
			continue
		}
		value, err := amount.Encode()
		if err != nil {
			return nil, err
		}
		item[name] = value
	}
	return item, nil
}

// acceptedEvent tells the rest of the firm what was accepted: the whole order, so that nobody has to ask back. It follows
// from the order alone, so a repeated request builds the same event; only its place in the queue is the time of the
// commit.
func acceptedEvent(o order, now time.Time) (outbox.Event, error) {
	payload, err := json.Marshal(struct {
		OrderID       string        `json:"order_id"`
		ClientOrderID string        `json:"client_order_id"`
		Account       string        `json:"account"`
		Symbol        string        `json:"symbol"`
		Side          string        `json:"side"`
		Type          string        `json:"type"`
		TimeInForce   string        `json:"time_in_force"`
		Quantity      money.Amount  `json:"quantity"`              // "100 ACME"
		LimitPrice    *money.Amount `json:"limit_price,omitempty"` // "19.99 USD"
		Currency      string        `json:"currency"`
		PlacedAt      string        `json:"placed_at"`
		Trader        string        `json:"trader,omitempty"`
		Instructions  string        `json:"instructions,omitempty"`
	}{
		o.id(), o.ClientOrderID, o.Account, o.Symbol, o.Side, o.Type, o.TimeInForce, o.Quantity, o.limitPrice(),
		o.Currency.Code(), timestamp(o.At), o.Trader, o.Instructions,
	})
	return outbox.Event{
		ID: o.eventID(), Tenant: o.Tenant, Type: "OrderAccepted", SchemaVersion: 1, Payload: payload,
		AggregateType: "Order", AggregateID: o.id(), AggregateVersion: firstVersion,
		OccurredAt: o.At, Due: now, CausationID: o.RequestKey,
	}, err
}

// timestamp writes a time so that texts sort as times do: UTC and always nine decimals.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }
