package money

import "math/big"

// AllocateBy is [Amount.Allocate] with exact numbers as weights: percentages, or the amounts of lines
// ([Amount.Rational]), over which a discount is spread. Only their proportions matter.
//
// Errors are [*AllocationError], and [*RangeError] if the least common denominator of the weights exceeds
// [MaxRationalBits].
func (a Amount) AllocateBy(to ResidualPolicy, weights ...Rational) (Allocation, error) {
	common := big.NewInt(1)
	for i, w := range weights {
		if w.Sign() < 0 {
			return Allocation{}, &AllocationError{Op: "allocate", Part: i, Reason: "the weight is negative"}
		}
		// The least common multiple, step by step, so that it stops at the bound however many weights there are.
		denominator := w.value().Denom()
		shared := new(big.Int).GCD(nil, nil, common, denominator)
		common.Mul(common, shared.Quo(denominator, shared))
		if common.BitLen() > MaxRationalBits {
			return Allocation{}, &RangeError{Op: "allocate", Limit: "a common denominator of 1024 bits"}
		}
	}
	large, small := make([]*big.Int, len(weights)), make([]int64, len(weights))
	fit := true
	for i, w := range weights {
		large[i] = new(big.Int).Quo(common, w.value().Denom())
		large[i].Mul(large[i], w.value().Num())
		small[i] = large[i].Int64()
		fit = fit && large[i].IsInt64()
	}
	if fit {
		return a.Allocate(to, small...)
	}
	return a.allocateLarge(to, large)
}

// allocateLarge is Allocate for weights whose sum exceeds 64 bits.
func (a Amount) allocateLarge(to ResidualPolicy, weights []*big.Int) (Allocation, error) {
	taker, err := to.taker(len(weights), func(i int) bool { return weights[i].Sign() > 0 })
	if err != nil {
		return Allocation{}, err
	}
	total := new(big.Int)
	for _, w := range weights {
		total.Add(total, w)
	}
	whole, rest := a.units.big(), a.units
	parts, losses := make([]Amount, len(weights)), make([]loss[*big.Int], len(weights))
	for i, w := range weights {
		share, remainder := new(big.Int).Mul(whole, w), new(big.Int)
		share.QuoRem(share, total, remainder)
		units, _ := fromBig(share) // at most the whole
		rest, _ = rest.add(units.neg())
		parts[i] = Amount{units: units, currency: a.currency}
		losses[i] = loss[*big.Int]{part: i, remainder: remainder.Abs(remainder)}
	}
	residual := Amount{units: rest, currency: a.currency}
	if to.rule == largestRemainder {
		spread(parts, residual, losses, (*big.Int).Cmp)
		residual.units = int128{}
	}
	return Allocation{Parts: parts, Rest: to.settle(parts, residual, taker)}, nil
}

func integers(weights []int64) []*big.Int {
	large := make([]*big.Int, len(weights))
	for i, w := range weights {
		large[i] = big.NewInt(w)
	}
	return large
}
