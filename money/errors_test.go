package money_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/money"
)

func TestErrorsKeepKindFactsAndCodeThroughWrapping(t *testing.T) {
	t.Parallel()
	usd, jpy := currencies(t)["USD"], currencies(t)["JPY"]
	_, syntax := money.Parse("1e3", usd)
	_, inexact := money.Parse("0.001", usd)
	largest := parse(t, strings.Repeat("9", 38)+" JPY")
	_, outOfRange := largest.MulInt(math.MaxInt64)
	_, mismatch := money.Zero(usd).Add(money.Zero(jpy))
	_, unknown := money.ISO("ZZZ")
	_, definition := money.Define("USD", 2, money.KindCash)
	_, encoding := money.Registry{}.Decode(nil)
	_, allocation := money.Zero(usd).Allocate(money.ToFirst(), 1, -1)
	_, rounding := money.Zero(usd).Round(0, money.Rounding(99))
	_, rate := money.Zero(usd).Convert(money.Rate{Source: "ECB", ID: "r-1"}, money.HalfEven)
	_, division := money.NewRational(1, 0)

	tests := []struct {
		err, kind error
		facts     any
		code      fault.Code
		text      string
	}{
		{syntax, money.ErrSyntax, new(*money.SyntaxError), fault.MoneySyntax, "byte 1"},
		{inexact, money.ErrInexact, new(*money.InexactError), fault.MoneyInexact, "3 decimal places, USD has 2"},
		{outOfRange, money.ErrRange, new(*money.RangeError), fault.MoneyRange, "multiply: the result in JPY"},
		{mismatch, money.ErrMismatch, new(*money.MismatchError), fault.MoneyMismatch, "add: USD (cash, 2 decimal places) with JPY (cash, 0 decimal places)"},
		{unknown, money.ErrUnknownCurrency, new(*money.UnknownCurrencyError), fault.MoneyUnknownCurrency, `"ZZZ"`},
		{definition, money.ErrDefinition, new(*money.DefinitionError), fault.MoneyDefinition, `"USD": ISO 4217 uses this code`},
		{encoding, money.ErrEncoding, new(*money.EncodingError), fault.MoneyEncoding, "decode DynamoDB"},
		{allocation, money.ErrAllocation, new(*money.AllocationError), fault.MoneyAllocation, "allocate: part 1: the weight is negative"},
		{rounding, money.ErrRounding, new(*money.RoundingError), fault.MoneyRounding, "rounding 99 is not a rounding"},
		{rate, money.ErrRate, new(*money.RateError), fault.MoneyRate, `rate "r-1" of "ECB": a rate has a time`},
		{division, money.ErrDivision, new(*money.DivisionError), fault.MoneyDivision, "new rational: the denominator is zero"},
	}
	for _, test := range tests {
		t.Run(test.code.ID, func(t *testing.T) {
			t.Parallel()
			wrapped := fmt.Errorf("order o-1: %w", fmt.Errorf("price: %w", test.err))
			if !errors.Is(wrapped, test.kind) || kindOf(t, wrapped) != test.kind {
				t.Errorf("%v is not %v", wrapped, test.kind)
			}
			if !errors.As(wrapped, test.facts) {
				t.Errorf("%v has no facts", wrapped)
			}
			var coded interface{ Code() string }
			if !errors.As(wrapped, &coded) || coded.Code() != test.code.ID {
				t.Errorf("%v has not the code %s", wrapped, test.code.ID)
			}
			text := test.err.Error()
			if !strings.HasPrefix(text, "money: ") || !strings.Contains(text, test.text) || !strings.HasSuffix(text, "["+test.code.ID+"]") {
				t.Errorf("unhelpful text: %s", text)
			}
		})
	}
}

func TestErrorsNeverRepeatTheAmount(t *testing.T) {
	t.Parallel()
	usd := currencies(t)["USD"]
	for _, text := range []string{"7357.001", "7357e3", "7357" + strings.Repeat("0", 40), "7357,00"} {
		if _, err := money.Parse(text, usd); err == nil || strings.Contains(err.Error(), "7357") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
