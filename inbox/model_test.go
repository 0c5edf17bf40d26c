package inbox_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

var anyFate = []dynamosim.Fate{
	dynamosim.Deliver, dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.Throttle, dynamosim.Conflict, dynamosim.InProgress,
	dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter,
}

// modelled is what the model knows of an event ID.
type modelled struct {
	payload string
	effect  map[string]string
}

// Whatever is lost on the way, under whichever live map an event is placed, and whatever request tokens do (E2): an event has
// its effect once, and every outcome is the one of a map in memory.
func TestTheInboxIsAMapFromEventsToEffects(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		b := setup(rt, stores.Options{
			Tokens:             rapid.SampledFrom(anyTokenPolicy).Draw(rt, "tokens"),
			CanceledKeepsToken: rapid.Bool().Draw(rt, "canceled keeps token"),
		})
		received := b.inbox(inbox.Config{Maps: []shardmap.Map{map13, map17}})
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
		model := map[string]modelled{}
		for step := range rapid.IntRange(1, 15).Draw(rt, "deliveries") {
			e := filled(rapid.SampledFrom([]string{"a", "a#b", "a%23b"}).Draw(rt, "event"))
			e.Payload = []byte(rapid.SampledFrom([]string{"1", "1", "1", "2"}).Draw(rt, "payload"))
			e.MapVersion = rapid.IntRange(0, 2).Draw(rt, "map version")
			effect := map[string]string{"step": fmt.Sprint(step)}
			attempts := rapid.SampledFrom([]int{1, 8}).Draw(rt, "attempts")
			fates = rapid.SliceOfN(rapid.SampledFrom(anyFate), 0, 3).Draw(rt, "fates")
			committer := txn.New(client, txn.Config{MaxAttempts: attempts, Jitter: noWait})
			outcome, err := received.Process(t.Context(), committer, e, effect, b.count(e.ID))
			fates = nil
			known, taken := model[e.ID]
			switch {
			case errors.Is(err, txn.ErrAmbiguous) || errors.Is(err, txn.ErrContention):
				seen["unknown"]++
				if b.counted(rt, e.ID) == 1 && !taken {
					model[e.ID] = modelled{string(e.Payload), effect}
				}
			case taken && known.payload != string(e.Payload):
				if !errors.Is(err, inbox.ErrMismatch) {
					rt.Fatalf("step %d: %+v, %v; want a mismatch", step, outcome, err)
				}
				seen["mismatch"]++
			case err != nil || outcome.Duplicate != taken:
				rt.Fatalf("step %d: %+v, %v; known before: %v", step, outcome, err, taken)
			case taken:
				if !maps.Equal(outcome.Effect, known.effect) {
					rt.Fatalf("step %d: effect %v, stored %v", step, outcome.Effect, known.effect)
				}
				seen["duplicate"]++
			default:
				model[e.ID] = modelled{string(e.Payload), effect}
			}
			for _, id := range []string{"a", "a#b", "a%23b"} {
				_, is := model[id]
				if n := b.counted(rt, id); is != (n == 1) || n > 1 {
					rt.Fatalf("step %d: %s has %d effects; known: %v", step, id, n, is)
				}
			}
		}
		for id, known := range model {
			e := filled(id)
			e.Payload = []byte(known.payload)
			stored, err := received.Lookup(t.Context(), b.client, e)
			if err != nil || !maps.Equal(stored.Effect, known.effect) {
				rt.Fatalf("%s: %+v, %v; want %v", id, stored, err, known.effect)
			}
		}
	}, append(chance.Names(anyFate), "duplicate", "mismatch", "unknown")...)
}
