package plot

import (
	"fmt"
	"strings"
)

// Table is rows of cells, the first of them the head.
type Table [][]string

// Row adds a row.
func (t *Table) Row(cells ...string) { *t = append(*t, cells) }

// markdown returns the table; columns to the left, or to the right if they hold figures.
func (t Table) markdown(text int) string {
	var out strings.Builder
	for i, row := range t {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			out.WriteString(strings.Repeat("|---", text) + strings.Repeat("|---:", len(row)-text) + "|\n")
		}
	}
	return out.String()
}

// Fill writes a table into a page, between the line <!-- name --> and the next <!-- end -->. The first columns, as many as
// text says, hold words, the others figures.
func Fill(page, name string, text int, t Table) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("plot: the page has no place for %s", name)
	}
	return before + begin + t.markdown(text) + end + after, nil
}

// Thousands writes a number with a comma between its thousands.
func Thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}
