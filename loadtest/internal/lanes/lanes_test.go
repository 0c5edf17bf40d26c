package lanes

import (
	"math"
	"testing"
	"time"

	"github.com/dynafin/dynafin/capacity/reference"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/loadtest"
)

// scale divides rates and budgets alike: a quarter of the load on a quarter of a partition.
const scale = 4

// onTarget is a partition of which the plan's target is all there is.
var onTarget = dynamosim.Heat{WriteUnits: 800 / scale, ReadUnits: 2400 / scale}

func planned(t testing.TB, id string) (demand, load float64, shards int) {
	t.Helper()
	lane, err := Planned(id)
	if err != nil || !lane.Known {
		t.Fatalf("%s: %+v, %v", id, lane, err)
	}
	demand, _ = lane.Demand.Rat().Float64()
	load, _ = lane.Load.Rat().Float64()
	return demand, load, lane.Shards
}

func run(t testing.TB, lane loadtest.Lane, load loadtest.Load) *loadtest.Report {
	t.Helper()
	report, err := loadtest.Run(t.Context(), lane, load)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func within2Percent(got, want float64) bool { return math.Abs(got-want) <= 0.02*want }

// One shard fewer than the formula says is throttled, and with as many as it says none is; and the hottest carries what the
// formula says.
func TestShardsOfTheReferenceAreEnoughAndTight(t *testing.T) {
	t.Parallel()
	for _, lane := range AllSharded() {
		t.Run(lane.ID, func(t *testing.T) {
			t.Parallel()
			_, load, shards := planned(t, lane.ID)
			test := func(shards int, length time.Duration) *loadtest.Report {
				return run(t, lane.Open(shards, Even), loadtest.Load{Rate: lane.Rate / scale, Keys: loadtest.InTurn(shards), Even: true, Heat: onTarget, For: length})
			}
			enough := test(shards, 2*time.Second)
			hottest := Hottest(enough, lane.Table, lane.Index)
			if !enough.Holds() || enough.Throttled > 0 || hottest.Throttled > 0 {
				t.Errorf("%d shards are not enough: %v", shards, enough)
			}
			if !within2Percent(hottest.PerSecond*scale, load) {
				t.Errorf("the hottest of %d shards carries %.2f units a second, planned are %.2f", shards, hottest.PerSecond*scale, load)
			}
			fewer := test(shards-1, time.Second)
			if throttled := Hottest(fewer, lane.Table, lane.Index).Throttled; throttled == 0 {
				t.Errorf("%d shards would do: %v", shards-1, fewer)
			}
		})
	}
}

// AP06 is not sharded: its hottest symbol is planned to get 8 %.
func TestTheHottestSymbolGetsWhatThePlanSays(t *testing.T) {
	t.Parallel()
	demand, load, _ := planned(t, "L06")
	r := run(t, Symbols(20), loadtest.Load{Rate: 2000 / scale, Keys: loadtest.HotKey(20, 0.08), Even: true, Heat: onTarget, For: 2 * time.Second})
	if hottest := r.Hottest[0]; !r.Holds() || r.Throttled > 0 || !within2Percent(hottest.PerSecond*scale, load) {
		t.Errorf("%v, planned are %.2f of %.2f units a second", r, load, demand)
	}
}

// openLanes are the lanes that the plan says need a load test.
func openLanes() (ids []string, err error) {
	plan, err := reference.Inventory().Plan()
	if err != nil {
		return nil, err
	}
	for _, l := range plan.LoadTests() {
		ids = append(ids, l.ID)
	}
	return ids, nil
}
