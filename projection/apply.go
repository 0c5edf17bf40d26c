package projection

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Labels of the parts of this package in errors, observations and cost reports.
const (
	LabelAdvance = "AP13.advance"
	LabelPark    = "AP13.park"
	LabelForce   = "AP13.force"
)

// maxTries is how often a call goes by what it found when others moved the checkpoint meanwhile.
const maxTries = 8

// Outcome is what became of a delivered event.
type Outcome struct {
	// Result says whether it was applied, had been before, or waits for others.
	Result Result
	// Version is where the source stands as far as this call knows.
	Version int64
	// Drained is how many parked events were applied behind it.
	Drained int
	// Units are the write units that were reported for all of it.
	Units capacity.Units
}

// Apply takes a delivered event to the view (AP13, CS06): the next version of its source is applied, checkpoint and view in
// one transaction; a version that the source has reached does nothing; a version behind a gap is parked. Parked events
// follow as soon as the gap is filled, in order. A nil error means that the event is applied or stored: acknowledge the
// message. After any other error do not.
//
// Errors: ErrInvalid, ErrView, ErrOverflow, ErrMismatch, ErrDrain (the event itself is applied; deliver it again), ErrBusy,
// ErrWrite, ErrRead, ErrCorrupt; of the view's parts; and those of [txn.Committer.Commit].
//
// Cost: applied, 2 write units for the checkpoint and 2 for each KiB begun of the view's items, or 1 if there are none. See
// the package documentation for the others.
func (ns *Namespace) Apply(ctx context.Context, e Event) (_ Outcome, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.apply")
	defer op.End(&err)
	p, err := ns.validate(ctx, e)
	if err != nil {
		return Outcome{}, err
	}
	parts, err := ns.view(ctx, e)
	if err != nil {
		return Outcome{}, err
	}
	from, err := ns.decodeCheckpoint(p.key, nil)
	if err != nil {
		return Outcome{}, err
	}
	blind := true
	from.version = e.Version - 1
	for range maxTries {
		var out Outcome
		var err error
		to := from
		switch out.Result = resultOf(from.version, e.Version); out.Result {
		case Applied:
			to, out.Units, err = ns.apply(ctx, p, from, blind, e, parts)
		case Parked:
			to, out.Units, err = ns.park(ctx, p, from, e)
		}
		var moved *movedError
		if errors.As(err, &moved) {
			from, blind = moved.found, false
			continue
		}
		if errors.Is(err, txn.ErrAmbiguous) { // what became of it is there to be read; a late copy meets its condition
			if from, err = ns.checkpoint(ctx, p); err == nil {
				blind = false
				continue
			}
		}
		if err != nil {
			return Outcome{}, err
		}
		out.Version = to.version
		watch.Outcome(ctx, out.Result.outcome())
		if out.Result != Parked && to.parked > 0 {
			err = ns.drain(ctx, p, to, &out)
		}
		return out, err
	}
	return Outcome{}, errBusy.Wrap(nil, "projection: apply %s: others moved its checkpoint %d times", business(e.Source, e.Version), maxTries)
}

// view asks for the parts of an event.
func (ns *Namespace) view(ctx context.Context, e Event) ([]txn.Part, error) {
	if ns.p.config.View == nil {
		return nil, nil
	}
	parts, err := ns.p.config.View(watch.Outside(ctx), ns.number, e)
	if err != nil {
		// The text stays out of the message: it is not known what it repeats.
		return nil, errView.Wrap(err, "projection: view of %s in namespace %d: it was refused", business(e.Source, e.Version), ns.number)
	}
	return parts, nil
}

// apply applies the next event of a source whose parked events are to be looked at, because it may be among them.
func (ns *Namespace) apply(ctx context.Context, p place, from checkpoint, blind bool, e Event, parts []txn.Part) (checkpoint, capacity.Units, error) {
	unparks := false
	if from.parked > 0 {
		lowest, found, err := ns.lowest(ctx, p)
		if err != nil {
			return from, 0, err
		}
		if unparks = found && lowest.Version == e.Version; unparks && lowest.digest() != e.digest() {
			return from, 0, &MismatchError{Source: e.Source, Version: e.Version, EventID: e.ID, StoredID: lowest.ID}
		}
	}
	return ns.advance(ctx, p, from, blind, e, unparks, parts)
}

// advance moves the checkpoint by one event, with the view.
func (ns *Namespace) advance(ctx context.Context, p place, from checkpoint, blind bool, e Event, unparks bool, parts []txn.Part) (checkpoint, capacity.Units, error) {
	now, err := ns.p.now()
	if err != nil {
		return from, 0, err
	}
	c, to, err := ns.onward(from, e, unparks, now)
	if err != nil {
		return from, 0, err
	}
	writes := []txn.Write{ns.move(p, from, blind, c)}
	if from.parked > 0 {
		writes = append(writes, ns.gapWrite(p, to, now))
	}
	if unparks {
		key, err := ns.inSource(p, e.Version).Parked()
		if err != nil {
			return from, 0, &InvalidError{Source: e.Source, Version: e.Version, Field: "Source", Reason: keyReason(err)}
		}
		table := ns.p.config.Table
		writes = append(writes, txn.Write{Action: txn.ActionDelete, Table: table, Key: table.Key(key.PK, key.SK)})
	}
	var units capacity.Units
	if len(writes) == 1 && len(parts) == 0 {
		units, err = ns.alone(ctx, writes[0], e)
	} else {
		units, err = ns.p.commit(ctx, append([]txn.Part{part(LabelAdvance, writes...)}, parts...)...)
	}
	if err != nil {
		return from, 0, err
	}
	return to, units, nil
}

// alone moves a checkpoint without a transaction, which would cost twice as much. An answer that is lost needs no proof:
// whoever tries again finds the source at this version.
func (ns *Namespace) alone(ctx context.Context, w txn.Write, e Event) (capacity.Units, error) {
	out, err := ns.p.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &w.Table.Name, Key: w.Key, UpdateExpression: &w.Update, ConditionExpression: &w.Condition,
		ExpressionAttributeNames: w.Names, ExpressionAttributeValues: w.Values,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, watch.In(ctx)...)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return 0, w.Explain(failed.Item)
	}
	if err != nil {
		return 0, errWrite.Wrap(err, "projection: apply %s: %v", business(e.Source, e.Version), err)
	}
	if consumed := out.ConsumedCapacity; consumed != nil && consumed.CapacityUnits != nil {
		return capacity.FromWire(*consumed.CapacityUnits), nil
	}
	return 0, nil
}

// repeats is an error of a view's part that says that the event had its effect before, such as inbox.DuplicateError.
type repeats interface{ Repeated() bool }

// commit commits a transaction. If it was cancelled, what a receipt among the view's parts has against the event weighs
// more than where the checkpoint is: a duplicate is nothing new there, but another event under the same ID is.
func (p *Projection) commit(ctx context.Context, parts ...txn.Part) (capacity.Units, error) {
	receipt, err := p.committer.Commit(ctx, parts...)
	var canceled *txn.CanceledError
	if !errors.As(err, &canceled) {
		return receipt.Total(), err
	}
	for _, reason := range canceled.Reasons {
		var settles txn.Settler
		if !errors.As(reason.Err, &settles) || !settles.SettlesCommit() || reason.Part == LabelAdvance || reason.Part == LabelPark || reason.Part == LabelForce {
			continue
		}
		var again repeats
		if errors.As(reason.Err, &again) && again.Repeated() {
			continue
		}
		return 0, reason.Err
	}
	return 0, err
}
