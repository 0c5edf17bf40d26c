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
	if _, _, err := bisect(0, parts, parts, try); err != nil {
		return Breaking{}, err
	}
	return b, nil
}

// BreakingRate looks for the rate at which a lane breaks under a distribution of keys: the largest that held and the smallest
// that did not, within a hundredth of each other. It begins at load.Rate and doubles it up to ten times; breaks is 0 if even
// that holds. Arrivals are even.
func BreakingRate(ctx context.Context, lane Lane, load Load) (holds, breaks int, err error) {
	const doublings = 10
	load.Even = true
	try := func(rate int) (bool, error) {
		load.Rate = rate
		report, err := Run(ctx, lane, load)
		return err == nil && report.Holds(), err
	}
	low, high := 0, load.Rate
	for range doublings {
		held, err := try(high)
		if err != nil {
			return 0, 0, err
		}
		if !held {
			return bisect(low, high, 100, try)
		}
		low, high = high, 2*high
	}
	return low, 0, nil
}

// bisect narrows down where something ends to hold, between a number that holds and one that does not, until they are one
// apart, or that part of the smaller one.
func bisect(low, high, part int, holds func(n int) (bool, error)) (int, int, error) {
	for high-low > max(1, low/part) {
		middle := (low + high) / 2
		held, err := holds(middle)
		switch {
		case err != nil:
			return 0, 0, err
		case held:
			low = middle
		default:
			high = middle
		}
	}
	return low, high, nil
}
