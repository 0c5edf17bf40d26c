package money_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

// rationals draws decimals and fractions, from percentages to 38 digits over 38 digits.
func rationals() *rapid.Generator[money.Rational] {
	return rapid.Custom(func(t *rapid.T) money.Rational {
		text := minorUnits().Draw(t, "numerator").String()
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			text = rapid.SampledFrom([]string{"0", "1", "0.5", "-0.5", "1.0842", "0.0825", "1/3", "-2/7", "0.000000000000000001"}).Draw(t, "common")
		case 1:
			decimals := minorUnits().Draw(t, "decimals")
			text += "." + decimals.Abs(decimals).String()
		case 2:
			text += "/" + minorUnits().Filter(func(n *big.Int) bool { return n.Sign() > 0 }).Draw(t, "denominator").String()
		}
		return money.MustParseRational(text)
	})
}

func TestRationalsAgreeWithFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, s := rationals().Draw(t, "r"), rationals().Draw(t, "s")
		x, y := ratio(t, r), ratio(t, s)
		same := func(got money.Rational, err error, want *big.Rat) {
			if err != nil || ratio(t, got).Cmp(want) != 0 {
				t.Fatalf("got %s, %v, want %s", got, err, want)
			}
			if read, err := money.ParseRational(got.String()); err != nil || !read.Equal(got) || !reflect.DeepEqual(read, got) {
				t.Fatalf("%s reads back as %s, %v", got, read, err)
			}
		}
		sum, err := r.Add(s)
		same(sum, err, new(big.Rat).Add(x, y))
		difference, err := r.Sub(s)
		same(difference, err, new(big.Rat).Sub(x, y))
		product, err := r.Mul(s)
		same(product, err, new(big.Rat).Mul(x, y))
		same(r.Neg(), nil, new(big.Rat).Neg(x))
		quotient, err := r.Quo(s)
		if y.Sign() == 0 {
			if !errors.Is(err, money.ErrDivision) {
				t.Fatalf("%s / 0 is %s, %v", r, quotient, err)
			}
		} else {
			same(quotient, err, new(big.Rat).Quo(x, y))
		}
		if r.Cmp(s) != x.Cmp(y) || r.Sign() != x.Sign() || r.IsZero() != (x.Sign() == 0) || r.Equal(s) != (x.Cmp(y) == 0) {
			t.Fatalf("%s and %s do not compare as %s and %s", r, s, x, y)
		}
	})
}

func TestParseRationalReadsDecimalsAndFractions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1.0842": "1.0842", "-5": "-5", "0.50": "0.5", "-0.000": "0", "007.5": "7.5", "1/3": "1/3", "-2/6": "-1/3", "10/4": "2.5", "0/7": "0",
		"1/1024":      "0.0009765625",
		"1/001":       "1",
		"100":         "100",
		"0.000000001": "0.000000001",
		// A decimal of more than 100 places is written as a fraction.
		"1/1" + strings.Repeat("0", 101): "1/1" + strings.Repeat("0", 101),
	} {
		if got, err := money.ParseRational(text); err != nil || got.String() != want {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
	for text, kind := range map[string]error{
		"": money.ErrSyntax, "-": money.ErrSyntax, ".5": money.ErrSyntax, "5.": money.ErrSyntax, "1e3": money.ErrSyntax, "1e1000000000": money.ErrSyntax,
		"NaN": money.ErrSyntax, "Inf": money.ErrSyntax, "+1": money.ErrSyntax, " 1": money.ErrSyntax, "1_0": money.ErrSyntax, "1,5": money.ErrSyntax,
		"8%": money.ErrSyntax, "1.5/3": money.ErrSyntax, "1/1.5": money.ErrSyntax, "1/": money.ErrSyntax, "/3": money.ErrSyntax, "1/-3": money.ErrSyntax,
		"1/2/3": money.ErrSyntax, "1.2.3": money.ErrSyntax, "0x10": money.ErrSyntax, "١": money.ErrSyntax,
		"1/0":                           money.ErrDivision,
		"-0/00":                         money.ErrDivision,
		strings.Repeat("9", 309):        money.ErrRange,
		strings.Repeat("7", 641):        money.ErrSyntax,
		strings.Repeat("7", 1e6):        money.ErrSyntax,
		"1/" + strings.Repeat("9", 320): money.ErrRange,
	} {
		if got, err := money.ParseRational(text); kindOf(t, err) != kind || !got.IsZero() {
			t.Errorf("%.20s is %s, %v, want %v", text, got, err, kind)
		}
	}
}

func TestParseRationalSaysWhere(t *testing.T) {
	t.Parallel()
	for text, offset := range map[string]int{"x": 0, "": 0, "-": 1, "12x": 2, "1.2.3": 3, "5.": 1, "1/": 2, "1/-3": 2, "12/3x": 4, "12/3/4": 4, "1.5/3": 1} {
		var syntax *money.SyntaxError
		if _, err := money.ParseRational(text); !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%q: %v, want byte %d", text, err, offset)
		}
	}
}

func TestLimitsOfRationalsAreInclusive(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("0", 639) + "7"
	if got, err := money.ParseRational(longest); err != nil || got.String() != "7" {
		t.Errorf("640 bytes read as %s, %v", got, err)
	}
	var read money.Rational
	if err := read.UnmarshalText([]byte(longest)); err != nil || read.String() != "7" {
		t.Errorf("640 bytes unmarshal as %s, %v", read, err)
	}
	finest := "0." + strings.Repeat("0", 99) + "1"
	if got, err := money.ParseRational(finest); err != nil || got.String() != finest {
		t.Errorf("100 places are written as %s, %v", got, err)
	}
	largest := new(big.Int).Lsh(big.NewInt(1), money.MaxRationalBits)
	beyond, largest := "1/"+largest.String(), largest.Sub(largest, big.NewInt(1))
	weight, err := money.ParseRational("1/" + largest.String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := money.ParseRational(beyond); !errors.Is(err, money.ErrRange) {
		t.Errorf("1025 bits: %v", err)
	}
	if _, err := parse(t, "1 JPY").AllocateBy(money.ToFirst(), weight, weight); err != nil {
		t.Errorf("a common denominator of 1024 bits: %v", err)
	}
}

func TestRationalsAreBounded(t *testing.T) {
	t.Parallel()
	large := money.MustParseRational(strings.Repeat("9", 300))
	fine, err := money.MustParseRational("1").Quo(large)
	if err != nil {
		t.Fatal(err)
	}
	_, product := large.Mul(large)
	_, quotient := large.Quo(fine)
	_, sum := large.Add(fine)
	_, difference := fine.Sub(large)
	_, percent := money.ParsePercent("1/" + strings.Repeat("9", 308))
	for i, err := range []error{product, quotient, sum, difference, percent} {
		if !errors.Is(err, money.ErrRange) || strings.Contains(err.Error(), "no currency") {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := parse(t, "0.000000000000000001 ETH").MulRound(money.MustParseRational("1/"+strings.Repeat("9", 308)), money.Up); !errors.Is(err, money.ErrRange) {
		t.Errorf("a residual beyond the bound: %v", err)
	}
}

func TestRationalTextForms(t *testing.T) {
	t.Parallel()
	var record struct{ Rate, Share, None money.Rational }
	if err := json.Unmarshal([]byte(`{"Rate":"1.0842","Share":"1/3"}`), &record); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(record)
	if want := `{"Rate":"1.0842","Share":"1/3","None":"0"}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
	if err := json.Unmarshal([]byte(`{"Rate":1.0842}`), &record); err == nil {
		t.Error("a JSON number, which may have been a float, was read")
	}
	if err := new(money.Rational).UnmarshalText([]byte(strings.Repeat("1", 1<<20))); !errors.Is(err, money.ErrSyntax) {
		t.Errorf("a megabyte: %v", err)
	}
}

func TestSmallRationals(t *testing.T) {
	t.Parallel()
	basisPoints, err := money.NewRational(25, 10_000)
	if err != nil || basisPoints.String() != "0.0025" {
		t.Errorf("25 basis points are %s, %v", basisPoints, err)
	}
	if got, err := money.NewRational(-6, -4); err != nil || got.String() != "1.5" {
		t.Errorf("-6/-4 is %s, %v", got, err)
	}
	if got, err := money.NewRational(0, -4); err != nil || !reflect.DeepEqual(got, money.Rational{}) {
		t.Errorf("0/-4 is %s, %v", got, err)
	}
	if got, err := money.ParsePercent("8.25"); err != nil || got.String() != "0.0825" {
		t.Errorf("8.25 %% is %s, %v", got, err)
	}
	if _, err := money.ParsePercent("8.25%"); !errors.Is(err, money.ErrSyntax) {
		t.Errorf("a percent sign: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a constant that is no number does not panic")
		}
	}()
	money.MustParseRational("a half")
}
