package ledger

import (
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// change is what one transaction does to one authority: however many of its postings are on that account and asset, it is
// one write. Changes of several transactions to one authority can be added up to one write as well.
type change struct {
	ref      ref
	currency money.Currency

	posted   money.Amount // sum of the postings
	reserved money.Amount // what reservations will hold more or less, with the sign of the posting
	opened   int64        // how many reservations are opened, or ended if negative

	postings int64
	month    Month // of the postings; empty if there are none
	x, y     half  // digests of the postings
	slots    int64
	lane     int // highest lane used

	bucket int  // where the postings go
	rolls  bool // the bucket before has too little room, so this change begins a new one
	hint   hint // by which both were chosen
	hinted bool // if there was one

	takes   Side  // if set, the account must have this side
	expect  int64 // if above 0, the version that must be stored
	anytime bool  // a reservation that ends: frozen accounts give back what they hold

	merged    bool // several changes, one after the other: see merge
	low, high draw // of them
}

// moved is by how much the change moves what is available.
func (c *change) moved() (money.Amount, error) { return c.posted.Add(c.reserved) }

// expression collects the clauses of one write: its condition, and behind it its update.
type expression struct {
	strings.Builder
	names  map[string]string
	values map[string]types.AttributeValue
	month  string // of the postings, as digits
}

// expressionBytes is room for both expressions of nearly every write.
const expressionBytes = 704

// name gives an attribute another name in the expressions, besides the one that all writes share.
func (e *expression) name(placeholder, attribute string) {
	names := map[string]string{placeholder: attribute}
	maps.Copy(names, e.names)
	e.names = names
}

func (e *expression) clause(parts ...string) {
	if e.Len() > 0 {
		e.WriteString(" AND ")
	}
	e.text(parts...)
}

func (e *expression) text(parts ...string) {
	for _, part := range parts {
		e.WriteString(part)
	}
}

// write turns the change into the write of the authority. What must hold is in the condition, clause by clause; judge
// finds the one that did not.
func (l *Ledger) write(c *change, v *values) (txn.Write, error) {
	key, err := c.ref.key()
	if err != nil {
		return txn.Write{}, invalidKey("account", c.ref.account, err)
	}
	moved, err := c.moved()
	if err != nil {
		return txn.Write{}, &LimitError{What: "account", ID: c.ref.account, Limit: "digits of an amount", Max: MaxDigits}
	}
	e := expression{values: make(map[string]types.AttributeValue, 14)}
	if c.postings > 0 {
		e.month = c.month.digits()
	}
	e.Grow(expressionBytes)
	l.conditions(&e, v, c, moved)
	conditions := e.Len()
	l.assignments(&e, v, c, moved)
	both := e.String()
	return txn.Write{
		Action: txn.ActionUpdate, Table: l.config.Table, Key: v.key(l.config.Table, key, 2),
		Update: both[conditions:], Condition: both[:conditions], Names: e.names, Values: e.values,
		Fence:   c.expect > 0,
		Explain: func(old txn.Item) error { return l.explain(c, old) },
	}, nil
}

func (l *Ledger) conditions(e *expression, v *values, c *change, moved money.Amount) {
	e.values[":v"], e.values[":scale"] = formatValue, v.integer(int64(c.currency.Scale()))
	e.clause("v = :v AND scale = :scale")
	if !c.anytime {
		e.names, e.values[":open"] = statusName, openValue
		e.clause("#status = :open")
	}
	if c.takes != "" {
		e.values[":side"] = v.text(string(c.takes))
		e.clause("side = :side")
	}
	if c.expect > 0 {
		e.values[":expect"] = v.integer(c.expect)
		e.clause("version = :expect")
	}
	low, high := c.draws(moved)
	if low.taken { // from a debit account
		e.values[":credit"], e.values[":need"] = creditValue, v.number(low.to.Neg().MinorUnits())
		e.clause("(attribute_not_exists(minimum) OR side = :credit OR available >= :need)")
	}
	if high.taken { // from a credit account, whose available is kept negative
		e.values[":debit"], e.values[":room"] = debitValue, v.number(high.to.Neg().MinorUnits())
		e.clause("(attribute_not_exists(minimum) OR side = :debit OR available <= :room)")
	}
	l.bound(e, v, attrPosted, "posted", c.posted)
	l.bound(e, v, attrReserved, "#reserved", c.reserved)
	if c.postings > 0 {
		l.period(e, v, c)
	}
}

// bound keeps a sum within MaxDigits digits. An addend of 64 bits needs no bound: not in any number of postings that a
// table can hold would such addends reach another digit.
func (l *Ledger) bound(e *expression, v *values, attribute, name string, addend money.Amount) {
	if _, err := addend.MinorInt64(); err == nil {
		return
	}
	if name[0] == '#' {
		e.name(name, attribute)
	}
	limit, comparison := ceiling(addend.Currency()), " <= :most"
	if addend.Sign() < 0 {
		limit, comparison = limit.Neg(), " >= :most"
	}
	most, err := limit.Sub(addend)
	if err != nil {
		most = money.Zero(addend.Currency()) // cannot be: both are within MaxDigits, and of one sign
	}
	e.values[":most"+attribute] = v.number(most.MinorUnits())
	e.clause(name, comparison, attribute)
}

var nines = strings.Repeat("9", MaxDigits)

// ceiling is the largest balance of a currency.
func ceiling(c money.Currency) money.Amount {
	most, err := money.ParseMinor(nines, c)
	if err != nil {
		return money.Zero(c) // cannot be: MaxDigits is below money.MaxDigits
	}
	return most
}

// period holds the postings' month against what is closed, open and full.
func (l *Ledger) period(e *expression, v *values, c *change) {
	m := e.month
	e.values[":month"], e.values[":openMonths"], e.values[":slots"] = v.text(m), maxOpenMonths, v.integer(c.slots)
	e.clause("(attribute_not_exists(closed) OR closed < :month)")
	e.clause("(attribute_not_exists(months) OR contains(months, :month) OR size(months) < :openMonths)")
	if c.lane > 0 {
		e.values[":lane"] = v.integer(int64(c.lane))
		e.clause("lanes > :lane")
	}
	now := c.bucket
	if c.rolls {
		now--
		e.clause("r", m, " < :slots AND slots >= :slots")
	} else if now > 0 {
		e.clause("r", m, " >= :slots")
	} else {
		e.clause("(r", m, " >= :slots OR (attribute_not_exists(r", m, ") AND slots >= :slots))")
	}
	if now > 0 {
		e.values[":bucket"] = v.integer(int64(now))
		e.clause("b", m, " = :bucket")
	} else {
		e.clause("attribute_not_exists(b", m, ")")
	}
}

func (l *Ledger) assignments(e *expression, v *values, c *change, moved money.Amount) {
	m := e.month
	if c.postings > 0 {
		e.room(v, c)
	}
	e.WriteString(" ADD version :one")
	e.values[":one"] = oneValue
	if c.postings > 0 {
		e.sum(":n", v.integer(c.postings), "n", m)
		e.sum(":x", v.number(c.x.decimal()), "x", m)
		e.sum(":y", v.number(c.y.decimal()), "y", m)
		e.sum(":months", &types.AttributeValueMemberSS{Value: []string{m}}, attrMonths)
	}
	if !c.posted.IsZero() {
		addend := v.number(c.posted.MinorUnits())
		e.sum(":posted", addend, "s", m)
		e.sum(":posted", addend, attrPosted)
	}
	if !c.reserved.IsZero() {
		e.name("#reserved", attrReserved)
		e.sum(":reserved", v.number(c.reserved.MinorUnits()), "#reserved")
	}
	switch {
	case moved.IsZero():
	case moved == c.posted:
		e.sum(":posted", e.values[":posted"], attrAvailable)
	default:
		e.sum(":moved", v.number(moved.MinorUnits()), attrAvailable)
	}
	if c.opened != 0 {
		e.sum(":opened", v.integer(c.opened), attrOpenCount)
	}
}

// room takes the postings' slots out of their bucket, or out of the next one.
func (e *expression) room(v *values, c *change) {
	if c.rolls {
		e.values[":next"] = v.integer(int64(c.bucket))
		e.text("SET b", e.month, " = :next, r", e.month, " = slots - :slots")
		return
	}
	e.text("SET r", e.month, " = if_not_exists(r", e.month, ", slots) - :slots")
}

// sum adds to an attribute, whose name comes in pieces.
func (e *expression) sum(placeholder string, addend types.AttributeValue, attribute ...string) {
	e.WriteString(", ")
	e.text(attribute...)
	e.text(" ", placeholder)
	e.values[placeholder] = addend
}
