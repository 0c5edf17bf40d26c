package money_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

// TestRoundedLinesAndTheirDifferenceAreTheTotal is guarantee M6.
func TestRoundedLinesAndTheirDifferenceAreTheTotal(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	small := rapid.Custom(func(t *rapid.T) money.Rational {
		r, _ := money.NewRational(rapid.Int64().Draw(t, "num"), rapid.SampledFrom([]int64{1, 3, 7, 1000, 4000, 360}).Draw(t, "den"))
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		c, mode := currency(t, all), rapid.SampledFrom(roundings).Draw(t, "mode")
		exact := rapid.SliceOfN(small, 0, 20).Draw(t, "exact")
		sheet, err := money.RoundLines(c, mode, "rounding", exact...)
		if err != nil {
			t.Fatalf("%v", err)
		}
		unit := new(big.Rat).SetInt(power(c.Scale()))
		total, posted := new(big.Rat), sheet.Difference.Amount
		for i, line := range exact {
			total.Add(total, ratio(t, line))
			if want := rounded(new(big.Rat).Mul(ratio(t, line), unit), mode); minor(t, sheet.Lines[i]).Cmp(want) != 0 {
				t.Fatalf("line %s %s is %s", line, mode, sheet.Lines[i])
			}
			if posted, err = posted.Add(sheet.Lines[i]); err != nil {
				t.Fatalf("%v", err)
			}
		}
		if want := rounded(total.Mul(total, unit), mode); minor(t, sheet.Total).Cmp(want) != 0 || sheet.Total.Currency() != c {
			t.Fatalf("the total is %s, not %s minor units", sheet.Total, want)
		}
		if posted != sheet.Total || sheet.Difference.Account != "rounding" {
			t.Fatalf("the lines and %v are not %s", sheet.Difference, sheet.Total)
		}
		if minor(t, sheet.Difference.Amount).CmpAbs(big.NewInt(int64(len(exact)+1))) > 0 {
			t.Fatalf("%d lines differ by %s", len(exact), sheet.Difference.Amount)
		}
	})
}

func TestRoundLinesToTheLastUnit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode                     money.Rounding
		exact                    string
		lines, total, difference string
	}{
		{money.HalfUp, "0.005 0.005 0.005", "0.01 0.01 0.01", "0.02", "-0.01"},
		{money.HalfEven, "0.005 0.005 0.005", "0.00 0.00 0.00", "0.02", "0.02"},
		{money.Down, "1/3 1/3 1/3", "0.33 0.33 0.33", "1.00", "0.01"},
		{money.Ceiling, "-0.001 -0.009", "0.00 0.00", "-0.01", "-0.01"},
		{money.HalfEven, "", "", "0.00", "0.00"},
	}
	for _, test := range tests {
		var exact []money.Rational
		for _, text := range strings.Fields(test.exact) {
			exact = append(exact, money.MustParseRational(text))
		}
		sheet, err := money.RoundLines(currencies(t)["USD"], test.mode, "rounding", exact...)
		var lines []string
		for _, line := range sheet.Lines {
			lines = append(lines, line.Text())
		}
		if err != nil || strings.Join(lines, " ") != test.lines || sheet.Total.Text() != test.total || sheet.Difference.Amount.Text() != test.difference {
			t.Errorf("%s %s: %v, %v", test.exact, test.mode, sheet, err)
		}
	}
}

func TestRoundLinesStopsAtTheBounds(t *testing.T) {
	t.Parallel()
	jpy := currencies(t)["JPY"]
	largest, half := parse(t, strings.Repeat("9", 38)+" JPY").Rational(), money.MustParseRational("0.5")
	fine, _ := money.ParseRational("1/1" + strings.Repeat("0", 200))
	finer, _ := money.ParseRational("1/" + strings.Repeat("3", 200))
	for name, exact := range map[string][]money.Rational{
		"the lines fit, their sum does not":           {largest, largest},
		"the sum fits, the total does not":            {largest, half, half},
		"a common denominator of more than 1024 bits": {fine, finer},
	} {
		if sheet, err := money.RoundLines(jpy, money.Down, "rounding", exact...); !errors.Is(err, money.ErrRange) || sheet.Lines != nil {
			t.Errorf("%s: %v, %v", name, sheet, err)
		}
	}
}
