package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	rhymond "github.com/Rhymond/go-money"
	bojanz "github.com/bojanz/currency"
	"github.com/govalues/decimal"
	govalues "github.com/govalues/money"

	"github.com/dynafin/dynafin/money"
)

// inputs go from the price of a coffee to the largest amount of 38 digits. The ones of 19 to 22 digits are where 64 bits
// end: market capitalisations in minor units, coins of 18 decimal places.
var inputs = []string{
	"4.50", "1234567.89", "12345678901234567.89", "123456789012345678.90", "12345678901234567890.12", "123456789012345678901234567890123456.78",
}

// libraries are the columns, ours first.
var libraries = []string{"money", "bojanz/currency", "Rhymond/go-money", "govalues/money"}

// operation is one operation of the libraries on one input; nil where one has no such operation, or cannot hold the input.
type operation struct {
	name   string
	digits int
	do     [4]func() error
}

func operations() (all []operation, err error) {
	for _, text := range inputs {
		some, err := on(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// on returns the operations on one input.
func on(text string) ([]operation, error) {
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
	small, err := bojanz.NewAmount("0.01", "USD")
	if err != nil {
		return nil, err
	}
	little, tax := money.MustParse("0.01 USD"), money.MustParseRational("0.0825")
	digits := len(strings.ReplaceAll(text, ".", ""))
	all := []operation{
		{name: "parse", digits: digits, do: [4]func() error{
			func() error { _, err := money.Parse(text, usd); return err },
			func() error { _, err := bojanz.NewAmount(text, "USD"); return err }}},
		{name: "add", digits: digits, do: [4]func() error{
			func() error { _, err := a.Add(little); return err },
			func() error { _, err := b.Add(small); return err }}},
		{name: "allocate 50:30:20", digits: digits, do: [4]func() error{
			func() error { _, err := a.Allocate(money.LargestRemainder(), 50, 30, 20); return err },
			func() error { _, err := b.Allocate(50, 30, 20); return err }}},
		{name: "split by 12", digits: digits, do: [4]func() error{
			func() error { _, err := a.Split(12); return err },
			func() error { _, err := b.Split(12); return err }}},
		// Ours also keeps what rounding took away, as an exact number; bojanz/currency reads its factor each time.
		{name: "multiply by 0.0825, round", digits: digits, do: [4]func() error{
			func() error { _, err := a.MulRound(tax, money.HalfEven); return err },
			func() error {
				product, err := b.Mul("0.0825")
				_ = product.RoundTo(bojanz.DefaultDigits, bojanz.RoundHalfEven)
				return err
			}}},
	}
	withRhymond(all, text)
	return all, withGovalues(all, text)
}

// withRhymond adds the library of 64-bit minor units, which reads no decimal text and multiplies by whole numbers only.
func withRhymond(all []operation, text string) {
	minor, err := strconv.ParseInt(strings.ReplaceAll(text, ".", ""), 10, 64)
	if err != nil {
		return // more than 64 bits
	}
	a, little := rhymond.New(minor, "USD"), rhymond.New(1, "USD")
	all[1].do[2] = func() error { _, err := a.Add(little); return err }
	if minor < math.MaxInt64/50 { // it multiplies by the weight first, and panics when that is more than 64 bits
		all[2].do[2] = func() error { _, err := a.Allocate(50, 30, 20); return err }
	}
	all[3].do[2] = func() error { _, err := a.Split(12); return err }
}

// withGovalues adds the library of 19 digits, which does not allocate by weights.
func withGovalues(all []operation, text string) error {
	a, err := govalues.ParseAmount("USD", text)
	if err != nil {
		return nil // more than 19 digits
	}
	tax, err := decimal.Parse("0.0825")
	little := govalues.MustParseAmount("USD", "0.01")
	all[0].do[3] = func() error { _, err := govalues.ParseAmount("USD", text); return err }
	all[1].do[3] = func() error { _, err := a.Add(little); return err }
	all[3].do[3] = func() error { _, err := a.Split(12); return err }
	if _, tooLarge := a.Mul(tax); tooLarge == nil {
		all[4].do[3] = func() error { product, err := a.Mul(tax); _ = product.RoundToCurr(); return err }
	}
	return err
}

// loop is a benchmark of an operation.
func loop(do func() error) func(b *testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := do(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
