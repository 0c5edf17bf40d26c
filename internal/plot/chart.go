package plot

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math/bits"
	"slices"
)

// Chart shows curves over common points, both axes by doublings.
type Chart struct {
	// Title and XTitle are written above and below.
	Title, XTitle string
	// Floor is the smallest measurement that is told apart from those below it. Default: 100.
	Floor int
	// X are the points, from small to large, and Curves what was measured at them.
	X      []int
	Curves []Curve
}

// Curve is one series of measurements, one for each point.
type Curve struct {
	Name string
	Y    []int
}

// The picture's measures, in pixels.
const (
	width, height                         = 720, 440
	leftEdge, rightEdge, topEdge, lowEdge = 80, 150, 50, 60
	plotRight, plotBottom                 = width - rightEdge, height - lowEdge
	lineHeight                            = 16
)

// colours tell the curves apart, also in print and for people who do not see all colours.
var colours = [...]string{"#1b6ca8", "#c8553d", "#4c8c4a", "#6a4c93", "#b8860b"}

// SVG returns the picture.
func (c Chart) SVG() []byte {
	var out bytes.Buffer
	title := html.EscapeString(c.Title)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" role="img">`+"\n", width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", title, width, height)
	fmt.Fprintf(&out, "<text x=\"%d\" y=\"28\" font-size=\"16\">%s</text>\n", leftEdge, title)
	low, high := c.bounds()
	for y := low; y <= high; y *= 2 {
		at := scale(y, low, high, plotBottom, topEdge)
		fmt.Fprintf(&out, "<path d=\"M%d %dH%d\" stroke=\"#dddddd\"/>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
			leftEdge, at, plotRight, leftEdge-8, at+4, Thousands(y))
	}
	for _, x := range c.X {
		fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", c.across(x), plotBottom+20, x)
	}
	fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (leftEdge+plotRight)/2, plotBottom+42, html.EscapeString(c.XTitle))
	ends := make([]int, len(c.Curves))
	for i, curve := range c.Curves {
		path := ""
		for j, y := range curve.Y {
			ends[i] = scale(max(y, low), low, high, plotBottom, topEdge)
			path += fmt.Sprintf("%c%d %d", "ML"[min(j, 1)], c.across(c.X[j]), ends[i])
			fmt.Fprintf(&out, "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n", c.across(c.X[j]), ends[i], colour(i))
		}
		fmt.Fprintf(&out, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour(i))
	}
	for i, y := range apart(ends) {
		fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", plotRight+12, y+4, colour(i), html.EscapeString(c.Curves[i].Name))
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func colour(i int) string { return colours[i%len(colours)] }

// apart moves labels down until none covers another.
func apart(ends []int) []int {
	order := make([]int, len(ends))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
	placed, next := make([]int, len(ends)), 0
	for _, i := range order {
		placed[i] = max(ends[i], next)
		next = placed[i] + lineHeight
	}
	return placed
}

// bounds are the powers of two, times the floor, around all measurements.
func (c Chart) bounds() (low, high int) {
	least, most := c.Curves[0].Y[0], c.Curves[0].Y[0]
	for _, curve := range c.Curves {
		for _, y := range curve.Y {
			least, most = min(least, y), max(most, y)
		}
	}
	for low = cmp.Or(c.Floor, 100); low*2 <= least; low *= 2 {
	}
	for high = low * 2; high < most; high *= 2 {
	}
	return low, high
}

func (c Chart) across(x int) int { return scale(x, c.X[0], c.X[len(c.X)-1], leftEdge+20, plotRight-10) }

// scale places n between two ends by its doublings.
func scale(n, low, high, from, to int) int {
	span := doublings(high) - doublings(low)
	if span == 0 {
		return from
	}
	return from + (to-from)*(doublings(n)-doublings(low))/span
}

// doublings is the logarithm to the base of two, in thousandths, straight between whole powers.
func doublings(n int) int {
	n = max(n, 1) * 1024
	whole := bits.Len(uint(n)) - 1
	return 1000*whole + (n-1<<whole)*1000>>whole
}
