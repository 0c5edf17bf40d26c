// Package daygen makes the sample day of the brokerage example: one JSON order a line, with everything that goes
// wrong on a real day mixed in, and for every line the facts from which its outcome follows.
//
// The same arguments always give the same bytes. The day is built so that what it comes to does not depend on which of two
// competing lines is decided first: a request key used for two different orders has exactly one line of each, and
// two orders that want one client order ID or one request key differ in nothing that a total, a fill or a position counts.
package daygen

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
)

// Seed and Orders are the arguments that gave testdata/day.jsonl.
const (
	Seed   = 42
	Orders = 1842
)

// Line is one line of the day, without its newline, and what decides its outcome.
type Line struct {
	Text string
	// Invalid is a part of the error message that the line must get; empty for a line that is a well-formed order.
	Invalid string
	// Request and Name identify the request key and the client order ID within their tenant; Content is equal for two
	// lines with one request key exactly when they mean the same order.
	Request, Name, Content string
	// Tenant, Account and Symbol are the order's, and Sells says that it sells.
	Tenant, Account, Symbol string
	Sells                   bool

	arrival int
}

// Totals counts the lines of a day by outcome.
type Totals struct {
	Read, Accepted, Replayed, Mismatched, NameTaken, NotCovered, Invalid int
}

// Expect is the rule book, written once more without any database: what the lines come to when they are fed
// in this order, passes times over. covered says whether the account of a line has what the order needs, if nobody else takes
// it.
func Expect(lines []Line, passes int, covered func(Line) bool) Totals {
	var t Totals
	content, taken := map[string]string{}, map[string]bool{}
	for range passes {
		for _, l := range lines {
			t.Read++
			before, decided := content[l.Request]
			switch {
			case l.Invalid != "":
				t.Invalid++
				continue
			case decided && before == l.Content:
				t.Replayed++
			case decided:
				t.Mismatched++
			case taken[l.Name]:
				t.NameTaken++
				content[l.Request] = l.Content
			case !covered(l):
				t.NotCovered++
				content[l.Request] = l.Content
			default:
				t.Accepted++
				content[l.Request], taken[l.Name] = l.Content, true
			}
		}
	}
	return t
}

// Text joins the lines to a file.
func Text(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// Day makes a day of the given number of orders that are each the first of their name, plus everything around them.
// Orders should be at least 40, so that every kind of line occurs.
func Day(seed uint64, orders int) []Line {
	d := &day{dice: rand.NewPCG(seed, 0)}
	for i := range orders {
		o := d.order(i)
		d.add(i*spacing, o)
		switch i % 20 {
		case 3: // the client's own retry, byte for byte
			d.add(d.later(i), o)
		case 7: // the same order again, written by another JSON library
			d.rewritten(d.later(i), o)
		case 11: // a client that reuses its request key for another order
			d.add(d.later(i), d.changed(o))
		case 15: // another request wants the same client order ID, and repeats when it is refused
			rival := d.rival(o, i)
			d.add(d.later(i), rival)
			if i%40 == 15 {
				d.add(d.later(i), rival)
			}
		case 19: // tenants share nothing: the same keys in another tenant are other keys
			d.add(d.later(i), d.elsewhere(o))
		}
	}
	d.exact(orders)
	d.broken(orders)
	sort.SliceStable(d.lines, func(i, j int) bool { return d.lines[i].arrival < d.lines[j].arrival })
	return d.lines
}

// spacing leaves room between two orders for the lines that arrive in between.
const spacing = 1000

type day struct {
	dice  *rand.PCG
	lines []Line
}

// pick draws below n. It takes the plain remainder of the source, whose stream is fixed for all Go versions.
func (d *day) pick(n int) int { return int(d.dice.Uint64() % uint64(n)) }

func (d *day) oneOf(words ...string) string { return words[d.pick(len(words))] }

// later is a moment within the 300 orders that follow order i.
func (d *day) later(i int) int { return (i+1)*spacing + d.pick(300*spacing) }

func (d *day) add(arrival int, o order) {
	d.lines = append(d.lines, o.line(o.json(), arrival))
}

// rewritten adds the order with its fields in another order, more white space and numbers in another spelling.
func (d *day) rewritten(arrival int, o order) {
	fields := o.fields()
	for i := len(fields) - 1; i > 0; i-- {
		j := d.pick(i + 1)
		fields[i], fields[j] = fields[j], fields[i]
	}
	var b strings.Builder
	b.WriteString("{ ")
	for i, f := range fields {
		if i > 0 {
			b.WriteString(" ,\t")
		}
		value := f.json
		if f.name == "quantity" || f.name == "limit_price" {
			value = respelled(value)
		}
		fmt.Fprintf(&b, "%q : %s", f.name, value)
	}
	b.WriteString(" }")
	d.lines = append(d.lines, o.line(b.String(), arrival))
}

// respelled turns a JSON number into a string and back; the value stays.
func respelled(number string) string {
	if text, quoted := strings.CutPrefix(number, `"`); quoted {
		return strings.TrimSuffix(text, `"`)
	}
	return `"` + number + `"`
}

// changed is another order under the same request key. It differs in nothing that has a consequence later, because which of
// the two is accepted depends on which comes first.
func (d *day) changed(o order) order {
	o.trader = d.oneOf("desk supervisor", "night desk")
	return o
}

// rival is another request for the same client order ID.
func (d *day) rival(o order, i int) order {
	o.request = fmt.Sprintf("req-%06d-r", i)
	return o
}

// elsewhere is the same request key and client order ID in another tenant.
func (d *day) elsewhere(o order) order {
	o.tenant = "willow"
	return o
}
