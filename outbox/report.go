package outbox

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// ShardLag is a shard with an event that is due.
type ShardLag struct {
	// Shard counts from 0.
	Shard int
	// Oldest is the event that is due for longest, and Behind for how long.
	Oldest Listed
	Behind time.Duration
}

// Lag returns the shards that have events due at a time, each with the one that is due for longest. An empty result
// means that nothing waits. What is IN_FLIGHT is not in it; see [Outbox.Stuck].
//
// Cost: half a read unit for each shard.
// Errors: [ErrInvalid], and [ErrRead] and [ErrCorrupt] of the shards that could not be read, beside the others.
func (o *Outbox) Lag(ctx context.Context, client Client, at time.Time) (_ []ShardLag, err error) {
	ctx, op := o.watch.Begin(ctx, "AP16.lag")
	defer op.End(&err)
	if err := o.listable(); err != nil {
		return nil, err
	}
	var lags []ShardLag
	var faults []error
	for shard := range o.Shards() {
		for listed, err := range o.Ready(ctx, client, shard, at, 1) {
			if err != nil {
				faults = append(faults, err)
				continue
			}
			lags = append(lags, ShardLag{Shard: shard, Oldest: listed, Behind: at.Sub(listed.Due)})
		}
	}
	if err = errors.Join(faults...); err == nil {
		oldest := time.Duration(0)
		for _, lag := range lags {
			oldest = max(oldest, lag.Behind)
		}
		o.watch.Measure(ctx, "AP16", observe.OldestAge, int64(oldest))
	}
	return lags, err
}

// Parked lists the parked events with their reasons: shard by shard, on each the one that was parked first before the
// others. The error beside a Record is about that one event; after any other error the iteration ends. Decide with
// [Outbox.Redrive] or [Outbox.Pass].
//
// Cost: half a read unit for each shard and 4 KiB begun of entries, and 1 for each 4 KiB begun of every event.
func (o *Outbox) Parked(ctx context.Context, client Client) iter.Seq2[Record, error] {
	return watch.Each(ctx, &o.watch, "AP16.parked", observe.Parked, func(ctx context.Context, yield func(Record, error) bool) {
		if err := o.listable(); err != nil {
			yield(Record{}, err)
			return
		}
		for entry, err := range o.parkedEntries(ctx, client) {
			switch {
			case err != nil:
				if !yield(Record{}, err) {
					return
				}
			case !o.yieldIn(ctx, client, entry.EventID, func(r Record) bool { return r.State == Parked }, yield):
				return
			}
		}
	})
}

// ParkedEntry is a parked event as the index shows it.
type ParkedEntry struct {
	EventID string
	// At is when it was parked.
	At time.Time
}

// ParkedEntries lists the parked events without reading them, in the order of [Outbox.Parked]: to count them, or to see since
// when the first of each shard waits. The error beside an entry is about that one, if it is an [ErrCorrupt]; after any other
// the iteration ends.
//
// Cost: half a read unit for each shard and 4 KiB begun of entries, about 0.3 KiB each.
func (o *Outbox) ParkedEntries(ctx context.Context, client QueryClient) iter.Seq2[ParkedEntry, error] {
	return watch.Each(ctx, &o.watch, "AP16.parked.entries", observe.Parked, func(ctx context.Context, yield func(ParkedEntry, error) bool) {
		if err := o.listable(); err != nil {
			yield(ParkedEntry{}, err)
			return
		}
		o.parkedEntries(ctx, client)(yield)
	})
}

func (o *Outbox) parkedEntries(ctx context.Context, client QueryClient) iter.Seq2[ParkedEntry, error] {
	return func(yield func(ParkedEntry, error) bool) {
		for shard := range o.Shards() {
			if !o.parkedOn(ctx, client, shard, yield) {
				return
			}
		}
	}
}

func (o *Outbox) parkedOn(ctx context.Context, client QueryClient, shard int, yield func(ParkedEntry, error) bool) bool {
	partition, err := keys.OutboxParkedPartition(o.config.Service, shard)
	if err != nil {
		yield(ParkedEntry{}, &InvalidError{Field: "shard", Reason: keyReason(err)})
		return false
	}
	query := &dynamodb.QueryInput{
		TableName: &o.config.Table.Name, IndexName: &o.config.Index,
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": o.config.IndexPK},
		ExpressionAttributeValues: txn.Item{":pk": text(partition)},
	}
	for {
		page, err := client.Query(ctx, query, watch.In(ctx)...)
		if err != nil {
			yield(ParkedEntry{}, errRead.Wrap(err, "outbox: list parked events of service %q, shard %d: %v", o.config.Service, shard, err))
			return false
		}
		for _, item := range page.Items {
			in := reader{item: item}
			_, _, at, id, err := keys.ParseOutboxParked(keys.Key{PK: in.text(o.config.IndexPK), SK: in.text(o.config.IndexSK)})
			if err != nil {
				err = errCorrupt.Wrap(err, "outbox: an entry of index %s, shard %d, is none of a parked event", o.config.Index, shard)
			}
			if !yield(ParkedEntry{EventID: id, At: at}, err) {
				return false
			}
		}
		if page.LastEvaluatedKey == nil {
			return true
		}
		query.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// yieldIn reads an event and yields it, or what is wrong with it, unless it is not in the state any more.
func (o *Outbox) yieldIn(ctx context.Context, client Client, id string, in func(Record) bool, yield func(Record, error) bool) bool {
	record, err := o.Get(ctx, client, id)
	if errors.Is(err, ErrNotFound) || err == nil && !in(record) {
		return true
	}
	return yield(record, err)
}

// Stuck lists the events that are IN_FLIGHT although their lease has ended at a time: those of relays that died and that no
// relay has found yet. It stays empty while one relay works. An error beside an event is about that one; after any
// other the iteration ends.
//
// Cost: 1 read unit for each 4 KiB begun of claim journals with ended leases, and of every event that they name.
func (o *Outbox) Stuck(ctx context.Context, client Client, at time.Time) iter.Seq2[Record, error] {
	return watch.Each(ctx, &o.watch, "AP16.stuck", observe.Stuck, func(ctx context.Context, yield func(Record, error) bool) {
		ended, err := o.endedJournals(ctx, client, at)
		if err != nil && !yield(Record{}, err) {
			return
		}
		told := map[string]bool{}
		for _, j := range ended {
			for _, entry := range j.events {
				stuck := func(r Record) bool { return r.State == InFlight && !at.Before(r.LeaseUntil) }
				if !told[entry.eventID] && !o.yieldIn(ctx, client, entry.eventID, stuck, yield) {
					return
				}
				told[entry.eventID] = true
			}
		}
	})
}
