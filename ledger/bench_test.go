package ledger_test

import (
	"testing"

	"github.com/dynafin/dynafin/ledger"
)

func BenchmarkPost(b *testing.B) {
	book := ledger.New(ledger.Config{})
	tx := transfer("t-1", "bank", "customer-7", "100.00")
	b.ReportAllocs()
	for b.Loop() {
		if part := book.Post(tx); part.Err() != nil {
			b.Fatal(part.Err())
		}
	}
}

// Building a Part is on the way of every payment: at most 120 allocations are promised. The number is the same on every machine.
func TestPostingTakesFewAllocations(t *testing.T) {
	book := ledger.New(ledger.Config{})
	tx := transfer("t-1", "bank", "customer-7", "100.00")
	if n := testing.AllocsPerRun(100, func() { book.Post(tx) }); n > 100 {
		t.Errorf("%v allocations, it was 89", n)
	}
}
