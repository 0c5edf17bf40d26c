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
	at := in.last
	if o.Type == "limit" {
		o.LimitPrice = f.positive("limit_price", price, currency)
		at = o.LimitPrice
	}
	if o.Quantity.Sign() > 0 && at.Sign() > 0 && !bookable(o.Quantity, at) {
		f.fault("quantity", "its value at this price does not fit %d digits", money.MaxDigits)
	}
}

// bookable reports whether a quantity still has a value at four times its price, which is more than any venue pays here.
// An order that has none could be accepted, but no trade of it could be booked.
func bookable(quantity, price money.Amount) bool {
	high, err := price.MulInt(4)
	if err == nil {
		_, err = value(quantity, high)
	}
	return err == nil
}

// value is quantity times price, exactly, and then rounded once, to the currency, with what rounding took away.
func value(quantity, price money.Amount) (money.Rounded, error) {
	exact, err := quantity.Rational().Mul(price.Rational())
	if err != nil {
		return money.Rounded{}, err
	}
	return exact.Round(price.Currency(), money.HalfEven)
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
