package page

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"
)

// canvas draws an SVG. Colours are classes, so that the style sheet decides them in light and in dark. Text goes through
// html.EscapeString; nothing else that a caller gives is written.
type canvas struct {
	body          strings.Builder
	width, height float64
}

// xy is a point.
type xy struct{ x, y float64 }

// number is a coordinate: one decimal, without a useless zero.
func number(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

func (c *canvas) rect(class string, x, y, w, h float64, title string) {
	fmt.Fprintf(&c.body, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"`, class, number(x), number(y), number(w), number(h))
	c.end("rect", title)
}

func (c *canvas) circle(class string, at xy, r float64, title string) {
	fmt.Fprintf(&c.body, `<circle class="%s" cx="%s" cy="%s" r="%s"`, class, number(at.x), number(at.y), number(r))
	c.end("circle", title)
}

func (c *canvas) line(class string, from, to xy, title string) {
	fmt.Fprintf(&c.body, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"`, class, number(from.x), number(from.y), number(to.x), number(to.y))
	c.end("line", title)
}

// path draws straight lines through the points, and fills what they enclose if the class says so.
func (c *canvas) path(class string, points []xy, title string) {
	fmt.Fprintf(&c.body, `<path class="%s" d="`, class)
	for i, p := range points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		c.body.WriteString(command + number(p.x) + " " + number(p.y))
	}
	c.body.WriteString(`"`)
	c.end("path", title)
}

func (c *canvas) end(element, title string) {
	if title == "" {
		c.body.WriteString("/>")
		return
	}
	fmt.Fprintf(&c.body, "><title>%s</title></%s>", html.EscapeString(title), element)
}

func (c *canvas) text(class string, at xy, text string) {
	fmt.Fprintf(&c.body, `<text class="%s" x="%s" y="%s">%s</text>`, class, number(at.x), number(at.y), html.EscapeString(text))
}

// svg is the picture. A stretched one takes the width and the height that the page has for it, and so has no text in it.
func (c *canvas) svg(class, title string, stretched bool) template.HTML {
	aspect := ""
	if stretched {
		aspect = ` preserveAspectRatio="none"`
	}
	return template.HTML(fmt.Sprintf(`<svg class="%s" role="img" viewBox="0 0 %s %s"%s><title>%s</title>%s</svg>`,
		class, number(c.width), number(c.height), aspect, html.EscapeString(title), c.body.String()))
}
