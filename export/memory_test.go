package export

import (
	"runtime"
	"testing"
	"testing/fstest"
)

// heapLimit is what reading may keep, whatever the size of the export: a few batches for each worker.
const heapLimit = 24 << 20

// readCounting reads an export once and returns how many bytes of lines it had and how much more memory was in use, at most, at
// several moments of it.
func readCounting(tb testing.TB, files fstest.MapFS, dir string, config Config, items int) (size int64, grown uint64) {
	tb.Helper()
	before := inUse()
	config.Progress = func(p Progress) { size = p.Bytes }
	e, err := Open(files, dir, config)
	if err != nil {
		tb.Fatal(err)
	}
	n, every := 0, items/20
	for _, err := range e.Records(tb.Context(), Position{}) {
		if err != nil {
			tb.Fatal(err)
		}
		if n++; n%every == 0 {
			grown = max(grown, inUse()-min(before, inUse()))
		}
	}
	if n != items {
		tb.Fatalf("%d of %d items", n, items)
	}
	return size, grown
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Not parallel: it looks at the memory of the process. The million is BenchmarkMillion.
func TestMemoryDoesNotGrowWithTheExport(t *testing.T) {
	const items = 60_000
	files := fstest.MapFS{}
	dir, err := Write(inMemory(files), WriteConfig{Table: "Ledger", ExportTime: day, ItemsPerFile: 15_000}, postings(items))
	if err != nil {
		t.Fatal(err)
	}
	size, grown := readCounting(t, files, dir, Config{Workers: 4}, items)
	if size < 25<<20 || grown > heapLimit {
		t.Errorf("%d MiB of lines keep %d KiB", size>>20, grown>>10)
	}
}

// One million items, verified first and then read; one worker.
func BenchmarkMillion(b *testing.B) {
	const items = 1_000_000
	files := fstest.MapFS{}
	dir, err := Write(inMemory(files), WriteConfig{Table: "Ledger", ExportTime: day, ItemsPerFile: 50_000}, postings(items))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		size, grown := readCounting(b, files, dir, Config{Workers: 1}, items)
		b.SetBytes(size)
		b.ReportMetric(float64(grown)/(1<<20), "MiB-kept")
		if grown > heapLimit {
			b.Errorf("%d MiB of lines keep %d KiB", size>>20, grown>>10)
		}
	}
}
