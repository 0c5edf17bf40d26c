package daygen

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// order is a line before it becomes JSON. Quantity and price are JSON texts: 100 or "100".
type order struct {
	tenant, request, client, account, symbol, side, kind string
	quantity, price, currency, at, force, trader, notes  string
}

type field struct{ name, json string }

func (o order) fields() []field {
	list := []field{
		{"tenant", quote(o.tenant)}, {"request_key", quote(o.request)}, {"client_order_id", quote(o.client)},
		{"account", quote(o.account)}, {"symbol", quote(o.symbol)}, {"side", quote(o.side)}, {"type", quote(o.kind)},
		{"quantity", o.quantity}, {"limit_price", o.price}, {"currency", quote(o.currency)}, {"at", quote(o.at)},
		{"time_in_force", quote(o.force)}, {"trader", quote(o.trader)}, {"instructions", quote(o.notes)},
	}
	kept := list[:0]
	for _, f := range list {
		if f.json != "" && f.json != `""` {
			kept = append(kept, f)
		}
	}
	return kept
}

func (o order) json() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range o.fields() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(f.name) + ":" + f.json)
	}
	b.WriteByte('}')
	return b.String()
}

func (o order) line(text string, arrival int) Line {
	return Line{
		Text: text, arrival: arrival,
		Request: o.tenant + "/" + o.request, Name: o.tenant + "/" + o.client, Content: o.json(),
		Tenant: o.tenant, Account: o.account, Symbol: o.symbol, Sells: o.side == "sell",
	}
}

// quote writes a JSON string; the texts of the day need no escape beyond those that Go and JSON share.
func quote(s string) string {
	if s == "" {
		return ""
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// instrument is what the generator knows of a symbol: enough to make quantities and prices that fit its scales.
type instrument struct {
	symbol, currency   string
	quantityPlaces     int
	pricePlaces, price int // price in minor units, around which the day's limits lie
}

var instruments = []instrument{
	{"ACME", "USD", 0, 2, 1999}, {"GLOBEX", "USD", 0, 2, 48210}, {"NORTHWIND", "USD", 0, 2, 715},
	{"WORLD-ETF", "USD", 4, 2, 11284}, {"BOND-ETF", "EUR", 4, 2, 9830},
	{"RHEIN", "EUR", 0, 2, 13475}, {"LUMIERE", "EUR", 0, 2, 2260},
	{"TOKAI", "JPY", 0, 0, 2875}, {"GULF-BANK", "KWD", 0, 3, 1284}, {"ETH-USD", "USD", 18, 2, 312055},
}

var opening = time.Date(2026, 11, 27, 14, 30, 0, 0, time.UTC)

func (d *day) order(i int) order {
	in := instruments[d.pick(len(instruments))]
	o := order{
		tenant:   d.oneOf("alder", "birch", "cedar", "larch"),
		request:  fmt.Sprintf("req-%06d", i),
		client:   d.client(i),
		account:  fmt.Sprintf("ACC-%04d", 1000+d.pick(24)),
		symbol:   in.symbol,
		side:     d.oneOf("buy", "sell"),
		kind:     "limit",
		quantity: d.quantity(in),
		currency: in.currency,
		at:       opening.Add(time.Duration(i)*7*time.Second + time.Duration(d.pick(7_000_000_000))).Format(time.RFC3339Nano),
		force:    d.oneOf("", "day", "gtc", "ioc"),
		trader:   d.oneOf("M. Okafor", "Zoë Lindqvist", "佐藤 健", "R. \"Dutch\" van Dam", "automated desk 7"),
		notes:    d.notes(),
	}
	if d.pick(5) == 0 {
		o.kind = "market"
		return o
	}
	o.price = places(in.price*(90+d.pick(21))/100+1, in.pricePlaces)
	if d.pick(2) == 0 {
		o.price = `"` + o.price + `"`
	}
	return o
}

// client numbers orders as several front ends do; some use the characters that key grammars like to use themselves.
func (d *day) client(i int) string {
	switch d.pick(6) {
	case 0:
		return fmt.Sprintf("web/2026-11-27/%05d", i)
	case 1:
		return fmt.Sprintf("desk#%d#%05d", d.pick(9), i)
	case 2:
		return fmt.Sprintf("fix:%05d %%%d", i, d.pick(100))
	default:
		return fmt.Sprintf("clo-%06d", i)
	}
}

func (d *day) quantity(in instrument) string {
	switch {
	case in.quantityPlaces == 0:
		return strconv.Itoa(1 + d.pick(5000))
	case in.quantityPlaces == 4:
		return fmt.Sprintf("%d.%04d", d.pick(200), 1+d.pick(9999))
	default: // quoted, as an exchange sends wei; eighteen places do not survive a binary float
		return fmt.Sprintf(`"%d.%018d"`, d.pick(40), 1+d.dice.Uint64()%999_999_999_999_999_999)
	}
}

// places writes minor units with a decimal point.
func places(minor, scale int) string {
	if scale == 0 {
		return strconv.Itoa(minor)
	}
	digits := fmt.Sprintf("%0*d", scale+1, minor)
	return digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// notes are the desk's routing and compliance remarks. They bring an order to the size that the cost model assumes.
func (d *day) notes() string {
	parts := []string{
		"Route to " + d.oneOf("primary venue", "lit book first, then midpoint", "closing auction only", "best of three venues"),
		"display " + d.oneOf("a tenth", "a fifth", "nothing", "all") + " of the quantity and refresh at random",
		"do not cross the spread unless " + d.oneOf("the touch has stood for two seconds", "less than ten minutes remain", "the desk says so by telephone"),
		"if the venue halts, " + d.oneOf("cancel what is open and report", "keep the order and wait for the reopening auction", "move to the alternate venue"),
		"report fills " + d.oneOf("one by one", "every quarter of an hour", "at the close") + " to the " + d.oneOf("middle office", "portfolio manager", "client's custodian"),
		"leave " + d.oneOf("no", "a tenth", "a fifth") + " of the quantity for the closing auction if the day's volume is below its average of the last thirty days and no news is out",
		"suitability reviewed under mandate " + fmt.Sprintf("M-%05d", d.pick(100000)) + ", risk class " + d.oneOf("2", "3", "4"),
		"best execution record kept with ticket " + fmt.Sprintf("T-%08d", d.pick(100000000)),
		d.oneOf("no solicitation", "client solicited by account manager", "discretionary mandate, no call needed"),
	}
	return strings.Join(parts, "; ") + "."
}
