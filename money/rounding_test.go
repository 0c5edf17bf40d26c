package money_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

var roundings = []money.Rounding{money.HalfEven, money.HalfUp, money.HalfDown, money.Up, money.Down, money.Ceiling, money.Floor}

// rounded is the oracle: the integer that a fraction becomes, from the definitions of floor and ceiling alone.
func rounded(x *big.Rat, mode money.Rounding) *big.Int {
	half := big.NewRat(1, 2)
	negative := x.Sign() < 0
	switch mode {
	case money.Floor:
		return new(big.Int).Div(x.Num(), x.Denom()) // Euclidean division floors, for a positive divisor
	case money.Ceiling:
		down := rounded(new(big.Rat).Neg(x), money.Floor)
		return down.Neg(down)
	case money.Down:
		if negative {
			return rounded(x, money.Ceiling)
		}
		return rounded(x, money.Floor)
	case money.Up:
		if negative {
			return rounded(x, money.Floor)
		}
		return rounded(x, money.Ceiling)
	case money.HalfUp:
		if negative {
			return rounded(new(big.Rat).Sub(x, half), money.Ceiling)
		}
		return rounded(new(big.Rat).Add(x, half), money.Floor)
	case money.HalfDown:
		if negative {
			return rounded(new(big.Rat).Add(x, half), money.Floor)
		}
		return rounded(new(big.Rat).Sub(x, half), money.Ceiling)
	}
	up, down := rounded(x, money.HalfUp), rounded(x, money.HalfDown)
	if up.Bit(0) == 0 {
		return up
	}
	return down // the same, unless x is in the middle
}

// value is an amount as the oracle's fraction, in major units.
func value(t interface{ Fatalf(string, ...any) }, a money.Amount) *big.Rat {
	return new(big.Rat).SetFrac(minor(t, a), power(a.Currency().Scale()))
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func ratio(t interface{ Fatalf(string, ...any) }, r money.Rational) *big.Rat {
	x, ok := new(big.Rat).SetString(r.String())
	if !ok {
		t.Fatalf("rational %q is not a number", r)
	}
	return x
}

func TestEveryRoundingOfEveryNeighbourhood(t *testing.T) {
	t.Parallel()
	// Columns: half-even, half-up, half-down, up, down, ceiling, floor.
	tests := []struct {
		text string
		want [7]string
	}{
		{"5.50", [7]string{"6.00", "6.00", "5.00", "6.00", "5.00", "6.00", "5.00"}},
		{"2.50", [7]string{"2.00", "3.00", "2.00", "3.00", "2.00", "3.00", "2.00"}},
		{"2.51", [7]string{"3.00", "3.00", "3.00", "3.00", "2.00", "3.00", "2.00"}},
		{"2.49", [7]string{"2.00", "2.00", "2.00", "3.00", "2.00", "3.00", "2.00"}},
		{"1.01", [7]string{"1.00", "1.00", "1.00", "2.00", "1.00", "2.00", "1.00"}},
		{"1.00", [7]string{"1.00", "1.00", "1.00", "1.00", "1.00", "1.00", "1.00"}},
		{"0.50", [7]string{"0.00", "1.00", "0.00", "1.00", "0.00", "1.00", "0.00"}},
		{"0.00", [7]string{"0.00", "0.00", "0.00", "0.00", "0.00", "0.00", "0.00"}},
		{"-0.50", [7]string{"0.00", "-1.00", "0.00", "-1.00", "0.00", "0.00", "-1.00"}},
		{"-1.01", [7]string{"-1.00", "-1.00", "-1.00", "-2.00", "-1.00", "-1.00", "-2.00"}},
		{"-1.50", [7]string{"-2.00", "-2.00", "-1.00", "-2.00", "-1.00", "-1.00", "-2.00"}},
		{"-2.50", [7]string{"-2.00", "-3.00", "-2.00", "-3.00", "-2.00", "-2.00", "-3.00"}},
		{"-2.51", [7]string{"-3.00", "-3.00", "-3.00", "-3.00", "-2.00", "-2.00", "-3.00"}},
	}
	for _, test := range tests {
		a := parse(t, test.text+" USD")
		for i, mode := range roundings {
			if got, err := a.Round(0, mode); err != nil || got.Text() != test.want[i] {
				t.Errorf("%s %s is %v, %v, want %s", test.text, mode, got, err, test.want[i])
			}
			if got, err := a.Rational().Round(currencies(t)["JPY"], mode); err != nil || got.Amount.Text()+".00" != test.want[i] {
				t.Errorf("%s as a number %s is %v, %v, want %s", test.text, mode, got.Amount, err, test.want[i])
			}
		}
	}
}

func TestRoundAgreesWithFractions(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		a := amounts(t, currency(t, all), "a")
		mode := rapid.SampledFrom(roundings).Draw(t, "mode")
		scale := a.Currency().Scale()
		places := rapid.IntRange(scale-money.MaxDigits, scale).Draw(t, "places")
		step := power(scale - places)
		want := rounded(new(big.Rat).SetFrac(minor(t, a), step), mode)
		want.Mul(want, step)

		got, err := a.Round(places, mode)
		agrees(t, got, err, want)
		exactly, err := a.Round(places, money.NoRounding)
		if same := want.Cmp(minor(t, a)) == 0 && divides(step, minor(t, a)); same != (err == nil) {
			t.Fatalf("%s to %d places without rounding: %v, %v", a, places, exactly, err)
		}
	})
}

func divides(step, n *big.Int) bool { return new(big.Int).Rem(n, step).Sign() == 0 }

func TestRoundToAgreesWithFractions(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		c := currency(t, all)
		a, step := amounts(t, c, "a"), amounts(t, c, "step").Abs()
		mode := rapid.SampledFrom(roundings).Draw(t, "mode")
		got, err := a.RoundTo(step, mode)
		if step.IsZero() {
			if !errors.Is(err, money.ErrRounding) {
				t.Fatalf("a step of zero: %v, %v", got, err)
			}
			return
		}
		want := rounded(new(big.Rat).SetFrac(minor(t, a), minor(t, step)), mode)
		agrees(t, got, err, want.Mul(want, minor(t, step)))
	})
}

func TestMulRoundLosesNothing(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		a, factor := amounts(t, currency(t, all), "a"), rationals().Draw(t, "factor")
		mode := rapid.SampledFrom(roundings).Draw(t, "mode")
		exact := new(big.Rat).Mul(value(t, a), ratio(t, factor))
		product, err := a.MulRound(factor, mode)
		agreesExactly(t, product, err, exact, a.Currency(), mode)

		same, err := a.Rational().Mul(factor)
		if err != nil {
			t.Fatalf("%v", err)
		}
		again, err := same.Round(a.Currency(), mode)
		agreesExactly(t, again, err, exact, a.Currency(), mode)
	})
}

// agreesExactly compares a rounded value with the fraction that it stands for.
func agreesExactly(t *rapid.T, got money.Rounded, err error, exact *big.Rat, c money.Currency, mode money.Rounding) {
	minorUnits := new(big.Rat).Mul(exact, new(big.Rat).SetInt(power(c.Scale())))
	agrees(t, got.Amount, err, rounded(minorUnits, mode))
	if err != nil {
		return
	}
	if got.Amount.Currency() != c {
		t.Fatalf("the currency of %v is not %s", got.Amount, c)
	}
	if sum := new(big.Rat).Add(value(t, got.Amount), ratio(t, got.Residual)); sum.Cmp(exact) != 0 {
		t.Fatalf("%s and the residual %s are not %s", got.Amount, got.Residual, exact)
	}
}

func TestRoundingIsSymmetricExceptOnTheNumberLine(t *testing.T) {
	t.Parallel()
	mirror := map[money.Rounding]money.Rounding{money.Ceiling: money.Floor, money.Floor: money.Ceiling}
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		a, factor := amounts(t, currency(t, all), "a"), rationals().Draw(t, "factor")
		mode := rapid.SampledFrom(roundings).Draw(t, "mode")
		other, ok := mirror[mode]
		if !ok {
			other = mode
		}
		x, err := a.MulRound(factor, mode)
		y, otherErr := a.Neg().MulRound(factor, other)
		if (err == nil) != (otherErr == nil) || err == nil && (x.Amount != y.Amount.Neg() || !x.Residual.Equal(y.Residual.Neg())) {
			t.Fatalf("%s * %s %s is %v, %v, and negated %v, %v", a, factor, mode, x, err, y, otherErr)
		}
	})
}

func TestNothingRoundsUnlessTold(t *testing.T) {
	t.Parallel()
	usd, kwd := currencies(t)["USD"], currencies(t)["KWD"]
	third := money.MustParseRational("1/3")
	odd := parse(t, "0.01 USD")
	_, round := odd.Round(1, money.NoRounding)
	_, step := odd.RoundTo(parse(t, "0.05 USD"), money.NoRounding)
	_, product := odd.MulRound(third, money.NoRounding)
	_, number := third.Round(usd, money.NoRounding)
	_, exactly := third.In(usd)
	_, converted := odd.Convert(rate(usd, kwd, "1/3"), money.NoRounding)
	_, lines := money.RoundLines(usd, money.NoRounding, "rounding", third)
	for i, err := range []error{round, step, product, number, exactly, converted, lines} {
		var inexact *money.InexactError
		if !errors.As(err, &inexact) || inexact.Places != 0 || !strings.Contains(err.Error(), "no rounding is declared") {
			t.Errorf("%d: %v", i, err)
		}
	}
	var inexact *money.InexactError
	if _, err := money.MustParseRational("0.125").In(usd); !errors.As(err, &inexact) || inexact.Places != 3 {
		t.Errorf("0.125 USD: %v", err)
	}
	if got, err := odd.MulRound(money.MustParseRational("25"), money.NoRounding); err != nil || got.Amount.Text() != "0.25" || !got.Residual.IsZero() {
		t.Errorf("0.01 * 25 is %v, %v", got, err)
	}
}

func TestRoundingStopsAtTheBound(t *testing.T) {
	t.Parallel()
	jpy, kwd := currencies(t)["JPY"], currencies(t)["KWD"]
	largest := parse(t, strings.Repeat("9", 38)+" JPY")
	_, round := largest.Round(-1, money.HalfUp)
	_, coarse := largest.Round(-38, money.Up)
	_, step := largest.RoundTo(parse(t, "2 JPY"), money.Ceiling)
	_, product := largest.MulRound(money.MustParseRational("1.1"), money.Down)
	_, converted := largest.Convert(rate(jpy, kwd, "0.02"), money.Down) // fits in JPY, not at three places
	_, lines := money.RoundLines(jpy, money.Down, "rounding", largest.Rational(), largest.Rational())
	for i, err := range []error{round, coarse, step, product, converted, lines} {
		if !errors.Is(err, money.ErrRange) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if got, err := largest.Round(-38, money.Down); err != nil || !got.IsZero() {
		t.Errorf("the largest amount down to 10^38 is %v, %v", got, err)
	}
}

func TestRefusedRoundings(t *testing.T) {
	t.Parallel()
	usd, kwd := currencies(t)["USD"], currencies(t)["KWD"]
	a, none := parse(t, "1.25 USD"), money.Rounding(8)
	_, round := a.Round(1, none)
	_, unneeded := a.Round(2, none)
	_, tooCoarse := a.Round(-37, money.Up)
	_, step := a.RoundTo(a, none)
	_, negativeStep := a.RoundTo(a.Neg(), money.Up)
	_, zeroStep := a.RoundTo(money.Zero(usd), money.Up)
	_, product := a.MulRound(money.Rational{}, none)
	_, empty := money.Amount{}.MulRound(money.Rational{}, none)
	_, number := a.Rational().Round(usd, none)
	_, converted := a.Convert(rate(usd, kwd, "1"), none)
	_, nameless := money.RoundLines(usd, money.HalfUp, "")
	for i, err := range []error{round, unneeded, tooCoarse, step, negativeStep, zeroStep, product, empty, number, converted, nameless} {
		if !errors.Is(err, money.ErrRounding) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := a.RoundTo(parse(t, "1 JPY"), money.Up); !errors.Is(err, money.ErrMismatch) {
		t.Errorf("a step in another currency: %v", err)
	}
	if _, err := a.Rational().Round(money.Currency{}, money.Up); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("no currency: %v", err)
	}
	if got, err := (money.Amount{}).MulRound(money.MustParseRational("3"), money.Up); err != nil || got.Amount != (money.Amount{}) {
		t.Errorf("three times the empty sum is %v, %v", got, err)
	}
}

func TestRoundingNamesRoundTrip(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(append(roundings, money.NoRounding))
	if want := `["half-even","half-up","half-down","up","down","ceiling","floor","none"]`; err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
	var read []money.Rounding
	if err := json.Unmarshal(text, &read); err != nil || len(read) != 8 || read[0] != money.HalfEven || read[7] != money.NoRounding {
		t.Errorf("got %v, %v", read, err)
	}
	if err := json.Unmarshal([]byte(`["half-odd"]`), &read); !errors.Is(err, money.ErrRounding) {
		t.Errorf("an unknown name: %v", err)
	}
	if _, err := json.Marshal(money.Rounding(8)); !errors.Is(err, money.ErrRounding) {
		t.Errorf("an unknown rounding: %v", err)
	}
}
