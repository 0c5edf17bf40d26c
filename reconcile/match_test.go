package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
)

// Each row of the table is one key, and what the rules make of it (R1, R3).
func TestWhatTheRulesMakeOfOneKey(t *testing.T) {
	t.Parallel()
	usd := []money.Amount{money.MustParse("0.05 USD")}
	window := reconcile.Window{Cutoff: day}
	for _, c := range []struct {
		what        string
		rules       reconcile.Rules
		window      reconcile.Window
		left, right []string
		want        []string
	}{
		{"one and one", reconcile.Rules{}, window, []string{"l a 1.00USD -9"}, []string{"r a 1.00USD -1"}, []string{"MATCHED a: l | r"}},
		{"states have no amount", reconcile.Rules{}, window, []string{"l a - - v1"}, []string{"r a - - v1"}, []string{"MATCHED a: l | r"}},
		{"left only", reconcile.Rules{}, window, []string{"l a 1.00USD -9"}, nil, []string{"MISSING a: l | , drift -1.00 USD"}},
		{"right only", reconcile.Rules{}, window, nil, []string{"r a 1.00USD -9"}, []string{"UNEXPECTED a:  | r, drift 1.00 USD"}},
		{"a cent", reconcile.Rules{}, window, []string{"l a 1.00USD"}, []string{"r a 0.99USD"}, []string{"MISMATCHED a: l | r, drift -0.01 USD (amount)"}},
		{"within tolerance, at its bound", reconcile.Rules{Tolerance: usd}, window, []string{"l a 1.00USD"}, []string{"r a 1.05USD"},
			[]string{"MATCHED a: l | r, drift 0.05 USD"}},
		{"a cent beyond it", reconcile.Rules{Tolerance: usd}, window, []string{"l a 1.00USD"}, []string{"r a 1.06USD"},
			[]string{"MISMATCHED a: l | r, drift 0.06 USD (amount)"}},
		{"the tolerance of another currency", reconcile.Rules{Tolerance: usd}, window, []string{"l a 1.00EUR"}, []string{"r a 1.01EUR"},
			[]string{"MISMATCHED a: l | r, drift 0.01 EUR (amount)"}},
		{"another currency", reconcile.Rules{}, window, []string{"l a 1.00USD"}, []string{"r a 1.00EUR"}, []string{"MISMATCHED a: l | r (currency)"}},
		{"another value", reconcile.Rules{}, window, []string{"l a 1.00USD - x"}, []string{"r a 1.00USD - y"}, []string{"MISMATCHED a: l | r (value)"}},
		{"as far apart as allowed", reconcile.Rules{Apart: 2 * time.Hour}, window, []string{"l a 1.00USD -5"}, []string{"r a 1.00USD -3"},
			[]string{"MATCHED a: l | r"}},
		{"further apart", reconcile.Rules{Apart: 2 * time.Hour}, window, []string{"l a 1.00USD -5"}, []string{"r a 1.00USD -2"},
			[]string{"MISMATCHED a: l | r (time)"}},
		{"as many as can be matched", reconcile.Rules{Apart: 2 * time.Hour}, window, []string{"l1 a 1.00USD -9", "l2 a 1.00USD -7"},
			[]string{"r1 a 1.00USD -7", "r2 a 1.00USD -5"}, []string{"MATCHED a: l1 | r1", "MATCHED a: l2 | r2"}},
		{"the nearest within tolerance", reconcile.Rules{Tolerance: usd}, window, []string{"l a 1.00USD"}, []string{"r1 a 0.96USD", "r2 a 1.02USD"},
			[]string{"MATCHED a: l | r2, drift 0.02 USD", "UNEXPECTED a:  | r1, drift 0.96 USD"}},
		{"parts add up", reconcile.Rules{OneToMany: true}, window, []string{"l a 1.00USD"}, []string{"r1 a 0.60USD", "r2 a 0.40USD"},
			[]string{"MATCHED a: l | r2 r1"}},
		{"parts do not add up", reconcile.Rules{OneToMany: true}, window, []string{"l a 1.00USD"}, []string{"r1 a 0.60USD", "r2 a 0.30USD"},
			[]string{"MISMATCHED a: l | r2 r1, drift -0.10 USD (amount)"}},
		{"parts without the rule", reconcile.Rules{}, window, []string{"l a 1.00USD"}, []string{"r1 a 0.60USD", "r2 a 0.40USD"},
			[]string{"MISMATCHED a: l | r2, drift -0.60 USD (amount)", "UNEXPECTED a:  | r1, drift 0.60 USD"}},
		{"one for several", reconcile.Rules{ManyToOne: true}, window, []string{"l1 a 0.60USD", "l2 a 0.40USD"}, []string{"r a 1.00USD"},
			[]string{"MATCHED a: l2 l1 | r"}},
		{"an exact pair first, then the rest together", reconcile.Rules{OneToMany: true}, window, []string{"l1 a 0.50USD", "l2 a 1.00USD"},
			[]string{"r1 a 0.60USD", "r2 a 0.40USD", "r3 a 0.50USD"}, []string{"MATCHED a: l1 | r3", "MATCHED a: l2 | r2 r1"}},
		{"no subset is guessed", reconcile.Rules{OneToMany: true}, window, []string{"l1 a 1.00USD", "l2 a 2.00USD"},
			[]string{"r1 a 0.60USD", "r2 a 0.40USD", "r3 a 1.50USD", "r4 a 0.50USD"}, []string{
				"MISMATCHED a: l1 | r2, drift -0.60 USD (amount)", "MISMATCHED a: l2 | r4, drift -1.50 USD (amount)",
				"UNEXPECTED a:  | r1, drift 0.60 USD", "UNEXPECTED a:  | r3, drift 1.50 USD"}},
		{"still in its window", reconcile.Rules{}, reconcile.Window{Cutoff: day, Grace: 3 * time.Hour}, []string{"l a 1.00USD -2"}, nil,
			[]string{"EXPECTED a: l | , drift -1.00 USD"}},
		{"its window ends now", reconcile.Rules{}, reconcile.Window{Cutoff: day, Grace: 2 * time.Hour}, []string{"l a 1.00USD -2"}, nil,
			[]string{"MISSING a: l | , drift -1.00 USD"}},
		{"the rest may still come", reconcile.Rules{OneToMany: true}, reconcile.Window{Cutoff: day, Grace: 3 * time.Hour},
			[]string{"l a 1.00USD -9"}, []string{"r1 a 0.60USD -1", "r2 a 0.10USD -1"}, []string{"EXPECTED a: l | r2 r1, drift -0.30 USD"}},
		{"judged by an earlier window", reconcile.Rules{}, reconcile.Window{From: day.Add(-2 * time.Hour), Cutoff: day}, []string{"l a 1.00USD -2"}, nil,
			[]string{"EARLIER a: l | , drift -1.00 USD"}},
		{"late, and matched", reconcile.Rules{}, reconcile.Window{From: day.Add(-2 * time.Hour), Cutoff: day}, []string{"l a 1.00USD -9"},
			[]string{"r a 1.00USD -1"}, []string{"MATCHED a: l | r"}},
	} {
		got, _ := match(t, reconcile.Options{}, c.rules, c.window, rows(c.left...), rows(c.right...))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.what, got, c.want)
		}
	}
}

// Of consecutive windows each row is due in exactly one, to the nanosecond.
func TestConsecutiveWindowsJudgeEveryRowOnce(t *testing.T) {
	t.Parallel()
	const grace = 5 * time.Hour
	breaks := map[string]int{}
	var all []reconcile.Row
	for hour := range 72 {
		for _, ns := range []time.Duration{-1, 0, 1} {
			id := fmt.Sprint(hour, " ", int(ns))
			all = append(all, reconcile.Row{ID: id, Key: id, At: day.Add(-time.Duration(hour)*time.Hour + ns)})
		}
	}
	for d := range 5 {
		from := day.Add(time.Duration(d-3) * 24 * time.Hour)
		got, _ := match(t, reconcile.Options{}, reconcile.Rules{}, reconcile.Window{From: from, Cutoff: from.Add(24 * time.Hour), Grace: grace}, given(all), rows())
		for _, line := range got {
			if strings.HasPrefix(line, "MISSING") {
				breaks[line]++
			}
		}
	}
	if len(breaks) != len(all) {
		t.Errorf("%d of %d rows were judged", len(breaks), len(all))
	}
	for line, n := range breaks {
		if n != 1 {
			t.Errorf("judged %d times: %s", n, line)
		}
	}
}

func TestASummaryAddsUp(t *testing.T) {
	t.Parallel()
	_, s := match(t, reconcile.Options{}, reconcile.Rules{}, reconcile.Window{Cutoff: day},
		rows("l1 a 1.00USD", "l2 b 2.00USD", "l3 c 3.00EUR", "l3 c 3.00EUR"), rows("r1 a 1.00USD", "r2 b 2.50USD", "r4 d 4.00USD"))
	if s.Left.Rows != 3 || s.Right.Rows != 3 || s.Breaks() != 3 || s.Rows[reconcile.Mismatched] != 2 || s.Outcomes[reconcile.Matched] != 1 {
		t.Errorf("%+v", s)
	}
	if got := s.Left.Sums; len(got) != 2 || got[0].String() != "3.00 EUR" || got[1].String() != "3.00 USD" {
		t.Errorf("sums %v", got)
	}
	if got := s.Drifts[reconcile.Mismatched]; len(got) != 1 || got[0].String() != "0.50 USD" {
		t.Errorf("drift %v", got)
	}
}
