// Command moneybench compares package money with github.com/bojanz/currency, the kept library that its ISO 4217 table
// comes from, on the same inputs in one run:
//
//	go -C tools run ./moneybench
//
// Times depend on the machine, and on what else it does; the ratio of two times taken in turns hardly does. Each pair is
// measured several times in turns, and the fastest of each counts. A ratio below 1 means that money is faster. With
// -max 1 the command fails if a ratio of Parse, Add or Allocate exceeds 1.
//
// It lives in the tools module, so that package money links neither library.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"text/tabwriter"
)

func main() {
	testing.Init() // defines the flag that sets how long a benchmark runs
	limit := flag.String("max", "", "largest ratio that is accepted, for example 1 or 1.5; any if empty")
	turns := flag.Int("turns", 5, "how often each pair is measured")
	span := flag.String("time", "100ms", "how long each measurement runs")
	flag.Parse()
	if err := run(os.Stdout, *limit, *turns, *span); err != nil {
		fmt.Fprintln(os.Stderr, "moneybench:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, limit string, turns int, span string) error {
	highest := 0.0
	if limit != "" {
		var err error
		if highest, err = strconv.ParseFloat(limit, 64); err != nil {
			return fmt.Errorf("-max: %w", err)
		}
	}
	if err := flag.Set("test.benchtime", span); err != nil {
		return fmt.Errorf("-time: %w", err)
	}
	pairs, err := comparisons()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "operation\tdigits\tmoney ns\tcurrency ns\tratio\tmoney allocs\tcurrency allocs\t")
	slow := 0
	for _, p := range pairs {
		ours, theirs := measure(p, turns)
		ratio := ours.nanoseconds / theirs.nanoseconds
		if p.promised && highest > 0 && ratio > highest {
			slow++
		}
		fmt.Fprintf(table, "%s\t%d\t%.1f\t%.1f\t%.2f\t%d\t%d\t\n", p.operation, p.digits, ours.nanoseconds, theirs.nanoseconds, ratio,
			ours.allocations, theirs.allocations)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if slow > 0 {
		return fmt.Errorf("%d of the ratios exceed %s", slow, limit)
	}
	return nil
}

// cost is the cheapest of some measurements.
type cost struct {
	nanoseconds float64
	allocations int64
}

// measure takes the two sides of a pair in turns, so that a busy moment of the machine hits both.
func measure(p pair, turns int) (ours, theirs cost) {
	for turn := range turns {
		for _, side := range []struct {
			run  func(b *testing.B)
			best *cost
		}{{p.ours, &ours}, {p.theirs, &theirs}} {
			result := testing.Benchmark(side.run)
			nanoseconds := float64(result.T.Nanoseconds()) / float64(result.N)
			if turn == 0 || nanoseconds < side.best.nanoseconds {
				*side.best = cost{nanoseconds: nanoseconds, allocations: result.AllocsPerOp()}
			}
		}
	}
	return ours, theirs
}
