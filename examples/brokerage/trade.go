package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// notional is the money that a fill moves. What rounding took away is kept beside it.
func (f fill) notional() (money.Rounded, error) { return value(f.Quantity, f.Price) }

// tradeKey is where a fill is recorded (IDX04). The venue's ID makes it unique, so a repeated report meets the first one.
func (f fill) tradeKey() txn.Item {
	return executionTable.Key(orderPK(f.Order.Tenant, f.Order.OrderID), f.tradeSK())
}

func (f fill) tradeSK() string { return "TRADE#" + timestamp(f.At) + "#" + f.ID }

// tradeItem is the stored trade.
func (f fill) tradeItem(amount money.Rounded, now time.Time) (txn.Item, error) {
	item := f.tradeKey()
	o := f.Order
	store(item, map[string]string{
		"accountPk": accountPK(o.Tenant, o.Account), "accountSk": f.tradeSK(),
		"symbolPk": "TEN#" + o.Tenant + "#SYM#" + o.Symbol, "symbolSk": f.tradeSK(),
		"tradeId": f.ID, "orderId": o.OrderID, "tenant": o.Tenant, "account": o.Account, "symbol": o.Symbol, "side": o.Side,
		"executedAt": timestamp(f.At), "recordedAt": timestamp(now), "residual": amount.Residual.String(),
	})
	return item, storeAmounts(item, map[string]money.Amount{"quantity": f.Quantity, "price": f.Price, "amount": amount.Amount})
}

// The types of execution's events.
const (
	tradeExecuted = "TradeExecuted"
	orderClosed   = "OrderClosed"
)

func (f fill) refusalKey() txn.Item {
	return executionTable.Key(orderPK(f.Order.Tenant, f.Order.OrderID), "REFUSED#"+timestamp(f.At)+"#"+f.ID)
}

// refusalItem is what is left of a report that cannot be true, for whoever reconciles with the venue.
func (f fill) refusalItem(open money.Amount, now time.Time) (txn.Item, error) {
	item := f.refusalKey()
	store(item, map[string]string{
		"tradeId": f.ID, "orderId": f.Order.OrderID, "tenant": f.Order.Tenant, "reason": "more than the order has open",
		"executedAt": timestamp(f.At), "recordedAt": timestamp(now),
	})
	return item, storeAmounts(item, map[string]money.Amount{"quantity": f.Quantity, "price": f.Price, "open": open})
}

// tradePayload is what the rest of the firm is told about a trade.
type tradePayload struct {
	Tenant     string `json:"tenant"`
	TradeID    string `json:"trade_id"`
	OrderID    string `json:"order_id"`
	Account    string `json:"account"`
	Symbol     string `json:"symbol"`
	Side       string `json:"side"`
	Quantity   string `json:"quantity"`       // "40 ACME"
	Price      string `json:"price"`          // "19.99 USD"
	Amount     string `json:"amount"`         // "799.60 USD"
	Last       bool   `json:"last,omitempty"` // it fills the order
	ExecutedAt string `json:"executed_at"`
}

// tradeEvent reports the trade, and the version to which it took the order. The venue's ID names it.
func (f fill) tradeEvent(amount money.Amount, at standing, now time.Time) (outbox.Event, error) {
	o := f.Order
	payload, err := json.Marshal(tradePayload{
		Tenant: o.Tenant, TradeID: f.ID, OrderID: o.OrderID, Account: o.Account, Symbol: o.Symbol, Side: o.Side,
		Quantity: f.Quantity.String(), Price: f.Price.String(), Amount: amount.String(), Last: f.Quantity.Equal(at.open), ExecutedAt: timestamp(f.At),
	})
	return outbox.Event{
		ID: f.ID, Tenant: o.Tenant, Type: tradeExecuted, SchemaVersion: 1, Payload: payload,
		AggregateType: orderAggregate, AggregateID: o.OrderID, AggregateVersion: at.version + 1,
		OccurredAt: f.At, Due: now, CausationID: o.OrderID,
	}, err
}

// standing is how far a stored order is.
type standing struct {
	version      int64
	status       string
	filled, open money.Amount
}

// ended says whether nothing can happen to the order any more.
func (s standing) ended() bool { return !slices.Contains(openStatuses[:], s.status) }

// readStanding reads it from the order's item.
func (m market) readStanding(item txn.Item) (s standing, err error) {
	number, _ := item["version"].(*types.AttributeValueMemberN)
	if number == nil {
		return s, errNoOrder
	}
	if s.version, err = strconv.ParseInt(number.Value, 10, 64); err != nil {
		return s, err
	}
	s.status = textOf(item, "status")
	quantity, err := m.registry.Decode(item["quantity"])
	if err != nil {
		return s, err
	}
	s.filled = money.Zero(quantity.Currency())
	if stored := item["filled"]; stored != nil {
		if s.filled, err = m.registry.Decode(stored); err != nil {
			return s, err
		}
	}
	s.open, err = quantity.Sub(s.filled)
	return s, err
}

// textOf is the text or the number under a name.
func textOf(item txn.Item, name string) string {
	switch value := item[name].(type) {
	case *types.AttributeValueMemberS:
		return value.Value
	case *types.AttributeValueMemberN:
		return value.Value
	}
	return ""
}
