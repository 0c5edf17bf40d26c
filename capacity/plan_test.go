package capacity_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/shardmap"
	"pgregory.net/rapid"
)

// wallets is a small service: transfers change two wallets and leave an event, whose index is one hot key.
func wallets() capacity.Inventory {
	return capacity.Inventory{
		Routes: []capacity.Route{
			{ID: "wallets", Table: "Wallets", StoredItems: "1000000", StoredSize: "412B"},
			{ID: "events", Table: "Wallets"},
			{ID: "due", Table: "Wallets", Index: "GSI3"},
		},
		Operations: []capacity.Operation{
			{Pattern: "P1", Name: "transfer", Rate: "400", Accesses: []capacity.Access{
				{Route: "wallets", Do: capacity.Update, Consistency: capacity.Transactional, Items: 2, Size: "0.4KiB"},
				{Route: "events", Do: capacity.Insert, Consistency: capacity.Transactional, Size: "1.5KiB"},
				{Route: "due", Do: capacity.Insert, Size: "0.4KiB"},
			}},
			{Pattern: "P2", Name: "publish", Rate: "400", Accesses: []capacity.Access{
				{Route: "events", Do: capacity.Update, Items: 2, Size: "1.5KiB"},
				{Route: "due", Do: capacity.Remove, Size: "0.4KiB"},
			}},
			{Pattern: "P3", Name: "balance", Rate: "2500.5", Accesses: []capacity.Access{
				{Route: "wallets", Do: capacity.Get, Consistency: capacity.Strong, Size: "0.4KiB"},
			}},
		},
		Lanes: []capacity.Lane{
			{ID: "W", Route: "wallets", Kind: capacity.Writes, Share: "0.6", Shards: 1, Evidence: "the market maker's wallet"},
			{ID: "D", Route: "due", Kind: capacity.Writes, Share: "1", Evidence: "one service"},
		},
		Mean: "0.25",
	}
}

func TestAPlanSaysWhatALaneNeeds(t *testing.T) {
	t.Parallel()
	plan, err := wallets().Plan()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range plan.Lanes {
		got = append(got, strings.Join([]string{l.ID, l.Rate.String(), l.Units.String(), l.Demand.String(), l.KeyDemand.String(), strconv.Itoa(l.Shards),
			strconv.Itoa(l.Needed), l.Load.String(), l.Headroom.Fixed(2), l.MaxShare.Fixed(4), string(l.State)}, " "))
	}
	want := []string{
		"W 400 4 1600 960 1 2 960 -20.00 0.5000 OVER_TARGET",
		"D 800 1 800 800 1 1 800 0.00 1.0000 FEASIBLE_PLANNING",
		"events WRITE 3200 1 3200 0 0 0 0 0.00 0.2500 LOAD_TEST_REQUIRED",
		"wallets READ 2500.5 1 2500.5 0 0 0 0 0.00 0.9598 LOAD_TEST_REQUIRED",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if plan.WriteUnits.String() != "5600" || plan.ReadUnits.String() != "2500.5" {
		t.Errorf("%s write and %s read units", plan.WriteUnits, plan.ReadUnits)
	}
	if _, ok := plan.Lane("nowhere"); ok || len(plan.LoadTests()) != 2 {
		t.Errorf("load tests: %v", plan.LoadTests())
	}
}

func TestCostIsExact(t *testing.T) {
	t.Parallel()
	plan, err := wallets().Plan()
	if err != nil {
		t.Fatal(err)
	}
	cost, err := plan.Cost(capacity.Prices{Currency: "XTS", MillionReads: "0.25", MillionWrites: "1.25", GiBMonth: "0.125"})
	if err != nil {
		t.Fatal(err)
	}
	// 5,600 units x 2,628,000 s x 0.25 = 3,679,200,000 units; a wallet is stored as 412 + 100 bytes.
	for what, c := range map[string][2]string{
		"writes":  {cost.Writes.Fixed(6), "4599.000000"},
		"reads":   {cost.Reads.Fixed(6), "410.707125"},
		"storage": {cost.Storage.Fixed(6), "0.059605"},
		"total":   {cost.Total.Fixed(2), "5009.77"},
		"units":   {cost.WriteUnits.String(), "3679200000"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %s, want %s", what, c[0], c[1])
		}
	}
	free, err := plan.Cost(capacity.Prices{})
	if err != nil || free.Total.String() != "0" {
		t.Errorf("without prices: %s, %v", free.Total, err)
	}
	_, err = plan.Cost(capacity.Prices{MillionReads: "1e3", MillionWrites: "-1", GiBMonth: "0,1"})
	if n := len(faults(err)); n != 3 {
		t.Errorf("%d faults of three prices: %v", n, err)
	}
}

// faults returns the joined errors.
func faults(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	return joined.Unwrap()
}

func TestEveryFaultOfAnInventoryIsReported(t *testing.T) {
	t.Parallel()
	for where, spoil := range map[string]func(*capacity.Inventory){
		"operation P1.transfer: Rate is zero":                  func(i *capacity.Inventory) { i.Operations[0].Rate = "0" },
		"operation P1.transfer: Rate is not a plain decimal":   func(i *capacity.Inventory) { i.Operations[0].Rate = "1e9" },
		"operation P1.transfer: Rate is too long":              func(i *capacity.Inventory) { i.Operations[0].Rate = strings.Repeat("9", 41) },
		"operation P1.transfer, access 1: Size has no unit":    func(i *capacity.Inventory) { i.Operations[0].Accesses[0].Size = "412" },
		"operation P1.transfer, access 1: Size is not a plain": func(i *capacity.Inventory) { i.Operations[0].Accesses[0].Size = "KiB" },
		`access 2 uses route "x", which leads nowhere`:         func(i *capacity.Inventory) { i.Operations[0].Accesses[1].Route = "x" },
		`access 2 does "upsert", which is no verb`:             func(i *capacity.Inventory) { i.Operations[0].Accesses[1].Do = "upsert" },
		"access 2 moves an item":                               func(i *capacity.Inventory) { i.Operations[0].Accesses[1].Do = capacity.Move },
		"access 3 gets from an index":                          func(i *capacity.Inventory) { i.Operations[0].Accesses[2].Do = capacity.Get },
		"access 3 reads an index other than eventually":        func(i *capacity.Inventory) { i.Operations[0].Accesses[2] = strongQuery("due") },
		"access 1 is a Query in a transaction":                 func(i *capacity.Inventory) { i.Operations[2].Accesses[0] = transactionalQuery() },
		"access 1 has an unknown consistency":                  func(i *capacity.Inventory) { i.Operations[2].Accesses[0].Consistency = 3 },
		"access 1 has a negative number":                       func(i *capacity.Inventory) { i.Operations[2].Accesses[0].Items = -1 },
		"route 1 () has no ID":                                 func(i *capacity.Inventory) { i.Routes[0].ID = "" },
		"route 4 (due) is there twice":                         func(i *capacity.Inventory) { i.Routes = append(i.Routes, i.Routes[2]) },
		"route 1 (wallets): StoredSize has no unit":            func(i *capacity.Inventory) { i.Routes[0].StoredSize = "" },
		"lane 1 (wallets WRITE): Share is above 1":             func(i *capacity.Inventory) { i.Lanes[0].Share = "1.01" },
		"lane 1 (wallets WRITE): Shards is outside 0 to 10000": func(i *capacity.Inventory) { i.Lanes[0].Shards = 10001 },
		"lane 1 (nowhere WRITE): Route leads nowhere":          func(i *capacity.Inventory) { i.Lanes[0].Route = "nowhere" },
		"lane 1 (wallets ): Kind is neither":                   func(i *capacity.Inventory) { i.Lanes[0].Kind = "" },
		"lane 2 (wallets WRITE) is there twice":                func(i *capacity.Inventory) { i.Lanes[1] = i.Lanes[0] },
		"lane 2 (due WRITE) needs more than 10000 shards":      func(i *capacity.Inventory) { i.Operations[1].Rate = "9000000" },
		"Target is above 1":                                    func(i *capacity.Inventory) { i.Target = "1.5" },
		"Mean is zero":                                         func(i *capacity.Inventory) { i.Mean = "0.0" },
	} {
		i := wallets()
		spoil(&i)
		_, err := i.Plan()
		var figure *capacity.FigureError
		if !errors.Is(err, capacity.ErrInventory) || !errors.As(err, &figure) || !strings.Contains(err.Error(), where) {
			t.Errorf("%s: %v", where, err)
		}
	}
	i := wallets()
	i.Target, i.Mean, i.Lanes[0].Kind, i.Operations[0].Rate = "2", "x", "", ""
	if _, err := i.Plan(); len(faults(err)) != 4 {
		t.Errorf("four faults at once: %v", err)
	}
	if _, _, err := i.Units(capacity.Operation{Accesses: []capacity.Access{{Route: "x"}}}); !errors.Is(err, capacity.ErrInventory) {
		t.Errorf("units of a broken operation: %v", err)
	}
	if _, err := (capacity.Access{Size: "1"}).Bytes(); !errors.Is(err, capacity.ErrInventory) {
		t.Errorf("bytes of a broken size: %v", err)
	}
}

func strongQuery(route string) capacity.Access {
	return capacity.Access{Route: route, Do: capacity.Query, Consistency: capacity.Strong, Size: "1KiB"}
}

func transactionalQuery() capacity.Access {
	return capacity.Access{Route: "wallets", Do: capacity.Query, Consistency: capacity.Transactional, Size: "1KiB"}
}

// The shards of a plan are those that shardmap computes, and one fewer would be too few.
func TestShardsAreTight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := strconv.Itoa(rapid.IntRange(1, 50_000).Draw(t, "rate"))
		share := "0." + strconv.Itoa(rapid.IntRange(1, 999).Draw(t, "share"))
		kib := rapid.IntRange(1, 30).Draw(t, "KiB")
		i := capacity.Inventory{
			Routes: []capacity.Route{{ID: "r"}},
			Operations: []capacity.Operation{{Rate: rate, Accesses: []capacity.Access{
				{Route: "r", Do: capacity.Insert, Size: strconv.Itoa(kib) + "KiB"}}}},
			Lanes: []capacity.Lane{{Route: "r", Kind: capacity.Writes, Share: share}},
		}
		plan, err := i.Plan()
		if err != nil {
			t.Fatal(err)
		}
		l := plan.Lanes[0]
		want, err := shardmap.ShardsFor(shardmap.Load{Rate: rate, UnitsPerOperation: strconv.Itoa(kib), MaxKeyShare: share, Target: "800"})
		if err != nil || l.Shards != want || l.Load.Cmp(l.Target) > 0 || l.State != capacity.Feasible {
			t.Fatalf("%d shards with %s each, %s; shardmap says %d, %v", l.Shards, l.Load, l.State, want, err)
		}
		if l.Shards > 1 {
			i.Lanes[0].Shards = l.Shards - 1
			if plan, err = i.Plan(); err != nil || plan.Lanes[0].State != capacity.OverTarget || plan.Lanes[0].Load.Cmp(l.Target) <= 0 {
				t.Fatalf("one shard fewer: %+v, %v", plan.Lanes[0], err)
			}
		}
	})
}

func TestAnInventoryCanBeAJSONFile(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(wallets())
	if err != nil {
		t.Fatal(err)
	}
	var back capacity.Inventory
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, wallets()) {
		t.Errorf("%s came back as %+v, %v", text, back, err)
	}
	for _, broken := range []string{`{"Consistency":"weak"}`, `{"Consistency":1}`} {
		if err := json.Unmarshal([]byte(broken), new(capacity.Access)); err == nil {
			t.Errorf("%s was read", broken)
		}
	}
	if _, err := json.Marshal(capacity.Access{Consistency: 3}); err == nil {
		t.Error("an unknown consistency was written")
	}
}
