package outbox_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/outbox"
)

// Whatever is lost on the way, however often a command is repeated, and whatever request tokens do (E2): an order is there
// if and only if its event is, once, READY, on the shard of its ID; and no lost answer becomes a duplicate (E1).
func TestAnOrderIsStoredIfAndOnlyIfItsEventIs(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		b := setup(rt, stores.Options{
			Tokens:             rapid.SampledFrom(anyTokenPolicy).Draw(rt, "tokens"),
			CanceledKeepsToken: rapid.Bool().Draw(rt, "canceled keeps token"),
		})
		var fates []dynamosim.Fate
		client := b.store.Faulty(func(dynamosim.Call) dynamosim.Fate {
			if len(fates) == 0 {
				return dynamosim.Deliver
			}
			fate := fates[0]
			fates = fates[1:]
			seen[fmt.Sprint(fate)]++
			return fate
		})
		stored := map[string]bool{} // event IDs

		accept := func(rt *rapid.T) {
			id := fmt.Sprint("order-", rapid.IntRange(1, 5).Draw(rt, "order"))
			e := accepted(id)
			fates = rapid.SliceOfN(rapid.SampledFrom(anyFate), 0, 3).Draw(rt, "fates")
			_, err := impatient(client).Commit(t.Context(), b.order(id), b.events.Create(e))
			var duplicate *outbox.DuplicateError
			switch {
			case err == nil && !stored[e.ID]:
				stored[e.ID] = true
			case stored[e.ID] && errors.As(err, &duplicate) && duplicate.Same:
				seen["duplicate"]++
			default:
				rt.Fatalf("accept %s (stored: %v): %v", id, stored[e.ID], err)
			}
		}
		check := func(rt *rapid.T) {
			listed := b.ready(t, day)
			if len(listed) != len(stored) {
				rt.Fatalf("%d events are READY, %d orders were accepted", len(listed), len(stored))
			}
			for n := range 5 {
				id := fmt.Sprint("order-", n+1)
				e := accepted(id)
				record, err := b.events.Get(t.Context(), b.client, e.ID)
				if stored[e.ID] != (err == nil) || stored[e.ID] != b.has(t, id) {
					rt.Fatalf("%s: accepted %v, order stored %v, event: %v", id, stored[e.ID], b.has(t, id), err)
				}
				if shard, ok := listed[e.ID]; ok && shard != record.Placement.Shard {
					rt.Fatalf("%s is listed on shard %d, its record says %d", id, shard, record.Placement.Shard)
				}
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "commands") {
			accept(rt)
		}
		check(rt)
	}, append(chance.Names(anyFate), "duplicate")...)
}

var anyFate = []dynamosim.Fate{
	dynamosim.Deliver, dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.Throttle, dynamosim.Conflict, dynamosim.InProgress, dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter,
}

var anyTokenPolicy = []dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}

// has says whether an order is stored.
func (b *bench) has(t *testing.T, id string) bool {
	t.Helper()
	consistent := true
	out, err := b.client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &b.orders.Name, ConsistentRead: &consistent, Key: b.orders.Key("TEN#acme#ORDER#"+id, "META"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item != nil
}
