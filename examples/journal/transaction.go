package main

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// internal names an account that no journal has. Names in a journal never have two spaces in a row.
func internal(kind string, symbols ...string) string {
	return strings.Join(append([]string{kind}, symbols...), "  ")
}

func isInternal(account string) bool { return strings.Contains(account, "  ") }

// The accounts that make a journal balance for each commodity, as the ledger wants it.
const (
	conversions = "equity:conversion" // what was exchanged for what: a transaction in several commodities balances at its costs
	unbalanced  = "equity:virtual"    // the other side of unbalanced virtual postings
	transit     = "equity:parts"      // between the parts of a transaction that is too long for one
)

// identity is what a transaction is known by: a digest of its date, code, description and postings. Its place in
// the file is no part of it, nor are status, comments and the secondary date: who marks a transaction as cleared and
// imports again does not pay twice.
func (e *entry) identity() [16]byte {
	digest := sha256.New()
	add := func(text string) {
		digest.Write(binary.AppendUvarint(nil, uint64(len(text))))
		digest.Write([]byte(text))
	}
	for _, text := range []string{"dynafin.journal.1", e.head.date, e.code, e.description} {
		add(text)
	}
	for i := range e.postings {
		p := &e.postings[i]
		add(p.account)
		add(string(rune('0' + p.virtual)))
		add(p.amount.text)
		add(p.commodity)
	}
	return [16]byte(digest.Sum(nil))
}

// identities numbers equal transactions: two cups of coffee on one day are two. If the file is sorted by date, as hledger
// prints it, one day is all that it remembers.
type identities struct {
	sorted bool
	last   *entry
	seen   map[[16]byte]int
}

func (ids *identities) of(e *entry) string {
	if ids.last == nil || e.section != ids.last.section || ids.sorted && !e.date.Equal(ids.last.date) {
		ids.seen = map[[16]byte]int{}
	}
	ids.last = e
	identity := e.identity()
	ids.seen[identity]++
	return fmt.Sprintf("%s-%x-%d", e.head.date, identity, ids.seen[identity])
}

// line is a posting on its way into the ledger, with the words that go with it.
type line struct {
	ledger.Posting
	number int // of the posting in the journal, from 1; 0 for one that is not there
	note   string
}

// transactions returns what to post for an entry: nothing if all its amounts are zero, one transaction, or several parts if
// one cannot hold it.
func (b *books) transactions(e *entry, id string) ([]ledger.Transaction, error) {
	lines, zeros, err := b.lines(e)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	if fits(lines) {
		return []ledger.Transaction{b.transaction(e, id, lines, zeros)}, nil
	}
	chunks := slices.Collect(slices.Chunk(lines, partPostings))
	parts := make([]ledger.Transaction, len(chunks))
	for i, chunk := range chunks {
		passed, err := b.against(chunk, func(symbol string) string { return internal(transit, symbol) })
		if err != nil {
			return nil, err
		}
		parts[i] = b.transaction(e, fmt.Sprintf("%s.%d", id, i+1), slices.Concat(chunk, passed), zeros)
		parts[i].Metadata["part"] = fmt.Sprintf("%d of %d", i+1, len(chunks))
		zeros = ""
	}
	return parts, nil
}

// partPostings is how many postings a part has: each may need its balance, and one in transit with its own.
const partPostings = (txn.MaxItems - 1) / 4

// fits reports whether one transaction can hold the lines: its header, each posting and each balance are a write.
func fits(lines []line) bool {
	writes := 1 + len(lines)
	balances := map[string]bool{}
	for _, l := range lines {
		balances[l.Account+"\x00"+l.Amount.Currency().Code()] = true
	}
	return writes+len(balances) <= txn.MaxItems && len(lines) <= 2*partPostings-8
}

// transaction is what is posted of an entry, with everything that it says.
func (b *books) transaction(e *entry, id string, lines []line, zeros string) ledger.Transaction {
	tx := ledger.Transaction{Tenant: b.tenant, ID: id, EffectiveAt: e.date, Metadata: map[string]string{}}
	for name, value := range map[string]string{
		"date2": e.date2, "status": e.status, "code": e.code, "description": e.description, "comment": e.comment, "zeros": zeros,
	} {
		if value != "" {
			tx.Metadata[name] = value
		}
	}
	for _, l := range lines {
		tx.Postings = append(tx.Postings, l.Posting)
		if l.note != "" {
			tx.Metadata["posting."+strconv.Itoa(l.number)] = l.note
		}
	}
	return tx
}

// lines turns the postings of an entry into lines that balance for each commodity. Postings of zero, which the ledger
// does not have, are returned as text.
func (b *books) lines(e *entry) (lines []line, zeros string, err error) {
	var groups [unbalancedVirtual + 1][]line
	var free [unbalancedVirtual + 1][]string // commodities of postings of zero
	var nothing []string
	for i := range e.postings {
		p := &e.postings[i]
		if p.amount.isZero() {
			nothing = append(nothing, p.note(true))
			free[p.virtual] = append(free[p.virtual], p.commodity)
			continue
		}
		currency, ok := b.currencies[p.commodity]
		if !ok {
			return nil, "", badLine(p.line, "commodity %s: the file changed while it was read", shown(p.commodity))
		}
		amount, err := money.Parse(p.amount.text, currency)
		if err != nil {
			return nil, "", badLine(p.line, "amount of %s: %w", shown(p.commodity), explainParse(err, currency))
		}
		groups[p.virtual] = append(groups[p.virtual], line{ledger.Posting{Account: p.account, Amount: amount}, i + 1, p.note(false)})
	}
	for kind, group := range groups {
		more, err := b.complete(virtual(kind), group, free[kind])
		if err != nil {
			return nil, "", badLine(e.line, "%w", err)
		}
		lines = append(lines, slices.Concat(group, more)...)
	}
	return lines, strings.Join(nothing, "\n"), nil
}

// explainParse says what to do about an amount that is finer than the ledger keeps its commodity.
func explainParse(err error, c money.Currency) error {
	if !errors.Is(err, money.ErrInexact) {
		return err
	}
	return fmt.Errorf("%w; since its first import the ledger keeps %s of it; for more begin another -tenant, with -scale", err, plural(c.Scale(), "decimal place"))
}

// complete returns the lines that make postings of one kind balance. What came for nothing, a gift or a split, is known by a
// posting of zero of another commodity.
func (b *books) complete(kind virtual, lines []line, zeros []string) ([]line, error) {
	if kind == unbalancedVirtual {
		return b.against(lines, func(symbol string) string { return internal(unbalanced, symbol) })
	}
	sums, err := sumsOf(lines)
	if err != nil {
		return nil, err
	}
	var left, symbols []string
	signs := map[int]bool{}
	for _, sum := range sums {
		symbol := b.symbols[sum.Currency().Code()]
		symbols, left = append(symbols, symbol), append(left, strings.TrimSpace(sum.Text()+" "+symbol))
		signs[sum.Sign()] = true
	}
	switch {
	case len(sums) == 0:
		return nil, nil
	case len(signs) == 1 && !slices.ContainsFunc(zeros, func(zero string) bool { return !slices.Contains(symbols, zero) }):
		// whatever the price, nothing was given for it
		return nil, fmt.Errorf("does not balance: %s too much", strings.Join(left, " and "))
	}
	slices.Sort(symbols)
	return b.against(lines, func(string) string { return internal(conversions, symbols...) })
}

// against returns a line for each commodity in which lines do not add up to zero: the same the other way around.
func (b *books) against(lines []line, account func(symbol string) string) ([]line, error) {
	sums, err := sumsOf(lines)
	if err != nil {
		return nil, err
	}
	var others []line
	for _, sum := range sums {
		others = append(others, line{Posting: ledger.Posting{Account: account(b.symbols[sum.Currency().Code()]), Amount: sum.Neg()}})
	}
	return others, nil
}

// sumsOf adds up lines by commodity, in the order of their codes, and leaves out what is zero.
func sumsOf(lines []line) ([]money.Amount, error) {
	byCurrency := map[money.Currency]money.Amount{}
	for _, l := range lines {
		c := l.Amount.Currency()
		sum, err := byCurrency[c].Add(l.Amount)
		if err != nil {
			return nil, err
		}
		byCurrency[c] = sum
	}
	sums := slices.DeleteFunc(slices.Collect(maps.Values(byCurrency)), money.Amount.IsZero)
	slices.SortFunc(sums, func(x, y money.Amount) int { return strings.Compare(x.Currency().Code(), y.Currency().Code()) })
	return sums, nil
}

// note is what the journal says of a posting besides account and amount, or with them, in its own notation.
func (p *posting) note(whole bool) string {
	words := []string{p.status}
	if whole || p.virtual != realPosting {
		words = append(words, strings.TrimSpace(virtualOpen[p.virtual:p.virtual+1]+p.account+virtualClose[p.virtual:p.virtual+1]))
	}
	if whole {
		words = append(words, p.amount.text, p.commodity)
	}
	if p.comment != "" {
		words = append(words, "; "+p.comment)
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), "  ")
}
