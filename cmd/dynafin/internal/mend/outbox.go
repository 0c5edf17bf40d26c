package mend

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// Outbox makes the operations on the events of one service.
type Outbox struct {
	Service string
	Events  *outbox.Outbox
	Client  outbox.Client
	Now     func() time.Time
}

var parkedFields = []string{"id", "topic", "tenant", "aggregate", "cause", "group", "attempt", "age"}

// Retry makes parked events READY again, due at once, with their attempts counted anew. Events of one aggregate are made READY in
// the order of their versions, and due in that order. An event that has moved since it was planned is skipped.
func (o Outbox) Retry() change.Operation {
	op := o.parked("outbox retry", "retried")
	var last time.Time
	op.Build = func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
		due := note.At
		if !due.After(last) {
			due = last.Add(time.Nanosecond)
		}
		last = due
		return []txn.Part{o.Events.Redrive(item.Hold.(outbox.Record), due, auditOf(note))}, nil
	}
	return op
}

// Discard gives up parked events for good. Their records stay, PASSED.
func (o Outbox) Discard() change.Operation {
	op := o.parked("outbox discard", "discarded")
	op.Build = func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
		return []txn.Part{o.Events.Pass(item.Hold.(outbox.Record), auditOf(note))}, nil
	}
	return op
}

// Park holds READY events back: they are listed as parked until somebody retries or discards them.
func (o Outbox) Park() change.Operation {
	op := o.parked("outbox park", "parked")
	op.Fields = readyFields
	op.Select = o.selectReady
	op.Build = func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
		return []txn.Part{o.Events.Hold(item.Hold.(outbox.Record), auditOf(note))}, nil
	}
	return op
}

var readyFields = []string{"id", "topic", "tenant", "aggregate", "attempt", "due"}

// selectReady reads the READY events of a selection as the index lists them, and each strongly.
func (o Outbox) selectReady(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
	return func(yield func(change.Item, error) bool) {
		give := func(r outbox.Record, err error) bool {
			if err != nil {
				return yield(change.Item{}, err) && false
			}
			item := o.item(r, s.AsOf)
			item.Skip = notIn(r, outbox.Ready)
			item.Fields["due"] = r.Event.Due.UTC().Format(time.RFC3339Nano)
			return yield(item, nil)
		}
		if len(s.IDs) > 0 {
			for _, id := range s.IDs {
				r, err := o.Events.Get(ctx, o.Client, id)
				if !errors.Is(err, outbox.ErrNotFound) && !give(r, err) {
					return
				}
			}
			return
		}
		for shard := range o.Events.Shards() {
			for listed, err := range o.Events.Ready(ctx, o.Client, shard, farAway, 0) {
				var r outbox.Record
				if err == nil {
					r, err = o.Events.Get(ctx, o.Client, listed.EventID)
				}
				if !give(r, err) {
					return
				}
			}
		}
	}
}

// farAway is behind every due time.
var farAway = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func notIn(r outbox.Record, state outbox.State) string {
	if r.State == state {
		return ""
	}
	return "it is " + string(r.State) + ", not " + string(state)
}

// Pause makes the relays claim nothing more, those that heed it.
func (o Outbox) Pause() change.Operation { return o.turn("outbox pause", "paused", true) }

// Resume lets the relays go on.
func (o Outbox) Resume() change.Operation { return o.turn("outbox resume", "resumed", false) }

func (o Outbox) turn(command, done string, paused bool) change.Operation {
	words := map[bool]string{true: "paused", false: "running"}
	is := func(s outbox.Switch) string {
		if s.Version == 0 {
			return words[false]
		}
		return words[s.Paused] + " since " + s.At.UTC().Format(time.RFC3339) + " by " + s.By
	}
	return change.Operation{
		Command: command, One: "outbox", Many: "outboxes", Done: done, All: true,
		Select: func(ctx context.Context, _ change.Selection) iter.Seq2[change.Item, error] {
			return func(yield func(change.Item, error) bool) {
				read, err := o.Events.Switch(ctx, o.Client)
				if err != nil {
					yield(change.Item{}, err)
					return
				}
				item := change.Item{ID: o.Service, Is: is(read), Hold: read}
				if read.Paused == paused {
					item.Skip = "it is " + item.Is
				}
				yield(item, nil)
			}
		},
		Build: func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
			part := o.Events.Resume
			if paused {
				part = o.Events.Pause
			}
			return []txn.Part{part(item.Hold.(outbox.Switch), auditOf(note))}, nil
		},
		Now: func(ctx context.Context, _ change.Item) (string, error) {
			read, err := o.Events.Switch(ctx, o.Client)
			return is(read), err
		},
	}
}

func auditOf(n change.Note) outbox.Audit { return outbox.Audit{By: n.By, Reason: n.Reason, At: n.At} }

func (o Outbox) parked(command, done string) change.Operation {
	return change.Operation{
		Command: command, One: "event", Many: "events", Done: done, Fields: parkedFields,
		Select: o.selectParked, Now: o.state,
	}
}

// selectParked reads the parked events of a selection, of all shards and to the end of each, as of the plan. They are in the order in
// which they were parked, but for events of one aggregate, which are in the order of their versions.
func (o Outbox) selectParked(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
	return func(yield func(change.Item, error) bool) {
		if len(s.IDs) > 0 {
			o.named(ctx, s.IDs, yield)
			return
		}
		var all []change.Item
		for r, err := range o.Events.Parked(ctx, o.Client) {
			if errors.Is(err, outbox.ErrCorrupt) {
				if !yield(change.Item{ID: cmp.Or(r.Event.ID, "an event that cannot be read")}, err) {
					return
				}
				continue
			}
			if err != nil {
				yield(change.Item{}, err)
				return
			}
			if !r.FailedAt.After(s.AsOf) {
				all = append(all, o.item(r, s.AsOf))
			}
		}
		inOrder(all)
		for _, item := range all {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// inOrder sorts by the time of parking, and puts the events of one aggregate at their places in the order of their versions.
func inOrder(all []change.Item) {
	of := func(i change.Item) outbox.Record { return i.Hold.(outbox.Record) }
	slices.SortStableFunc(all, func(a, b change.Item) int { return of(a).FailedAt.Compare(of(b).FailedAt) })
	type aggregate struct{ tenant, kind, id string }
	places := map[aggregate][]int{}
	for i, item := range all {
		e := of(item).Event
		a := aggregate{e.Tenant, e.AggregateType, e.AggregateID}
		places[a] = append(places[a], i)
	}
	for _, at := range places {
		events := make([]change.Item, len(at))
		for i, place := range at {
			events[i] = all[place]
		}
		slices.SortStableFunc(events, func(a, b change.Item) int {
			return cmp.Compare(of(a).Event.AggregateVersion, of(b).Event.AggregateVersion)
		})
		for i, place := range at {
			all[place] = events[i]
		}
	}
}

func (o Outbox) named(ctx context.Context, ids []string, yield func(change.Item, error) bool) {
	for _, id := range ids {
		r, err := o.Events.Get(ctx, o.Client, id)
		if errors.Is(err, outbox.ErrNotFound) {
			continue
		}
		item := change.Item{ID: id}
		if err == nil {
			item = o.item(r, o.Now())
		} else if !errors.Is(err, outbox.ErrCorrupt) {
			item.ID = ""
		}
		if !yield(item, err) || item.ID == "" {
			return
		}
	}
}

func (o Outbox) item(r outbox.Record, now time.Time) change.Item {
	item := change.Item{
		ID: r.Event.ID, Is: describe(r),
		Fields: change.Fields{
			"id": r.Event.ID, "topic": r.Event.Type, "tenant": r.Event.Tenant, "aggregate": r.Event.AggregateType + "/" + r.Event.AggregateID,
			"cause": r.Cause(), "group": r.Group(), "attempt": strconv.FormatInt(r.Attempt, 10), "age": now.Sub(r.FailedAt).String(),
		},
	}
	r.Event.Payload = nil // a plan of many events must fit the memory
	item.Hold = r
	item.Skip = notIn(r, outbox.Parked)
	return item
}

func describe(r outbox.Record) string {
	switch r.State {
	case outbox.Parked:
		attempts := " attempts: "
		if r.Attempt == 1 {
			attempts = " attempt: "
		}
		return "PARKED after " + strconv.FormatInt(r.Attempt, 10) + attempts + r.Cause()
	case outbox.InFlight:
		return "IN_FLIGHT at " + r.Owner
	default:
		return string(r.State)
	}
}

// state tells what an event is.
func (o Outbox) state(ctx context.Context, item change.Item) (string, error) {
	r, err := o.Events.Get(ctx, o.Client, item.ID)
	if err != nil {
		return "", err
	}
	return describe(r), nil
}
