package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// BenchmarkRelay moves stored events through one relay, from the index to COMPLETED: events a second, end to end, with the
// SDK's client and the simulator in this process.
func BenchmarkRelay(b *testing.B) {
	const events = 2000
	moved, spent := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		db := dynamosim.Open(dynamosim.Options{})
		out := outbox.New(outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}})
		if err := db.CreateTable("Orders", out.Index()); err != nil {
			b.Fatal(err)
		}
		client := db.Client()
		for i := range events {
			e := accepted(fmt.Sprint("order-", i))
			e.Payload = make([]byte, 1000)
			if _, err := txn.Commit(b.Context(), client, out.Create(e)); err != nil {
				b.Fatal(err)
			}
		}
		bus := &outbox.Memory{}
		relay := outbox.NewRelay(out, client, bus, outbox.RelayConfig{})
		b.StartTimer()
		began := b.Elapsed()
		for len(bus.Messages()) < events {
			if _, err := relay.Once(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		spent += b.Elapsed() - began
		moved += events
	}
	b.ReportMetric(float64(moved)/spent.Seconds(), "events/s")
}
