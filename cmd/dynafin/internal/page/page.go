// Package page writes one HTML file that stands alone: no script, no request to anywhere, light and dark, and the same bytes for the
// same content.
package page

import (
	"bytes"
	_ "embed"
	"html/template"
)

// Page is what is on the page, in its order.
type Page struct {
	Title, Verdict string
	// OK says whether the verdict is good. The verdict says it in words, too.
	OK     bool
	Note   string
	Tiles  []Tile
	Tables []Table
}

// Tile is one figure with its name.
type Tile struct{ Name, Value string }

// Table is a table with a title. Empty is what it says without rows.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]string
	Empty   string
}

// Column is a column; figures stand on the right.
type Column struct {
	Name  string
	Right bool
}

//go:embed page.gohtml
var source string

var layout = template.Must(template.New("page").Parse(source))

// HTML returns the file. Whatever the content is, it is text in it.
func (p Page) HTML() []byte {
	var out bytes.Buffer
	// The layout knows every field, and a buffer takes everything.
	_ = layout.Execute(&out, p)
	return out.Bytes()
}

// Right says whether a cell stands on the right.
func (t Table) Right(i int) bool { return i < len(t.Columns) && t.Columns[i].Right }
