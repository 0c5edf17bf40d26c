package inbox

import (
	"context"
	"maps"
	"time"

	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// LabelReceive is the label of the parts of [Inbox.Receive] in errors, observations and cost reports.
const LabelReceive = "AP09.receive"

// Receive returns the part that records an event as processed in the transaction that gives it its effect (AP09,
// IDX09): the receipt is created only if there is none, under any live version of the shard map. The transaction succeeds
// for one delivery of an event; for every other it is cancelled as a whole, without another read, and the error is one of
//
//   - [*RecordError]: the stored receipt cannot be judged;
//   - [*MismatchError]: another event was processed under this ID;
//   - [*DuplicateError]: this very event was processed before, and here is the effect it had (see [Duplicate]).
//
// Each of them settles the Commit: reasons of other parts, which then lost against their own earlier selves, are not
// reported. Receive sends nothing; what is wrong with event, effect or configuration is reported by Commit as an
// [InvalidError], before anything is sent. The effect names what came of the event, for whoever delivers it again; it may be
// nil, and is taken at the call.
//
// Cost: one item of at most 1 KiB, 2 write units; 2 more for every other live version of the shard map.
func (in *Inbox) Receive(e Event, effect map[string]string) txn.Part {
	return in.receive(e, effect, in.config.Now())
}

func (in *Inbox) receive(e Event, effect map[string]string, at time.Time) txn.Part {
	places, err := in.places(e)
	if err != nil {
		return txn.BadPart(LabelReceive, err)
	}
	item, err := in.newRecord(e, effect, at, places[0])
	if err != nil {
		return txn.BadPart(LabelReceive, err)
	}
	e.Payload = append([]byte(nil), e.Payload...)
	absent := txn.Write{
		Table:     in.config.Table,
		Condition: "attribute_not_exists(#pk)",
		Names:     map[string]string{"#pk": in.config.Table.PK},
		Settles:   true,
		Explain:   func(old txn.Item) error { return in.judge(e, old) },
	}
	writes := make([]txn.Write, len(places))
	for i, p := range places {
		writes[i] = absent
		if i == 0 {
			writes[i].Action, writes[i].Item, writes[i].Fence = txn.ActionPut, item, true
		} else {
			writes[i].Action, writes[i].Key = txn.ActionCheck, in.config.Table.Key(p.key.PK, p.key.SK)
		}
	}
	return txn.NewPart(LabelReceive, writes...)
}

// Committer commits the parts of one transaction. *txn.Committer satisfies it.
type Committer interface {
	// Commit writes all parts or none; see [txn.Committer.Commit] for its errors.
	Commit(ctx context.Context, parts ...txn.Part) (txn.Receipt, error)
}

// Outcome is what became of an event.
type Outcome struct {
	// Duplicate says that the event was processed by an earlier delivery, and this one did nothing.
	Duplicate bool
	// Effect is what came of the event: the effect given, or for a duplicate the stored one.
	Effect map[string]string
	// ProcessedAt is when the event took effect, in UTC.
	ProcessedAt time.Time
	// Commit is the receipt of the transaction, with its units; empty for a duplicate.
	Commit txn.Receipt
}

// Process commits the parts, which are the event's effect on the consumer's protected state, together with its receipt:
// once, however often, by whichever transport and wherever the event is delivered (AP09). A nil error means that the event
// has had its effect exactly once, now or before: acknowledge the message. After any other error do not: deliver again, unless
// it is a [MismatchError] or [InvalidError], or a reason of the parts, which no repeat can cure.
//
// Errors: those of [Inbox.Receive] but [DuplicateError], of the parts, and of [txn.Committer.Commit].
//
// Cost: 2 write units for the receipt and those of the parts. With one item of protected state of up to 1 KiB it is 4.
func (in *Inbox) Process(ctx context.Context, committer Committer, e Event, effect map[string]string, parts ...txn.Part) (_ Outcome, err error) {
	ctx, op := in.watch.Begin(ctx, "AP09.process")
	defer op.End(&err)
	at := in.config.Now()
	all := append([]txn.Part{in.receive(e, effect, at)}, parts...)
	receipt, err := committer.Commit(ctx, all...)
	if duplicate, ok := Duplicate(err); ok && duplicate.EventID == e.ID && duplicate.Consumer == in.config.Consumer {
		watch.Outcome(ctx, observe.Replayed)
		return Outcome{Duplicate: true, Effect: duplicate.Effect, ProcessedAt: duplicate.ProcessedAt}, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Effect: maps.Clone(effect), ProcessedAt: at.UTC(), Commit: receipt}, nil
}
