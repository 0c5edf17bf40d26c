package main

import "github.com/dynafin/dynafin/money"

// listed is the broker's master data: the securities that trade here, how finely their quantities are counted, the
// currency of their prices and the last price of the day before. ETH-USD stands for the assets whose eighteen places no
// binary float can hold.
var listed = [...]struct {
	symbol         string
	places         int
	currency, last string
}{
	{"ACME", 0, "USD", "19.99"}, {"GLOBEX", 0, "USD", "482.10"}, {"NORTHWIND", 0, "USD", "7.15"},
	{"RHEIN", 0, "EUR", "134.75"}, {"LUMIERE", 0, "EUR", "22.60"}, {"TOKAI", 0, "JPY", "2875"}, {"GULF-BANK", 0, "KWD", "1.284"},
	{"WORLD-ETF", 4, "USD", "112.84"}, {"BOND-ETF", 4, "EUR", "98.30"}, {"ETH-USD", 18, "USD", "3120.55"},
}

// market knows the securities that trade here: by symbol, and as currencies of the texts of amounts.
type market struct {
	instruments map[string]instrument
	registry    money.Registry
}

type instrument struct {
	security, currency money.Currency
	last               money.Amount
}

func openMarket() (market, error) {
	m := market{instruments: map[string]instrument{}}
	var securities []money.Currency
	for _, l := range listed {
		security, err := money.Define(l.symbol, l.places, money.KindSecurity)
		if err != nil {
			return m, err
		}
		currency, err := money.ISO(l.currency)
		if err != nil {
			return m, err
		}
		last, err := money.Parse(l.last, currency)
		if err != nil {
			return m, err
		}
		securities = append(securities, security)
		m.instruments[l.symbol] = instrument{security, currency, last}
	}
	var err error
	m.registry, err = money.NewRegistry(securities...)
	return m, err
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
	in, ok := m.instruments[o.Symbol]
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
