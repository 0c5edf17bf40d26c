package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
)

// working is an accepted order as execution and the venue know it.
type working struct {
	Tenant, OrderID, ClientOrderID, Account, Symbol, Side string
	Quantity                                              money.Amount
	Price                                                 money.Amount // the limit, or for a market order the last price
	Limited, Waits                                        bool         // Waits: what finds nobody stays open, till the close at least
	PlacedAt                                              time.Time
}

// working reads the event of an order's acceptance.
func (m market) working(e outbox.Event) (w working, err error) {
	var p acceptedPayload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return w, fmt.Errorf("event %s: %w", e.ID, err)
	}
	in, ok := m.instruments[p.Symbol]
	if !ok {
		return w, fmt.Errorf("event %s: %q is not listed here", e.ID, p.Symbol)
	}
	w = working{
		Tenant: e.Tenant, OrderID: p.OrderID, ClientOrderID: p.ClientOrderID, Account: p.Account, Symbol: p.Symbol, Side: p.Side,
		Price: in.last, Limited: p.LimitPrice != "", Waits: p.TimeInForce != "ioc", PlacedAt: e.OccurredAt,
	}
	if w.Quantity, err = m.registry.Parse(p.Quantity); err != nil {
		return w, fmt.Errorf("event %s: quantity: %w", e.ID, err)
	}
	if w.Limited {
		if w.Price, err = m.registry.Parse(p.LimitPrice); err != nil {
			return w, fmt.Errorf("event %s: limit price: %w", e.ID, err)
		}
	}
	return w, nil
}

// venueCode is the venue to which all orders go.
const venueCode = "XDYN"

// venuePrefix begins the IDs that the venue gives to fills.
const venuePrefix = "exe-"

// fill is what the venue reports: a part of an order was bought or sold. Its ID is the venue's, and unique there.
type fill struct {
	ID              string
	Order           working
	Quantity, Price money.Amount
	At              time.Time
}

// fills is the venue: all that it will ever report about an order, in its order. It follows from the order alone, as the
// client named it, so a venue that is told twice, or asked to repeat itself, says the same. Some orders find nobody, some are
// left with a rest, and now and then the venue reports more than there was to fill.
func fills(w working) (reports []fill, err error) {
	chance := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(w.Tenant), w.Tenant, w.ClientOrderID))
	count := int([...]byte{0, 1, 1, 1, 1, 2, 2, 3}[chance[0]%8])
	if !w.Limited {
		count = 1 + int(chance[0]%2)
	}
	if count == 0 {
		return nil, nil
	}
	pieces := count
	if chance[1]%6 == 0 {
		pieces++ // the last one stays open
	}
	parts, err := w.Quantity.Split(pieces)
	if err != nil {
		return nil, err
	}
	parts = parts[:count]
	if chance[2]%40 == 0 {
		parts = append(parts, w.Quantity) // a mistake of the venue
	}
	for i, quantity := range parts {
		if quantity.IsZero() {
			continue
		}
		price, err := w.improved(int64(chance[3+i] % 4))
		if err != nil {
			return nil, err
		}
		reports = append(reports, fill{
			ID: fmt.Sprintf("%s%s-%d", venuePrefix, hex.EncodeToString(chance[8:20]), i+1), Order: w, Quantity: quantity, Price: price,
			At: w.PlacedAt.Add(time.Duration(i+1) * 40 * time.Millisecond),
		})
	}
	return reports, nil
}

// improved is a price that is better than the order's by some ticks: lower for a buyer, as long as it is a price.
func (w working) improved(ticks int64) (money.Amount, error) {
	if w.Side == "buy" {
		ticks = -ticks
	}
	step, err := money.FromMinor(ticks, w.Price.Currency())
	if err != nil {
		return money.Amount{}, err
	}
	price, err := w.Price.Add(step)
	if err == nil && price.Sign() <= 0 {
		return w.Price, nil
	}
	return price, err
}
