package main

import (
	"strings"
	"testing"

	bojanz "github.com/bojanz/currency"

	"github.com/dynafin/dynafin/money"
)

// TestBothLibrariesComputeTheSame makes the comparison one of equals: same inputs, same results.
func TestBothLibrariesComputeTheSame(t *testing.T) {
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
		theirs, err := bojanz.NewAmount(text, "USD")
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, our money.Amount, their bojanz.Amount) {
			t.Helper()
			if our.Text() != their.Number() {
				t.Errorf("%s of %s: %s and %s", what, text, our.Text(), their.Number())
			}
		}
		same("value", ours, theirs)
		sum, err := ours.Add(ours)
		if err != nil {
			t.Fatal(err)
		}
		theirSum, err := theirs.Add(theirs)
		if err != nil {
			t.Fatal(err)
		}
		same("double", sum, theirSum)
		parts, err := ours.Split(12)
		if err != nil {
			t.Fatal(err)
		}
		theirParts, err := theirs.Split(12)
		if err != nil {
			t.Fatal(err)
		}
		for i := range parts {
			same("twelfth", parts[i], theirParts[i])
		}
		tenths, err := ours.Round(1, money.HalfEven)
		if err != nil {
			t.Fatal(err)
		}
		if want := theirs.RoundTo(1, bojanz.RoundHalfEven).Number() + "0"; tenths.Text() != want {
			t.Errorf("%s to tenths: %s and %s", text, tenths.Text(), want)
		}
	}
}

func TestTableHasEveryOperationOnEveryInput(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "", 1, "1x"); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 1+6*len(inputs) {
		t.Errorf("%d lines:\n%s", lines, out.String())
	}
	if err := run(&out, "fast", 1, "1x"); err == nil {
		t.Error("a limit that is no number is accepted")
	}
}
