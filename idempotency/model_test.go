package idempotency_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/txn"
)

// claim is what the model knows of a key: the command it belongs to, and its result.
type claim struct {
	quantity, operation string
	result              idempotency.Result
	record              string
}

// TestModel draws commands with reused keys, lost answers and all token policies, and holds every outcome against a map.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		policy := rapid.SampledFrom([]dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}).Draw(rt, "tokens")
		s := newStore(rt, stores.Options{Tokens: policy, CanceledKeepsToken: rapid.Bool().Draw(rt, "canceled keeps token")})
		requests := s.keeper(idempotency.Config{Now: at(noon)})
		claims := map[string]claim{}
		for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			r := order(rapid.SampledFrom([]string{"10", "10.0", "11"}).Draw(rt, "quantity"))
			r.Key = rapid.SampledFrom([]string{"a", "a#b", "a%23b"}).Draw(rt, "key")
			r.Operation = rapid.SampledFrom([]string{"order.accept", "order.accept", "order.cancel"}).Draw(rt, "operation")
			asked := claim{quantity: fingerprint(t, r).String(), operation: r.Operation, result: accepted(fmt.Sprintf("ord-%d", step))}
			asked.result.Kind = idempotency.Kind(rapid.IntRange(0, 1).Draw(rt, "kind"))
			attempts := rapid.SampledFrom([]int{1, 5}).Draw(rt, "attempts") // a refused token takes three
			fate := rapid.SampledFrom([]dynamosim.Fate{dynamosim.Deliver, dynamosim.LoseAnswer, dynamosim.LoseRequest}).Draw(rt, "fate")
			s.fate = first(fate)
			parts := []txn.Part{requests.Once(r, asked.result)}
			if asked.result.Kind == idempotency.Accepted {
				parts = append(parts, s.order(fmt.Sprintf("ord-%d", step)))
			}
			_, err := s.commit(t.Context(), attempts, parts...)
			s.fate = nil

			known, taken := claims[r.Key]
			ambiguous := attempts == 1 && fate != dynamosim.Deliver
			switch {
			case ambiguous:
				if !errors.Is(err, txn.ErrAmbiguous) {
					rt.Fatalf("step %d: %v, want ambiguous", step, err)
				}
			case !taken:
				if err != nil {
					rt.Fatalf("step %d: %v, want success", step, err)
				}
			case known.quantity != asked.quantity || known.operation != asked.operation:
				if !errors.Is(err, idempotency.ErrMismatch) {
					rt.Fatalf("step %d: %v, want a mismatch", step, err)
				}
			default:
				replay, ok := idempotency.Replayed(err)
				if !ok || !reflect.DeepEqual(replay.Result, known.result) {
					rt.Fatalf("step %d: %v, want a replay of %+v", step, err, known.result)
				}
			}
			if !taken && !(ambiguous && fate == dynamosim.LoseRequest) {
				found, err := requests.Lookup(t.Context(), s.client, r)
				if err != nil || !reflect.DeepEqual(found, asked.result) {
					rt.Fatalf("step %d: applied, but found %+v, %v", step, found, err)
				}
				asked.record = wire(t, s.record(rt, r))
				claims[r.Key] = asked
			}
		}
		effects := 0
		for key, known := range claims {
			r := order("10")
			r.Key = key
			if got := wire(t, s.record(rt, r)); got != known.record {
				rt.Fatalf("the record of %q changed to %s", key, got)
			}
			if known.result.Kind == idempotency.Accepted {
				effects++
			}
		}
		if n := s.effects(rt); n != effects {
			rt.Fatalf("%d orders for %d accepted commands", n, effects)
		}
	})
}
