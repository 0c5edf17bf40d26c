package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// Outbox tests the creation of AP16's events on the table and index of a configuration.
func Outbox(ctx context.Context, client *dynamodb.Client, config outbox.Config) error {
	r := begin(ctx, client)
	table, events := config.Table.WithDefaults(outbox.DefaultTable), outbox.New(config)
	r.promise("a fact and its event are stored both, or neither", func() error {
		if err := r.commit(r.fact(table, "taken")); err != nil {
			return err
		}
		err := r.commit(r.fact(table, "taken"), events.Create(r.event("refused")))
		if !errors.Is(err, txn.ErrCanceled) {
			return fmt.Errorf("a fact that is refused ends with: %v", err)
		}
		if _, err := events.Get(r.ctx, r.client, r.event("refused").ID); !errors.Is(err, outbox.ErrNotFound) {
			return fmt.Errorf("looking for its event ends with: %v", err)
		}
		return nil
	})
	r.promise("a lost answer ends as success, and the event comes back as it was", func() error {
		want := r.event("lost")
		if _, err := r.commitLossy(r.fact(table, "lost"), events.Create(want)); err != nil {
			return err
		}
		got, err := events.Get(r.ctx, r.client, want.ID)
		if err == nil && (got.State != outbox.Ready || string(got.Event.Payload) != string(want.Payload) || !got.Event.OccurredAt.Equal(want.OccurredAt)) {
			err = fmt.Errorf("stored is %+v", got)
		}
		return err
	})
	r.promise("a READY event is listed once, on its shard", func() error {
		return r.eventually(func() (bool, error) { return r.listed(events, r.event("lost").ID) })
	})
	r.promise("a duplicate says whether it is the same event", func() error {
		for payload, same := range map[string]bool{"lost": true, "changed": false} {
			again := r.event("lost")
			again.Payload = []byte(payload)
			var duplicate *outbox.DuplicateError
			if err := r.commit(events.Create(again)); !errors.As(err, &duplicate) || duplicate.Same != same {
				return fmt.Errorf("with the payload %q it ends with: %v", payload, err)
			}
		}
		return nil
	})
	return r.end()
}

// listed reports whether an event is listed. On another shard than its own, or twice, it must never be.
func (r *run) listed(events *outbox.Outbox, id string) (bool, error) {
	record, err := events.Get(r.ctx, r.client, id)
	if err != nil {
		return false, err
	}
	var shards []int
	for shard := range events.Shards() {
		for listed, err := range events.Ready(r.ctx, r.client, shard, record.Event.Due, 0) {
			if err != nil {
				return false, err
			}
			if listed.EventID == id {
				shards = append(shards, shard)
			}
		}
	}
	if len(shards) > 1 || len(shards) == 1 && shards[0] != record.Placement.Shard {
		return false, fmt.Errorf("it is listed on the shards %v, its record says %d", shards, record.Placement.Shard)
	}
	return len(shards) == 1, nil
}

func (r *run) event(what string) outbox.Event {
	return outbox.Event{
		ID: r.id + "-" + what, Tenant: "storetest", AggregateType: "Order", AggregateID: r.id, AggregateVersion: 1, Type: "OrderAccepted",
		SchemaVersion: 1, OccurredAt: time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC), Payload: []byte(what),
	}
}
