package look

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
)

// faults counts records that cannot be read. One of them hides no other: it is told and counted, and makes the command end with
// findings.
type faults struct {
	a *app.App
	n int
}

// skip tells an error that is about one record; any other error ends the list.
func (f *faults) skip(err, corrupt error) error {
	if !errors.Is(err, corrupt) {
		return err
	}
	f.n++
	f.a.Hint("unreadable: %v", err)
	return nil
}

// found joins what a command found: counts of things, each with its word in the singular.
type found []string

func (f *found) add(n int, one, many string) {
	if n > 0 {
		*f = append(*f, plural(n, one, many))
	}
}

// err is what the command ends with: nil if nothing was found.
func (f found) err() error {
	if len(f) == 0 {
		return nil
	}
	return app.Findings("%s", strings.Join(f, ", "))
}

// printAll prints a list in which nothing is a finding but a record that cannot be read.
func printAll[T any](l app.List[T], bad *faults, thing string) error {
	if err := app.Print(bad.a, l); err != nil {
		return err
	}
	var f found
	f.add(bad.n, "unreadable "+thing, "unreadable "+thing+"s")
	return f.err()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return app.Count(n) + " " + many
}

// oldest returns the earlier of two times; the zero time is none.
func oldest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// text is a column of tables and CSV files.
func text[T any](name string, kind app.Kind, value func(T) string) app.Column[T] {
	return app.Column[T]{Name: name, Kind: kind, Value: value}
}

// data is a column of CSV files only.
func data[T any](name string, value func(T) string) app.Column[T] {
	return app.Column[T]{Name: name, Data: true, Value: value}
}

// field is a line of a record that is shown alone.
type field struct{ name, value string }

// fields lays lines out as names and values; those without a value are left out.
func fields(all ...field) (lines []string) {
	width := 0
	for _, f := range all {
		if f.value != "" {
			width = max(width, len(f.name))
		}
	}
	for _, f := range all {
		if f.value != "" {
			lines = append(lines, fmt.Sprintf("%-*s  %s", width, f.name, app.Printable(f.value)))
		}
	}
	return lines
}

// at is a time for people: when, and how long ago or ahead.
func at(now, t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.After(now):
		return fmt.Sprintf("%s (in %s)", app.Stamp(t), app.Span(t.Sub(now)))
	}
	return fmt.Sprintf("%s (%s ago)", app.Stamp(t), app.Span(now.Sub(t)))
}

// quoted is an argument as a shell takes it.
func quoted(arg string) string { return app.Quote(arg) }

func first[T cmp.Ordered](values ...T) T { return cmp.Or(values...) }

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
