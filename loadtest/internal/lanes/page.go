package lanes

import (
	"context"
	"fmt"
	"slices"

	"github.com/dynafin/dynafin/internal/plot"
)

// MeasureAll measures everything that the page shows. It takes some minutes.
func MeasureAll(ctx context.Context) (f Figures, err error) {
	for _, l := range All() {
		figure, err := l.Measure(ctx)
		if err != nil {
			return f, fmt.Errorf("%s: %w", l.ID, err)
		}
		f.Lanes = append(f.Lanes, figure)
		if slices.Contains(curved, l.ID) {
			points, err := l.Curve(ctx)
			if err != nil {
				return f, fmt.Errorf("%s: %w", l.ID, err)
			}
			f.Curves = append(f.Curves, points...)
		}
	}
	for _, s := range AllSharded() {
		spread, err := s.Measure(ctx, 10)
		if err != nil {
			return f, fmt.Errorf("%s: %w", s.ID, err)
		}
		f.Spreads = append(f.Spreads, spread)
	}
	f.Unevenly, err = unevenly()
	return f, err
}

// unevenly places the events of ten seconds, a minute, ten minutes and an hour on 13 shards.
func unevenly() (all []Unevenness, err error) {
	for _, seconds := range []int{10, 60, 600, 3600} {
		one, err := Uneven(13, 5000*seconds)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Fill writes the tables into the page.
func (f Figures) Fill(page string) (string, error) {
	var lanes, spreads, uneven plot.Table
	lanes.Row("lane", "operation", "key", "a second", "units", "planned for", "breaks, by heat", "breaks, with conflicts", "Zipf: waiting", "99 of 100 within")
	whats := map[string]Lane{}
	for _, l := range All() {
		whats[l.ID] = l
	}
	for _, l := range f.Lanes {
		waiting := percent(l.Waiting)
		if !l.Holds {
			waiting = "**" + waiting + "**"
		}
		lanes.Row(l.ID, whats[l.ID].What, whats[l.ID].Key, plot.Thousands(l.Rate), halves(l.Units), part(l.Planned), part(l.Heat), part(l.Met), waiting, millis(l.P99))
	}
	spreads.Row("lane", "operation", "shards", "planned units/s", "hottest shard", "above", "its highest second", "throttled")
	sharded := map[string]Sharded{}
	for _, s := range AllSharded() {
		sharded[s.ID] = s
	}
	for _, s := range f.Spreads {
		above := (s.Hottest - s.Mean) * 1000 / s.Mean
		spreads.Row(s.ID, sharded[s.ID].What, fmt.Sprint(s.Shards), hundredths(s.Mean), hundredths(s.Hottest), percent(above), halves(s.Peak), fmt.Sprint(s.Throttled))
	}
	uneven.Row("events", "hottest of 13 shards, above the mean")
	for _, u := range f.Unevenly {
		uneven.Row(plot.Thousands(u.Events), hundredths(u.Above)+" %")
	}
	page, err := plot.Fill(page, "lanes", 3, lanes)
	if err != nil {
		return "", err
	}
	if page, err = plot.Fill(page, "spreads", 2, spreads); err != nil {
		return "", err
	}
	return plot.Fill(page, "uneven", 0, uneven)
}

// short names the curves.
var short = map[string]string{"L02": "list", "L08": "Once", "L10": "Post", "L12": "Reserve"}

// Chart shows waits against the share of the hottest key.
func (f Figures) Chart() plot.Chart {
	c := plot.Chart{Title: "99 of 100 answers within milliseconds", XTitle: "percent of the load on one key", X: shares, Floor: 1}
	for _, id := range curved {
		curve := plot.Curve{Name: id + " " + short[id]}
		for _, p := range f.Curves {
			if p.ID == id {
				curve.Y = append(curve.Y, p.P99/1000)
			}
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}

// part writes a share; who may take all of it never breaks the lane.
func part(thousandths int) string {
	if thousandths >= 1000 {
		return "all"
	}
	return percent(thousandths)
}

func percent(thousandths int) string { return fmt.Sprintf("%d.%d %%", thousandths/10, thousandths%10) }

func halves(units int) string { return fmt.Sprintf("%d%s", units/2, []string{"", ".5"}[units%2]) }

func hundredths(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

func millis(micros int) string { return fmt.Sprintf("%s ms", plot.Thousands(micros/1000)) }
