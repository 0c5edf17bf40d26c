package main

import "github.com/dynafin/dynafin/money"

// listed is the broker's master data: the securities that trade here, how finely their quantities are counted and the
// currency of their prices. ETH-USD stands for the assets whose eighteen places no binary float can hold.
var listed = [...]struct {
	symbol   string
	places   int
	currency string
}{
	{"ACME", 0, "USD"}, {"GLOBEX", 0, "USD"}, {"NORTHWIND", 0, "USD"}, {"RHEIN", 0, "EUR"}, {"LUMIERE", 0, "EUR"},
	{"TOKAI", 0, "JPY"}, {"GULF-BANK", 0, "KWD"}, {"WORLD-ETF", 4, "USD"}, {"BOND-ETF", 4, "EUR"}, {"ETH-USD", 18, "USD"},
}

// market maps a symbol to its security and the currency it trades in.
type market map[string]instrument

type instrument struct{ security, currency money.Currency }

func openMarket() (market, error) {
	m := market{}
	for _, l := range listed {
		security, err := money.Define(l.symbol, l.places, money.KindSecurity)
		if err != nil {
			return nil, err
		}
		currency, err := money.ISO(l.currency)
		if err != nil {
			return nil, err
		}
		m[l.symbol] = instrument{security, currency}
	}
	return m, nil
}

// amounts reads what depends on the instrument: quantity, currency and limit price. Numbers with an exponent are refused
// although JSON allows them: 1e3 is how a program prints a binary float, so whoever sends it may have lost digits before.
func (f *fields) amounts(o *order, m market) {
	quantity, code := f.number("quantity"), f.text("currency", maxText)
	price := ""
	switch {
	case o.Type == "limit":
		price = f.number("limit_price")
	case f.has("limit_price"):
		f.take("limit_price")
		if o.Type == "market" {
			f.fault("limit_price", "a market order has none")
		}
	}
	if o.Symbol == "" || code == "" {
		return // missing, and said so; quantity and price mean nothing without them
	}
	in, ok := m[o.Symbol]
	if !ok {
		f.fault("symbol", "%q is not listed here", o.Symbol)
		return
	}
	currency, err := money.ISO(code)
	switch {
	case err != nil:
		f.fault("currency", "%v", err)
		return
	case currency != in.currency:
		f.fault("currency", "%s trades in %s, not in %s", o.Symbol, in.currency, currency)
		return
	}
	o.Currency = currency
	o.Quantity = f.positive("quantity", quantity, in.security)
	if o.Type == "limit" {
		o.LimitPrice = f.positive("limit_price", price, currency)
	}
}

func (f *fields) positive(name, text string, c money.Currency) money.Amount {
	if text == "" {
		return money.Amount{} // missing, and said so
	}
	amount, err := money.Parse(text, c)
	switch {
	case err != nil:
		f.fault(name, "%v", err)
	case amount.Sign() <= 0:
		f.fault(name, "must be above zero")
	}
	return amount
}
