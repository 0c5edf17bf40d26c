package app

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dynafin/dynafin/money"
)

// Kind says what a column holds, and so how a table shows it.
type Kind int

const (
	// Text stands as it is, on the left.
	Text Kind = iota
	// ID stands on the left, shortened in the middle in tables unless --wide.
	ID
	// Number stands on the right.
	Number
)

// Column is one column of a table, and of a CSV file.
type Column[T any] struct {
	// Name is that of the CSV column, in small letters, and in capitals of the table's.
	Name string
	// Title is what a table says above it, if that is not the name.
	Title string
	Kind  Kind
	// Value is the whole value.
	Value func(T) string
	// Show is what a table shows instead, for example an age for a time. Optional.
	Show func(T) string
	// Table or Data says that only tables, or only CSV files, have the column.
	Table, Data bool
}

// Titled returns the column under another title in tables.
func (c Column[T]) Titled(title string) Column[T] {
	c.Title = title
	return c
}

// List is what a command prints: items that are JSON objects, and a table of them.
type List[T any] struct {
	// Schema is the published name of the document, for example "outbox.groups/v1".
	Schema string
	// Table is what was read, for the header of the document.
	Table   string
	Columns []Column[T]
	// Items are printed as JSON as they are: their fields are a public format. Amounts are [Money], numbers of 64 bits text.
	Items []T
	// Head and Foot are lines around the table, for people.
	Head, Foot []string
	// Empty is what a table says if there are no items.
	Empty string
	// Next is the command to look at next.
	Next string
}

// frame is the document of -o json.
type frame struct {
	Schema   string   `json:"schema"`
	AsOf     string   `json:"as_of"`
	Table    string   `json:"table,omitempty"`
	Consumed consumes `json:"consumed"`
	Items    any      `json:"items"`
	Next     *string  `json:"next"`
}

type consumes struct {
	RCU string `json:"rcu"`
	WCU string `json:"wcu,omitempty"`
}

// Print prints a list in the format that the flags ask for, to stdout; the next command goes to stderr, in the last line.
func Print[T any](a *App, l List[T]) error {
	a.next = l.Next
	var err error
	switch a.flags.output {
	case FormatJSON:
		err = printJSON(a, l)
	case FormatJSONL:
		err = printLines(a, l)
	case FormatCSV:
		err = printCSV(a, l)
	default:
		err = printTable(a, l)
	}
	return err
}

func printJSON[T any](a *App, l List[T]) error {
	f := frame{Schema: "dynafin." + l.Schema, AsOf: Stamp(a.Now()), Table: l.Table, Items: l.Items}
	if l.Items == nil {
		f.Items = []T{}
	}
	f.Consumed.RCU = "0"
	if a.store != nil {
		f.Consumed.RCU = a.store.Meter.Read().String()
		if w := a.store.Meter.Written(); w > 0 {
			f.Consumed.WCU = w.String()
		}
	}
	if l.Next != "" {
		next := a.Where(l.Next)
		f.Next = &next
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(f); err != nil {
		return err
	}
	_, err := a.Stdout.Write(out.Bytes())
	return err
}

func printLines[T any](a *App, l List[T]) error {
	encoder := json.NewEncoder(a.Stdout)
	encoder.SetEscapeHTML(false)
	for _, item := range l.Items {
		if err := encoder.Encode(item); err != nil {
			return err
		}
	}
	return nil
}

func printCSV[T any](a *App, l List[T]) error {
	w := csv.NewWriter(a.Stdout)
	var names []string
	for _, c := range l.Columns {
		if !c.Table {
			names = append(names, c.Name)
		}
	}
	w.Write(names)
	for _, item := range l.Items {
		var row []string
		for _, c := range l.Columns {
			if !c.Table {
				row = append(row, c.Value(item))
			}
		}
		w.Write(row)
	}
	w.Flush()
	return w.Error()
}

func printTable[T any](a *App, l List[T]) error {
	for _, line := range l.Head {
		fmt.Fprintln(a.Stdout, line)
	}
	if len(l.Items) == 0 && l.Empty != "" {
		fmt.Fprintln(a.Stdout, l.Empty)
	} else if slices.ContainsFunc(l.Columns, func(c Column[T]) bool { return !c.Data }) {
		fmt.Fprintln(a.Stdout, render(a, l))
	}
	for _, line := range l.Foot {
		fmt.Fprintln(a.Stdout, line)
	}
	return nil
}

func render[T any](a *App, l List[T]) string {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatUpper
	if a.Color() {
		style.Color.Header = text.Colors{text.Bold}
	}
	w.SetStyle(style)
	var head table.Row
	var configs []table.ColumnConfig
	var shown []Column[T]
	for _, c := range l.Columns {
		if c.Data {
			continue
		}
		align := text.AlignLeft
		if c.Kind == Number {
			align = text.AlignRight
		}
		shown = append(shown, c)
		head = append(head, cmp.Or(c.Title, strings.ReplaceAll(c.Name, "_", " ")))
		configs = append(configs, table.ColumnConfig{Number: len(shown), Align: align, AlignHeader: align})
	}
	w.SetColumnConfigs(configs)
	w.AppendHeader(head)
	for _, item := range l.Items {
		var row table.Row
		for _, c := range shown {
			row = append(row, cell(a, c, item))
		}
		w.AppendRow(row)
	}
	lines := strings.Split(w.Render(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// cell is what a table shows of one item: one line, printable, so that nothing stored can draw on a terminal.
func cell[T any](a *App, c Column[T], item T) string {
	value := c.Value
	if c.Show != nil {
		value = c.Show
	}
	shown := Printable(value(item))
	if c.Kind == ID && !a.flags.wide {
		shown = Short(shown)
	}
	if shown == "" {
		return "-"
	}
	return shown
}

// Color says whether colour may be used: on a terminal only, and only if nobody minds. It never says what a word does not.
func (a *App) Color() bool {
	return a.OutTerminal && !a.flags.noColor && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}

// Machine says whether a program reads the output.
func (a *App) Machine() bool { return a.flags.output != FormatTable }

// shortLength is how long an ID may be in a table.
const shortLength = 16

// Short shortens an ID in the middle: both ends tell IDs apart, and one of them usually stands in a log.
func Short(id string) string {
	runes := []rune(id)
	if len(runes) <= shortLength {
		return id
	}
	return string(runes[:8]) + "…" + string(runes[len(runes)-7:])
}

// Printable replaces what would not stay on its line.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, s)
}

// Money is an amount in JSON.
type Money struct {
	Minor    string `json:"minor"`
	Currency string `json:"currency"`
	Text     string `json:"text"`
}

// AsMoney returns an amount for JSON; nil for no amount.
func AsMoney(amount money.Amount) *Money {
	if amount == (money.Amount{}) {
		return nil
	}
	return &Money{Minor: amount.MinorUnits(), Currency: amount.Currency().Code(), Text: amount.String()}
}

// Stamp is a time in output: UTC, with the digits it has. The zero time is "".
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Age says how long ago something was, in its two largest units: "41m", "3h12m", "2d4h"; of a time to come "in 5m".
func Age(now, then time.Time) string {
	switch {
	case then.IsZero():
		return ""
	case then.After(now):
		return "in " + Span(then.Sub(now))
	}
	return Span(now.Sub(then))
}

// Span says how long something takes, in its two largest units.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return two(int64(d/day), "d", int64(d%day/time.Hour), "h")
	case d >= time.Hour:
		return two(int64(d/time.Hour), "h", int64(d%time.Hour/time.Minute), "m")
	case d >= time.Minute:
		return two(int64(d/time.Minute), "m", int64(d%time.Minute/time.Second), "s")
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

func two(large int64, unit string, small int64, smaller string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, unit)
	}
	return fmt.Sprintf("%d%s%d%s", large, unit, small, smaller)
}

// Count writes a count for people: "20,001".
func Count(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// CSV says whether the output is CSV, which has one line for each of what a JSON object may hold several of.
func (a *App) CSV() bool { return a.flags.output == FormatCSV }
