package loadtest

import (
	"context"
	"fmt"
)

// Breaking is where a lane breaks.
type Breaking struct {
	// Holds is the largest share of one key under which the lane holds, Breaks the smallest under which it does not; they
	// are a thousandth apart. Breaks is 0 if one key may take everything.
	Holds, Breaks float64
	// At is the report of Holds, Beyond that of Breaks, nil if there is none.
	At, Beyond *Report
}

// String says it in a sentence.
func (b Breaking) String() string {
	if b.Breaks == 0 {
		return "one key may take all of it"
	}
	if b.At == nil {
		return fmt.Sprintf("it does not hold at all: %.1f %% on one key is too much", 100*b.Breaks)
	}
	return fmt.Sprintf("one key may take %.1f %% of it, not %.1f %%", 100*b.Holds, 100*b.Breaks)
}

// BreakingShare looks for the share of one key at which a lane breaks: it runs the load with key 0 getting more and less of
// it, about ten times. Load.Keys says over how many keys the rest goes, 100 by default, and nothing else; arrivals are
// even, so that the limit is that of a steady load. Leave it room.
func BreakingShare(ctx context.Context, lane Lane, load Load) (Breaking, error) {
	const parts = 1000
	n := load.Keys.Count()
	if n < 2 {
		n = 100
	}
	load.Even = true
	var b Breaking
	try := func(thousandths int) (bool, error) {
		share := float64(thousandths) / parts
		load.Keys = HotKey(n, share)
		report, err := Run(ctx, lane, load)
		switch {
		case err != nil:
			return false, err
		case report.Holds():
			b.Holds, b.At = share, report
			return true, nil
		}
		b.Breaks, b.Beyond = share, report
		return false, nil
	}
	if holds, err := try(parts); holds || err != nil {
		return b, err
	}
	for low, high := 0, parts; high-low > 1; {
		middle := (low + high) / 2
		holds, err := try(middle)
		if err != nil {
			return Breaking{}, err
		}
		if holds {
			low = middle
		} else {
			high = middle
		}
	}
	return b, nil
}
