package page

import (
	"fmt"
	"html/template"
	"unicode/utf8"
)

// Measures of the timeline, in its own units.
const (
	timeWidth  = 78.0  // of the column with the times
	laneWidth  = 142.0 // of a lane
	laneHead   = 40.0
	rowHeight  = 42.0
	arrowhead  = 6.0
	dotRadius  = 4.5
	labelAbove = 7.0

	letterWidth = 6.9 // of most letters, with room
)

// timelineChart draws lanes from left to right and steps from top to bottom: a message is an arrow between two lanes, and what
// happens within a lane is a dot in it.
func timelineChart(t Timeline) (template.HTML, error) {
	c := canvas{width: timeWidth + laneWidth*float64(len(t.Lanes)), height: laneHead + rowHeight*float64(len(t.Steps)) + 14}
	lane := func(i int) float64 { return timeWidth + laneWidth*(float64(i)+0.5) }
	for i, name := range t.Lanes {
		c.line("lane", xy{lane(i), laneHead - 8}, xy{lane(i), c.height}, "")
		c.text("lane-name", xy{lane(i), 18}, name)
	}
	for i, s := range t.Steps {
		if s.From < 0 || s.To < 0 || s.From >= len(t.Lanes) || s.To >= len(t.Lanes) {
			return "", fmt.Errorf("page: step %d of the timeline is in no lane", i+1)
		}
		y := laneHead + rowHeight*(float64(i)+0.75)
		note := s.What
		if s.Note != "" {
			note += ": " + s.Note
		}
		c.text("time", xy{0, y}, took(s.At))
		if s.From == s.To {
			c.circle("dot "+string(s.Kind), xy{lane(s.From), y - 4}, dotRadius, note)
			c.label(s, y, lane(s.From)+10, lane(s.From)-10)
			continue
		}
		c.arrow(s, lane(s.From), lane(s.To), y, note)
	}
	return c.svg("timeline", "The way of order "+t.Order+", step by step", false), nil
}

// arrow draws a message. One that is lost ends half way, with a cross.
func (c *canvas) arrow(s Step, from, to, y float64, note string) {
	direction := 1.0
	if to < from {
		direction = -1
	}
	end := to - direction*2
	if s.Kind == Lost {
		end = from + (to-from)*0.55
	}
	class := "message " + string(s.Kind)
	c.line(class, xy{from, y}, xy{end, y}, note)
	if s.Kind == Lost {
		c.path(class+" cross", []xy{{end - 5, y - 5}, {end + 5, y + 5}, {end, y}, {end - 5, y + 5}, {end + 5, y - 5}}, "")
	} else {
		c.path(class+" head", []xy{{end - direction*arrowhead, y - arrowhead + 1}, {end, y}, {end - direction*arrowhead, y + arrowhead - 1}}, "")
	}
	c.label(s, y-labelAbove, min(from, to)+8, max(from, to)-8)
}

// label writes what a step is: from the left of its place on, or up to the right of it where the picture would end before.
func (c *canvas) label(s Step, y, left, right float64) {
	class, x := "label "+string(s.Kind), left
	if left+letterWidth*float64(utf8.RuneCountInString(s.What)) > c.width {
		class, x = class+" before", right
	}
	c.text(class, xy{x, y}, s.What)
}
