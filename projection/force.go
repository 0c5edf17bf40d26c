package projection

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// Force is an operator's decision that versions of a source will never come.
type Force struct {
	// Source is the source's name, To the last version to pass over.
	Source string
	To     int64
	// By says who decided, Reason why. Both are required; they are stored for ever.
	By, Reason string
}

// Forced is the audit record of a Force.
type Forced struct {
	Force
	// From is where the source stood; From+1 to To were passed over.
	From int64
	// At is when, in UTC.
	At time.Time
}

// ForceAdvance moves a source past versions that will never come, and writes an audit record in the same transaction; then
// it applies the parked events that follow. It is the only way by which a checkpoint passes an unseen version. It never
// passes a parked event: To must be before the first of them. The same Force again is a success that changes nothing.
//
// Errors: ErrInvalid, ErrBusy, ErrDrain (the source is advanced), ErrRead, ErrCorrupt, and those of [txn.Committer.Commit].
//
// Cost: 4 write units, 6 if events are parked, and those of the events that are drained; 2 read units.
func (ns *Namespace) ForceAdvance(ctx context.Context, f Force) (_ Outcome, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.force")
	defer op.End(&err)
	p, audit, err := ns.forcible(ctx, f)
	if err != nil {
		return Outcome{}, err
	}
	for range maxTries {
		from, err := ns.checkpoint(ctx, p)
		if err != nil {
			return Outcome{}, err
		}
		if from.version >= f.To {
			return ns.forcedBefore(ctx, p, audit, from, f)
		}
		if err := ns.passesNothing(ctx, p, from, f); err != nil {
			return Outcome{}, err
		}
		out, to, err := ns.force(ctx, p, from, audit, f)
		var moved *movedError
		if errors.As(err, &moved) || errors.Is(err, txn.ErrAmbiguous) {
			continue
		}
		if err == nil && to.parked > 0 {
			err = ns.drain(ctx, p, to, &out)
		}
		return out, err
	}
	return Outcome{}, errBusy.Wrap(nil, "projection: force %s: others moved its checkpoint %d times", business(f.Source, f.To), maxTries)
}

// ForcePart returns the part that moves a source past versions that will never come, with the audit record of [Namespace.ForceAdvance],
// for programs that commit something of their own beside it or do not have the View, an operator's tool for example. It applies no parked
// events: what follows is left to the next event of the source and to [Namespace.Sweep], in the processes that have the View.
//
// Errors: ErrInvalid, also if the source is at To already; ErrRead, ErrCorrupt. If the source moves before the Commit, it is cancelled.
//
// Cost: 4 write units, 6 if events are parked; 1 read unit, 2 if events are parked.
func (ns *Namespace) ForcePart(ctx context.Context, f Force) (_ txn.Part, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.force.part")
	defer op.End(&err)
	p, audit, err := ns.forcible(ctx, f)
	if err != nil {
		return txn.Part{}, err
	}
	from, err := ns.checkpoint(ctx, p)
	if err != nil {
		return txn.Part{}, err
	}
	if from.version >= f.To {
		return txn.Part{}, notAhead(f, from)
	}
	if err := ns.passesNothing(ctx, p, from, f); err != nil {
		return txn.Part{}, err
	}
	part, _, err := ns.forcePart(p, from, audit, f)
	return part, err
}

const maxForceBytes = 4096

// forcible holds a decision against its rules, and returns where the source and the audit record are.
func (ns *Namespace) forcible(ctx context.Context, f Force) (place, keys.Key, error) {
	bad := func(field, reason string) (place, keys.Key, error) {
		return place{}, keys.Key{}, &InvalidError{Source: f.Source, Version: f.To, Field: field, Reason: reason}
	}
	p, err := ns.place(ctx, f.Source)
	if err != nil {
		return place{}, keys.Key{}, err
	}
	for _, field := range []struct{ name, text string }{{"By", f.By}, {"Reason", f.Reason}} {
		if field.text == "" || !utf8.ValidString(field.text) || len(field.text) > maxForceBytes {
			return bad(field.name, "is empty, not valid UTF-8, or longer than "+strconv.Itoa(maxForceBytes)+" bytes")
		}
	}
	if f.To < ns.p.config.First || f.To > MaxVersion {
		return bad("To", "is outside the versions of a source")
	}
	audit, err := ns.inSource(p, f.To).Forced()
	if err != nil {
		return bad("Source", keyReason(err))
	}
	return p, audit, nil
}

// passesNothing refuses a decision that would pass a parked event.
func (ns *Namespace) passesNothing(ctx context.Context, p place, from checkpoint, f Force) error {
	if from.parked == 0 {
		return nil
	}
	lowest, found, err := ns.lowest(ctx, p)
	if err == nil && found && lowest.Version <= f.To {
		err = &InvalidError{Source: f.Source, Version: f.To, Field: "To",
			Reason: "would pass the parked version " + strconv.FormatInt(lowest.Version, 10)}
	}
	return err
}

func notAhead(f Force, from checkpoint) error {
	return &InvalidError{Source: f.Source, Version: f.To, Field: "To",
		Reason: "is not ahead of the source, which is at version " + strconv.FormatInt(from.version, 10)}
}

func (ns *Namespace) force(ctx context.Context, p place, from checkpoint, audit keys.Key, f Force) (Outcome, checkpoint, error) {
	part, to, err := ns.forcePart(p, from, audit, f)
	if err != nil {
		return Outcome{}, from, err
	}
	units, err := ns.p.commit(ctx, part)
	return Outcome{Result: Applied, Version: to.version, Units: units}, to, err
}

func (ns *Namespace) forcePart(p place, from checkpoint, audit keys.Key, f Force) (txn.Part, checkpoint, error) {
	now, err := ns.p.now()
	if err != nil {
		return txn.Part{}, from, err
	}
	to := from
	to.exists, to.version, to.skipped = true, f.To, from.skipped+f.To-from.version
	c := newChange()
	c.set(attrVersion, number(f.To))
	c.set(attrUpdatedAt, text(now))
	c.add(attrSkipped, f.To-from.version)
	item := ns.p.config.Table.Key(audit.PK, audit.SK)
	item[attrFormat] = number(recordFormat)
	item[attrFrom] = number(from.version)
	item[attrBy], item[attrReason] = text(f.By), text(f.Reason)
	item[attrUpdatedAt] = text(now)
	writes := []txn.Write{ns.move(p, from, false, c), {Action: txn.ActionPut, Table: ns.p.config.Table, Item: item}}
	if from.parked > 0 {
		writes = append(writes, ns.gapWrite(p, to, now))
	}
	return part(LabelForce, writes...), to, nil
}

// forcedBefore decides about a Force to where the source is already: the same one is a success, but what waits behind it
// may still have to be drained.
func (ns *Namespace) forcedBefore(ctx context.Context, p place, audit keys.Key, from checkpoint, f Force) (Outcome, error) {
	item, err := ns.p.get(ctx, audit)
	if err != nil {
		return Outcome{}, err
	}
	stored := Forced{}
	if item != nil {
		if stored, err = decodeForced(audit, item); err != nil {
			return Outcome{}, err
		}
	}
	if stored.Force != f {
		return Outcome{}, notAhead(f, from)
	}
	out := Outcome{Result: Stale, Version: from.version}
	return out, ns.drain(ctx, p, from, &out)
}

func decodeForced(key keys.Key, item txn.Item) (Forced, error) {
	at, err := keys.ParseForced(key)
	if err != nil {
		return Forced{}, &RecordError{PK: key.PK, SK: key.SK}
	}
	d := &decoder{key: key, item: item}
	d.format()
	f := Forced{Force: Force{Source: at.Source, To: at.Position, By: d.text(attrBy), Reason: d.text(attrReason)},
		From: d.number(attrFrom), At: d.time(attrUpdatedAt)}
	return f, d.err
}

// ForcedAdvances lists the audit records of a namespace, by source and version.
//
// Cost: eventually consistent, 0.5 read units for each shard and each 4 KiB begun of records in it. Errors: ErrInvalid,
// ErrCorrupt, and those of package fanout.
func (ns *Namespace) ForcedAdvances(ctx context.Context) iter.Seq2[Forced, error] {
	return list(ctx, ns, "AP13.forced", keys.ForcedPrefix, false, decodeForced)
}

// Sweep drains what waits behind a gap that is filled: what a worker left that died between applying the missing event and
// draining, if nobody delivers that event again. Call it now and then. It returns how many parked events it applied; after an
// error of one source it goes on with the others and returns all errors.
//
// Cost: that of Gaps, and for each gap 2 read units and those of the events that are drained.
func (ns *Namespace) Sweep(ctx context.Context) (drained int, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.sweep")
	defer op.End(&err)
	var faults []error
	for gap, err := range ns.Gaps(ctx) {
		if err != nil {
			return drained, errors.Join(append(faults, err)...)
		}
		p, err := ns.place(ctx, gap.Source)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		from, err := ns.checkpoint(ctx, p)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out := Outcome{}
		if err := ns.drain(ctx, p, from, &out); err != nil {
			faults = append(faults, err)
		}
		drained += out.Drained
	}
	return drained, errors.Join(faults...)
}
