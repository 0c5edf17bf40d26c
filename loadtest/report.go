package loadtest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
)

// Report is what became of a load.
type Report struct {
	// Load is what was asked for, with its defaults.
	Load Load
	// Offered operations arrived, Answered ones have their answer, Waiting ones had none at the end.
	Offered, Answered, Waiting int
	// Attempts is how often an operation was tried; Throttled and Conflicts count the attempts that failed so.
	Attempts, Throttled, Conflicts int
	// HotOffered and HotAnswered are those of the key that most operations were for.
	HotOffered, HotAnswered int
	// Median, P99 and Longest are how long callers waited for their answers, retries and service time included. Who still
	// waited at the end counts with the time so far.
	Median, P99, Longest time.Duration
	// Hottest are the ten keys that consumed most during the load, measured against what a key takes; the hottest first.
	Hottest []KeyLoad
}

// KeyLoad is what one partition key value consumed of one kind of units.
type KeyLoad struct {
	Table string
	// Index is empty for a key of the table; Key is its value.
	Index, Key string
	Kind       capacity.Kind
	// Total is what it consumed during the load; PerSecond is the mean of it.
	Total     capacity.Units
	PerSecond float64
	// Peak is the most within a second, the preparation included.
	Peak capacity.Units
	// Limit is what the key takes in a second, without burst.
	Limit int
	// Throttled is how many requests and members of transactions and batches it could not take.
	Throttled int
}

// Tolerance is the part of the operations that may still wait at the end of a run in which the lane held.
const Tolerance = 0.01

// Holds reports whether the lane holds under the load: neither of all operations nor of those on the hottest key more than
// one in a hundred waits at the end. A handful always may.
func (r *Report) Holds() bool {
	fits := func(offered, answered int) bool {
		return float64(offered-answered) <= max(Tolerance*float64(offered), 3)
	}
	return fits(r.Offered, r.Answered) && fits(r.HotOffered, r.HotAnswered)
}

// Achieved is how many operations were answered in a second.
func (r *Report) Achieved() float64 { return float64(r.Answered) / r.Load.For.Seconds() }

// String is the report for people.
func (r *Report) String() string {
	var out strings.Builder
	verdict := "holds"
	if !r.Holds() {
		verdict = "does not hold"
	}
	fmt.Fprintf(&out, "%d operations a second, %s, for %v: the lane %s\n", r.Load.Rate, r.Load.Keys, r.Load.For, verdict)
	fmt.Fprintf(&out, "answered  %d of %d, %.0f a second; %d attempts were throttled, %d in conflict\n", r.Answered, r.Offered, r.Achieved(), r.Throttled, r.Conflicts)
	fmt.Fprintf(&out, "waits     median %v, 99 of 100 within %v, longest %v\n", round(r.Median), round(r.P99), round(r.Longest))
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "hottest keys\tunits/s\tpeak\tlimit\tthrottled")
	for _, k := range r.Hottest[:min(3, len(r.Hottest))] {
		fmt.Fprintf(table, "%s\t%.1f\t%s\t%d\t%d\n", k, k.PerSecond, k.Peak, k.Limit, k.Throttled)
	}
	table.Flush()
	return out.String()
}

// String names the key.
func (k KeyLoad) String() string {
	name := k.Table
	if k.Index != "" {
		name += "/" + k.Index
	}
	return fmt.Sprintf("%s %s %s", name, k.Key, k.Kind)
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

func (r *run) report() *Report {
	report := &Report{Load: r.load, Offered: r.offered, Answered: r.offered - len(r.waiting), Waiting: len(r.waiting),
		Attempts: r.attempts, Throttled: r.throttled, Conflicts: r.conflicts, Hottest: r.hottest()}
	hottest, most := -1, tally{}
	for key, t := range r.keys {
		if t.offered > most.offered || t.offered == most.offered && key < hottest {
			hottest, most = key, *t
		}
	}
	report.HotOffered, report.HotAnswered = most.offered, most.answered
	waits := r.waits
	for _, since := range r.waiting {
		waits = append(waits, r.end.Sub(since))
	}
	slices.Sort(waits)
	if len(waits) > 0 {
		at := func(part float64) time.Duration { return waits[int(math.Ceil(part*float64(len(waits))))-1] }
		report.Median, report.P99, report.Longest = at(0.5), at(0.99), at(1)
	}
	return report
}

// hottest compares the meter with what it showed before the load.
func (r *run) hottest() []KeyLoad {
	type id struct{ table, index, key string }
	before := map[id]dynamosim.KeyHeat{}
	for _, h := range r.before {
		before[id{h.Table, h.Index, h.Key}] = h
	}
	limits := map[capacity.Kind]int{
		capacity.Reads:  cmp.Or(r.load.Heat.ReadUnits, capacity.PartitionReadUnits),
		capacity.Writes: cmp.Or(r.load.Heat.WriteUnits, capacity.PartitionWriteUnits),
	}
	var all []KeyLoad
	for _, h := range r.stage.DB.Hottest(-1) {
		was := before[id{h.Table, h.Index, h.Key}]
		add := func(kind capacity.Kind, was, is dynamosim.Consumption) {
			if total, throttled := is.Total-was.Total, is.Throttled-was.Throttled; total > 0 || throttled > 0 {
				all = append(all, KeyLoad{Table: h.Table, Index: h.Index, Key: h.Key, Kind: kind, Total: total,
					PerSecond: total.Float64() / r.load.For.Seconds(), Peak: is.Peak, Limit: limits[kind], Throttled: throttled})
			}
		}
		add(capacity.Writes, was.Write, h.Write)
		add(capacity.Reads, was.Read, h.Read)
	}
	slices.SortStableFunc(all, func(a, b KeyLoad) int {
		return cmp.Or(cmp.Compare(b.PerSecond/float64(b.Limit), a.PerSecond/float64(a.Limit)), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Kind, b.Kind))
	})
	return all[:min(10, len(all))]
}
