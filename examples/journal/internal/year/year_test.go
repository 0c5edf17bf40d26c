package year_test

import (
	"os"
	"testing"

	"github.com/dynafin/dynafin/examples/journal/internal/year"
)

func TestTheStoredYearIsTheOneThatIsMade(t *testing.T) {
	stored, err := os.ReadFile("../../testdata/year.journal")
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != year.Journal(year.Seed, year.Transactions) {
		t.Error("testdata is stale; in examples/journal, with hledger installed, run: go run ./internal/golden testdata")
	}
}
