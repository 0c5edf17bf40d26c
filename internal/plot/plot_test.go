package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"testing"
)

var some = Chart{Title: "A & B", XTitle: "stripes", X: []int{1, 4}, Curves: []Curve{{"one", []int{200, 800}}, {"many", []int{4800, 19200}}}}

func TestThePictureIsWellFormedAndAlwaysTheSame(t *testing.T) {
	picture := some.SVG()
	if !bytes.Equal(picture, some.SVG()) {
		t.Error("the same figures make two pictures")
	}
	decoder, circles := xml.NewDecoder(bytes.NewReader(picture)), 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if element, ok := token.(xml.StartElement); ok && element.Name.Local == "circle" {
			circles++
		}
	}
	if circles != 4 {
		t.Errorf("%d of 4 measurements are drawn", circles)
	}
}

func TestDoublingsAreEvenlySpaced(t *testing.T) {
	for n := 1; n < 1<<20; n *= 2 {
		if doublings(2*n)-doublings(n) != 1000 {
			t.Errorf("from %d to %d are %d thousandths", n, 2*n, doublings(2*n)-doublings(n))
		}
	}
	if got := []int{scale(1, 1, 8, 0, 300), scale(4, 1, 8, 0, 300), scale(8, 1, 8, 300, 0), scale(3, 3, 3, 7, 9)}; !reflect.DeepEqual(got, []int{0, 200, 0, 7}) {
		t.Errorf("%v", got)
	}
}

func TestTheFloorIsWhereTheAxisBegins(t *testing.T) {
	c := Chart{X: []int{1, 2}, Curves: []Curve{{"c", []int{0, 40}}}, Floor: 1}
	if low, high := c.bounds(); low != 1 || high != 64 {
		t.Errorf("from %d to %d", low, high)
	}
}

func TestATableFillsItsPlaceAndNoOther(t *testing.T) {
	var table Table
	table.Row("name", "figure")
	table.Row("a", Thousands(1234567))
	got, err := Fill("x\n<!-- t -->\nold\n<!-- end -->\ny\n", "t", 1, table)
	if want := "x\n<!-- t -->\n| name | figure |\n|---|---:|\n| a | 1,234,567 |\n<!-- end -->\ny\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, page := range []string{"nothing", "<!-- t -->\n"} {
		if _, err := Fill(page, "t", 1, table); err == nil {
			t.Errorf("%q is filled", page)
		}
	}
}

func TestLabelsDoNotCoverOneAnother(t *testing.T) {
	if got := apart([]int{100, 40, 105, 100}); !reflect.DeepEqual(got, []int{100, 40, 132, 116}) {
		t.Errorf("%v", got)
	}
}
