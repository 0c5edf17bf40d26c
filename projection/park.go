package projection

import (
	"bytes"
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// park stores an event that is ahead of a gap, and the gap. The checkpoint counts it in the same transaction, so that it
// cannot be parked any more once the gap is filled.
func (ns *Namespace) park(ctx context.Context, p place, from checkpoint, e Event) (checkpoint, capacity.Units, error) {
	key, err := ns.inSource(p, e.Version).Parked()
	if err != nil {
		return from, 0, &InvalidError{Source: e.Source, Version: e.Version, Field: "Source", Reason: keyReason(err)}
	}
	if from.parked >= int64(ns.p.config.ParkedMax) {
		return ns.overflow(ctx, p, from, e)
	}
	now, err := ns.p.now()
	if err != nil {
		return from, 0, err
	}
	item, err := ns.parkedItem(key, e, now)
	if err != nil {
		return from, 0, err
	}
	to := from
	to.exists, to.parked, to.highest = true, from.parked+1, max(from.highest, e.Version)
	c := newChange()
	if !from.exists {
		c.set(attrVersion, number(from.version))
	}
	c.set(attrParked, number(to.parked))
	c.set(attrHighest, number(to.highest))
	c.set(attrUpdatedAt, text(now))
	digest := e.digest()
	units, err := ns.p.commit(ctx, part(LabelPark,
		txn.Write{
			Action: txn.ActionPut, Table: ns.p.config.Table, Item: item,
			Condition: "attribute_not_exists(#pk)", Names: map[string]string{"#pk": ns.p.config.Table.PK}, Settles: true,
			Explain: func(old txn.Item) error {
				stored, err := decodeParked(key, old)
				if err != nil {
					return err
				}
				if sum := stored.digest(); !bytes.Equal(sum[:], digest[:]) {
					return &MismatchError{Source: e.Source, Version: e.Version, EventID: e.ID, StoredID: stored.ID}
				}
				return &parkedError{}
			},
		},
		ns.move(p, from, false, c),
		ns.gapWrite(p, to, now),
	))
	var before *parkedError
	if errors.As(err, &before) {
		return from, 0, nil
	}
	return to, units, err
}

// overflow refuses an event that may not be parked any more, unless it is parked already.
func (ns *Namespace) overflow(ctx context.Context, p place, from checkpoint, e Event) (checkpoint, capacity.Units, error) {
	key, err := ns.inSource(p, e.Version).Parked()
	if err != nil {
		return from, 0, err
	}
	item, err := ns.p.get(ctx, key)
	if err != nil {
		return from, 0, err
	}
	if item == nil {
		return from, 0, &OverflowError{Source: e.Source, Version: e.Version, Missing: from.version + 1, Parked: int(from.parked)}
	}
	stored, err := decodeParked(key, item)
	if err == nil && stored.digest() != e.digest() {
		err = &MismatchError{Source: e.Source, Version: e.Version, EventID: e.ID, StoredID: stored.ID}
	}
	return from, 0, err
}

// drain applies parked events in order, from a checkpoint on, until one is missing.
func (ns *Namespace) drain(ctx context.Context, p place, from checkpoint, out *Outcome) error {
	for stuck := 0; from.parked > 0; {
		next, found, err := ns.lowest(ctx, p)
		if err != nil {
			return &DrainError{Source: p.source, Version: from.version + 1, Err: err}
		}
		if found && next.Version > from.version+1 {
			// A step of a worker that died may have come late, between the look at the checkpoint and this one: then the gap is
			// filled, and nobody else goes on.
			at, err := ns.checkpoint(ctx, p)
			if err != nil {
				return &DrainError{Source: p.source, Version: from.version + 1, Err: err}
			}
			if at.version == from.version {
				break
			}
			from = at
			continue
		}
		to, units := from, capacity.Units(0)
		if !found || next.Version <= from.version {
			err = errNotHere // what is known is old
		} else if parts, refused := ns.view(ctx, next); refused != nil {
			err = refused
		} else {
			to, units, err = ns.advance(ctx, p, from, false, next, true, parts)
		}
		var moved *movedError
		switch {
		case err == nil:
			from, stuck = to, 0
			out.Drained++
			out.Units += units
		case (errors.Is(err, errNotHere) || errors.Is(err, txn.ErrAmbiguous) || errors.As(err, &moved)) && stuck < maxTries:
			stuck++
			if from, err = ns.checkpoint(ctx, p); err != nil {
				return &DrainError{Source: p.source, Version: next.Version, Err: err}
			}
		default:
			return ns.notDrained(p, from, next, err)
		}
	}
	out.Version = from.version
	return nil
}

// errNotHere says that no parked event is where the checkpoint known to a worker has one. It never leaves the package.
var errNotHere = errors.New("no parked event follows the checkpoint")

func (ns *Namespace) notDrained(p place, from checkpoint, next Event, err error) error {
	var moved *movedError
	switch {
	case errors.Is(err, errNotHere): // the number of parked events is not that of the events
		err = &RecordError{PK: p.key.PK, SK: p.key.SK, Attribute: attrParked}
	case errors.As(err, &moved):
		err = errBusy.Wrap(nil, "projection: drain %s: others moved its checkpoint %d times", business(p.source, next.Version), maxTries)
	}
	return &DrainError{Source: p.source, Version: max(next.Version, from.version+1), Err: err}
}

// lowest reads the first parked event of a source.
func (ns *Namespace) lowest(ctx context.Context, p place) (Event, bool, error) {
	table := ns.p.config.Table
	out, err := ns.p.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                &table.Name,
		ConsistentRead:           aws.Bool(true),
		Limit:                    aws.Int32(1),
		KeyConditionExpression:   aws.String("#pk = :pk AND begins_with(#sk, :prefix)"),
		ExpressionAttributeNames: map[string]string{"#pk": table.PK, "#sk": table.SK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(p.key.PK), ":prefix": text(parkedPrefix(p.source)),
		},
	}, watch.In(ctx)...)
	if err != nil {
		return Event{}, false, errRead.Wrap(err, "projection: parked events of source %q: %v", p.source, err)
	}
	if len(out.Items) == 0 {
		return Event{}, false, nil
	}
	e, err := decodeParked(ns.p.keyIn(out.Items[0]), out.Items[0])
	return e, err == nil, err
}
