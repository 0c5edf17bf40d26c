package money

import (
	"cmp"
	"math/bits"
	"slices"
)

// MaxSplit is the largest number of parts that [Amount.Split] makes: the number may be input, and the parts take memory.
const MaxSplit = 1 << 20

// ResidualPolicy says who gets the minor units that are left when every part has been cut to whole ones: fewer than there are
// parts. A part of weight zero never gets any. The zero ResidualPolicy is none and is refused.
type ResidualPolicy struct {
	rule    residualRule
	part    int
	account string
}

type residualRule uint8

const (
	largestRemainder residualRule = iota + 1
	toFirst
	toLast
	toPart
	toAccount
)

// LargestRemainder gives one minor unit each to the parts that lost the largest fractions, of equal ones to the first,
// so that no part is a whole minor unit away from its exact share.
func LargestRemainder() ResidualPolicy { return ResidualPolicy{rule: largestRemainder} }

// ToFirst gives all of the residual to the first part that has a weight.
func ToFirst() ResidualPolicy { return ResidualPolicy{rule: toFirst} }

// ToLast gives all of the residual to the last part that has a weight.
func ToLast() ResidualPolicy { return ResidualPolicy{rule: toLast} }

// ToPart gives all of the residual to one part, counted from 0. The part must have a weight.
func ToPart(i int) ResidualPolicy { return ResidualPolicy{rule: toPart, part: i} }

// ToAccount gives the residual to no part: it becomes the [Difference] of the allocation, to be posted to this account.
func ToAccount(name string) ResidualPolicy { return ResidualPolicy{rule: toAccount, account: name} }

// Allocation is an amount divided without loss: Parts and Rest add up to it exactly.
type Allocation struct {
	// Parts has one part for each weight, in their order. None has the sign opposite to the whole's.
	Parts []Amount
	// Rest is the residual with [ToAccount], and zero otherwise.
	Rest Difference
}

// Allocate divides an amount in proportion to weights: parts of 100.00 USD by 1, 1, 1 are 33.34, 33.33 and 33.33. The
// result depends on nothing but the arguments, and the parts of -a are the negated parts of a.
//
// The error is an [*AllocationError]: no weights, a negative one, none but zeros, or a residual without a taker.
func (a Amount) Allocate(to ResidualPolicy, weights ...int64) (Allocation, error) {
	var total, carries uint64
	for i, w := range weights {
		if w < 0 {
			return Allocation{}, &AllocationError{Op: "allocate", Part: i, Reason: "the weight is negative"}
		}
		var carry uint64
		total, carry = bits.Add64(total, uint64(w), 0)
		carries += carry
	}
	if carries > 0 {
		return a.allocateLarge(to, integers(weights))
	}
	taker, err := to.taker(len(weights), func(i int) bool { return weights[i] > 0 })
	if err != nil {
		return Allocation{}, err
	}
	// With the whole = each*total + over, a share whole*w/total is each*w + over*w/total, and nothing exceeds 128 bits.
	negative := a.Sign() < 0
	rest := a.units.abs()
	each, over := rest.quoRem64(total)
	parts := make([]Amount, len(weights))
	var few [16]loss[uint64] // most allocations then need no memory besides their parts
	losses := few[:0]
	if len(weights) > len(few) {
		losses = make([]loss[uint64], 0, len(weights))
	}
	for i, w := range weights {
		share, _ := each.times(uint64(w)) // at most the whole
		extra, remainder := mulDiv(over, uint64(w), total)
		share = share.plus(uint128{lo: extra})
		rest = rest.minus(share)
		parts[i] = Amount{units: share.signed(negative), currency: a.currency}
		losses = append(losses, loss[uint64]{part: i, remainder: remainder})
	}
	residual := Amount{units: rest.signed(negative), currency: a.currency}
	if to.rule == largestRemainder {
		spread(parts, residual, losses, cmp.Compare[uint64])
		residual.units = int128{}
	}
	return Allocation{Parts: parts, Rest: to.settle(parts, residual, taker)}, nil
}

// Split divides an amount into n parts that differ by one minor unit at most; the first ones have it.
// The error, for fewer than one or more than [MaxSplit] parts, is an [*AllocationError].
func (a Amount) Split(n int) ([]Amount, error) {
	if n < 1 || n > MaxSplit {
		return nil, &AllocationError{Op: "split", Part: -1, Reason: "the number of parts is not between 1 and 1048576"}
	}
	share, over := a.units.abs().quoRem64(uint64(n))
	parts := make([]Amount, n)
	for i := range parts {
		part := share
		if uint64(i) < over {
			part = part.plus(uint128{lo: 1})
		}
		parts[i] = Amount{units: part.signed(a.Sign() < 0), currency: a.currency}
	}
	return parts, nil
}

// taker returns the one part that takes the residual, or -1 if the rule names none, and refuses an allocation that has
// no answer.
func (to ResidualPolicy) taker(parts int, hasWeight func(i int) bool) (int, error) {
	first, last := -1, -1
	for i := range parts {
		if hasWeight(i) {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	fail := func(part int, reason string) (int, error) {
		return -1, &AllocationError{Op: "allocate", Part: part, Reason: reason}
	}
	if first < 0 {
		return fail(-1, "no part has a weight")
	}
	switch to.rule {
	case largestRemainder:
		return -1, nil
	case toFirst:
		return first, nil
	case toLast:
		return last, nil
	case toPart:
		if to.part < 0 || to.part >= parts || !hasWeight(to.part) {
			return fail(to.part, "the part that is to take the residual has no weight")
		}
		return to.part, nil
	case toAccount:
		if to.account == "" {
			return fail(-1, "the account that is to take the residual has no name")
		}
		return -1, nil
	}
	return fail(-1, "nobody is named to take the residual")
}

// loss is what a part lost when it was cut to whole minor units, as the numerator of a fraction.
type loss[R any] struct {
	part      int
	remainder R
}

// spread gives the residual, unit by unit, to the parts that lost most. More parts lost something than there are units,
// so that a weight of zero, which lost nothing, gets none.
func spread[R any](parts []Amount, residual Amount, losses []loss[R], compare func(x, y R) int) {
	if residual.IsZero() {
		return
	}
	slices.SortStableFunc(losses, func(x, y loss[R]) int { return compare(y.remainder, x.remainder) })
	unit := fromInt64(int64(residual.Sign()))
	for _, l := range losses[:residual.units.abs().lo] {
		parts[l.part].units, _ = parts[l.part].units.add(unit) // never beyond the whole
	}
}

// settle gives the residual to the one part that takes it, or returns it for the account.
func (to ResidualPolicy) settle(parts []Amount, residual Amount, taker int) Difference {
	if taker < 0 {
		return Difference{Account: to.account, Amount: residual}
	}
	parts[taker].units, _ = parts[taker].units.add(residual.units) // never beyond the whole
	return Difference{Amount: Zero(residual.currency)}
}

// mulDiv returns x*y/d and its remainder, for x below d and y not above it.
func mulDiv(x, y, d uint64) (quotient, remainder uint64) {
	hi, lo := bits.Mul64(x, y)
	return bits.Div64(hi, lo, d)
}
