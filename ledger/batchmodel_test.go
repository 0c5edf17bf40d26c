package ledger_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// asked is one submission as the model sees it: cents that move, and a note that may be there only once.
type asked struct {
	id    string
	moves map[string]int64 // debits positive
	lines string           // what the transaction says
	note  string
}

// serialBooks are what the model has: the effect of some transactions, one after the other.
type serialBooks struct {
	cents   map[string]int64  // by account, debits positive
	headers map[string]string // what each identifier stands for
	notes   map[string]bool
}

func (b serialBooks) clone() serialBooks {
	return serialBooks{maps.Clone(b.cents), maps.Clone(b.headers), maps.Clone(b.notes)}
}

// The accounts of the model. The house may go anywhere; a name that ends in - is a credit account, one in + a debit
// account; the ice is frozen, and nobody is not there.
var modelNames = []string{"house", "ann-", "bob-", "cash+", "ice-", "nobody-"}

// causes lists, by the names that outcomes gives them, why the command is refused if it comes now.
func (b serialBooks) causes(c asked) map[string]bool {
	if lines, used := b.headers[c.id]; used {
		if lines == c.lines {
			return map[string]bool{"repeated": true}
		}
		return map[string]bool{"duplicate": true}
	}
	causes := map[string]bool{}
	for account, moved := range c.moves {
		own, takes := b.cents[account]+moved, moved < 0
		if strings.HasSuffix(account, "-") {
			own, takes = -own, moved > 0
		}
		switch {
		case account == "ice-":
			causes["frozen"] = true
		case account == "nobody-":
			causes["not found"] = true
		case account != "house" && takes && own < 0:
			causes["insufficient"] = true
		}
	}
	if c.note != "" && b.notes[c.note] {
		causes["canceled"] = true
	}
	return causes
}

func (b serialBooks) apply(c asked) {
	b.headers[c.id] = c.lines
	for account, moved := range c.moves {
		b.cents[account] += moved
	}
	if c.note != "" {
		b.notes[c.note] = true
	}
}

// told is what the caller of a command heard.
type told struct {
	asked
	result
}

// certain says whether what the caller heard decides whether the command had an effect.
func (t told) certain() bool {
	var canceled *txn.CanceledError
	return !errors.Is(t.err, txn.ErrAmbiguous) && !(errors.As(t.err, &canceled) && canceled.Unsettled)
}

// outcome names what the caller heard.
func (t told) outcome() string {
	if t.err == nil && !t.Repeated {
		return "posted"
	}
	return outcomes([]result{t.result})
}

// serialSearch looks for an order in which commands that were under way together, run one by one, give each caller the answer that
// it got, and end in the books that are stored. What is uncertain may have an effect or none.
type serialSearch struct {
	all     []told
	end     serialBooks
	visited map[string]bool
}

func (s *serialSearch) from(b serialBooks, left uint64) bool {
	if left == 0 {
		return maps.Equal(b.headers, s.end.headers) && maps.Equal(b.notes, s.end.notes) && sameCents(b.cents, s.end.cents)
	}
	state := fmt.Sprint(left, b.headers, b.notes)
	if s.visited[state] {
		return false
	}
	s.visited[state] = true
	for i, t := range s.all {
		if left&(1<<i) == 0 {
			continue
		}
		rest := left &^ (1 << i)
		causes := b.causes(t.asked)
		applies := func() bool {
			next := b.clone()
			next.apply(t.asked)
			return s.from(next, rest)
		}
		switch outcome := t.outcome(); {
		case outcome == "posted":
			if len(causes) == 0 && applies() {
				return true
			}
		case !t.certain():
			if s.from(b, rest) || len(causes) == 0 && applies() {
				return true
			}
		case outcome == "unbalanced", outcome == "busy", causes[outcome]: // no effect, and with good reason
			return s.from(b, rest) // it is as well done now as later
		}
	}
	return false
}

func sameCents(a, b map[string]int64) bool {
	for _, name := range modelNames {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

// explains fails with what nobody can explain, or returns "".
func explains(before serialBooks, all []told, end serialBooks) string {
	s := serialSearch{all: all, end: end, visited: map[string]bool{}}
	if s.from(before, 1<<len(all)-1) {
		return ""
	}
	lines := []string{fmt.Sprintf("before %v, after %v: no order of these explains it", before, end)}
	for _, t := range all {
		lines = append(lines, fmt.Sprintf("  %s %s note %q: %s", t.id, t.lines, t.note, t.outcome()))
	}
	return strings.Join(lines, "\n")
}

// saying returns a transaction in the model's words.
func saying(tx ledger.Transaction, note string) asked {
	c := asked{id: tx.ID, moves: map[string]int64{}, note: note}
	lines := make([]string, 0, len(tx.Postings))
	for _, p := range tx.Postings {
		c.moves[p.Account] += cents(p.Amount)
		lines = append(lines, p.Account+" "+p.Amount.Text())
	}
	c.lines = strings.Join(slices.Clone(lines), ", ")
	return c
}
