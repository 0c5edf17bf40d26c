package throughput

import (
	"reflect"
	"strings"
	"testing"
)

var some = Figures{
	Grid:    []Cell{{1, 1, 200}, {1, 4, 800}, {24, 1, 4800}, {24, 4, 19200}},
	Lanes:   []Lane{{1, 500}},
	Offered: []Offered{{10000, 9876, 7512, 24999, 688}},
	Naive:   []Naive{{8, 120}},
}

func TestFiguresAreReadAsTheyWereWritten(t *testing.T) {
	read, err := Parse(some.Text())
	if err != nil || !reflect.DeepEqual(read, some) {
		t.Errorf("%+v, %v", read, err)
	}
	for _, line := range []string{"grid 1 1", "grid 1 1 x", "grid 1 1 1 1", "speed 1", ""} {
		if _, err := Parse([]byte(line + "\n")); err == nil {
			t.Errorf("%q is read", line)
		}
	}
}

func TestTablesFillTheirPlaces(t *testing.T) {
	const page = "a\n<!-- grid -->\nold\n<!-- end -->\nb\n<!-- lanes -->\n<!-- end -->\n<!-- offered -->\n<!-- end -->\n<!-- naive -->\n<!-- end -->\nc\n"
	filled, err := some.Fill(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a\n<!-- grid -->\n| transactions in a batch | stripes: 1 | stripes: 4 |\n|---:|---:|---:|\n| 1 | 200 | 800 |\n| 24 | 4,800 | 19,200 |\n<!-- end -->\nb\n",
		"| 10,000 | 9,876 | 7.5 ms | 24.9 ms | 6.8 |\n", "| 8 | 120 |\n<!-- end -->\nc\n",
	} {
		if !strings.Contains(filled, want) {
			t.Errorf("%s\nlacks\n%s", filled, want)
		}
	}
	if again, err := some.Fill(filled); err != nil || again != filled {
		t.Errorf("filling twice changes the page: %v", err)
	}
	if _, err := some.Fill("nothing"); err == nil {
		t.Error("a page without places is filled")
	}
}
