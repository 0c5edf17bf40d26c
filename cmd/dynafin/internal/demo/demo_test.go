package demo

import (
	"testing"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/dynamosim"
)

// TestEverySeedHoldsUnderFaults runs a few days, and sees every kind of fault.
func TestEverySeedHoldsUnderFaults(t *testing.T) {
	seen := map[dynamosim.Fate]int{}
	for seed := range uint64(4) {
		r := run{seed: seed, orders: 100}
		if err := r.do(t.Context(), &app.App{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if broken := r.broken(); len(broken) > 0 {
			t.Errorf("seed %d: broken %v\n%+v", seed, broken, r.invariants)
		}
		for fate, n := range r.w.faults {
			seen[fate] += n
		}
		if r.stored.parked != 2 {
			t.Errorf("seed %d leaves %d parked events", seed, r.stored.parked)
		}
	}
	for _, o := range odds {
		if seen[o.fate] == 0 {
			t.Errorf("no request was: %v", o.fate)
		}
	}
}

// TestAVerdictCanBeBad breaks what the verdict is about, one thing at a time.
func TestAVerdictCanBeBad(t *testing.T) {
	good := func() (*day, stored) {
		d := &day{answers: map[string]string{}, accepted: []string{"a", "b"}}
		return d, stored{completed: 2, names: 2, events: 2, published: 0, parked: 2}
	}
	for name, spoil := range map[string]func(*day, *stored){
		"no order is lost":                 func(_ *day, s *stored) { s.completed = 1 },
		"an order counts once":             func(_ *day, s *stored) { s.names = 3 },
		"repeats get the first answer":     func(d *day, _ *stored) { d.wrongReplies = 1 },
		"no event is lost":                 func(_ *day, s *stored) { s.parked = 1 },
		"an event takes effect once":       func(_ *day, s *stored) { s.receipts = 1 },
		"the view misses nothing silently": func(_ *day, s *stored) { s.behind = 1 },
	} {
		d, s := good()
		before := judge(d, s, 2, nil, 0, 0)
		spoil(d, &s)
		for i, after := range judge(d, s, 2, nil, 0, 0) {
			if after.Name == name && (after.Held || name != "an order counts once" && !before[i].Held) {
				t.Errorf("%s: held %v, was %v", name, after.Held, before[i].Held)
			}
		}
	}
}
