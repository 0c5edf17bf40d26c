package invariant_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/outbox"
)

// warehouse is what the events are published to. It hears of an order at least once.
type warehouse struct {
	mu    sync.Mutex
	heard map[string]int
}

func (h *warehouse) Publish(_ context.Context, batch []outbox.Message) []outbox.Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	results := make([]outbox.Result, len(batch))
	for i, m := range batch {
		h.heard[m.Event.ID]++
		results[i].Ack = m.Event.ID
	}
	return results
}

// publish is the relay, one round after the other until want events are published. A service calls Run, which never ends: a
// worker has to end, else the history does not settle.
func publish(w *invariant.World, to *warehouse, want int) func(context.Context, *invariant.Process) error {
	return func(ctx context.Context, p *invariant.Process) error {
		relay := outbox.NewRelay(lampEvents, p.Client(), to, outbox.RelayConfig{
			Owner: p.Name(), Now: p.Now, NewID: p.NewID, Jitter: p.Jitter, Sleep: p.Sleep,
		})
		for {
			if _, err := relay.Once(ctx); err != nil {
				return err
			}
			if states, err := eventStates(w); err != nil || states[outbox.Completed] == want {
				return err
			}
			if err := p.Sleep(ctx, 15*time.Second); err != nil { // half a lease: what a dead relay had is taken up then
				return err
			}
		}
	}
}

// eventStates counts the events of the outbox by their states. Its table has claim journals, too.
func eventStates(w *invariant.World) (map[outbox.State]int, error) {
	table := outbox.DefaultTable
	found, err := w.Client().Scan(w.Context(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		return nil, err
	}
	states := map[outbox.State]int{}
	for _, item := range found.Items {
		record, ok, err := lampEvents.Decode(item)
		if err != nil {
			return nil, err
		}
		if ok { // else it is a journal
			states[record.State]++
		}
	}
	return states, nil
}

// The same shop with its relay: what is ordered is heard of, whatever becomes of either.
func TestAnHTTPHandlerAndItsRelayTellTheWarehouse(t *testing.T) {
	t.Parallel()
	twice := false
	runs := invariant.EachFault(t, invariant.Config{}, func(w *invariant.World) {
		w.Table("Orders")
		w.Table("Idempotency", idempotency.New(idempotency.Config{}).Index())
		w.Table("Outbox", lampEvents.Index())
		told := &warehouse{heard: map[string]int{}}
		w.Command("ann-1", func(ctx context.Context, p *invariant.Process) ([]byte, error) { return buy(ctx, p, "ann-1") })
		w.Worker("relay", publish(w, told, 1))
		w.Run()
		w.Settle()
		states, err := eventStates(w)
		w.Check("the events can be read", err)
		if len(told.heard) != 1 || states[outbox.Completed] != 1 || len(states) != 1 {
			w.Check("the warehouse hears of every order", fmt.Errorf("it heard %v, events are %v", told.heard, states))
		}
		twice = twice || slices.Max(slices.Collect(maps.Values(told.heard))) > 1
	})
	if runs < 50 || !twice {
		t.Errorf("%d runs, published twice: %v; the story has fewer requests than it should", runs, twice)
	}
}
