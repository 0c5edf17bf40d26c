package reconcile_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
)

// BenchmarkCompare compares a million rows a side by default (-benchtime 1x), one in a thousand of which is a break, and
// reports the rows of both sides a second and the live heap at its highest.
func BenchmarkCompare(b *testing.B) {
	const n = 1_000_000
	usd, _ := money.ISO("USD")
	side := func(name string, step, off int) reconcile.Rows {
		return func(yield func(reconcile.Row, error) bool) {
			for i := range n {
				j := i * step % n
				amount, _ := money.FromMinor(int64(j), usd)
				if j%1000 == off {
					amount, _ = money.FromMinor(int64(j+1), usd)
				}
				if !yield(reconcile.Row{ID: fmt.Sprintf("%s-%08d", name, j), Key: fmt.Sprintf("payment-%08d", j*7919%n), Amount: amount, At: day.Add(-time.Duration(j) * time.Second)}, nil) {
					return
				}
			}
		}
	}
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			var highest uint64
			for b.Loop() {
				options := reconcile.Options{Workers: workers, Progress: func(int64, int64) {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					highest = max(highest, m.HeapAlloc)
				}}
				_, summary := matchCount(b, options, reconcile.Rules{Apart: time.Hour}, side("l", 7, -1), side("r", 3, 5))
				if summary.Breaks() != n/1000 {
					b.Fatalf("%d breaks", summary.Breaks())
				}
			}
			b.ReportMetric(float64(2*n*b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(highest)/(1<<20), "heap-MiB")
		})
	}
}

func matchCount(b *testing.B, options reconcile.Options, rules reconcile.Rules, left, right reconcile.Rows) (n int, summary reconcile.Summary) {
	c, err := reconcile.Load(b.Context(), options, left, right)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	summary, err = c.Match(b.Context(), rules, reconcile.Window{Cutoff: day}, func(reconcile.Outcome) error { n++; return nil })
	if err != nil {
		b.Fatal(err)
	}
	return n, summary
}
