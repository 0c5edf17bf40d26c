package money_test

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

func TestAllocateToTheLastUnit(t *testing.T) {
	t.Parallel()
	largest, takers := strings.Repeat("9", 38)+" JPY", []int64{1, 1, 1}
	tests := []struct {
		name, whole string
		to          money.ResidualPolicy
		weights     []int64
		want        string // parts, and after a bar what goes to the account
	}{
		{"thirds", "100.00 USD", money.LargestRemainder(), takers, "33.34 33.33 33.33"},
		{"thirds of a debt", "-100.00 USD", money.LargestRemainder(), takers, "-33.34 -33.33 -33.33"},
		{"thirds, last", "100.00 USD", money.ToLast(), takers, "33.33 33.33 33.34"},
		{"thirds, second", "100.00 USD", money.ToPart(1), takers, "33.33 33.34 33.33"},
		{"thirds, account", "100.00 USD", money.ToAccount("rounding"), takers, "33.33 33.33 33.33 | 0.01"},
		{"thirds of yen", "100 JPY", money.LargestRemainder(), takers, "34 33 33"},
		{"thirds of dinars", "100 KWD", money.LargestRemainder(), takers, "33.334 33.333 33.333"},
		{"largest fraction wins, not the first", "0.05 USD", money.LargestRemainder(), []int64{1, 3, 3}, "0.01 0.02 0.02"},
		{"two units", "0.05 USD", money.ToFirst(), takers, "0.03 0.01 0.01"},
		{"two units, fairly", "0.05 USD", money.LargestRemainder(), takers, "0.02 0.02 0.01"},
		{"fewer units than parts", "0.01 USD", money.LargestRemainder(), takers, "0.01 0.00 0.00"},
		{"zero weights get nothing", "0.05 USD", money.ToFirst(), []int64{0, 1, 0, 1, 0}, "0.00 0.03 0.00 0.02 0.00"},
		{"zero weights get nothing at the end", "0.05 USD", money.ToLast(), []int64{0, 1, 0, 1, 0}, "0.00 0.02 0.00 0.03 0.00"},
		{"zero", "0.00 USD", money.LargestRemainder(), takers, "0.00 0.00 0.00"},
		{"zero, account", "0.00 USD", money.ToAccount("rounding"), takers, "0.00 0.00 0.00 | 0.00"},
		{"one part", "-0.07 USD", money.ToFirst(), []int64{math.MaxInt64}, "-0.07"},
		{"weights beyond 64 bits", "0.05 USD", money.LargestRemainder(), []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, "0.02 0.02 0.01"},
		{"the largest amount", largest, money.ToLast(), takers, strings.TrimSuffix(strings.Repeat(strings.Repeat("3", 38)+" ", 3), " ")},
		{"the largest amount, largest weights", largest, money.ToAccount("rounding"), []int64{math.MaxInt64, math.MaxInt64},
			"4" + strings.Repeat("9", 37) + " 4" + strings.Repeat("9", 37) + " | 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(t, test.whole).Allocate(test.to, test.weights...)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, part := range got.Parts {
				texts = append(texts, part.Text())
			}
			text := strings.Join(texts, " ")
			if got.Rest.Account != "" {
				text += " | " + got.Rest.Amount.Text()
			}
			if text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}

func TestImpossibleAllocationsAreRefused(t *testing.T) {
	t.Parallel()
	a := parse(t, "100.00 USD")
	tests := []struct {
		name    string
		to      money.ResidualPolicy
		weights []int64
		part    int
	}{
		{"no weights", money.ToFirst(), nil, -1},
		{"all zero", money.LargestRemainder(), []int64{0, 0, 0}, -1},
		{"negative", money.LargestRemainder(), []int64{1, -1, 1}, 1},
		{"no residual rule", money.ResidualPolicy{}, []int64{1, 1}, -1},
		{"a part that is not there", money.ToPart(2), []int64{1, 1}, 2},
		{"a part before the first", money.ToPart(-1), []int64{1, 1}, -1},
		{"a part without weight", money.ToPart(1), []int64{1, 0}, 1},
		{"an account without name", money.ToAccount(""), []int64{1, 1}, -1},
		{"an account without name, large", money.ToAccount(""), []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var refused *money.AllocationError
			got, err := a.Allocate(test.to, test.weights...)
			if !errors.As(err, &refused) || refused.Part != test.part || !reflect.DeepEqual(got, money.Allocation{}) {
				t.Errorf("got %v, %v", got, err)
			}
			got, err = a.AllocateBy(test.to, rationalsOf(test.weights...)...)
			if !errors.As(err, &refused) || refused.Part != test.part || !reflect.DeepEqual(got, money.Allocation{}) {
				t.Errorf("by rationals: %v, %v", got, err)
			}
		})
	}
	for _, n := range []int{0, -1, money.MaxSplit + 1, math.MaxInt} {
		if parts, err := a.Split(n); !errors.Is(err, money.ErrAllocation) || parts != nil {
			t.Errorf("split by %d: %v", n, err)
		}
	}
	if parts, err := a.Split(money.MaxSplit); err != nil || len(parts) != money.MaxSplit {
		t.Errorf("the most parts: %d, %v", len(parts), err)
	}
}

func rationalsOf(weights ...int64) []money.Rational {
	var numbers []money.Rational
	for _, w := range weights {
		number, _ := money.NewRational(w, 1)
		numbers = append(numbers, number)
	}
	return numbers
}

func residuals(t *rapid.T, weights []int64) money.ResidualPolicy {
	rules := []money.ResidualPolicy{money.LargestRemainder(), money.ToFirst(), money.ToLast(), money.ToAccount("rounding")}
	for i, w := range weights {
		if w > 0 {
			rules = append(rules, money.ToPart(i))
		}
	}
	return rapid.SampledFrom(rules).Draw(t, "residual")
}

// TestAllocationHoldsM4 is guarantee M4, on whole numbers and on the same weights scaled beyond 64 bits, which take
// another way through the code.
func TestAllocationHoldsM4(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	weight := rapid.OneOf(rapid.Int64Range(0, 5), rapid.Int64Range(0, 1_000_000), rapid.Int64Range(0, math.MaxInt64))
	rapid.Check(t, func(t *rapid.T) {
		a := amounts(t, currency(t, all), "a")
		weights := rapid.SliceOfN(weight, 1, 12).Filter(func(ws []int64) bool { return sumOf(ws).Sign() > 0 }).Draw(t, "weights")
		to := residuals(t, weights)

		got, err := a.Allocate(to, weights...)
		if err != nil {
			t.Fatalf("%v", err)
		}
		holdsM4(t, a, to, weights, got)

		if again, err := a.Allocate(to, weights...); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("the second time it is %v, %v", again, err)
		}
		negated, err := a.Neg().Allocate(to, weights...)
		if err != nil || negated.Rest.Amount != got.Rest.Amount.Neg() {
			t.Fatalf("the rest of %s is %s, negated %s, %v", a, got.Rest.Amount, negated.Rest.Amount, err)
		}
		for i := range got.Parts {
			if negated.Parts[i] != got.Parts[i].Neg() {
				t.Fatalf("part %d of %s is %s, negated %s", i, a, got.Parts[i], negated.Parts[i])
			}
		}
		factor := rationals().Filter(func(r money.Rational) bool { return r.Sign() > 0 }).Draw(t, "factor")
		scaled := rationalsOf(weights...)
		for i := range scaled {
			if scaled[i], err = scaled[i].Mul(factor); err != nil {
				t.Fatalf("%v", err)
			}
		}
		if by, err := a.AllocateBy(to, scaled...); err != nil || !reflect.DeepEqual(by, got) {
			t.Fatalf("with weights times %s it is %v, %v, not %v", factor, by, err, got)
		}
	})
}

func sumOf(weights []int64) *big.Int {
	total := new(big.Int)
	for _, w := range weights {
		total.Add(total, big.NewInt(w))
	}
	return total
}

// holdsM4 checks an allocation against exact shares.
func holdsM4(t interface{ Fatalf(string, ...any) }, a money.Amount, to money.ResidualPolicy, weights []int64, got money.Allocation) {
	total := sumOf(weights)
	sum := got.Rest.Amount
	floors := new(big.Int)
	for i, part := range got.Parts {
		share := new(big.Rat).SetFrac(new(big.Int).Mul(minor(t, a), big.NewInt(weights[i])), total)
		units := minor(t, part)
		floor := rounded(share, money.Down)
		floors.Add(floors, floor)
		given := new(big.Int).Sub(units, floor)
		switch {
		case weights[i] == 0 && !part.IsZero():
			t.Fatalf("a weight of zero got %s", part)
		case to == money.ToAccount("rounding") && given.Sign() != 0:
			t.Fatalf("part %d is %s, its share %s", i, part, share)
		case to == money.LargestRemainder() && (given.CmpAbs(big.NewInt(1)) > 0 || given.Sign() != 0 && share.IsInt()):
			t.Fatalf("part %d is %s, its share %s", i, part, share)
		case part.Sign()*a.Sign() < 0:
			t.Fatalf("part %d of %s is %s", i, a, part)
		}
		var err error
		if sum, err = sum.Add(part); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if sum != a {
		t.Fatalf("the parts of %s are %v and %s and sum to %s", a, got.Parts, got.Rest.Amount, sum)
	}
	left := new(big.Int).Sub(minor(t, a), floors)
	if to == money.ToAccount("rounding") && (got.Rest.Account != "rounding" || minor(t, got.Rest.Amount).Cmp(left) != 0) {
		t.Fatalf("the rest is %v, not %s", got.Rest, left)
	}
	if left.CmpAbs(big.NewInt(int64(len(weights)))) >= 0 {
		t.Fatalf("%s units are left over from %d parts", left, len(weights))
	}
}

// TestLargestRemainderIsFair checks that no part that went without lost a larger fraction than one that was given a unit,
// and that among equal ones the earlier was given it.
func TestLargestRemainderIsFair(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		a := amounts(t, currency(t, all), "a").Abs()
		weights := rapid.SliceOfN(rapid.Int64Range(1, 20), 1, 30).Draw(t, "weights")
		got, err := a.Allocate(money.LargestRemainder(), weights...)
		if err != nil {
			t.Fatalf("%v", err)
		}
		lost := func(i int) (fraction *big.Rat, given bool) {
			share := new(big.Rat).SetFrac(new(big.Int).Mul(minor(t, a), big.NewInt(weights[i])), sumOf(weights))
			floor := rounded(share, money.Floor)
			return share.Sub(share, new(big.Rat).SetInt(floor)), minor(t, got.Parts[i]).Cmp(floor) > 0
		}
		for i := range weights {
			for j := range weights {
				x, xGiven := lost(i)
				y, yGiven := lost(j)
				if order := x.Cmp(y); yGiven && !xGiven && (order > 0 || order == 0 && i < j) {
					t.Fatalf("part %d lost %s and got nothing, part %d lost %s and got a unit", i, x, j, y)
				}
			}
		}
	})
}

func TestSplitIsAllocateByEqualWeights(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		a := amounts(t, currency(t, all), "a")
		weights := make([]int64, rapid.IntRange(1, 40).Draw(t, "n"))
		for i := range weights {
			weights[i] = 1
		}
		parts, err := a.Split(len(weights))
		if err != nil {
			t.Fatalf("%v", err)
		}
		allocated, err := a.Allocate(money.LargestRemainder(), weights...)
		if err != nil || !reflect.DeepEqual(parts, allocated.Parts) {
			t.Fatalf("split: %v, allocated: %v, %v", parts, allocated.Parts, err)
		}
	})
}

func TestAllocateByStopsAtHostileDenominators(t *testing.T) {
	t.Parallel()
	var weights []money.Rational
	for n := int64(1 << 40); n < 1<<40+100; n++ {
		weight, err := money.NewRational(1, n)
		if err != nil {
			t.Fatal(err)
		}
		weights = append(weights, weight)
	}
	if _, err := parse(t, "1.00 USD").AllocateBy(money.ToFirst(), weights...); !errors.Is(err, money.ErrRange) {
		t.Errorf("got %v", err)
	}
	huge := money.MustParseRational(strings.Repeat("9", 308))
	got, err := parse(t, "0.03 USD").AllocateBy(money.ToLast(), huge, huge)
	if err != nil || got.Parts[0].Text() != "0.01" || got.Parts[1].Text() != "0.02" {
		t.Errorf("weights of 308 digits: %v, %v", got, err)
	}
}

func TestPartsOfTheEmptySumAreEmptySums(t *testing.T) {
	t.Parallel()
	got, err := (money.Amount{}).Allocate(money.LargestRemainder(), 1, 2)
	if err != nil || got.Parts[0] != (money.Amount{}) || got.Parts[1] != (money.Amount{}) {
		t.Errorf("got %v, %v", got, err)
	}
}
