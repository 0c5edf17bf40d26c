package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What one transaction may take. A file may have any size, but no part of it may fill the memory.
const (
	maxRowBytes   = 1 << 20
	maxEntryBytes = 4 << 20
	maxPostings   = 10_000
)

// entry is one transaction of the journal.
type entry struct {
	line    int // where its first row begins
	section int // counts the headers before it: exports that were put one behind the other are several
	index   string
	date    time.Time
	head
	postings []posting
}

// head is what all rows of a transaction repeat.
type head struct{ date, date2, status, code, description, comment string }

// posting is one row.
type posting struct {
	line      int
	account   string // without the brackets of a virtual posting
	virtual   virtual
	amount    quantity
	commodity string
	status    string
	comment   string
}

// virtual says whether a posting must balance, and with which others.
type virtual byte

const (
	realPosting       virtual = iota // account
	balancedVirtual                  // [account]
	unbalancedVirtual                // (account): nothing balances it
)

const (
	virtualOpen  = " [("
	virtualClose = " ])"

	byteOrderMark   = "\ufeff"
	requiredColumns = "txnidx date account amount commodity"
	optionalColumns = "date2 status code description comment posting-status posting-comment"
	howToExport     = "export with: hledger print -O csv"
)

// lineError is what is wrong with one transaction. The others are not concerned.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

func badLine(line int, format string, args ...any) *lineError {
	return &lineError{line, fmt.Errorf(format, args...)}
}

// reader reads transactions from the CSV of hledger print, one at a time.
type reader struct {
	rows    *csv.Reader
	meter   *meter
	columns map[string]int
	header  []string
	section int
	ahead   []string // the first row of the next transaction
	line    int      // where it begins
	ended   error
}

func newReader(r io.Reader) *reader {
	m := &meter{from: r, left: maxRowBytes}
	text := bufio.NewReader(m)
	if mark, _ := text.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = text.Discard(len(byteOrderMark))
	}
	rows := csv.NewReader(text)
	rows.FieldsPerRecord = -1 // next says which line it is
	return &reader{rows: rows, meter: m}
}

// next returns the next transaction. A *lineError says that the transaction cannot be read, and the next one can;
// any other error ends the file, io.EOF as it should.
func (r *reader) next() (*entry, error) {
	if r.columns == nil {
		if err := r.readHeader(); err != nil {
			return nil, err
		}
		r.advance()
	}
	if r.ahead == nil {
		return nil, r.ended
	}
	e := &entry{line: r.line, section: r.section, index: r.field("txnidx")}
	var wrong *lineError
	size := 0
	for r.ahead != nil && r.section == e.section && r.field("txnidx") == e.index {
		for _, field := range r.ahead {
			size += len(field)
		}
		if wrong == nil {
			wrong = r.add(e, size)
		}
		r.advance()
	}
	if r.ahead == nil && r.ended != io.EOF {
		return nil, r.ended // the rest of this transaction may be lost
	}
	if wrong != nil {
		return nil, wrong
	}
	return e, nil
}

// readHeader finds out which column is where.
func (r *reader) readHeader() error {
	header, err := r.read()
	switch {
	case err == io.EOF:
		return fmt.Errorf("the file is empty; %s", howToExport)
	case err != nil:
		return err
	}
	columns := map[string]int{}
	for i, name := range header {
		if _, twice := columns[name]; twice {
			return fmt.Errorf("line 1: two columns are called %.40q", name)
		}
		columns[name] = i
	}
	for _, name := range strings.Fields(requiredColumns) {
		if _, ok := columns[name]; !ok {
			return fmt.Errorf("line 1: there is no column %q; %s", name, howToExport)
		}
	}
	for _, name := range strings.Fields(optionalColumns) {
		if _, ok := columns[name]; !ok {
			columns[name] = -1
		}
	}
	r.columns, r.header = columns, header
	return nil
}

// advance reads the next row. A header in the middle begins the next export.
func (r *reader) advance() {
	for {
		row, err := r.read()
		if err != nil {
			r.ahead, r.ended = nil, err
			return
		}
		if !slices.Equal(row, r.header) {
			r.ahead = row
			r.line, _ = r.rows.FieldPos(0)
			return
		}
		r.section++
	}
}

// read reads a row, and lets the next one have its full size.
func (r *reader) read() ([]string, error) {
	row, err := r.rows.Read()
	r.meter.left = maxRowBytes
	var broken *csv.ParseError
	switch {
	case errors.As(err, &broken):
		return nil, fmt.Errorf("line %d: not CSV: %w", broken.StartLine, broken.Err)
	case errors.Is(err, errTooLong):
		return nil, fmt.Errorf("after line %d: %w", r.line, err)
	}
	return row, err
}

// field returns a field of the row ahead, "" if it is not there.
func (r *reader) field(name string) string {
	if i := r.columns[name]; i >= 0 && i < len(r.ahead) {
		return r.ahead[i]
	}
	return ""
}

// add adds the row ahead to a transaction.
func (r *reader) add(e *entry, size int) *lineError {
	switch {
	case len(r.ahead) != len(r.header):
		return badLine(r.line, "%d fields, the header has %d", len(r.ahead), len(r.header))
	case e.index == "":
		return badLine(r.line, "txnidx: is empty")
	case size > maxEntryBytes:
		return badLine(e.line, "transaction %s has more than %d bytes", e.index, maxEntryBytes)
	case len(e.postings) == maxPostings:
		return badLine(e.line, "transaction %s has more than %d postings", e.index, maxPostings)
	}
	for i, field := range r.ahead {
		if !utf8.ValidString(field) {
			return badLine(r.line, "%s: is not valid UTF-8", r.header[i])
		}
	}
	h := head{
		date: r.field("date"), date2: r.field("date2"), status: r.field("status"), code: r.field("code"),
		description: r.field("description"), comment: r.field("comment"),
	}
	if len(e.postings) == 0 {
		date, err := parseDate(h.date)
		if err != nil {
			return badLine(r.line, "date: %w", err)
		}
		if _, err := parseDate(h.date2); h.date2 != "" && err != nil {
			return badLine(r.line, "date2: %w", err)
		}
		e.date, e.head = date, h
	} else if name := e.head.differs(h); name != "" {
		return badLine(r.line, "the rows of transaction %s differ in %s; lines %d and %d", e.index, name, e.line, r.line)
	}
	p, err := r.posting()
	if err != nil {
		return &lineError{r.line, err}
	}
	e.postings = append(e.postings, p)
	return nil
}

// differs names the first field in which two heads differ.
func (h head) differs(other head) string {
	switch {
	case h.date != other.date:
		return "date"
	case h.date2 != other.date2:
		return "date2"
	case h.status != other.status:
		return "status"
	case h.code != other.code:
		return "code"
	case h.description != other.description:
		return "description"
	case h.comment != other.comment:
		return "comment"
	}
	return ""
}

// parseDate reads a date as hledger writes it, whatever way the journal has it.
func parseDate(text string) (time.Time, error) {
	date, err := time.Parse(time.DateOnly, text)
	if err != nil || date.Year() < 1 {
		return time.Time{}, fmt.Errorf("%.40q is no date such as 2026-01-31", text)
	}
	return date, nil
}

// posting reads the row ahead as a posting.
func (r *reader) posting() (posting, error) {
	p := posting{line: r.line, account: r.field("account"), commodity: r.field("commodity"),
		status: r.field("posting-status"), comment: r.field("posting-comment")}
	for kind := balancedVirtual; kind <= unbalancedVirtual; kind++ {
		inner, opened := strings.CutPrefix(p.account, virtualOpen[kind:kind+1])
		if inner, closed := strings.CutSuffix(inner, virtualClose[kind:kind+1]); opened && closed {
			p.account, p.virtual = inner, kind
			break
		}
	}
	switch {
	case p.account == "":
		return p, errors.New("account: is empty")
	case p.account != strings.TrimSpace(p.account), strings.Contains(p.account, "  "), strings.ContainsFunc(p.account, unicode.IsControl):
		return p, fmt.Errorf("account: %.80q is none: no name begins or ends with a space, has two in a row or a control character", p.account)
	case strings.ContainsFunc(p.commodity, unicode.IsControl):
		return p, fmt.Errorf("commodity: %.40q has a control character", p.commodity)
	}
	var err error
	if p.amount, err = parseQuantity(r.field("amount")); err != nil {
		return p, fmt.Errorf("amount: %w", err)
	}
	return p, nil
}

var errTooLong = fmt.Errorf("a row has more than %d bytes", maxRowBytes)

// meter ends a file whose row does not end. What the CSV reader reads ahead, a few KiB, does not count.
type meter struct {
	from io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooLong
	}
	n, err := m.from.Read(p)
	m.left -= n
	return n, err
}
