package invariant_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// A consumer with an inbox: several workers get the same events, more than once and in any order, and each event must
// change the consumer's state once.

var counters = txn.Table{Name: "Counters"}

var delivered = []string{"evt-1", "evt-2", "evt-3"}

func consumerOf(live []shardmap.Map, p *invariant.Process) *inbox.Inbox {
	config := inbox.Config{Consumer: "portfolio", Maps: live}
	if p != nil {
		config.Now = p.Now
	}
	return inbox.New(config)
}

func receivedEvent(id string) inbox.Event {
	return inbox.Event{ID: id, Source: "Order order-1", Payload: []byte("content of " + id)}
}

func counterKey(id string) txn.Item { return counters.Key("EVENT#"+id, "COUNT") }

// deliver is a worker that is given messages until each has been acknowledged.
func deliver(w *invariant.World, worker string, live []shardmap.Map, messages []string) {
	w.Note("%s is delivered %v", worker, messages)
	versions, positions := make([]int, len(messages)), make([]int, len(messages))
	for i := range messages {
		versions[i], positions[i] = live[w.Choose("map version", len(live))].Version, i
	}
	acknowledged := make([]bool, len(messages)) // by the transport, which forgets nothing when a worker dies
	w.Worker(worker, func(ctx context.Context, p *invariant.Process) error {
		received, committer := consumerOf(live, p), txn.New(p.Client(), p.Txn())
		failures := inbox.Batch(ctx, positions, nil, func(ctx context.Context, i int) error {
			if acknowledged[i] {
				return nil
			}
			e := receivedEvent(messages[i])
			e.MapVersion = versions[i]
			outcome, err := received.Process(ctx, committer, e, map[string]string{"by": p.NewID()},
				txn.Update(counters, counterKey(e.ID), expression.Add(expression.Name("n"), expression.Value(1))))
			if err != nil {
				return err
			}
			p.Note("%s acknowledged, duplicate: %v", e.ID, outcome.Duplicate)
			acknowledged[i] = true
			return nil
		})
		return failures.Err()
	})
}

// effectsAgree checks that an event has its receipt if and only if it has had its effect, once.
func effectsAgree(w *invariant.World, live []shardmap.Map) error {
	received := consumerOf(live, nil)
	var stored, effects []string
	for _, id := range delivered {
		if _, err := received.Lookup(w.Context(), w.Client(), receivedEvent(id)); err == nil {
			stored = append(stored, id)
		}
		out, err := w.Client().GetItem(w.Context(), &dynamodb.GetItemInput{TableName: &counters.Name, Key: counterKey(id), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return err
		}
		switch n, ok := out.Item["n"].(*types.AttributeValueMemberN); {
		case ok && n.Value != "1":
			return fmt.Errorf("%s had its effect %s times", id, n.Value)
		case ok:
			effects = append(effects, id)
		}
	}
	return invariant.SameSet(effects, stored)
}

// consume is the story of a few workers that are delivered the same events.
func consume(live []shardmap.Map) func(w *invariant.World) {
	return func(w *invariant.World) {
		w.Table(counters.Name)
		w.Table(inbox.DefaultTable)
		seen := map[string]int{}
		for i := range 2 + w.Choose("more workers", 2) {
			var messages []string
			for range 1 + w.Choose("more messages", 3) {
				messages = append(messages, delivered[w.Choose("event", len(delivered))])
			}
			for _, id := range messages {
				seen[id]++
			}
			deliver(w, fmt.Sprint("worker", i), live, messages)
		}
		w.Always("an effect with its receipt, once", func() error { return effectsAgree(w, live) })
		w.Run()
		w.Settle()
		w.Check("an effect with its receipt, once", effectsAgree(w, live))
		received := consumerOf(live, nil)
		for _, id := range slices.Sorted(maps.Keys(seen)) {
			_, err := received.Lookup(w.Context(), w.Client(), receivedEvent(id))
			w.Check("every delivered event had its effect", err)
			w.Sometimes("an event is delivered more than once", seen[id] > 1)
		}
	}
}

func TestAnEventTakesEffectOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	invariant.Check(t, invariant.Config{}, consume([]shardmap.Map{shardmap.Default13()}))
}

func TestAnEventTakesEffectOnceWhileTheMapChanges(t *testing.T) {
	t.Parallel()
	invariant.Check(t, invariant.Config{}, consume([]shardmap.Map{shardmap.Default13(), {Version: 2, HashVersion: shardmap.HashV1, Shards: 17}}))
}

func TestTheInboxSurvivesEachFaultAtEachRequest(t *testing.T) {
	live := []shardmap.Map{shardmap.Default13()}
	runs := invariant.EachFault(t, invariant.Config{}, func(w *invariant.World) {
		w.Table(counters.Name)
		w.Table(inbox.DefaultTable)
		deliver(w, "worker", live, []string{"evt-1", "evt-2", "evt-1"})
		w.Run()
		w.Settle()
		w.Check("an effect with its receipt, once", effectsAgree(w, live))
	})
	if runs < 15 {
		t.Errorf("%d runs", runs)
	}
}
