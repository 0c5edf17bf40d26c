package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// survey is what a first reading of the files finds out: how finely each commodity is counted, and which accounts have
// which commodities. It grows with these, not with the number of transactions.
type survey struct {
	commodities map[string]*manner
	accounts    map[string]map[string]bool // the commodities of each account
	entries     int                        // transactions that can be read
}

// manner is how a commodity is written.
type manner struct{ needs, fewest, places int } // the decimal places that an amount needs at most, and is written with

func newSurvey() *survey {
	return &survey{commodities: map[string]*manner{}, accounts: map[string]map[string]bool{}}
}

// read reads a file. Transactions that cannot be read are left out: the import reports them. The error is that of a file
// of which nothing should be posted. Progress is told every now and then.
func (s *survey) read(ctx context.Context, file *source, progress func()) error {
	r, done, err := file.reader()
	if err != nil {
		return err
	}
	defer done()
	file.sorted, file.marks = true, map[string]marks{}
	var last *entry
	for n := 1; ctx.Err() == nil; n++ {
		e, err := r.next()
		var bad *lineError
		switch {
		case errors.As(err, &bad):
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return file.at(err)
		}
		s.add(e)
		file.note(e)
		if last != nil && last.section == e.section && e.date.Before(last.date) {
			file.sorted = false
		}
		last = e
		if n%progressEvery == 0 {
			progress()
		}
	}
	return ctx.Err()
}

// add takes in a transaction.
func (s *survey) add(e *entry) {
	s.entries++
	for i := range e.postings {
		p := &e.postings[i]
		if p.amount.isZero() {
			continue
		}
		u := s.commodities[p.commodity]
		if u == nil {
			u = &manner{fewest: p.amount.places}
			s.commodities[p.commodity] = u
		}
		u.needs, u.fewest, u.places = max(u.needs, p.amount.needs()), min(u.fewest, p.amount.places), max(u.places, p.amount.places)
		if s.accounts[p.account] == nil {
			s.accounts[p.account] = map[string]bool{}
		}
		s.accounts[p.account][p.commodity] = true
	}
}

// marks are the lines in which a file first writes the amounts of a commodity with a decimal point and a decimal comma.
type marks struct{ point, comma int }

// note takes in how a transaction writes its amounts.
func (s *source) note(e *entry) {
	for i := range e.postings {
		p := &e.postings[i]
		m := s.marks[p.commodity]
		switch {
		case p.amount.mark == '.' && m.point == 0:
			m.point = p.line
		case p.amount.mark == ',' && m.comma == 0:
			m.comma = p.line
		}
		s.marks[p.commodity] = m
	}
}

// checkMarks refuses a commodity whose decimal mark is not clear: with both marks about, 1,000 is one or a thousand.
func (s *source) checkMarks(e *entry) error {
	for i := range e.postings {
		p := &e.postings[i]
		if m := s.marks[p.commodity]; m.point > 0 && m.comma > 0 {
			return badLine(p.line, "the amounts of %s have a decimal point (line %d) and a decimal comma (line %d)", shown(p.commodity), m.point, m.comma)
		}
	}
	return nil
}

// symbols returns the commodities in order.
func (s *survey) symbols() []string { return slices.Sorted(maps.Keys(s.commodities)) }

// notes names the commodities that hledger may show rounded: it writes out all amounts with as many decimal places as it
// shows, or with more if they have more.
func (s *survey) notes(places perCommodity) (notes []string) {
	for _, symbol := range s.symbols() {
		m := s.commodities[symbol]
		if _, asked := places[symbol]; !asked && m.fewest < m.places {
			notes = append(notes, fmt.Sprintf("note: amounts of %s have %d to %d decimal places; hledger may show balances of it rounded to %d, as -places '%s=%[4]d' does",
				shown(symbol), m.fewest, m.places, m.fewest, symbol))
		}
	}
	return notes
}

// shown is a commodity for people.
func shown(symbol string) string {
	if symbol == "" {
		return "amounts without a commodity"
	}
	return symbol
}
