package throughput

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/internal/plot"
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
func (f Figures) Chart() plot.Chart {
	c := plot.Chart{Title: "Transactions a second into one account", XTitle: "stripes", X: f.stripes()}
	for _, size := range f.sizes() {
		curve := plot.Curve{Name: fmt.Sprint("batches of ", size)}
		for _, stripes := range c.X {
			curve.Y = append(curve.Y, f.posted(size, stripes))
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}

// Fill writes the tables into the page, each between its marks.
func (f Figures) Fill(page string) (string, error) {
	var grid, lanes, offered, naive plot.Table
	head := []string{"transactions in a batch"}
	for _, stripes := range f.stripes() {
		head = append(head, fmt.Sprint("stripes: ", stripes))
	}
	grid.Row(head...)
	for _, size := range f.sizes() {
		row := []string{fmt.Sprint(size)}
		for _, stripes := range f.stripes() {
			row = append(row, plot.Thousands(f.posted(size, stripes)))
		}
		grid.Row(row...)
	}
	lanes.Row("lanes of each stripe", "posted a second")
	for _, l := range f.Lanes {
		lanes.Row(fmt.Sprint(l.Lanes), plot.Thousands(l.Posted))
	}
	offered.Row("offered a second", "posted a second", "median", "99 of 100 within", "transactions in a batch")
	for _, o := range f.Offered {
		offered.Row(plot.Thousands(o.Rate), plot.Thousands(o.Posted), millis(o.P50), millis(o.P99), fmt.Sprintf("%d.%d", o.Shared/100, o.Shared%100/10))
	}
	naive.Row("callers", "posted a second")
	for _, n := range f.Naive {
		naive.Row(fmt.Sprint(n.Callers), plot.Thousands(n.Posted))
	}
	var err error
	for name, table := range map[string]plot.Table{"grid": grid, "lanes": lanes, "offered": offered, "naive": naive} {
		if page, err = plot.Fill(page, name, 0, table); err != nil {
			return "", err
		}
	}
	return page, nil
}

// millis writes microseconds as milliseconds.
func millis(micros int) string { return fmt.Sprintf("%d.%d ms", micros/1000, micros%1000/100) }
