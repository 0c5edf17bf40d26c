package daygen_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/examples/brokerage/internal/daygen"
)

// covered refuses some sales, whatever else happens to their accounts.
func covered(l daygen.Line) bool { return !l.Sells || l.Symbol != "RHEIN" }

// Workers decide lines in any order, so the example can promise totals only for a day of which this holds.
func TestTotalsDoNotDependOnTheOrderOfTheLines(t *testing.T) {
	day := daygen.Day(daygen.Seed, 200)
	rapid.Check(t, func(t *rapid.T) {
		shuffled := rapid.Permutation(day).Draw(t, "lines")
		passes := rapid.IntRange(1, 3).Draw(t, "passes")
		if got, want := daygen.Expect(shuffled, passes, covered), daygen.Expect(day, passes, covered); got != want {
			t.Fatalf("in another order the day comes to %+v, not to %+v", got, want)
		}
	})
}

func TestTheSampleDayHasEverything(t *testing.T) {
	day := daygen.Day(daygen.Seed, daygen.Orders)
	got := daygen.Expect(day, 1, covered)
	if got.Read < 2000 {
		t.Errorf("%d lines, at least 2,000 are wanted", got.Read)
	}
	for name, n := range map[string]int{
		"accepted": got.Accepted, "replayed": got.Replayed, "mismatched": got.Mismatched, "name taken": got.NameTaken, "not covered": got.NotCovered, "invalid": got.Invalid,
	} {
		if n < 40 {
			t.Errorf("only %d lines are %s", n, name)
		}
	}
}

func TestTheSameSeedGivesTheSameDay(t *testing.T) {
	first, again, other := daygen.Text(daygen.Day(5, 60)), daygen.Text(daygen.Day(5, 60)), daygen.Text(daygen.Day(6, 60))
	if first != again {
		t.Error("two days of one seed differ")
	}
	if first == other {
		t.Error("two seeds give one day")
	}
}
