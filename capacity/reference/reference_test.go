package reference_test

import (
	"bufio"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/capacity/reference"
)

// figures reads the planned figures of one kind: testdata/figures.psv has one record a line, "AMP|AMP01|...", and says in its
// comments what the fields are.
func figures(t *testing.T, kind string) [][]string {
	t.Helper()
	file, err := os.Open("testdata/figures.psv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows [][]string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Split(lines.Text(), "|"); fields[0] == kind {
			rows = append(rows, fields[1:])
		}
	}
	return rows
}

// compare compares computed rows with the planned ones, field by field.
func compare(t *testing.T, kind string, want int, computed [][]string) {
	t.Helper()
	planned := figures(t, kind)
	if len(planned) != want || len(computed) != want {
		t.Fatalf("%d planned and %d computed rows of %s, want %d", len(planned), len(computed), kind, want)
	}
	for i, row := range planned {
		if got, want := strings.Join(computed[i], "|"), strings.Join(row, "|"); got != want {
			t.Errorf("%s\n got %s\nwant %s", kind, got, want)
		}
	}
}

func TestEveryAmplificationIsComputed(t *testing.T) {
	t.Parallel()
	all, err := reference.Amplifications()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, a := range all {
		row := []string{a.ID, strings.Join(a.Patterns, ",")}
		for _, n := range []int{a.Base, a.BaseMultiplier, a.Index, a.IndexMultiplier, a.Total} {
			row = append(row, strconv.Itoa(n))
		}
		if a.Base*a.BaseMultiplier+a.Index*a.IndexMultiplier != a.Total {
			t.Errorf("%s does not add up: %v", a.ID, row)
		}
		rows = append(rows, row)
	}
	compare(t, "AMP", 18, rows)
}

func TestEveryLaneIsComputed(t *testing.T) {
	t.Parallel()
	plan, err := reference.Inventory().Plan()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, l := range plan.Lanes {
		share, shards, load := "NA", "NA", "NA"
		if l.Known {
			share, shards, load = l.Share, strconv.Itoa(l.Shards), l.Load.String()
		}
		rows = append(rows, []string{l.ID, strings.Join(l.Patterns(), ","), l.Route, string(l.Kind), l.Rate.String(), l.Units.String(),
			share, shards, l.Target.String(), load, string(l.State)})
	}
	compare(t, "LANE", 21, rows)
	if open := plan.LoadTests(); len(open) != 17 {
		t.Errorf("%d lanes need a load test, want 17", len(open))
	}
}

func TestEveryResultIsComputed(t *testing.T) {
	t.Parallel()
	results, err := reference.Results()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]*big.Rat{}
	for _, r := range results {
		if values[r.ID] != nil {
			t.Errorf("%s is there twice", r.ID)
		}
		values[r.ID] = r.Value
	}
	var rows [][]string
	for _, row := range figures(t, "RESULT") {
		value := values[row[0]]
		if value == nil {
			t.Errorf("%s is not computed", row[0])
			continue
		}
		_, fraction, _ := strings.Cut(row[1], ".")
		rows = append(rows, []string{row[0], value.FloatString(len(fraction))})
		if exact, _ := new(big.Rat).SetString(row[1]); fraction == "" && exact.Cmp(value) != 0 {
			t.Errorf("%s is %s, not a whole %s", row[0], value.RatString(), row[1])
		}
		delete(values, row[0])
	}
	compare(t, "RESULT", 46, rows)
	for id := range values {
		t.Errorf("%s is computed, and planned nowhere", id)
	}
}

// Every input matters: a figure that did not depend on its input would be an answer typed in.
func TestFiguresFollowTheirInputs(t *testing.T) {
	t.Parallel()
	changed := reference.Inventory()
	for i := range changed.Operations {
		o := &changed.Operations[i]
		o.Rate += "0" // ten times
		for n := range o.Accesses {
			size := &o.Accesses[n].Size
			number := strings.TrimSuffix(*size, "KiB")
			f, _ := new(big.Rat).SetString(number)
			*size = f.Mul(f, big.NewRat(20, 1)).FloatString(2) + "KiB"
		}
	}
	before, err := reference.Inventory().Plan()
	if err != nil {
		t.Fatal(err)
	}
	after, err := changed.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range after.Lanes {
		old := before.Lanes[i]
		ten := old.Demand.Rat()
		ten.Mul(ten, big.NewRat(10, 1))
		if l.Demand.Rat().Cmp(ten) <= 0 {
			t.Errorf("%s: %s units a second became %s; neither rate nor size counts", l.ID, old.Demand, l.Demand)
		}
	}
}

func Example() {
	plan, err := reference.Inventory().Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"L06", "L09A", "L13", "L16B"} {
		l, _ := plan.Lane(id)
		fmt.Printf("%s: %s units/s over %d shards, %s each, %s%% below the target\n", l.ID, l.KeyDemand, l.Shards, l.Load, l.Headroom.Fixed(2))
	}
	fmt.Println(len(plan.LoadTests()), "lanes need a load test")
	accepted, err := reference.Amplifications()
	fmt.Println(accepted[13].Name, "costs", accepted[13].Total, "units", err)
	// Output:
	// L06: 800 units/s over 1 shards, 800 each, 66.67% below the target
	// L09A: 10000 units/s over 13 shards, 769.23 each, 3.85% below the target
	// L13: 5000 units/s over 7 shards, 714.29 each, 10.71% below the target
	// L16B: 10240 units/s over 13 shards, 787.69 each, 1.54% below the target
	// 17 lanes need a load test
	// accept an order costs 15 units <nil>
}
