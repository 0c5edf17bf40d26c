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

// agrees compares a result with the integer that it should be: equal within the bound, and an error outside it.
func agrees(t *rapid.T, got money.Amount, err error, want *big.Int) {
	if want.CmpAbs(bound) >= 0 {
		if !errors.Is(err, money.ErrRange) {
			t.Fatalf("got %v, %v for %v, want ErrRange", got, err, want)
		}
		return
	}
	if err != nil || minor(t, got).Cmp(want) != 0 {
		t.Fatalf("got %v, %v, want %v", got, err, want)
	}
	canonical, err := money.ParseMinor(want.String(), got.Currency())
	if err != nil || !reflect.DeepEqual(got, canonical) {
		t.Fatalf("%v is not in its one representation", got)
	}
}

func TestArithmeticAgreesWithIntegers(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		c := currency(t, all)
		a, b := amounts(t, c, "a"), amounts(t, c, "b")
		n := rapid.Int64().Draw(t, "n")
		x, y := minor(t, a), minor(t, b)

		sum, err := a.Add(b)
		agrees(t, sum, err, new(big.Int).Add(x, y))
		difference, err := a.Sub(b)
		agrees(t, difference, err, new(big.Int).Sub(x, y))
		product, err := a.MulInt(n)
		agrees(t, product, err, new(big.Int).Mul(x, big.NewInt(n)))
		agrees(t, a.Neg(), nil, new(big.Int).Neg(x))
		agrees(t, a.Abs(), nil, new(big.Int).Abs(x))

		order, err := a.Cmp(b)
		if err != nil || order != x.Cmp(y) || a.Equal(b) != (order == 0) {
			t.Fatalf("compare %s with %s: %d, %v, equal %t", a, b, order, err, a.Equal(b))
		}
		if a.Sign() != x.Sign() || a.IsZero() != (x.Sign() == 0) {
			t.Fatalf("sign of %s is %d, zero %t", a, a.Sign(), a.IsZero())
		}
	})
}

func TestAddIsAGroupWithinTheBound(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		c := currency(t, all)
		a, b := amounts(t, c, "a"), amounts(t, c, "b")
		ab, err := a.Add(b)
		if err != nil {
			return // the bound; TestArithmeticAgreesWithIntegers covers it
		}
		ba, err := b.Add(a)
		if err != nil || !ab.Equal(ba) {
			t.Fatalf("%s and %s do not commute", a, b)
		}
		if back, err := ab.Sub(b); err != nil || !back.Equal(a) {
			t.Fatalf("%s + %s - %s = %v, %v", a, b, b, back, err)
		}
		if nothing, err := a.Add(a.Neg()); err != nil || !nothing.Equal(money.Zero(c)) {
			t.Fatalf("%s and its negation give %v, %v", a, nothing, err)
		}
		if same, err := a.Add(money.Amount{}); err != nil || !same.Equal(a) {
			t.Fatalf("%s and the empty sum give %v, %v", a, same, err)
		}
		if same, err := (money.Amount{}).Add(a); err != nil || !same.Equal(a) {
			t.Fatalf("the empty sum and %s give %v, %v", a, same, err)
		}
		if negated, err := (money.Amount{}).Sub(a); err != nil || !negated.Equal(a.Neg()) {
			t.Fatalf("the empty sum less %s gives %v, %v", a, negated, err)
		}
	})
}

func TestMulIntIsRepeatedAdd(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		c := currency(t, all)
		a, err := money.FromMinor(rapid.Int64().Draw(t, "a"), c)
		if err != nil {
			t.Fatalf("%v", err)
		}
		n := rapid.Int64Range(0, 20).Draw(t, "n")
		total := money.Zero(c)
		for range n {
			if total, err = total.Add(a); err != nil {
				t.Fatalf("%v", err)
			}
		}
		if product, err := a.MulInt(n); err != nil || !product.Equal(total) {
			t.Fatalf("%s times %d is %v, %v, want %s", a, n, product, err, total)
		}
	})
}

func TestMixedCurrenciesAreErrors(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	cashACME := define(t, "ACME", 0, money.KindCash)
	fineACME := define(t, "ACME", 2, money.KindSecurity)
	tests := []struct {
		name string
		a, b money.Currency
	}{
		{"code", all["USD"], all["EUR"]},
		{"scale", all["ACME"], fineACME},
		{"kind", all["ACME"], cashACME},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, b := money.Zero(test.a), money.Zero(test.b)
			_, addErr := a.Add(b)
			_, subErr := a.Sub(b)
			_, cmpErr := a.Cmp(b)
			for _, err := range []error{addErr, subErr, cmpErr} {
				var mismatch *money.MismatchError
				if !errors.As(err, &mismatch) || mismatch.A != test.a || mismatch.B != test.b {
					t.Errorf("got %v", err)
				}
			}
			if a.Equal(b) {
				t.Error("zeros of two currencies are equal")
			}
		})
	}
}

func TestEmptySumHasNoCurrency(t *testing.T) {
	t.Parallel()
	var empty money.Amount
	if empty.String() != "0" || !empty.IsZero() || empty.Currency() != (money.Currency{}) {
		t.Errorf("the zero Amount is %s of %s", empty, empty.Currency())
	}
	sum, err := empty.Add(empty)
	if err != nil || !sum.Equal(empty) {
		t.Errorf("two empty sums give %v, %v", sum, err)
	}
	if order, err := empty.Cmp(parse(t, "-1 USD")); err != nil || order != 1 {
		t.Errorf("the empty sum compares as %d, %v with a debt", order, err)
	}
	if empty.Equal(parse(t, "0 USD")) {
		t.Error("the empty sum equals zero dollars")
	}
}

func TestCornersOfSixtyFourBits(t *testing.T) {
	t.Parallel()
	jpy := currencies(t)["JPY"]
	smallest, err := money.FromMinor(math.MinInt64, jpy)
	if err != nil {
		t.Fatal(err)
	}
	if got := smallest.Neg().Text(); got != "9223372036854775808" {
		t.Errorf("the smallest negated is %s", got)
	}
	if got := smallest.Neg().Neg(); !got.Equal(smallest) || !reflect.DeepEqual(got, smallest) {
		t.Errorf("negated twice, it is %s", got)
	}
	if got := smallest.Abs().Text(); got != "9223372036854775808" {
		t.Errorf("its absolute value is %s", got)
	}
	if got, err := smallest.MulInt(math.MinInt64); err != nil || got.Text() != "85070591730234615865843651857942052864" {
		t.Errorf("its square is %v, %v", got, err)
	}
	if got, err := smallest.MinorInt64(); err != nil || got != math.MinInt64 {
		t.Errorf("its minor units are %d, %v", got, err)
	}
	if got, err := smallest.Neg().MinorInt64(); !errors.Is(err, money.ErrRange) {
		t.Errorf("2^63 as an int64 is %d, %v", got, err)
	}
}

func TestBoundIsAnErrorAndNeverRounds(t *testing.T) {
	t.Parallel()
	largest := parse(t, strings.Repeat("9", 38)+" JPY")
	one := parse(t, "1 JPY")
	if got, err := largest.Add(one); !errors.Is(err, money.ErrRange) {
		t.Errorf("largest + 1 is %v, %v", got, err)
	}
	if got, err := largest.Neg().Sub(one); !errors.Is(err, money.ErrRange) {
		t.Errorf("-largest - 1 is %v, %v", got, err)
	}
	if got, err := largest.MulInt(-2); !errors.Is(err, money.ErrRange) {
		t.Errorf("largest * -2 is %v, %v", got, err)
	}
	if got, err := largest.MulInt(-1); err != nil || !got.Equal(largest.Neg()) {
		t.Errorf("largest * -1 is %v, %v", got, err)
	}
	if got, err := largest.Sub(one); err != nil || got.Text() != strings.Repeat("9", 37)+"8" {
		t.Errorf("largest - 1 is %v, %v", got, err)
	}
}

func TestRescaleKeepsTheValueOrFails(t *testing.T) {
	t.Parallel()
	two, six := define(t, "FUND", 2, money.KindSecurity), define(t, "FUND", 6, money.KindSecurity)
	fine, err := money.Parse("1.5", six)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fine.Rescale(two); err != nil || got.Text() != "1.50" || got.Currency() != two {
		t.Errorf("got %v, %v", got, err)
	}
	finest, _ := money.FromMinor(1, six)
	if got, err := finest.Rescale(two); !errors.Is(err, money.ErrInexact) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, other := range []money.Currency{currencies(t)["USD"], define(t, "FUND", 2, money.KindCash), define(t, "FUND2", 2, money.KindSecurity)} {
		if got, err := fine.Rescale(other); !errors.Is(err, money.ErrMismatch) {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestSmallAmountsDoNotAllocate(t *testing.T) {
	usd := currencies(t)["USD"]
	a, b := parse(t, "1234567.89 USD"), parse(t, "-0.01 USD")
	allocations := testing.AllocsPerRun(100, func() {
		read, err := money.Parse("1234567.89", usd)
		if err != nil || !read.Equal(a) {
			t.Error(err)
		}
		sum, err := a.Add(b)
		if err != nil {
			t.Error(err)
		}
		if _, err = sum.MulInt(3); err != nil {
			t.Error(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}
