package ledger

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

// One write may do what several do one after the other, and no more: its condition holds exactly where each of theirs
// would in turn. On either side of the books, from any balance, also from one below the minimum.
func TestAMergedChangeNeedsWhatItsPartsNeedInTurn(t *testing.T) {
	usd, err := money.ISO("USD")
	if err != nil {
		t.Fatal(err)
	}
	cents := func(n int64) money.Amount {
		a, err := money.FromMinor(n, usd)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	agreed := map[bool]int{}
	rapid.Check(t, func(rt *rapid.T) {
		available := rapid.Int64Range(-5, 5).Draw(rt, "available")
		side := rapid.SampledFrom([]Side{DebitSide, CreditSide}).Draw(rt, "side")
		moves := rapid.SliceOfN(rapid.Int64Range(-4, 4), 1, 8).Draw(rt, "moves")
		grouping := rapid.IntRange(0, len(moves)-1).Draw(rt, "first those up to")

		serially, standing := true, available // as the record keeps it: with the sign of the books
		for _, move := range moves {
			takes := side == DebitSide && move < 0 || side == CreditSide && move > 0
			standing += move
			if own := side.own(cents(standing)); takes && own.Sign() < 0 {
				serially = false
			}
		}

		single := func(move int64) *change {
			return &change{currency: usd, posted: cents(move), reserved: cents(0), postings: 1, month: "2026-11"}
		}
		series := func(moves []int64) *change {
			sum := single(moves[0])
			for _, move := range moves[1:] {
				both, ok := sum.merge(single(move))
				if !ok {
					rt.Fatal("two changes of one month do not merge")
				}
				sum = both
			}
			return sum
		}
		all := series(moves[:grouping+1])
		if grouping+1 < len(moves) {
			both, ok := all.merge(series(moves[grouping+1:]))
			if !ok {
				rt.Fatal("two merged changes do not merge")
			}
			all = both
		}
		moved, err := all.moved()
		if err != nil {
			rt.Fatal(err)
		}
		low, high := all.draws(moved)
		merged := true // available >= -low for a debit account, available <= -high for a credit account
		if side == DebitSide && low.taken {
			order, err := cents(available).Cmp(low.to.Neg())
			merged = err == nil && order >= 0
		}
		if side == CreditSide && high.taken {
			order, err := cents(available).Cmp(high.to.Neg())
			merged = err == nil && order <= 0
		}
		if merged != serially || all.postings != int64(len(moves)) {
			rt.Fatalf("%v on a %s account from %d: one by one %v, merged %v", moves, side, available, serially, merged)
		}
		agreed[merged]++
	})
	if agreed[true] == 0 || agreed[false] == 0 {
		t.Errorf("one side was never seen: %v", agreed)
	}
}
