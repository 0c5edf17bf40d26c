package reconcile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
)

func drawSide(rt *rapid.T, side string, most int) (list []reconcile.Row) {
	for i := range rapid.IntRange(0, most).Draw(rt, side) {
		r := reconcile.Row{ID: fmt.Sprint(side, i), Key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key"),
			Value: rapid.SampledFrom([]string{"", "", "x"}).Draw(rt, "value")}
		if rapid.IntRange(0, 5).Draw(rt, "amount") > 0 {
			code := rapid.SampledFrom([]string{"USD", "USD", "USD", "JPY"}).Draw(rt, "currency")
			currency, _ := money.ISO(code)
			r.Amount, _ = money.FromMinor(rapid.Int64Range(-3, 3).Draw(rt, "units"), currency)
		}
		if rapid.IntRange(0, 5).Draw(rt, "dated") > 0 {
			r.At = day.Add(time.Duration(rapid.IntRange(-6, 1).Draw(rt, "hour")) * time.Hour)
		}
		list = append(list, r)
	}
	return list
}

// drawParts are a row and others that add up to it, or nearly.
func drawParts(rt *rapid.T) (one reconcile.Row, parts []reconcile.Row) {
	usd, _ := money.ISO("USD")
	total := int64(0)
	for i := range rapid.IntRange(1, 3).Draw(rt, "parts") {
		units := rapid.Int64Range(1, 9).Draw(rt, "part")
		amount, _ := money.FromMinor(units, usd)
		parts = append(parts, reconcile.Row{ID: fmt.Sprint("part", i), Key: "d", Amount: amount})
		total += units
	}
	amount, _ := money.FromMinor(total+rapid.SampledFrom([]int64{0, 0, 1, 2}).Draw(rt, "off"), usd)
	return reconcile.Row{ID: "one", Key: "d", Amount: amount}, parts
}

func drawRules(rt *rapid.T) reconcile.Rules {
	rules := reconcile.Rules{Apart: time.Duration(rapid.IntRange(0, 3).Draw(rt, "apart")) * time.Hour,
		OneToMany: rapid.Bool().Draw(rt, "1:N"), ManyToOne: rapid.Bool().Draw(rt, "N:1")}
	if rapid.Bool().Draw(rt, "tolerance") {
		rules.Tolerance = []money.Amount{money.MustParse("0.01 USD")}
	}
	return rules
}

// repeatedly gives a source's rows in another order, some of them twice.
func repeatedly(rt *rapid.T, list []reconcile.Row) reconcile.Rows {
	again := slices.Clone(list)
	for _, r := range list {
		if rapid.IntRange(0, 3).Draw(rt, "again") == 0 {
			again = append(again, r)
		}
	}
	return given(rapid.Permutation(again).Draw(rt, "order"))
}

// Each row has one outcome; the outcomes do not depend on workers, memory, order, or on rows that come twice; what is matched
// obeys the rules, and what is not says why (R1, R2, R3).
func TestEveryRowHasOneOutcomeHoweverItComes(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		left, right, rules := drawSide(rt, "l", 9), drawSide(rt, "r", 9), drawRules(rt)
		one, parts := drawParts(rt)
		left, right = append(left, one), append(right, parts...)
		if rapid.Bool().Draw(rt, "swapped") {
			left, right = right, left
		}
		window := reconcile.Window{From: day.Add(-4 * time.Hour), Cutoff: day, Grace: 2 * time.Hour}
		c, err := reconcile.Load(t.Context(), reconcile.Options{Workers: 1}, given(left), given(right))
		if err != nil {
			rt.Fatal(err)
		}
		var want []string
		count := map[string]int{}
		summary, err := c.Match(t.Context(), rules, window, func(o reconcile.Outcome) error {
			want = append(want, show(o))
			for _, r := range slices.Concat(o.Left, o.Right) {
				count[r.ID]++
			}
			obeys(rt, rules, o)
			seen[string(o.Kind)]++
			if len(o.Left)+len(o.Right) > 2 {
				seen["several "+string(o.Kind)]++
			}
			for _, fault := range o.Faults {
				seen[fault]++
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		for _, r := range slices.Concat(left, right) {
			if count[r.ID] != 1 {
				rt.Fatalf("row %s has %d outcomes: %q", r.ID, count[r.ID], want)
			}
		}
		got, again := match(rt, reconcile.Options{Workers: rapid.SampledFrom([]int{1, 2, 16}).Draw(rt, "workers"), Memory: 1 << 16}, rules, window,
			repeatedly(rt, left), repeatedly(rt, right))
		if !slices.Equal(got, want) || fmt.Sprint(again) != fmt.Sprint(summary) {
			rt.Fatalf("in another order\n%q\n%v\nnot\n%q\n%v", got, again, want, summary)
		}
	}, "MATCHED", "EXPECTED", "EARLIER", "MISSING", "UNEXPECTED", "MISMATCHED", "several MATCHED", "several MISMATCHED", "amount", "currency", "value", "time")
}

// obeys checks an outcome against the rules, in its own words.
func obeys(rt *rapid.T, rules reconcile.Rules, o reconcile.Outcome) {
	both := len(o.Left) > 0 && len(o.Right) > 0
	switch o.Kind {
	case reconcile.Matched:
		if !both || len(o.Left) > 1 && len(o.Right) > 1 || len(o.Right) > 1 && !rules.OneToMany || len(o.Left) > 1 && !rules.ManyToOne {
			rt.Fatalf("the rules allow no such match: %s", show(o))
		}
		for _, l := range o.Left {
			for _, r := range o.Right {
				if rules.Apart > 0 && !l.At.IsZero() && !r.At.IsZero() && l.At.Sub(r.At).Abs() > rules.Apart || l.Value != r.Value {
					rt.Fatalf("matched: %s", show(o))
				}
			}
		}
		if limit := len(rules.Tolerance); !o.Drift.IsZero() && (limit == 0 || o.Drift.Abs().MinorUnits() > "1" || o.Drift.Currency().Code() != "USD") {
			rt.Fatalf("matched: %s", show(o))
		}
	case reconcile.Mismatched:
		if !both || len(o.Faults) == 0 {
			rt.Fatalf("no reason: %s", show(o))
		}
	case reconcile.Missing:
		if len(o.Left) != 1 || len(o.Right) != 0 {
			rt.Fatal(show(o))
		}
	case reconcile.Unexpected:
		if len(o.Left) != 0 || len(o.Right) != 1 {
			rt.Fatal(show(o))
		}
	}
}

// No pairing of equal rows within their times has more pairs than ours.
func TestEqualRowsAreMatchedAsOftenAsTheyCanBe(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		draw := func(side string) (list []reconcile.Row) {
			for i := range rapid.IntRange(0, 6).Draw(rt, side) {
				r := reconcile.Row{ID: fmt.Sprint(side, i), Key: "k"}
				if rapid.IntRange(0, 3).Draw(rt, "dated") > 0 {
					r.At = day.Add(time.Duration(rapid.IntRange(-12, 0).Draw(rt, "hour")) * time.Hour)
				} else {
					seen["without a time"]++
				}
				list = append(list, r)
			}
			return list
		}
		left, right := draw("l"), draw("r")
		rules := reconcile.Rules{Apart: time.Duration(rapid.IntRange(1, 4).Draw(rt, "apart")) * time.Hour}
		_, summary := match(rt, reconcile.Options{}, rules, reconcile.Window{Cutoff: day}, given(left), given(right))
		best := most(left, right, rules.Apart)
		if got := int(summary.Outcomes[reconcile.Matched]); got != best {
			rt.Fatalf("%d pairs, %d are possible", got, best)
		}
		if best > 0 && best < min(len(left), len(right)) {
			seen["some left over"]++
		}
	}, "some left over", "without a time")
}

// most tries every pairing.
func most(left, right []reconcile.Row, apart time.Duration) int {
	if len(left) == 0 {
		return 0
	}
	best := most(left[1:], right, apart)
	for i, r := range right {
		if left[0].At.IsZero() || r.At.IsZero() || left[0].At.Sub(r.At).Abs() <= apart {
			best = max(best, 1+most(left[1:], slices.Delete(slices.Clone(right), i, i+1), apart))
		}
	}
	return best
}

// Rows that do not fit in memory are sorted in runs and merged; the outcomes stay the same.
func TestManyRowsAreComparedInLittleMemory(t *testing.T) {
	t.Parallel()
	const n = 20_000
	usd, _ := money.ISO("USD")
	side := func(name string, step int) reconcile.Rows {
		return func(yield func(reconcile.Row, error) bool) {
			for i := range n {
				j := i * step % n // another order on each side
				amount, _ := money.FromMinor(int64(j), usd)
				if !yield(reconcile.Row{ID: fmt.Sprint(name, j), Key: fmt.Sprint("payment-", j), Amount: amount, At: day.Add(-time.Duration(j) * time.Second)}, nil) {
					return
				}
			}
		}
	}
	var reported int64
	options := reconcile.Options{Memory: 1 << 16, Workers: 3, Dir: t.TempDir(), Progress: func(read, _ int64) { reported = read }}
	got, summary := match(t, options, reconcile.Rules{Apart: time.Second}, reconcile.Window{Cutoff: day}, side("l", 7), side("r", 3))
	if len(got) != n || summary.Outcomes[reconcile.Matched] != n || reported != 2*n {
		t.Errorf("%d outcomes, %v, read %d", len(got), summary.Outcomes, reported)
	}
	whole, _ := match(t, reconcile.Options{}, reconcile.Rules{Apart: time.Second}, reconcile.Window{Cutoff: day}, side("l", 3), side("r", 7))
	if !slices.Equal(got, whole) {
		t.Error("the outcomes in memory are others")
	}
}
