package capacity

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// unknown stands in a table for what is not known, which is not zero.
const unknown = "-"

// String returns the plan as a table, lanes in their order, and below it what is still to be measured.
func (p *Plan) String() string {
	rows := [][]string{{"lane", "pattern", "route", "units/s of", "rate/s", "units", "share", "demand/s", "shards", "needed", "per shard", "target", "headroom", "state"}}
	for _, l := range p.Lanes {
		rows = append(rows, l.row())
	}
	var b strings.Builder
	writeTable(&b, rows)
	fmt.Fprintf(&b, "\nAt the peak: %s read units and %s write units a second.\n", p.ReadUnits, p.WriteUnits)
	if open := p.LoadTests(); len(open) > 0 {
		fmt.Fprintf(&b, "%d of %d lanes need a load test before they can be trusted:\n", len(open), len(p.Lanes))
		for _, l := range open {
			fmt.Fprintf(&b, "  %s: %s; %s\n", l.ID, l.Evidence, l.bears())
		}
	}
	return b.String()
}

func (l PlannedLane) row() []string {
	share, shards, needed, load, headroom := unknown, unknown, unknown, unknown, unknown
	if l.Known {
		share, shards, needed = l.Share, strconv.Itoa(l.Shards), strconv.Itoa(l.Needed)
		load, headroom = l.Load.String(), l.Headroom.Fixed(2)+"%"
	}
	return []string{l.ID, strings.Join(l.Patterns(), ","), l.Route, string(l.Kind), l.Rate.String(), l.Units.String(), share, l.Demand.String(),
		shards, needed, load, l.Target.String(), headroom, string(l.State)}
}

// bears says how hot a key may be.
func (l PlannedLane) bears() string {
	if l.MaxShare.Cmp(figureOf(1)) == 0 {
		return "one key could take all of it, at these sizes"
	}
	return fmt.Sprintf("it holds while no key gets more than %s of it", percentBelow(l.MaxShare))
}

// percentBelow returns a share in percent, rounded down: a limit must not look higher than it is.
func percentBelow(share Figure) string {
	const hundredths = 100 * 100
	scaled := share.times(figureOf(hundredths)).Rat()
	below := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	return newFigure(new(big.Rat).SetFrac(below, big.NewInt(100))).String() + "%"
}

// writeTable sets rows in columns: texts to the left, figures to the right.
func writeTable(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	numeric := func(column int) bool {
		return !slices.ContainsFunc(rows[1:], func(row []string) bool {
			return row[column] != unknown && strings.Trim(row[column], "0123456789.-%") != ""
		})
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if numeric(i) {
				cells[i] = fmt.Sprintf("%*s", widths[i], cell)
			} else {
				cells[i] = fmt.Sprintf("%-*s", widths[i], cell)
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, "  "), " ") + "\n")
	}
}
