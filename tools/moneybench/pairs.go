package main

import (
	"fmt"
	"strings"
	"testing"

	bojanz "github.com/bojanz/currency"

	"github.com/dynafin/dynafin/money"
)

// inputs go from the price of a coffee to the largest amount of 38 digits. The ones of 19 to 22 digits are where 64 bits
// end: market capitalisations in minor units, coins of 18 decimal places.
var inputs = []string{
	"4.50", "1234567.89", "12345678901234567.89", "123456789012345678.90", "1234567890123456789.01", "12345678901234567890.12",
	"99999999999999999999.99", "-12345678901234567890.12", "12345678901234567890123456.78", "123456789012345678901234567890123456.78",
}

// pair is one operation of both libraries on one input.
type pair struct {
	operation    string
	digits       int
	promised     bool // of the issue: no slower
	ours, theirs func(b *testing.B)
}

func comparisons() ([]pair, error) {
	var pairs []pair
	for _, text := range inputs {
		some, err := on(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		pairs = append(pairs, some...)
	}
	return pairs, nil
}

// on returns the operations on one input.
func on(text string) ([]pair, error) {
	usd, err := money.ISO("USD")
	if err != nil {
		return nil, err
	}
	a, err := money.Parse(text, usd)
	if err != nil {
		return nil, err
	}
	b, err := bojanz.NewAmount(text, "USD")
	if err != nil {
		return nil, err
	}
	little, tax := money.MustParse("0.01 USD"), money.MustParseRational("0.0825")
	small, err := bojanz.NewAmount("0.01", "USD")
	if err != nil {
		return nil, err
	}
	digits := len(strings.Trim(strings.ReplaceAll(text, ".", ""), "-"))
	return []pair{
		{"Parse", digits, true,
			loop(func() error { _, err := money.Parse(text, usd); return err }),
			loop(func() error { _, err := bojanz.NewAmount(text, "USD"); return err })},
		{"Add", digits, true,
			loop(func() error { _, err := a.Add(little); return err }),
			loop(func() error { _, err := b.Add(small); return err })},
		{"Allocate", digits, true,
			loop(func() error { _, err := a.Allocate(money.LargestRemainder(), 50, 30, 20); return err }),
			loop(func() error { _, err := b.Allocate(50, 30, 20); return err })},
		{"Split by 12", digits, true,
			loop(func() error { _, err := a.Split(12); return err }),
			loop(func() error { _, err := b.Split(12); return err })},
		{"Round", digits, false,
			loop(func() error { _, err := a.Round(1, money.HalfEven); return err }),
			loop(func() error { _ = b.RoundTo(1, bojanz.RoundHalfEven); return nil })},
		// Ours also keeps what rounding took away, as an exact number; the other one reads its factor each time.
		{"Multiply, round", digits, false,
			loop(func() error { _, err := a.MulRound(tax, money.HalfEven); return err }),
			loop(func() error {
				product, err := b.Mul("0.0825")
				_ = product.RoundTo(bojanz.DefaultDigits, bojanz.RoundHalfEven)
				return err
			})},
	}, nil
}

func loop(operation func() error) func(b *testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := operation(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
