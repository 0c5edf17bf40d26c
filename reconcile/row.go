package reconcile

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/money"
)

// Limits of a row, in bytes.
const (
	MaxRowIDBytes    = 256
	MaxRowKeyBytes   = 512
	MaxRowValueBytes = 512
)

// Side says which of the two lists a row is from.
type Side uint8

// The two sides. Left is what we have on record; right is what it is compared with: a statement, a receipt, a view.
const (
	Left Side = iota + 1
	Right
)

// String returns "left" or "right".
func (s Side) String() string {
	if s == Left {
		return "left"
	}
	return "right"
}

// Row is one fact on one side. Rows of both sides with the same Key are about the same thing.
type Row struct {
	// ID identifies the row on its side: a posting, a line of a statement. A source that gives a row twice, as a
	// resumed Scan does, is counted once.
	ID string
	// Key is what the two sides have in common: a payment's reference, an account and its asset, a name.
	Key string
	// Amount is compared within the tolerance of its currency. The zero Amount stands for none.
	Amount money.Amount
	// Value is anything else that must be equal, byte by byte: a version, a digest, an owner. Default: none.
	Value string
	// At is the row's own time; windows go by it. The zero time says that the row is a state, not an event: it is
	// always due.
	At time.Time
}

// check returns what is wrong with a row, "" if nothing is.
func (r Row) check() string {
	for _, field := range []struct {
		name, text string
		least, max int
	}{{"ID", r.ID, 1, MaxRowIDBytes}, {"Key", r.Key, 1, MaxRowKeyBytes}, {"Value", r.Value, 0, MaxRowValueBytes}} {
		switch {
		case len(field.text) < field.least:
			return field.name + " is empty"
		case len(field.text) > field.max:
			return field.name + " is too long"
		case !utf8.ValidString(field.text):
			return field.name + " is not valid UTF-8"
		}
	}
	if !r.At.IsZero() && (r.At.Year() < 1700 || r.At.Year() > 2200) {
		return "At is outside the years 1700 to 2200"
	}
	return ""
}

// entry is a row with its side.
type entry struct {
	Row
	side Side
}

// compare orders all rows of a comparison totally: by key, side, and then so that equal rows of two sides are found by
// walking along both. Two rows that compare as equal are one row that was given twice.
func compare(a, b entry) int {
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	if c := cmp.Compare(a.side, b.side); c != 0 {
		return c
	}
	return a.Row.compare(b.Row)
}

func (r Row) compare(b Row) int {
	if c := r.compareFacts(b); c != 0 {
		return c
	}
	if c := r.At.Compare(b.At); c != 0 {
		return c
	}
	return strings.Compare(r.ID, b.ID)
}

// compareFacts compares what two matching rows must have in common.
func (r Row) compareFacts(b Row) int {
	if c := compareCurrencies(r.Amount, b.Amount); c != 0 {
		return c
	}
	if c := compareAmounts(r.Amount, b.Amount); c != 0 {
		return c
	}
	return strings.Compare(r.Value, b.Value)
}

func compareCurrencies(a, b money.Amount) int {
	x, y := a.Currency(), b.Currency()
	if x == y {
		return 0
	}
	return cmp.Or(strings.Compare(x.Code(), y.Code()), cmp.Compare(x.Scale(), y.Scale()), cmp.Compare(x.Kind(), y.Kind()))
}

// compareAmounts orders amounts of one currency; amounts of two compare as equal.
func compareAmounts(a, b money.Amount) int {
	c, err := a.Cmp(b)
	if err != nil {
		return 0
	}
	return c
}
