package ledger_test

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/ledger/internal/throughput"
)

var plots = flag.Bool("plots", false, "measure throughput again and write docs/ledger-throughput")

const (
	figuresFile = "testdata/throughput.txt"
	pageFile    = "../docs/ledger-throughput.md"
	pictureFile = "../docs/ledger-throughput.svg"
)

// The page shows the figures that are kept, and nothing else. With -plots they are measured first.
func TestThroughputPageIsCurrent(t *testing.T) {
	if *plots {
		write(t, figuresFile, measureAll(t).Text())
	}
	figures, err := throughput.Parse(read(t, figuresFile))
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, pageFile)
	filled, err := figures.Fill(string(page))
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

// measureAll takes about a minute.
func measureAll(t *testing.T) (f throughput.Figures) {
	full := func(batch, stripes, lanes int) load { // enough callers for one batch on its way and two that wait
		return load{stripes: stripes, lanes: lanes, seconds: 1, workers: 3 * batch * stripes, batch: ledger.BatchConfig{MaxTransactions: batch}}
	}
	for _, batch := range []int{1, 4, 12, 24} {
		for _, stripes := range []int{1, 2, 4, 8} {
			m := full(batch, stripes, 16).run(t)
			f.Grid = append(f.Grid, throughput.Cell{Batch: batch, Stripes: stripes, Posted: m.posted})
		}
	}
	for _, lanes := range []int{1, 2, 4, 8, 16} {
		m := full(24, 1, lanes).run(t)
		f.Lanes = append(f.Lanes, throughput.Lane{Lanes: lanes, Posted: m.posted})
	}
	for _, rate := range []int{100, 1_000, 5_000, 10_000, 12_000} {
		m := load{stripes: 32, lanes: 1, seconds: 2, rate: rate, batch: ledger.BatchConfig{Linger: 20 * time.Millisecond}}.run(t)
		f.Offered = append(f.Offered, throughput.Offered{Rate: rate, Posted: m.posted, P50: int(m.p50.Microseconds()), P99: int(m.p99.Microseconds()), Shared: m.shared})
	}
	for _, callers := range []int{1, 4, 16, 64} {
		m := load{stripes: 1, lanes: 1, seconds: 2, workers: callers, naive: true}.run(t)
		f.Naive = append(f.Naive, throughput.Naive{Callers: callers, Posted: m.posted})
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
