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

// The statuses of an order. The last three are ends, and an order that has come to one leaves the index of those that are open.
const (
	statusAccepted        = "ACCEPTED"
	statusPartiallyFilled = "PARTIALLY_FILLED"
	statusFilled          = "FILLED"
	statusCancelled       = "CANCELLED" // by the venue: nobody took the rest of an order that would not wait
	statusExpired         = "EXPIRED"   // at the close
)

var openStatuses = [...]string{statusAccepted, statusPartiallyFilled}

// The keys of orders and trades (IDX01, IDX04), of accounts (IDX02, IDX05, IDX07) and of an account's orders by status
// (IDX03). Components need no escaping: tenant, account and order ID consist of the letters that fields.code allows, which
// '#' is not one of.
func orderPK(tenant, orderID string) string   { return "TEN#" + tenant + "#ORDER#" + orderID }
func accountPK(tenant, account string) string { return "TEN#" + tenant + "#ACCT#" + account }
func statusPK(tenant, account, status string) string {
	return accountPK(tenant, account) + "#STATUS#" + status
}
func placedSK(o order) string { return "ORD#" + timestamp(o.At) + "#" + o.id() }

// orderItem is the stored order.
func orderItem(o order, now time.Time) (txn.Item, error) {
	item := ordersTable.Key(orderPK(o.Tenant, o.id()), "META")
	store(item, map[string]string{
		"accountPk": accountPK(o.Tenant, o.Account), "accountSk": placedSK(o),
		"statusPk": statusPK(o.Tenant, o.Account, statusAccepted), "statusSk": placedSK(o),
		"orderId": o.id(), "clientOrderId": o.ClientOrderID, "requestKey": o.RequestKey,
		"tenant": o.Tenant, "account": o.Account, "symbol": o.Symbol, "side": o.Side, "type": o.Type,
		"timeInForce": o.TimeInForce, "status": statusAccepted, "currency": o.Currency.Code(),
		"placedAt": timestamp(o.At), "acceptedAt": timestamp(now), "trader": o.Trader, "instructions": o.Instructions,
	})
	item["version"] = &types.AttributeValueMemberN{Value: strconv.Itoa(firstVersion)}
	amounts := map[string]money.Amount{"quantity": o.Quantity}
	if price := o.limitPrice(); price != nil {
		amounts["limitPrice"] = *price
	}
	return item, storeAmounts(item, amounts)
}

// store adds texts to an item, those that are not empty, and the version of the record's format.
func store(item txn.Item, texts map[string]string) {
	item["v"] = &types.AttributeValueMemberN{Value: "1"}
	for name, text := range texts {
		if text != "" {
			item[name] = &types.AttributeValueMemberS{Value: text}
		}
	}
}

// storeAmounts adds amounts to an item, as exact numbers with their currency and scale beside them.
func storeAmounts(item txn.Item, amounts map[string]money.Amount) error {
	for name, amount := range amounts {
		value, err := amount.Encode()
		if err != nil {
			return err
		}
		item[name] = value
	}
	return nil
}

// orderAccepted is the type of the event.
const orderAccepted = "OrderAccepted"

// acceptedPayload is what the rest of the firm is told about an accepted order: all of it, so that nobody has to ask back.
type acceptedPayload struct {
	OrderID       string `json:"order_id"`
	ClientOrderID string `json:"client_order_id"`
	Account       string `json:"account"`
	Symbol        string `json:"symbol"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	TimeInForce   string `json:"time_in_force"`
	Quantity      string `json:"quantity"`              // "100 ACME"
	LimitPrice    string `json:"limit_price,omitempty"` // "19.99 USD"
	Currency      string `json:"currency"`
	PlacedAt      string `json:"placed_at"`
	Trader        string `json:"trader,omitempty"`
	Instructions  string `json:"instructions,omitempty"`
}

// acceptedEvent follows from the order alone, so a repeated request builds the same event; only its place in the queue is
// the time of the commit.
func acceptedEvent(o order, now time.Time) (outbox.Event, error) {
	accepted := acceptedPayload{
		OrderID: o.id(), ClientOrderID: o.ClientOrderID, Account: o.Account, Symbol: o.Symbol, Side: o.Side, Type: o.Type,
		TimeInForce: o.TimeInForce, Quantity: o.Quantity.String(), Currency: o.Currency.Code(),
		PlacedAt: timestamp(o.At), Trader: o.Trader, Instructions: o.Instructions,
	}
	if price := o.limitPrice(); price != nil {
		accepted.LimitPrice = price.String()
	}
	payload, err := json.Marshal(accepted)
	return outbox.Event{
		ID: o.eventID(), Tenant: o.Tenant, Type: orderAccepted, SchemaVersion: 1, Payload: payload,
		AggregateType: orderAggregate, AggregateID: o.id(), AggregateVersion: firstVersion,
		OccurredAt: o.At, Due: now, CausationID: o.RequestKey,
	}, err
}

// orderAggregate is the type of what is versioned in the events of orders and of their trades.
const orderAggregate = "Order"

// timestamp writes a time so that texts sort as times do: UTC and always nine decimals.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }
