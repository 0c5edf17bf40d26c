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
type manner struct {
	needs, places int             // the most decimal places that an amount needs, and that one was written with
	marks         map[byte]string // where each decimal mark was met first
}

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
	file.sorted = true
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
		s.add(file.name, e)
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

func (s *survey) add(name string, e *entry) {
	s.entries++
	for i := range e.postings {
		p := &e.postings[i]
		if p.amount.isZero() {
			continue
		}
		u := s.commodities[p.commodity]
		if u == nil {
			u = &manner{marks: map[byte]string{}}
			s.commodities[p.commodity] = u
		}
		u.needs, u.places = max(u.needs, p.amount.needs()), max(u.places, p.amount.places)
		if _, met := u.marks[p.amount.mark]; !met && p.amount.mark != 0 {
			u.marks[p.amount.mark] = fmt.Sprintf("%s:%d", name, p.line)
		}
		if s.accounts[p.account] == nil {
			s.accounts[p.account] = map[string]bool{}
		}
		s.accounts[p.account][p.commodity] = true
	}
}

// checkMarks refuses a commodity whose decimal mark is not clear: with both marks about, 1,000 is one or a thousand.
func (s *survey) checkMarks(commodity string) error {
	u := s.commodities[commodity]
	if u == nil || len(u.marks) < 2 {
		return nil
	}
	return fmt.Errorf("the amounts of %s have a decimal point (%s) and a decimal comma (%s)", shown(commodity), u.marks['.'], u.marks[','])
}

// symbols returns the commodities in order.
func (s *survey) symbols() []string { return slices.Sorted(maps.Keys(s.commodities)) }

// shown is a commodity for people.
func shown(symbol string) string {
	if symbol == "" {
		return "amounts without a commodity"
	}
	return symbol
}
