package throughput

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Figures is what was measured, everything in transactions a second and whole units.
type Figures struct {
	// Grid is the throughput for a size of batches and a number of stripes.
	Grid []Cell
	// Lanes is the throughput for a number of lanes.
	Lanes []Lane
	// Offered is what becomes of loads that do not wait for answers.
	Offered []Offered
	// Naive is the throughput of single posts by a number of callers.
	Naive []Naive
}

// Cell is one measurement of the grid.
type Cell struct{ Batch, Stripes, Posted int }

// Lane is one measurement of lanes.
type Lane struct{ Lanes, Posted int }

// Naive is one measurement of single posts.
type Naive struct{ Callers, Posted int }

// Offered is one offered load: posted in time, the median and the 99th percentile of the time to the answer in
// microseconds, and how many hundredths of a transaction a batch had on average.
type Offered struct{ Rate, Posted, P50, P99, Shared int }

// Text returns the figures, one measurement a line: what it is, what was set, what was measured.
func (f Figures) Text() []byte {
	var out bytes.Buffer
	for _, c := range f.Grid {
		fmt.Fprintln(&out, "grid", c.Batch, c.Stripes, c.Posted)
	}
	for _, l := range f.Lanes {
		fmt.Fprintln(&out, "lanes", l.Lanes, l.Posted)
	}
	for _, o := range f.Offered {
		fmt.Fprintln(&out, "offered", o.Rate, o.Posted, o.P50, o.P99, o.Shared)
	}
	for _, n := range f.Naive {
		fmt.Fprintln(&out, "naive", n.Callers, n.Posted)
	}
	return out.Bytes()
}

// Parse reads what Text wrote.
func Parse(text []byte) (f Figures, err error) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		var c Cell
		var l Lane
		var o Offered
		var n Naive
		switch kind {
		case "grid":
			_, err = fmt.Sscanln(rest, &c.Batch, &c.Stripes, &c.Posted)
			f.Grid = append(f.Grid, c)
		case "lanes":
			_, err = fmt.Sscanln(rest, &l.Lanes, &l.Posted)
			f.Lanes = append(f.Lanes, l)
		case "offered":
			_, err = fmt.Sscanln(rest, &o.Rate, &o.Posted, &o.P50, &o.P99, &o.Shared)
			f.Offered = append(f.Offered, o)
		case "naive":
			_, err = fmt.Sscanln(rest, &n.Callers, &n.Posted)
			f.Naive = append(f.Naive, n)
		default:
			err = fmt.Errorf("no measurement is called %q", kind)
		}
		if err != nil {
			return Figures{}, fmt.Errorf("figures: line %q: %w", lines.Text(), err)
		}
	}
	return f, nil
}

// sizes lists the batch sizes of the grid, stripes its numbers of stripes.
func (f Figures) sizes() []int   { return distinct(f.Grid, func(c Cell) int { return c.Batch }) }
func (f Figures) stripes() []int { return distinct(f.Grid, func(c Cell) int { return c.Stripes }) }

func distinct(cells []Cell, of func(Cell) int) (all []int) {
	for _, c := range cells {
		if n := of(c); !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

func (f Figures) posted(batch, stripes int) int {
	for _, c := range f.Grid {
		if c.Batch == batch && c.Stripes == stripes {
			return c.Posted
		}
	}
	return 0
}

// Chart shows the grid: throughput against stripes, a curve for each size of batches.
func (f Figures) Chart() Chart {
	c := Chart{Title: "Transactions a second into one account", XTitle: "stripes", X: f.stripes()}
	for _, size := range f.sizes() {
		curve := Curve{Name: fmt.Sprint("batches of ", size)}
		for _, stripes := range c.X {
			curve.Y = append(curve.Y, f.posted(size, stripes))
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}

// Fill writes the tables into the page, each between its marks.
func (f Figures) Fill(page string) (string, error) {
	var grid, lanes, offered, naive table
	head := []string{"transactions in a batch"}
	for _, stripes := range f.stripes() {
		head = append(head, fmt.Sprint("stripes: ", stripes))
	}
	grid.row(head...)
	for _, size := range f.sizes() {
		row := []string{fmt.Sprint(size)}
		for _, stripes := range f.stripes() {
			row = append(row, thousands(f.posted(size, stripes)))
		}
		grid.row(row...)
	}
	lanes.row("lanes of each stripe", "posted a second")
	for _, l := range f.Lanes {
		lanes.row(fmt.Sprint(l.Lanes), thousands(l.Posted))
	}
	offered.row("offered a second", "posted a second", "median", "99 of 100 within", "transactions in a batch")
	for _, o := range f.Offered {
		offered.row(thousands(o.Rate), thousands(o.Posted), millis(o.P50), millis(o.P99), fmt.Sprintf("%d.%d", o.Shared/100, o.Shared%100/10))
	}
	naive.row("callers", "posted a second")
	for _, n := range f.Naive {
		naive.row(fmt.Sprint(n.Callers), thousands(n.Posted))
	}
	for _, part := range []struct {
		name string
		table
	}{{"grid", grid}, {"lanes", lanes}, {"offered", offered}, {"naive", naive}} {
		begin, end := "<!-- "+part.name+" -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return "", fmt.Errorf("figures: the page has no place for %s", part.name)
		}
		page = before + begin + part.markdown() + end + after
	}
	return page, nil
}

type table [][]string

func (t *table) row(cells ...string) { *t = append(*t, cells) }

// markdown returns the table, with figures to the right.
func (t table) markdown() string {
	var out strings.Builder
	for i, row := range t {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			out.WriteString(strings.Repeat("|---:", len(row)) + "|\n")
		}
	}
	return out.String()
}

// thousands writes a number with a comma between its thousands.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// millis writes microseconds as milliseconds.
func millis(micros int) string { return fmt.Sprintf("%d.%d ms", micros/1000, micros%1000/100) }
