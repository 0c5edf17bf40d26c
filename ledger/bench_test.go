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

// Building a Part is on the way of every payment. The number of allocations is the same on every machine.
func TestPostingTakesFewAllocations(t *testing.T) {
	book := ledger.New(ledger.Config{})
	tx := transfer("t-1", "bank", "customer-7", "100.00")
	if n := testing.AllocsPerRun(100, func() { book.Post(tx) }); n > 120 {
		t.Errorf("%v allocations, at most 120 are allowed", n)
	}
}
