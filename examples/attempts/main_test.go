package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/examples/internal/readme"
)

func TestTheReadmeShowsWhatTheProgramPrints(t *testing.T) {
	readme.Shows(t, run)
}

// The README of the whole library begins with this table.
func TestTheFirstPageShowsWhatTheProgramPrints(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```text\n"+out.String()+"```\n") {
		t.Errorf("README.md does not show\n%s", &out)
	}
}

// Whatever dies: one order, one event, one answer. The other ways go wrong somewhere, or the table would prove nothing.
func TestOnlyOneTransactionSurvivesEveryDeath(t *testing.T) {
	for name, way := range map[string]struct {
		take  attempt
		relay bool
	}{"1": {writeThenPublish, false}, "2": {keyFirst, false}, "3": {keyLast, false}, "4": {oneTransaction, true}} {
		smooth, err := story(t.Context(), way.take, way.relay, 0)
		if err != nil || strings.Contains(smooth.String(), "WRONG") {
			t.Errorf("%s goes wrong without a death: %s, %v", name, smooth, err)
		}
		wrong := 0
		for step := range smooth.did {
			got, err := story(t.Context(), way.take, way.relay, step+1)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(got.String(), "WRONG") {
				wrong++
			}
		}
		if (wrong > 0) == way.relay {
			t.Errorf("%s: %d of %d deaths go wrong", name, wrong, len(smooth.did))
		}
	}
}
