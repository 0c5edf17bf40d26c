package lanes

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/loadtest"
	"github.com/dynafin/dynafin/shardmap"
)

// meeting is how long transactions take, and so how they meet.
var meeting = dynamosim.ServiceTime{Transaction: 5 * time.Millisecond}

// Population is the number of keys of the skewed load, Skew its exponent.
const (
	Population = 1000
	Skew       = 1
)

// Figures is what was measured. Shares are in thousandths, units in halves, times in microseconds.
type Figures struct {
	Lanes    []LaneFigure
	Curves   []Point
	Spreads  []Spread
	Unevenly []Unevenness
}

// LaneFigure is what a lane holds.
type LaneFigure struct {
	ID string
	// Rate is operations a second, Units what the hottest key pays for one of them.
	Rate, Units int
	// Planned is the largest share of one key that the plan allows. Heat is the largest that held; Met the largest when
	// transactions take time, too. 1000 is all of it.
	Planned, Heat, Met int
	// Skewed is the load by Zipf with transactions that take time: whether it held, thousandths that waited at the end, and
	// within which time 99 of 100 had their answer.
	Holds   bool
	Waiting int
	P99     int
}

// Point is one measurement of waits: the share of the hottest key and within which time 99 of 100 had their answer.
type Point struct {
	ID         string
	Share, P99 int
}

// Spread is a sharded lane at its full rate, with identifiers placed by their hash and independent arrivals: units a
// second of all shards on average and of the hottest, in hundredths; its highest second in halves; and what was throttled.
type Spread struct {
	ID                             string
	Shards, Seconds, Mean, Hottest int
	Peak, Throttled                int
}

// Unevenness is by how many hundredths of a percent the hottest of some shards got more than the mean.
type Unevenness struct{ Shards, Events, Above int }

// Measure measures one lane.
func (l Lane) Measure(ctx context.Context) (f LaneFigure, err error) {
	planned, err := Planned(l.ID)
	if err != nil {
		return f, err
	}
	rate, _ := planned.Rate.Rat().Float64()
	share, _ := planned.MaxShare.Rat().Float64()
	f = LaneFigure{ID: l.ID, Rate: int(rate), Planned: int(1000 * share)}
	if f.Units, err = l.units(ctx, planned.Kind); err != nil {
		return f, err
	}
	load := loadtest.Load{Rate: f.Rate, Keys: loadtest.Uniform(50), For: 2 * time.Second}
	lane := l.Open(load.Keys.Count())
	breaking, err := loadtest.BreakingShare(ctx, lane, load)
	if err != nil {
		return f, err
	}
	f.Heat = thousandths(breaking.Holds)
	f.Met = f.Heat
	if load.Service = meeting; l.Writes {
		if breaking, err = loadtest.BreakingShare(ctx, lane, load); err != nil {
			return f, err
		}
		f.Met = thousandths(breaking.Holds)
	}
	skewed, err := loadtest.Run(ctx, l.Open(Population), loadtest.Load{Rate: f.Rate, Keys: loadtest.Zipf(Population, Skew), Service: meeting, For: 3 * time.Second})
	if err != nil {
		return f, err
	}
	f.Holds, f.Waiting, f.P99 = skewed.Holds(), thousandths(float64(skewed.Waiting)/float64(skewed.Offered)), int(skewed.P99.Microseconds())
	return f, nil
}

func thousandths(part float64) int { return int(math.Round(1000 * part)) }

// units is what the hottest key pays for one operation.
func (l Lane) units(ctx context.Context, kind capacity.Kind) (int, error) {
	const operations = 10
	r, err := loadtest.Run(ctx, l.Open(1), loadtest.Load{Rate: operations, Even: true, For: time.Second})
	if err != nil {
		return 0, err
	}
	for _, k := range r.Hottest {
		if k.Kind == kind {
			return int(k.Total) / operations, nil
		}
	}
	return 0, fmt.Errorf("%s consumes nothing", l.ID)
}

// curved are the lanes whose waits are drawn, and the shares in percent at which.
var (
	curved = []string{"L02", "L08", "L10", "L12"}
	shares = []int{1, 2, 4, 8, 16, 32, 64}
)

// Curve measures the waits of one lane against the share of its hottest key.
func (l Lane) Curve(ctx context.Context) (points []Point, err error) {
	planned, err := Planned(l.ID)
	if err != nil {
		return nil, err
	}
	rate, _ := planned.Rate.Rat().Float64()
	for _, share := range shares {
		const keys = 200
		r, err := loadtest.Run(ctx, l.Open(keys), loadtest.Load{Rate: int(rate), Keys: loadtest.HotKey(keys, float64(share)/100), Service: meeting, For: 2 * time.Second})
		if err != nil {
			return nil, err
		}
		points = append(points, Point{ID: l.ID, Share: share, P99: int(r.P99.Microseconds())})
	}
	return points, nil
}

// Measure runs a sharded lane for some seconds.
func (s Sharded) Measure(ctx context.Context, seconds int) (f Spread, err error) {
	planned, err := Planned(s.ID)
	if err != nil {
		return f, err
	}
	r, err := loadtest.Run(ctx, s.Open(planned.Shards, Hashed), loadtest.Load{Rate: s.Rate, For: time.Duration(seconds) * time.Second})
	if err != nil {
		return f, err
	}
	mean, _ := planned.Load.Rat().Float64()
	hottest := Hottest(r, s.Table, s.Index)
	return Spread{ID: s.ID, Shards: planned.Shards, Seconds: seconds, Mean: int(math.Round(100 * mean)), Hottest: int(math.Round(100 * hottest.PerSecond)),
		Peak: int(hottest.Peak), Throttled: r.Throttled}, nil
}

// Uneven places events by their hash.
func Uneven(shards, events int) (Unevenness, error) {
	counts, places := make([]int, shards), shardmap.Fixed(shards)
	most := 0
	for i := range events {
		at, err := places.Place(name("event", i))
		if err != nil {
			return Unevenness{}, err
		}
		counts[at.Shard]++
		most = max(most, counts[at.Shard])
	}
	return Unevenness{Shards: shards, Events: events, Above: int(math.Round(10000 * (float64(most)*float64(shards)/float64(events) - 1)))}, nil
}
