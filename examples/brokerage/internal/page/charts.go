package page

import (
	"fmt"
	"html/template"
	"math/big"

	"github.com/dynafin/dynafin/money"
)

// plotWidth is the width of a stretched picture in its own units.
const plotWidth = 1000

// across places a step on the width of a picture.
func across(step, first, last int) float64 {
	if last <= first {
		return 0
	}
	return plotWidth * float64(step-first) / float64(last-first)
}

// share is part/whole, for drawing only.
func share(part, whole int) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// size is an amount in minor units, for drawing only: what is printed comes from the amount itself.
func size(a money.Amount) float64 {
	minor, ok := new(big.Float).SetString(a.MinorUnits())
	if !ok {
		return 0
	}
	f, _ := minor.Float64()
	return f
}

// booksChart draws debits and credits of an asset, which lie on each other, and below them the difference and the faults.
func booksChart(b Books, marks []Mark) (chart booksView, err error) {
	chart.Asset = b.Asset
	if len(b.Points) == 0 {
		return chart, nil
	}
	const height, gap, below = 150.0, 14.0, 40.0
	first, last := b.Points[0].Step, b.Points[len(b.Points)-1].Step
	chart.First, chart.Last, chart.Top = first, last, b.Points[len(b.Points)-1].Debits
	top := 1.0
	for _, p := range b.Points {
		top = max(top, size(p.Debits), size(p.Credits))
	}
	var debits, credits, difference []xy
	middle := height + gap + below/2
	for _, p := range b.Points {
		off, err := p.Debits.Sub(p.Credits)
		if err != nil {
			return chart, fmt.Errorf("page: books of %s: %w", b.Asset, err)
		}
		if !off.IsZero() {
			chart.Off = append(chart.Off, Point{Step: p.Step, Debits: off})
		}
		x := across(p.Step, first, last)
		debits = append(debits, xy{x, height - (height-4)*size(p.Debits)/top})
		credits = append(credits, xy{x, height - (height-4)*size(p.Credits)/top})
		difference = append(difference, xy{x, middle - max(-1, min(1, size(off)/top*4))*below/2})
	}
	c := canvas{width: plotWidth, height: height + gap + below}
	c.line("axis", xy{0, height}, xy{plotWidth, height}, "")
	c.path("line debits", debits, "debits, in sum")
	c.path("line credits", credits, "credits, in sum")
	c.rect("wash", 0, height+gap, plotWidth, below, "")
	for _, m := range marks {
		x := across(m.Step, first, last)
		c.line("mark", xy{x, height + gap}, xy{x, height + gap + below}, fmt.Sprintf("step %s: %s", grouped(m.Step), m.Name))
	}
	c.path("line difference", difference, "debits less credits")
	chart.Chart = c.svg("plot books", "Debits and credits of "+b.Asset+" in sum, and their difference", true)
	return chart, nil
}

// booksView is a picture of books with its labels.
type booksView struct {
	Asset       string
	Chart       template.HTML
	First, Last int
	Top         money.Amount
	Off         []Point // where debits and credits differ, in Debits
}

// backlogChart stacks what is parked and what is pending. Top is the most that waited at a step.
func backlogChart(points []Backlog) (p plot) {
	if len(points) == 0 {
		return p
	}
	const height = 150
	p.First, p.Last = points[0].Step, points[len(points)-1].Step
	for _, b := range points {
		p.Top = max(p.Top, b.Pending+b.Parked)
	}
	area := func(value func(Backlog) int) []xy {
		outline := []xy{{0, height}}
		for _, b := range points {
			outline = append(outline, xy{across(b.Step, p.First, p.Last), height - (height-4)*share(value(b), p.Top)})
		}
		return append(outline, xy{plotWidth, height})
	}
	c := canvas{width: plotWidth, height: height}
	c.path("area pending", area(func(b Backlog) int { return b.Pending + b.Parked }), "pending")
	c.path("area parked", area(func(b Backlog) int { return b.Parked }), "parked")
	c.line("axis", xy{0, height}, xy{plotWidth, height}, "")
	p.Chart = c.svg("plot", "Events pending and parked over the steps of the run", true)
	return p
}

// checkpointChart draws the version that a projection had reached as stairs, and a band where it waited. Top is the last one.
func checkpointChart(f Flow) (p plot) {
	if len(f.Checkpoints) == 0 {
		return p
	}
	const height = 110
	end := f.Checkpoints[len(f.Checkpoints)-1]
	p.First, p.Last, p.Top = f.Checkpoints[0].Step, end.Step, end.Version
	for _, g := range f.Gaps {
		p.First, p.Last = min(p.First, g.From), max(p.Last, g.Until)
	}
	c := canvas{width: plotWidth, height: height}
	for _, g := range f.Gaps {
		from := across(g.From, p.First, p.Last)
		c.rect("gap", from, 0, max(2, across(g.Until, p.First, p.Last)-from), height,
			fmt.Sprintf("waited for version %s from step %s to step %s", grouped(g.Missing), grouped(g.From), grouped(g.Until)))
	}
	stairs := []xy{{0, height - 4}} // nothing is applied
	for _, reached := range f.Checkpoints {
		at := xy{across(reached.Step, p.First, p.Last), height - 4 - (height-10)*share(reached.Version, p.Top)}
		stairs = append(stairs, xy{at.x, stairs[len(stairs)-1].y}, at)
	}
	c.line("axis", xy{0, height}, xy{plotWidth, height}, "")
	c.path("line reached", stairs, "version reached")
	p.Chart = c.svg("plot strip", "Versions of "+f.Source+" that the projection had applied, and where it waited", true)
	return p
}

// bar is a single bar as long as its share.
func bar(part, whole int, class string) template.HTML {
	c := canvas{width: plotWidth, height: 10}
	if part > 0 {
		c.rect(class, 0, 0, max(4, plotWidth*share(part, whole)), 10, "")
	}
	return template.HTML(`<svg class="bar" aria-hidden="true" viewBox="0 0 1000 10" preserveAspectRatio="none">` + c.body.String() + `</svg>`)
}

// stackedBar is all outcomes beside one another.
func stackedBar(outcomes []Outcome) template.HTML {
	sum := 0
	for _, o := range outcomes {
		sum += o.Count
	}
	c := canvas{width: plotWidth, height: 28}
	x := 0.0
	for i, o := range outcomes {
		w := plotWidth * share(o.Count, sum)
		c.rect(fmt.Sprintf("series s%d", i%seriesMax), x, 0, w, 28, fmt.Sprintf("%s: %s", o.Name, grouped(o.Count)))
		x += w
	}
	return c.svg("plot stack", "Requests by what they got", true)
}

// seriesMax is how many colours of series the style sheet has.
const seriesMax = 6

// heat is the bar of the shards: as high as their busiest second is of their limit.
func heat(shards []Shard) template.HTML {
	const height = 56
	c := canvas{width: plotWidth, height: height}
	w := plotWidth / float64(max(len(shards), 1))
	for i, s := range shards {
		full := min(1, share(s.Peak, s.Limit))
		class := "warm"
		if full > 0.8 {
			class = "hot"
		}
		x := float64(i) * w
		c.rect("wash", x+2, 0, w-4, height, fmt.Sprintf("%s: %s of %s units in its busiest second", s.Name, grouped(s.Peak), grouped(s.Limit)))
		c.rect(class, x+2, height*(1-full), w-4, height*full, "")
	}
	return c.svg("plot heat", "Units of each shard in its busiest second, of its limit", true)
}
