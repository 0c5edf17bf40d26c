package outbox

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// HandleStream publishes events as soon as the table's stream shows them, without a poll: give it whatever records a
// reader of the stream gets, of the events and of anything else in the table. It takes the events that are READY, due and
// not tried yet through the same steps as [Relay.Run]. Everything else is left to the relays that poll, which any outbox
// needs: what comes late, or never, is refused or fails here is listed there, so a reader may go on to its next batch
// whatever HandleStream returns.
//
// The stream must have new images. Records may come repeated, late, in any order and in part: an event is published by whoever
// wins the claim of the version that the record shows.
//
// The error is an [InvalidError], or joins what is wrong with single records ([ErrCorrupt]), beside what was done; the Observer
// is told too. When the context ends, HandleStream claims nothing more and finishes what it has claimed within
// RelayConfig.Drain, as Run does. If the context has a deadline, it claims nothing in the last RelayConfig.Drain before it, and
// has returned by then.
//
// Cost: that of publishing, with the journal of each batch: 2 units, however few the events. A record of an event that is
// claimed already costs one refused claim, unless this Relay has met the newer version. While the relays are paused it does
// nothing, see RelayConfig.Heed.
func (r *Relay) HandleStream(ctx context.Context, records []streams.Record) (Round, error) {
	if r.err != nil {
		return Round{}, r.err
	}
	_, op := r.watch.Begin(ctx, "AP16.stream")
	shown, err := r.shown(records)
	op.End(&err)
	begin := ctx
	if deadline, ok := ctx.Deadline(); ok {
		early, cancel := context.WithDeadline(ctx, deadline.Add(-r.config.Drain))
		defer cancel()
		begin = early
	}
	if r.paused(ctx) {
		return Round{Listed: len(shown), Paused: true}, err
	}
	if ctx.Err() == nil && begin.Err() != nil {
		return Round{}, errors.Join(err, &InvalidError{Field: "RelayConfig.Drain", Reason: "is longer than the time that the context leaves"})
	}
	publish, work, stop := r.drain(begin)
	defer stop()
	round := Round{Listed: len(shown)}
	for some := range slices.Chunk(shown, r.want()) {
		if begin.Err() != nil {
			round.More = true
			break
		}
		r.take(begin, publish, work, some, &round)
	}
	return round, err
}

// shown returns the events that records show READY, due and not tried yet: each once, the earliest due first. Versions are
// remembered, whatever their state, so a newer record makes an older one void.
func (r *Relay) shown(records []streams.Record) ([]candidate, error) {
	newest := map[string]candidate{}
	var faults []error
	for _, record := range records {
		id, image, err := r.events.image(record)
		if id == "" || err != nil {
			faults = append(faults, err)
			continue
		}
		in := reader{id: id, item: image}
		in.format()
		version, shard := in.number(attrVersion), in.number(attrShard)
		if in.err != nil {
			faults = append(faults, in.err)
			continue
		}
		r.remember(id, version)
		if !r.events.lists(image) {
			continue
		}
		listed, err := r.events.listed(image)
		if err != nil || listed.EventID != id {
			faults = append(faults, cmp.Or(err, corrupt(id, r.events.config.IndexSK)))
			continue
		}
		if version > newest[id].Version {
			newest[id] = candidate{listed, int(shard)}
		}
	}
	now := r.config.Now()
	shown := slices.SortedFunc(maps.Values(newest), byDue)
	return slices.DeleteFunc(shown, func(c candidate) bool {
		_, over := r.outdated(c)
		return over || c.Due.After(now) || c.Attempt > 0
	}), errors.Join(faults...)
}

// image returns the event of a record and what the record shows of it, without the envelope. It returns no event if the
// record is one of something else, or of a removal.
func (o *Outbox) image(record streams.Record) (id string, image txn.Item, err error) {
	change := record.Dynamodb
	if change == nil || record.EventName == streams.OperationTypeRemove {
		return "", nil, nil
	}
	pk, _ := change.Keys[o.config.Table.PK].(*streams.AttributeValueMemberS)
	sk, _ := change.Keys[o.config.Table.SK].(*streams.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return "", nil, nil
	}
	if id, err = keys.ParseOutbox(keys.Key{PK: pk.Value, SK: sk.Value}); err != nil {
		return "", nil, nil
	}
	if change.NewImage == nil {
		return id, nil, &InvalidError{EventID: id, Field: "StreamViewType", Reason: "is one without new images"}
	}
	image = txn.Item{}
	for _, attr := range slices.Concat(projected, []string{attrFormat, attrShard, o.config.IndexPK, o.config.IndexSK}) {
		if value, ok := change.NewImage[attr]; ok {
			if image[attr], err = attributevalue.FromDynamoDBStreams(value); err != nil {
				return id, nil, corrupt(id, attr)
			}
		}
	}
	return id, image, nil
}

// lists says whether an image is one of the service's READY events: those alone have this key of the index.
func (o *Outbox) lists(image txn.Item) bool {
	in := reader{item: image}
	service, _, _, _, err := keys.ParseOutboxReady(keys.Key{PK: in.text(o.config.IndexPK), SK: in.text(o.config.IndexSK)})
	return in.err == nil && err == nil && service == o.config.Service
}
