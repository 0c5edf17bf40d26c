package lanes

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/dynafin/dynafin/capacity"
)

var plots = flag.Bool("plots", false, "measure the lanes again and write docs/load-tests")

const (
	figuresFile = "testdata/figures.json"
	pageFile    = "../../../docs/load-tests.md"
	pictureFile = "../../../docs/load-tests.svg"
)

// The page shows the figures that are kept, and nothing else. With -plots they are measured first.
func TestLoadTestsPageIsCurrent(t *testing.T) {
	if *plots {
		figures, err := MeasureAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.MarshalIndent(figures, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		write(t, figuresFile, append(text, '\n'))
	}
	figures, page := kept(t), string(read(t, pageFile))
	filled, err := figures.Fill(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{pageFile: []byte(filled), pictureFile: figures.Chart().SVG()} {
		if *plots {
			write(t, name, want)
		} else if !bytes.Equal(read(t, name), want) {
			t.Errorf("%s does not show %s; run: make plots", name, figuresFile)
		}
	}
}

// The cheap part of it is measured again, and must come out the same.
func TestWhatWasMeasuredIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	again := map[string]bool{"L03": true, "L14": true, "L15A": true, "L18": true}
	figures := kept(t)
	byID := map[string]LaneFigure{}
	for _, f := range figures.Lanes {
		byID[f.ID] = f
	}
	for _, l := range All() {
		if !again[l.ID] {
			continue
		}
		f, err := l.Measure(t.Context())
		if err != nil || f != byID[l.ID] {
			t.Errorf("%s: %+v, %v; kept is %+v", l.ID, f, err, byID[l.ID])
		}
	}
	one, err := Uneven(figures.Unevenly[0].Shards, figures.Unevenly[0].Events)
	if err != nil || !reflect.DeepEqual(one, figures.Unevenly[0]) {
		t.Errorf("%+v, %v; kept is %+v", one, err, figures.Unevenly[0])
	}
}

// Every lane that needs a load test has one, but for L16A; and heat breaks it where its units say that it does.
func TestEveryLaneThatNeedsALoadTestHasOne(t *testing.T) {
	t.Parallel()
	measured := map[string]LaneFigure{}
	for _, f := range kept(t).Lanes {
		measured[f.ID] = f
	}
	for _, l := range All() {
		f, ok := measured[l.ID]
		if !ok {
			t.Errorf("%s is not measured", l.ID)
		}
		planned, err := Planned(l.ID)
		if err != nil || planned.Known {
			t.Errorf("%s: %+v, %v", l.ID, planned, err)
		}
		limit := float64(capacity.PartitionReadUnits)
		if planned.Kind == capacity.Writes {
			limit = capacity.PartitionWriteUnits
		}
		want := min(1, limit*2/float64(f.Units*f.Rate))
		if !within2Percent(float64(f.Heat)/1000, want) || f.Met > f.Heat {
			t.Errorf("%s breaks at %d thousandths, at %d with conflicts; its units say at %.3f", l.ID, f.Heat, f.Met, want)
		}
	}
	open, err := openLanes()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range open {
		if _, ok := measured[id]; !ok && id != "L16A" {
			t.Errorf("%s needs a load test and has none", id)
		}
	}
}

func kept(t *testing.T) (f Figures) {
	t.Helper()
	if err := json.Unmarshal(read(t, figuresFile), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
