package main

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

// AmountFigure is one operation on one input: picoseconds and allocations for each library, in their order. -1 is where a
// library has no such operation, or cannot hold the input.
type AmountFigure struct {
	Operation   string
	Digits      int
	Picoseconds [4]int64
	Allocations [4]int64
}

// measureAmounts takes the libraries in turns, so that a busy moment of the machine hits all, and the fastest turn of each
// counts.
func measureAmounts(turns int, span time.Duration) ([]AmountFigure, error) {
	if err := flag.Set("test.benchtime", span.String()); err != nil {
		return nil, fmt.Errorf("test.benchtime: %w", err)
	}
	all, err := operations()
	if err != nil {
		return nil, err
	}
	var figures []AmountFigure
	for _, o := range all {
		f := AmountFigure{Operation: o.name, Digits: o.digits, Picoseconds: [4]int64{-1, -1, -1, -1}, Allocations: [4]int64{-1, -1, -1, -1}}
		for range turns {
			for i, do := range o.do {
				if do == nil {
					continue
				}
				r := testing.Benchmark(loop(do))
				if r.N == 0 {
					return nil, fmt.Errorf("%s of %d digits fails in %s", o.name, o.digits, libraries[i])
				}
				took := 1000 * r.T.Nanoseconds() / int64(r.N)
				if f.Picoseconds[i] < 0 || took < f.Picoseconds[i] {
					f.Picoseconds[i], f.Allocations[i] = took, r.AllocsPerOp()
				}
			}
		}
		figures = append(figures, f)
	}
	return figures, nil
}
