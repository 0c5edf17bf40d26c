package money_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

// bound is 10^38: one more minor unit than an amount can have.
var bound = new(big.Int).Exp(big.NewInt(10), big.NewInt(money.MaxDigits), nil)

// currencies holds one currency for each interesting scale, of both kinds.
func currencies(t testing.TB) map[string]money.Currency {
	t.Helper()
	found := map[string]money.Currency{}
	for _, code := range []string{"USD", "EUR", "JPY", "KWD", "CLF"} {
		c, err := money.ISO(code)
		if err != nil {
			t.Fatal(err)
		}
		found[code] = c
	}
	found["ACME"] = define(t, "ACME", 0, money.KindSecurity)
	found["BTC"] = define(t, "BTC", 8, money.KindCash)
	found["ETH"] = define(t, "ETH", 18, money.KindSecurity)
	return found
}

func define(t testing.TB, code string, scale int, kind money.Kind) money.Currency {
	t.Helper()
	c, err := money.Define(code, scale, kind)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func registry(t testing.TB) money.Registry {
	t.Helper()
	known := currencies(t)
	r, err := money.NewRegistry(known["ACME"], known["BTC"], known["ETH"])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parse reads an amount with its code, registered ones included.
func parse(t testing.TB, text string) money.Amount {
	t.Helper()
	a, err := registry(t).Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

// minor is the value of an amount in the oracle's terms.
func minor(t interface{ Fatalf(string, ...any) }, a money.Amount) *big.Int {
	units, ok := new(big.Int).SetString(a.MinorUnits(), 10)
	if !ok {
		t.Fatalf("minor units %q are not an integer", a.MinorUnits())
	}
	return units
}

// minorUnits draws integers of every size up to the bound, with the corners of 64 bits, of 19 digits and of the bound made
// likely.
func minorUnits() *rapid.Generator[*big.Int] {
	return rapid.Custom(func(t *rapid.T) *big.Int {
		corner := rapid.SampledFrom([]*big.Int{
			new(big.Int), big.NewInt(1 << 62), new(big.Int).Lsh(big.NewInt(1), 63), new(big.Int).Lsh(big.NewInt(1), 64),
			new(big.Int).Exp(big.NewInt(10), big.NewInt(19), nil), new(big.Int).Exp(big.NewInt(10), big.NewInt(37), nil), bound,
		}).Draw(t, "corner")
		offset := big.NewInt(rapid.Int64().Draw(t, "offset"))
		units := offset.Add(offset, corner)
		if rapid.Bool().Draw(t, "negative") {
			units.Neg(units)
		}
		if units.CmpAbs(bound) >= 0 {
			units.Sub(bound, big.NewInt(1))
		}
		return units
	})
}

func amounts(t *rapid.T, c money.Currency, label string) money.Amount {
	a, err := money.ParseMinor(minorUnits().Draw(t, label).String(), c)
	if err != nil {
		t.Fatalf("%s: %v", label, err)
	}
	return a
}

func currency(t *rapid.T, all map[string]money.Currency) money.Currency {
	return all[rapid.SampledFrom([]string{"USD", "JPY", "KWD", "BTC", "ETH"}).Draw(t, "currency")]
}

// trim does to a Number what DynamoDB does: zeros that say nothing are gone.
func trim(av types.AttributeValue) types.AttributeValue {
	switch av := av.(type) {
	case *types.AttributeValueMemberM:
		trimmed := map[string]types.AttributeValue{}
		for name, value := range av.Value {
			trimmed[name] = trim(value)
		}
		return &types.AttributeValueMemberM{Value: trimmed}
	case *types.AttributeValueMemberN:
		text := av.Value
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		if text == "-0" {
			text = "0"
		}
		return &types.AttributeValueMemberN{Value: text}
	}
	return av
}

// kindOf returns the kind of an error, and fails for an error that has none.
func kindOf(t interface{ Fatalf(string, ...any) }, err error) error {
	for _, kind := range []error{money.ErrSyntax, money.ErrInexact, money.ErrRange, money.ErrMismatch,
		money.ErrUnknownCurrency, money.ErrDefinition, money.ErrEncoding,
		money.ErrAllocation, money.ErrRounding, money.ErrRate, money.ErrDivision} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	t.Fatalf("error of no kind: %v", err)
	return nil
}
