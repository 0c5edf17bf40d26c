package money_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

func TestParseReadsPlainDecimals(t *testing.T) {
	t.Parallel()
	nines := strings.Repeat("9", 36)
	tests := []struct{ text, code, want, minor string }{
		{"19.99", "USD", "19.99", "1999"},
		{"0.1", "USD", "0.10", "10"},
		{"5", "USD", "5.00", "500"},
		{"-0.05", "USD", "-0.05", "-5"},
		{"0", "USD", "0.00", "0"},
		{"-0", "USD", "0.00", "0"},
		{"-0.00", "USD", "0.00", "0"},
		{"1.1000", "USD", "1.10", "110"}, // zeros finer than the scale lose nothing
		{"007.5", "USD", "7.50", "750"},
		{"1999", "JPY", "1999", "1999"},
		{"1999.0", "JPY", "1999", "1999"},
		{"1.234", "KWD", "1.234", "1234"},
		{"0.000000000000000001", "ETH", "0.000000000000000001", "1"},
		{"9.223372036854775807", "ETH", "9.223372036854775807", "9223372036854775807"},
		{"9.223372036854775808", "ETH", "9.223372036854775808", "9223372036854775808"},
		{"-9.223372036854775808", "ETH", "-9.223372036854775808", "-9223372036854775808"},
		{"-9.223372036854775809", "ETH", "-9.223372036854775809", "-9223372036854775809"},
		{"99999999999999999999.999999999999999999", "ETH", "99999999999999999999.999999999999999999", strings.Repeat("9", 38)},
		{nines + ".99", "USD", nines + ".99", nines + "99"},
		{"-" + nines + ".99", "USD", "-" + nines + ".99", "-" + nines + "99"},
		{strings.Repeat("0", 50) + "1", "USD", "1.00", "100"},
	}
	all := currencies(t)
	for _, test := range tests {
		t.Run(test.text+" "+test.code, func(t *testing.T) {
			t.Parallel()
			a, err := money.Parse(test.text, all[test.code])
			if err != nil {
				t.Fatal(err)
			}
			if a.Text() != test.want || a.MinorUnits() != test.minor {
				t.Errorf("got %s and %s, want %s and %s", a.Text(), a.MinorUnits(), test.want, test.minor)
			}
			if again, err := money.ParseMinor(test.minor, all[test.code]); err != nil || !again.Equal(a) {
				t.Errorf("the minor units give %v, %v", again, err)
			}
		})
	}
}

func TestParseRefusesEverythingElse(t *testing.T) {
	t.Parallel()
	megabyte := strings.Repeat("7", 1<<20)
	tests := []struct {
		name, text, code string
		want             error
	}{
		{"empty", "", "USD", money.ErrSyntax},
		{"sign alone", "-", "USD", money.ErrSyntax},
		{"plus", "+1", "USD", money.ErrSyntax},
		{"plus alone", "+", "USD", money.ErrSyntax},
		{"two signs", "--1", "USD", money.ErrSyntax},
		{"leading space", " 1", "USD", money.ErrSyntax},
		{"trailing space", "1 ", "USD", money.ErrSyntax},
		{"newline", "1\n", "USD", money.ErrSyntax},
		{"underscore", "1_0", "USD", money.ErrSyntax},
		{"comma", "1,000", "USD", money.ErrSyntax},
		{"decimal comma", "1,50", "USD", money.ErrSyntax},
		{"apostrophe", "1'000", "USD", money.ErrSyntax},
		{"two points", "1.2.3", "USD", money.ErrSyntax},
		{"leading point", ".5", "USD", money.ErrSyntax},
		{"signed leading point", "-.5", "USD", money.ErrSyntax},
		{"trailing point", "5.", "USD", money.ErrSyntax},
		{"point alone", ".", "USD", money.ErrSyntax},
		{"exponent", "1e3", "USD", money.ErrSyntax},
		{"upper exponent", "1E+3", "USD", money.ErrSyntax},
		{"exponent bomb", "1e1000000000", "USD", money.ErrSyntax},
		{"negative exponent bomb", "1e-1000000000", "USD", money.ErrSyntax},
		{"NaN", "NaN", "USD", money.ErrSyntax},
		{"Inf", "Inf", "USD", money.ErrSyntax},
		{"-Infinity", "-Infinity", "USD", money.ErrSyntax},
		{"hexadecimal", "0x10", "USD", money.ErrSyntax},
		{"fraction", "1/3", "USD", money.ErrSyntax},
		{"Arabic digits", "١٢٣", "USD", money.ErrSyntax},
		{"full-width digits", "１２", "USD", money.ErrSyntax},
		{"minus of another script", "−1", "USD", money.ErrSyntax},
		{"zero byte", "1\x00", "USD", money.ErrSyntax},
		{"invalid UTF-8", "1\xff", "USD", money.ErrSyntax},
		{"symbol", "$1", "USD", money.ErrSyntax},
		{"a megabyte of digits", megabyte, "USD", money.ErrSyntax},
		{"a megabyte of zeros", strings.Repeat("0", 1<<20), "USD", money.ErrSyntax},
		{"a megabyte of fraction", "0." + megabyte, "USD", money.ErrSyntax},
		{"39 digits", strings.Repeat("9", 39), "JPY", money.ErrRange},
		{"39 digits with the scale", strings.Repeat("9", 37), "USD", money.ErrRange},
		{"10^38", "1" + strings.Repeat("0", 38), "JPY", money.ErrRange},
		{"10^20 of scale 18", "1" + strings.Repeat("0", 20), "ETH", money.ErrRange},
		{"too fine", "0.001", "USD", money.ErrInexact},
		{"too fine for none", "1.5", "JPY", money.ErrInexact},
		{"too fine behind a zero", "1.1001", "USD", money.ErrInexact},
		{"too fine and too long", strings.Repeat("9", 40) + ".001", "USD", money.ErrInexact},
		{"19th place", "0.0000000000000000001", "ETH", money.ErrInexact},
	}
	all := currencies(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, err := money.Parse(test.text, all[test.code])
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, %v, want %v", a, err, test.want)
			}
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestParseErrorsCarryTheFacts(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	_, err := money.Parse("12x4", all["USD"])
	var syntax *money.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != 2 {
		t.Errorf("got %#v, want offset 2", syntax)
	}
	_, err = money.Parse("1.23450", all["USD"])
	var inexact *money.InexactError
	if !errors.As(err, &inexact) || inexact.Places != 4 || inexact.Currency != all["USD"] {
		t.Errorf("got %#v, want 4 places of USD", inexact)
	}
	_, err = money.Parse("1", money.Currency{})
	if !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("no currency: %v", err)
	}
}

func TestParseMinorTakesIntegersOnly(t *testing.T) {
	t.Parallel()
	usd := currencies(t)["USD"]
	for text, want := range map[string]error{
		"": money.ErrSyntax, "1.0": money.ErrSyntax, "1.": money.ErrSyntax, "1e2": money.ErrSyntax,
		strings.Repeat("1", 39): money.ErrRange, strings.Repeat("1", 1<<20): money.ErrSyntax,
	} {
		if _, err := money.ParseMinor(text, usd); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", text, err, want)
		}
	}
}

func TestHostileTextIsRefusedWithoutAllocatingForIt(t *testing.T) {
	usd := currencies(t)["USD"]
	text := strings.Repeat("9", 1<<20)
	allocations := testing.AllocsPerRun(100, func() {
		if _, err := money.Parse(text, usd); err == nil {
			t.Error("a megabyte of digits is an amount")
		}
	})
	if allocations > 1 {
		t.Errorf("%v allocations, want only the error's", allocations)
	}
}

func TestTextRoundTripsForEveryAmount(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		a := amounts(t, currency(t, all), "amount")
		again, err := money.Parse(a.Text(), a.Currency())
		if err != nil || !again.Equal(a) || again.Text() != a.Text() {
			t.Fatalf("%s became %v, %v", a, again, err)
		}
	})
}
