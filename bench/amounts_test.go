package main

import (
	"math"
	"strconv"
	"testing"

	rhymond "github.com/Rhymond/go-money"
	bojanz "github.com/bojanz/currency"
	govalues "github.com/govalues/money"

	"github.com/dynafin/dynafin/money"
)

// TestTheLibrariesComputeTheSame makes the comparison one of equals: same inputs, same results.
func TestTheLibrariesComputeTheSame(t *testing.T) {
	t.Parallel()
	usd, err := money.ISO("USD")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range inputs {
		ours, err := money.Parse(text, usd)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := ours.Split(12)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := bojanz.NewAmount(text, "USD")
		if err != nil {
			t.Fatal(err)
		}
		theirParts, err := theirs.Split(12)
		if err != nil {
			t.Fatal(err)
		}
		for i := range parts {
			if parts[i].Text() != theirParts[i].Number() {
				t.Errorf("a twelfth of %s: %s and %s", text, parts[i].Text(), theirParts[i].Number())
			}
		}
		if minor, err := strconv.ParseInt(ours.MinorUnits(), 10, 64); err == nil && minor < math.MaxInt64/50 {
			sum := int64(0)
			shares, err := rhymond.New(minor, "USD").Allocate(50, 30, 20) // it rounds other parts up
			for _, share := range shares {
				sum += share.Amount()
			}
			if sum != minor || err != nil {
				t.Errorf("the parts of %s are %d, %v", text, sum, err)
			}
		}
		if decimal, err := govalues.ParseAmount("USD", text); err == nil && decimal.Decimal().String() != ours.Text() {
			t.Errorf("%s: %s and %s", text, ours.Text(), decimal.Decimal())
		}
	}
}
