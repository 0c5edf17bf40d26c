package ready

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
)

// ErrCSV: a statement cannot be read. See [CSVError].
var ErrCSV error = fault.New(fault.ReadyCSV, "ready: statement not readable")

// CSVError says which line of a statement cannot be read, and why. The comparison that reads it ends with it.
type CSVError struct {
	// Line counts from 1, the header included.
	Line int
	// Column is the header of the column, empty if it is about the whole line.
	Column string
	// Reason says what is wrong with it, without what is in it.
	Reason string
	// Err is the error below, if there is one.
	Err error
}

func (e *CSVError) Error() string {
	where := ""
	if e.Column != "" {
		where = fmt.Sprintf(", column %.64q", e.Column)
	}
	return fault.ReadyCSV.Text("ready: statement, line %d%s: %s", e.Line, where, e.Reason)
}

// Unwrap returns ErrCSV and Err.
func (e *CSVError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrCSV}
	}
	return []error{ErrCSV, e.Err}
}

// Columns say where a statement has what, by its header. Other columns are passed over.
type Columns struct {
	// Key names the column of [reconcile.Row.Key]. Required.
	Key string
	// ID names that of [reconcile.Row.ID], which tells lines apart that are otherwise alike: a comparison counts rows that are the
	// same once. Empty: the number of the line, from 1 for the header.
	ID string
	// Amount is a plain decimal such as -1234.50, of no more places than its currency has. Empty: there are no amounts.
	Amount string
	// Currency is the column of the code. Instead of it, Only may say what all amounts are in.
	Currency string
	Only     money.Currency
	// Currencies are those besides ISO 4217.
	Currencies money.Registry
	// Negate changes the sign of every amount, for a statement whose author sees the account from the other side.
	Negate bool
	// At is the column of the time and Layout how it is written, for package time; without a zone it is in Zone. Empty: rows
	// have no time. Defaults: "2006-01-02" and UTC.
	At, Layout string
	Zone       *time.Location
	// Value is the column of [reconcile.Row.Value]. Optional.
	Value string
	// Comma separates fields. Default: ','.
	Comma rune
}

// CSV are the lines of a statement: RFC 4180, UTF-8, with a header. Nothing is guessed: a line with too few fields, an amount
// in another form, a currency that nobody knows, or a line that is the same as an earlier one in all of these columns is a [CSVError]
// that names the line, and ends the source. It may be ranged over once. With a column of IDs it keeps about 40 bytes for each line.
func CSV(statement io.Reader, columns Columns) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		s, err := openStatement(statement, columns)
		if err != nil {
			yield(reconcile.Row{}, err)
			return
		}
		for {
			row, err := s.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// statement reads a CSV line by line.
type statement struct {
	columns Columns
	from    *csv.Reader
	place   map[string]int
	seen    map[[16]byte]struct{} // lines, if they have IDs of their own
	fields  []string
	line    int
}

func openStatement(from io.Reader, columns Columns) (*statement, error) {
	s := &statement{columns: columns, from: csv.NewReader(from), place: map[string]int{}, seen: map[[16]byte]struct{}{}}
	s.from.ReuseRecord = true
	if columns.Comma != 0 {
		s.from.Comma = columns.Comma
	}
	header, err := s.from.Read()
	if err != nil {
		return nil, s.fail(1, "", "has no header", err)
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	for i, name := range header {
		if _, twice := s.place[name]; twice {
			return nil, s.fail(1, name, "is there twice", nil)
		}
		s.place[name] = i
	}
	for _, needed := range []struct {
		name     string
		required bool
	}{{columns.ID, false}, {columns.Key, true}, {columns.Amount, false}, {columns.Currency, false}, {columns.At, false}, {columns.Value, false}} {
		if _, ok := s.place[needed.name]; !ok && (needed.required || needed.name != "") {
			return nil, s.fail(1, needed.name, "is not in the header", nil)
		}
	}
	if columns.Amount != "" && columns.Currency == "" && columns.Only == (money.Currency{}) {
		return nil, s.fail(1, columns.Amount, "has no currency: name a column, or the only one", nil)
	}
	return s, nil
}

func (s *statement) fail(line int, column, reason string, err error) error {
	return &CSVError{Line: line, Column: column, Reason: reason, Err: err}
}

func (s *statement) field(column string) string {
	if column == "" {
		return ""
	}
	return s.fields[s.place[column]]
}

func (s *statement) next() (row reconcile.Row, err error) {
	if s.fields, err = s.from.Read(); err != nil {
		if errors.Is(err, io.EOF) {
			return row, io.EOF
		}
		line := 0
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			line, err = parse.Line, parse.Err
		}
		return row, s.fail(line, "", err.Error(), err)
	}
	s.line, _ = s.from.FieldPos(0)
	c := s.columns
	row = reconcile.Row{ID: strings.Clone(s.field(c.ID)), Key: strings.Clone(s.field(c.Key)), Value: strings.Clone(s.field(c.Value))}
	if c.Amount != "" {
		if row.Amount, err = s.amount(); err != nil {
			return row, err
		}
	}
	if c.At != "" {
		layout, zone := c.Layout, c.Zone
		if layout == "" {
			layout = time.DateOnly
		}
		if zone == nil {
			zone = time.UTC
		}
		if row.At, err = time.ParseInLocation(layout, s.field(c.At), zone); err != nil {
			return row, s.fail(s.line, c.At, "is no time of the layout", nil)
		}
	}
	return row, s.identify(&row)
}

// identify gives a line its number, or holds it against those before it.
func (s *statement) identify(row *reconcile.Row) error {
	if s.columns.ID == "" {
		row.ID = strconv.Itoa(s.line)
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %d", row.ID, row.Key, row.Amount, row.Value, row.At.UnixNano()))
	line := [16]byte(sum[:16])
	if _, twice := s.seen[line]; twice {
		return s.fail(s.line, s.columns.ID, "does not tell the line from an earlier one that is the same", nil)
	}
	s.seen[line] = struct{}{}
	return nil
}

func (s *statement) amount() (money.Amount, error) {
	c, currency := s.columns, s.columns.Only
	if c.Currency != "" {
		var err error
		if currency, err = c.Currencies.Currency(s.field(c.Currency)); err != nil {
			return money.Amount{}, s.fail(s.line, c.Currency, "is no currency that is registered", err)
		}
	}
	amount, err := money.Parse(s.field(c.Amount), currency)
	if err != nil {
		return money.Amount{}, s.fail(s.line, c.Amount, "is no plain decimal of its currency's places", err)
	}
	if c.Negate {
		amount = amount.Neg()
	}
	return amount, nil
}
