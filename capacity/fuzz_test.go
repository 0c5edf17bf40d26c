package capacity_test

import (
	"errors"
	"testing"

	"github.com/dynafin/dynafin/capacity"
)

// Whatever is written into an inventory: a plan or an ErrInventory comes out, soon, and the same each time.
func FuzzPlan(f *testing.F) {
	f.Add("5000", "0.45KiB", "0.08", "0.80", "1.25")
	f.Add("0", "", "1", "", "")
	f.Add("1e9", "1e9KiB", "1/3", "-1", "NaN")
	f.Add("9999999999999999999999999999999999999999", "9999999999999999GiB", "1", "0.0000000001", "0.1")
	f.Add(".5", "5. B", "0x1", "00.80", "1,5")
	f.Fuzz(func(t *testing.T, rate, size, share, target, price string) {
		i := capacity.Inventory{
			Routes:     []capacity.Route{{ID: "r", StoredItems: rate, StoredSize: size}},
			Operations: []capacity.Operation{{Rate: rate, Accesses: []capacity.Access{{Route: "r", Do: capacity.Insert, Size: size}}}},
			Lanes:      []capacity.Lane{{Route: "r", Kind: capacity.Writes, Share: share}},
			Target:     target, Mean: share,
		}
		plan, err := i.Plan()
		if err != nil {
			if !errors.Is(err, capacity.ErrInventory) {
				t.Fatal(err)
			}
			return
		}
		again, err := i.Plan()
		if err != nil || plan.String() != again.String() {
			t.Fatalf("%v\n%s\n%s", err, plan, again)
		}
		if cost, err := plan.Cost(capacity.Prices{MillionWrites: price}); err != nil && !errors.Is(err, capacity.ErrInventory) || cost.String() == "" {
			t.Fatal(err)
		}
		if l := plan.Lanes[0]; l.Known && (l.Load.Cmp(l.Target) > 0 || l.Needed < 1) {
			t.Fatalf("%+v", l)
		}
	})
}
