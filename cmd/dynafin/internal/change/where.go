package change

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/money"
)

// Fields are what a condition may ask of an item. Numbers and durations are written as Go writes them.
type Fields map[string]string

// condition is one of --where: a field, an operator and a value.
type condition struct{ field, op, value string }

// operators, the longer before those that begin alike.
var operators = []string{"!=", "<=", ">=", "=", "~", "<", ">"}

// parseWhere reads conditions such as topic=trades, cause~timeout, attempt>=3 and age>1h. The fields are those that the command knows: one
// that is misspelt must neither match everything nor nothing.
func parseWhere(where, fields []string) ([]condition, error) {
	var all []condition
	for _, s := range where {
		at, op := len(s), ""
		for _, o := range operators {
			if i := strings.Index(s, o); i >= 0 && i < at {
				at, op = i, o
			}
		}
		c := condition{field: strings.TrimSpace(s[:at]), op: op, value: strings.TrimSpace(s[min(len(s), at+len(op)):])}
		if op == "" || !slices.Contains(fields, c.field) {
			return nil, app.Usage("--where %q: write FIELD=VALUE with = != ~ < > <= or >=; the fields are %s", s, strings.Join(fields, ", "))
		}
		all = append(all, c)
	}
	return all, nil
}

// holds says whether an item satisfies the condition. = != and ~ compare text; the others compare numbers, durations, times, or amounts
// of one currency, and an amount of another currency satisfies none of them. What is of two kinds has no order, so the condition is refused:
// as text 9 minutes are more than 7d, and 1204.05 USD are less than 50. A field that is empty satisfies none either.
func (c condition) holds(of Fields) (bool, error) {
	have := of[c.field]
	switch c.op {
	case "=":
		return have == c.value, nil
	case "!=":
		return have != c.value, nil
	case "~":
		return strings.Contains(have, c.value), nil
	}
	if have == "" {
		return false, nil
	}
	x, y := quantityOf(have), quantityOf(c.value)
	if x.kind != y.kind || x.kind == "" {
		return false, app.Usage("--where %q: %q is %s and %q is %s; %s compares numbers, durations such as 36h, times, or amounts such as 50.00 USD",
			c.field+c.op+c.value, have, cmp.Or(x.kind, "a text"), c.value, cmp.Or(y.kind, "a text"), c.op)
	}
	order := x.at.Compare(y.at)
	if x.kind != aTime {
		order = x.number.Cmp(y.number)
	}
	return x.unit == y.unit && (strings.HasPrefix(c.op, "<") && order < 0 || strings.HasPrefix(c.op, ">") && order > 0 ||
		strings.HasSuffix(c.op, "=") && order == 0), nil
}

// The kinds of what has an order.
const (
	aNumber   = "a number"
	aDuration = "a duration"
	aTime     = "a time"
	anAmount  = "an amount"
)

// quantity is what a text says, if it is of a kind.
type quantity struct {
	kind, unit string
	number     money.Rational
	at         time.Time
}

func quantityOf(text string) quantity {
	first, unit, spaced := strings.Cut(text, " ")
	if number, err := money.ParseRational(first); err == nil {
		if !spaced {
			return quantity{kind: aNumber, number: number}
		}
		return quantity{kind: anAmount, unit: unit, number: number}
	}
	if d, err := time.ParseDuration(text); err == nil {
		number, err := money.NewRational(int64(d), 1)
		if err == nil {
			return quantity{kind: aDuration, number: number}
		}
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return quantity{kind: aTime, at: at}
	}
	return quantity{}
}

// match says whether an item satisfies all conditions.
func match(all []condition, of Fields) (bool, error) {
	for _, c := range all {
		if ok, err := c.holds(of); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
