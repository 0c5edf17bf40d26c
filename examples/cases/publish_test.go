package cases

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/dynafin/dynafin/outbox"
	bridge "github.com/dynafin/dynafin/outbox/eventbridge"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/schema"
	"github.com/dynafin/dynafin/txn"
)

// bus is EventBridge: it answers for each entry, and the call succeeds all the same. It refuses the first of a detail type.
type bus struct {
	refuse string
	taken  []string
}

func (b *bus) PutEvents(_ context.Context, in *eventbridge.PutEventsInput, _ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	out := &eventbridge.PutEventsOutput{}
	for _, entry := range in.Entries {
		kind := aws.ToString(entry.DetailType)
		if kind == b.refuse {
			b.refuse = ""
			out.FailedEntryCount++
			out.Entries = append(out.Entries, types.PutEventsResultEntry{ErrorCode: aws.String("ThrottlingException"), ErrorMessage: aws.String("Rate exceeded")})
			continue
		}
		b.taken = append(b.taken, kind)
		out.Entries = append(out.Entries, types.PutEventsResultEntry{EventId: aws.String("bus-" + kind)})
	}
	return out, nil
}

// The bus takes a batch of three and refuses the second entry, once.
func TestCS03_EveryEntryOfABatchHasItsOwnAnswer(t *testing.T) {
	kinds := []string{"OrderAccepted", "OrderFilled", "OrderSettled"}
	twice(t,
		func(s *stage) {
			b := &bus{refuse: "OrderFilled"}
			for _, kind := range kinds {
				s.must(insert(s.ctx, s.client, "PENDING#"+kind, fields{}))
			}
			for range 3 { // rounds of the relay: whatever is pending goes out, and a call without an error is a success
				var entries []types.PutEventsRequestEntry
				for _, kind := range kinds {
					if s.value("PENDING#"+kind, "sent") == "" {
						entries = append(entries, types.PutEventsRequestEntry{DetailType: aws.String(kind)})
					}
				}
				_, err := b.PutEvents(s.ctx, &eventbridge.PutEventsInput{Entries: entries})
				s.must(err)
				for _, entry := range entries {
					s.must(write(s.ctx, s.client, "PENDING#"+*entry.DetailType, fields{"sent": true}))
				}
			}
			s.wants("taken by the bus", b.taken, []string{"OrderAccepted", "OrderSettled"}) // OrderFilled is gone
			s.wants("what the relay knows of it", s.value("PENDING#OrderFilled", "sent"), "true")
		},
		func(s *stage) {
			b := &bus{refuse: "OrderFilled"}
			publisher, err := bridge.New(b, bridge.Config{Source: "com.acme.orders"})
			s.must(err)
			for n, kind := range kinds {
				_, err := txn.Commit(s.ctx, s.client, events.Create(event("1", int64(n+1), kind, "{}")))
				s.must(err)
			}
			relay := outbox.NewRelay(events, s.client, publisher, outbox.RelayConfig{})
			for range 2 {
				_, err := relay.Once(s.ctx)
				s.must(err)
				s.pass(time.Minute)
			}
			s.wants("taken by the bus", len(b.taken), 3)
			for n, kind := range kinds {
				record, err := events.Get(s.ctx, s.client, event("1", int64(n+1), kind, "{}").ID)
				s.must(err)
				s.wants("state and acknowledgement of "+kind, []any{record.State, record.Ack}, []any{outbox.Completed, "bus-" + kind})
				s.wants("the failed attempt of "+kind+" is on record", strings.Contains(record.Failure, "Throttling"), kind == "OrderFilled")
			}
		})
}

// transport is what stands behind the bus: a rule with a target and its dead-letter queue, whose policy nobody wrote.
type transport struct {
	targetDown     bool
	failedDLQSends int // the metric that one must watch
}

func (r *transport) deliver(target func() error) error {
	if !r.targetDown {
		return target()
	}
	r.failedDLQSends++ // tried for a day; then sent to the queue, which says AccessDenied; then dropped
	return nil
}

// The bus acknowledges an event, its target is down, and the target's dead-letter queue refuses what it should keep.
func TestCS08_WhatTheTransportDroppedIsFoundByComparingEffects(t *testing.T) {
	first, second := event("1", 1, "OrderAccepted", "{}"), event("2", 1, "OrderAccepted", "{}")
	// published brings both events to a bus that takes them and delivers the first only.
	published := func(s *stage, target func(outbox.Event) error) *transport {
		broker, behind := &outbox.Memory{}, &transport{}
		for _, e := range []outbox.Event{first, second} {
			_, err := txn.Commit(s.ctx, s.client, events.Create(e))
			s.must(err)
		}
		_, err := outbox.NewRelay(events, s.client, broker, outbox.RelayConfig{}).Once(s.ctx)
		s.must(err)
		for _, m := range broker.Messages() {
			behind.targetDown = m.Event.ID == second.ID
			s.must(behind.deliver(func() error { return target(m.Event) }))
		}
		return behind
	}
	twice(t,
		func(s *stage) {
			published(s, func(e outbox.Event) error { return write(s.ctx, s.client, "VIEW#"+e.AggregateID, fields{"seen": true}) })
			// "Nothing is left in the outbox, nothing is parked, so all is delivered."
			lag, err := events.Lag(s.ctx, s.client, now())
			s.must(err)
			backlog := len(lag)
			for range events.Parked(s.ctx, s.client) {
				backlog++
			}
			s.wants("backlog and effects of 2 events", []int{backlog, s.count("VIEW")}, []int{0, 1})
		},
		func(s *stage) {
			view := projection.New(s.client, projection.Config{Name: "orders", Table: store}).Namespace(1)
			apply := func(e outbox.Event) error {
				_, err := view.Apply(s.ctx, projection.Event{Source: e.AggregateKey(), Version: e.AggregateVersion, ID: e.ID, OccurredAt: e.OccurredAt, Payload: e.Payload})
				return err
			}
			behind := published(s, apply)
			s.wants("failed sends to the dead-letter queue, for its own alarm", behind.failedDLQSends, 1)

			// The acknowledgement is not the effect: what producers have is held against what consumers have reached.
			produced := ready.Sources(list(
				ready.Source{Name: first.AggregateKey(), Version: 1, At: first.OccurredAt},
				ready.Source{Name: second.AggregateKey(), Version: 1, At: second.OccurredAt}))
			missing := func() []string { return s.breaks(produced, ready.Checkpoints(view.Checkpoints(s.ctx))) }
			s.wants("breaks", missing(), []string{"MISSING " + second.AggregateKey()})

			record, err := events.Get(s.ctx, s.client, second.ID) // the event is kept, so it can be delivered again
			s.must(err)
			s.must(errors.Join(apply(record.Event), apply(record.Event)))
			s.wants("breaks afterwards", missing(), []string(nil))

			// Rights on queues are the transport's affair: nothing that this library deploys grants any.
			policy, err := schema.Deployment{Tables: []schema.Table{events.Schema()}, HomeRegion: "eu-west-1"}.Policy(schema.Scope{Account: "000000000000"})
			s.must(err)
			text, err := policy.JSON()
			s.must(err)
			s.wants("rights on queues", strings.Contains(string(text), "sqs:"), false)
		})
}
