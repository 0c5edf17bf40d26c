package shardmap_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/shardmap"
	"pgregory.net/rapid"
)

func TestShardsForGivesThePlannedLanesTheirShards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lane string
		load shardmap.Load
		want int
	}{
		{"AP06 symbol trades", shardmap.Load{Rate: "2000", UnitsPerOperation: "5", MaxKeyShare: "0.08", Target: "2400"}, 1},
		{"AP09 receipts", shardmap.Load{Rate: "5000", UnitsPerOperation: "2", MaxKeyShare: "1", Target: "800"}, 13},
		{"AP13 checkpoints", shardmap.Load{Rate: "5000", UnitsPerOperation: "1", MaxKeyShare: "1", Target: "800"}, 7},
		{"AP16 ready queue", shardmap.Load{Rate: "10240", UnitsPerOperation: "1", MaxKeyShare: "1", Target: "800"}, 13},
	} {
		if got, err := shardmap.ShardsFor(c.load); got != c.want || err != nil {
			t.Errorf("%s: %d shards, %v; want %d", c.lane, got, err, c.want)
		}
	}
}

// Binary floating point fails both: 0.1 * 3 is above 0.3 there, and the tail of the second is lost.
func TestShardsForIsExactAtTheEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		load shardmap.Load
		want int
	}{
		{shardmap.Load{Rate: "3", UnitsPerOperation: "0.1", MaxKeyShare: "1", Target: "0.3"}, 1},
		{shardmap.Load{Rate: "1000.0000000000000000000000000001", UnitsPerOperation: "1", MaxKeyShare: "1", Target: "1000"}, 2},
		{shardmap.Load{Rate: "8000000", UnitsPerOperation: "1", MaxKeyShare: "1", Target: "800"}, shardmap.MaxShards},
		{shardmap.Load{Rate: "0.5", UnitsPerOperation: "0.5", MaxKeyShare: "0.01", Target: "800"}, 1},
	} {
		if got, err := shardmap.ShardsFor(c.load); got != c.want || err != nil {
			t.Errorf("%+v: %d shards, %v; want %d", c.load, got, err, c.want)
		}
	}
}

func TestShardsForIsTheSmallestNumberThatKeepsTheTarget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(1, 1_000_000).Draw(t, "rate")
		units := rapid.Int64Range(1, 10).Draw(t, "units")
		percent := rapid.Int64Range(1, 100).Draw(t, "percent")
		target := rapid.Int64Range(1000, 3000).Draw(t, "target")
		n, err := shardmap.ShardsFor(shardmap.Load{
			Rate:              strconv.FormatInt(rate, 10),
			UnitsPerOperation: strconv.FormatInt(units, 10),
			MaxKeyShare:       fmt.Sprintf("%d.%02d", percent/100, percent%100),
			Target:            strconv.FormatInt(target, 10),
		})
		if err != nil {
			t.Fatal(err)
		}
		demand, shards := rate*units*percent, int64(n)
		if demand > shards*target*100 || shards > 1 && demand <= (shards-1)*target*100 {
			t.Fatalf("%d shards for a demand of %d/100 at %d each", n, demand, target)
		}
	})
}

func TestInvalidFiguresAreErrorsThatNameTheFigure(t *testing.T) {
	t.Parallel()
	valid := func() shardmap.Load {
		return shardmap.Load{Rate: "5000", UnitsPerOperation: "2", MaxKeyShare: "1", Target: "800"}
	}
	fields := map[string]func(*shardmap.Load) *string{
		"Rate":              func(l *shardmap.Load) *string { return &l.Rate },
		"UnitsPerOperation": func(l *shardmap.Load) *string { return &l.UnitsPerOperation },
		"MaxKeyShare":       func(l *shardmap.Load) *string { return &l.MaxKeyShare },
		"Target":            func(l *shardmap.Load) *string { return &l.Target },
	}
	for name, field := range fields {
		for _, text := range []string{"", "0", "0.0", "-1", "+1", ".5", "5.", "1e3", "1/3", "0x10", "1_000", "1,5", " 1", "NaN", "Inf", "1.2.3",
			"1e1000000000", strings.Repeat("9", 41)} {
			load := valid()
			*field(&load) = text
			if n, err := shardmap.ShardsFor(load); n != 0 || !errors.Is(err, shardmap.ErrLoad) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s = %q: got %d, %v", name, text, n, err)
			}
		}
	}
	for name, load := range map[string]shardmap.Load{
		"MaxKeyShare is above 1": {Rate: "1", UnitsPerOperation: "1", MaxKeyShare: "1.0001", Target: "800"},
		"more than 10000":        {Rate: "8000001", UnitsPerOperation: "1", MaxKeyShare: "1", Target: "800"},
	} {
		if n, err := shardmap.ShardsFor(load); n != 0 || !errors.Is(err, shardmap.ErrLoad) || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: got %d, %v", load, n, err)
		}
	}
}
