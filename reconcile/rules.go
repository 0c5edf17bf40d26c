package reconcile

import (
	"fmt"
	"time"

	"github.com/dynafin/dynafin/money"
)

// Rules say when rows match. The zero value pairs rows of equal key, amount and value, one by one, whatever their times.
type Rules struct {
	// Name identifies the rules, with their version, in the record of a batch: "card-statement-3". Required there.
	Name string
	// Tolerance is by how much the amounts of a match may differ, inclusive: at most one amount for each currency. A
	// currency that is not listed must agree exactly.
	Tolerance []money.Amount
	// Apart is how far apart the times of a match may be, inclusive. 0: times are not compared.
	Apart time.Duration
	// OneToMany lets several rows on the right add up to one on the left, and ManyToOne the reverse: all that is left
	// over under one key, on one side a single row. No subset is searched for; see the package documentation.
	OneToMany, ManyToOne bool
}

// check returns what is wrong with the rules, "" if nothing is.
func (r Rules) check() (field, reason string) {
	seen := map[money.Currency]bool{}
	for _, t := range r.Tolerance {
		switch {
		case t.Currency() == (money.Currency{}):
			return "Rules.Tolerance", "has an amount without a currency"
		case t.Sign() < 0:
			return "Rules.Tolerance", "is negative"
		case seen[t.Currency()]:
			return "Rules.Tolerance", fmt.Sprintf("names %s twice", t.Currency())
		}
		seen[t.Currency()] = true
	}
	if r.Apart < 0 {
		return "Rules.Apart", "is negative"
	}
	return "", ""
}

// Window says which rows a comparison judges. A row is due when its time plus Grace has come: its counterpart should be
// there. Of consecutive windows, each From the Cutoff of the one before, every row is due in exactly one, so that no break
// is found twice or never. Give each comparison all rows from From - Grace - [Rules.Apart] on: those that were due earlier
// may complete a match, and are no break here.
type Window struct {
	// From and Cutoff bound the due times: after From, up to and with Cutoff. The zero From is the beginning of time.
	// Cutoff is required.
	From, Cutoff time.Time
	// Grace is how long the counterpart of a row may take. A row still inside it is expected, not a break.
	Grace time.Duration
}

func (w Window) check() (field, reason string) {
	switch {
	case w.Cutoff.IsZero():
		return "Window.Cutoff", "is missing"
	case !w.From.IsZero() && !w.From.Before(w.Cutoff):
		return "Window.From", "is not before the cutoff"
	case w.Grace < 0:
		return "Window.Grace", "is negative"
	}
	return "", ""
}

// standing is where a row is in its window.
type standing uint8

const (
	pending standing = iota + 1 // its counterpart may still come
	due                         // judged here
	earlier                     // was judged by an earlier window
)

func (w Window) standing(r Row) standing {
	if r.At.IsZero() {
		return due
	}
	at := r.At.Add(w.Grace)
	switch {
	case at.After(w.Cutoff):
		return pending
	case !w.From.IsZero() && !at.After(w.From):
		return earlier
	}
	return due
}

// Kind says what became of rows.
type Kind string

// The kinds of an [Outcome]. Missing, Mismatched and Unexpected are breaks.
const (
	// Matched: both sides agree, within the rules.
	Matched Kind = "MATCHED"
	// Expected: not matched, but a counterpart may still come. The next window judges it.
	Expected Kind = "EXPECTED"
	// Earlier: not matched, and an earlier window has judged it.
	Earlier Kind = "EARLIER"
	// Missing: on the left only.
	Missing Kind = "MISSING"
	// Unexpected: on the right only.
	Unexpected Kind = "UNEXPECTED"
	// Mismatched: on both sides under one key, but not alike.
	Mismatched Kind = "MISMATCHED"
)

// Break reports whether the kind is one of the three that somebody must explain.
func (k Kind) Break() bool { return k == Missing || k == Unexpected || k == Mismatched }

// Outcome is what became of some rows of one key.
type Outcome struct {
	Kind Kind
	// Key is what the rows have in common.
	Key string
	// Left and Right are the rows; each row is in exactly one Outcome.
	Left, Right []Row
	// Drift is right minus left, with its sign, if all amounts are in one currency; of a Missing it is minus the left, of
	// an Unexpected the right. Else the zero Amount.
	Drift money.Amount
	// Faults says of a Mismatched in what the sides differ: "amount", "currency", "value", "time".
	Faults []string
}
