package daygen

import (
	"fmt"
	"strings"
)

// Prime is the account that can pay for the largest orders.
const Prime = "ACC-PRIME"

// exact adds orders that are valid and that a float, a short integer or a careless key would spoil.
func (d *day) exact(orders int) {
	unusual := []struct{ symbol, currency, quantity, price string }{
		{"ACME", "USD", "10", "0.1"},
		{"ACME", "USD", "10", `"0.10"`},
		{"ACME", "USD", "9007199254740993", "0.01"}, // 2^53 + 1
		{"NORTHWIND", "USD", "1234567890123456789", "7.15"},
		{"TOKAI", "JPY", `"1000000000000000001"`, "2875"},
		{"ETH-USD", "USD", "0.000000000000000001", "3120.55"},
		{"ETH-USD", "USD", `"1.000000000000000001"`, "3120.5"},
		{"ETH-USD", "USD", "1234567890.123456789", "3120"},
		{"GULF-BANK", "KWD", "250", "0.001"},
		{"WORLD-ETF", "USD", "0.0001", `"99999999999999999.99"`},
	}
	for i, u := range unusual {
		o := d.order(orders + i)
		o.kind, o.symbol, o.currency, o.quantity, o.price = "limit", u.symbol, u.currency, u.quantity, u.price
		o.account = Prime
		d.add(d.pick(orders)*spacing+1, o)
	}
}

// broken adds the lines that must be refused, each with a part of the message that says why.
func (d *day) broken(orders int) {
	edits := []struct {
		why  string
		edit func(*order)
	}{
		{"currency", func(o *order) { o.currency = "XQZ" }},
		{"currency", func(o *order) { o.currency = "usd" }},
		{"trades in", func(o *order) { o.currency = "GBP" }},
		{"symbol", func(o *order) { o.symbol = "VAPOUR" }},
		{"quantity", func(o *order) { o.quantity = "-5" }},
		{"quantity", func(o *order) { o.quantity = "0" }},
		{"quantity", func(o *order) { o.quantity = "10.5" }},
		{"quantity", func(o *order) { o.quantity = `"1,000"` }},
		{"quantity", func(o *order) { o.quantity = `"NaN"` }},
		{"quantity", func(o *order) { o.quantity = `" 1"` }},
		{"quantity", func(o *order) { o.quantity = "1E+2" }},
		{"quantity", func(o *order) { o.quantity = strings.Repeat("9", 39) }},
		{"quantity", func(o *order) { o.quantity = `{"value":5}` }},
		{"limit_price", func(o *order) { o.price = "1e3" }},
		{"limit_price", func(o *order) { o.price = `"1e1000000000"` }},
		{"limit_price", func(o *order) { o.price = "19.999" }},
		{"limit_price", func(o *order) { o.price = "0.00" }},
		{"limit_price", func(o *order) { o.price = "-19.99" }},
		{"limit_price", func(o *order) { o.price = "" }},
		{"limit_price", func(o *order) { o.kind = "market" }},
		{"limit_price", func(o *order) { o.symbol, o.currency, o.price = "TOKAI", "JPY", "2875.5" }},
		{"side", func(o *order) { o.side = "hold" }},
		{"type", func(o *order) { o.kind = "stop" }},
		{"time_in_force", func(o *order) { o.force = "fok" }},
		{"at", func(o *order) { o.at = "27.11.2026 15:30" }},
		{"at", func(o *order) { o.at = "2026-11-27T15:30:00" }},
		{"request_key", func(o *order) { o.request = "" }},
		{"tenant", func(o *order) { o.tenant = "" }},
		{"client_order_id", func(o *order) { o.client = strings.Repeat("x", 65) }},
		{"instructions", func(o *order) { o.notes = strings.Repeat("Call the desk. ", 80) }},
		{"bytes", func(o *order) { o.notes = strings.Repeat("Call the desk. ", 700) }},
		{"JSON", func(o *order) { o.trader = "Zo\xeb Lindqvist" }},
	}
	for i, e := range edits {
		o := d.sound(orders, i)
		e.edit(&o)
		d.refused(orders, o.json(), e.why)
	}
	whole := d.sound(orders, len(edits)).json()
	inside := strings.TrimSuffix(strings.TrimPrefix(whole, "{"), "}")
	for _, raw := range []struct{ why, text string }{
		{"empty", ""},
		{"empty", "   "},
		{"JSON", "{tenant: 'alder', symbol: 'ACME'}"},
		{"JSON", whole[:len(whole)/2]},
		{"JSON", "{" + inside + ",}"},
		{"JSON", whole + " " + whole},
		{"one JSON object", "[" + whole + "]"},
		{"JSON", "{" + inside + `,"quantity":7}`},
		{"unknown field", "{" + inside + `,"limitprice":"19.99"}`},
		{"JSON", strings.Replace(whole, `"trader":"`, `"trader":"\ud800`, 1)},
	} {
		d.refused(orders, raw.text, raw.why)
	}
}

// sound is an order that would be accepted if nothing were done to it.
func (d *day) sound(orders, i int) order {
	o := d.order(orders + i)
	o.request, o.client = fmt.Sprintf("req-bad-%03d", i), fmt.Sprintf("clo-bad-%03d", i)
	o.kind, o.symbol, o.currency, o.quantity, o.price = "limit", "ACME", "USD", "10", "19.99"
	return o
}

func (d *day) refused(orders int, text, why string) {
	d.lines = append(d.lines, Line{Text: text, Invalid: why, arrival: d.pick(orders)*spacing + 2})
}
