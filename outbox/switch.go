package outbox

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/update"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

const attrPaused = "paused"

// Switch is what operators have set for the relays of a service that heed it; see [RelayConfig.Heed].
type Switch struct {
	// Paused says that nothing is to be claimed.
	Paused bool
	// Version rises with every change; 0 if nobody ever paused.
	Version int64
	// By, Reason and At are who changed it last, why and when.
	By, Reason string
	At         time.Time
}

// Switch reads the switch of the service, strongly.
//
// Cost: 1 read unit.
// Errors: [ErrInvalid], [ErrRead], [ErrCorrupt].
func (o *Outbox) Switch(ctx context.Context, client Client) (s Switch, err error) {
	ctx, op := o.watch.Begin(ctx, "AP16.switch")
	defer op.End(&err)
	return o.readSwitch(ctx, client)
}

func (o *Outbox) readSwitch(ctx context.Context, client Client) (Switch, error) {
	if o.err != nil {
		return Switch{}, o.err
	}
	key, err := keys.OutboxSwitch(o.config.Service)
	if err != nil {
		return Switch{}, &InvalidError{Field: "Config.Service", Reason: keyReason(err)}
	}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &o.config.Table.Name, Key: o.config.Table.Key(key.PK, key.SK), ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return Switch{}, errRead.Wrap(err, "outbox: read the switch of service %q: %v", o.config.Service, err)
	}
	if out.Item == nil {
		return Switch{}, nil
	}
	return decodeSwitch(out.Item)
}

func decodeSwitch(item txn.Item) (Switch, error) {
	in := reader{id: "switch", item: item}
	in.format()
	paused, ok := item[attrPaused].(*types.AttributeValueMemberBOOL)
	if !ok {
		in.fail(attrPaused)
		return Switch{}, in.err
	}
	s := Switch{Paused: paused.Value, Version: in.number(attrVersion), By: in.text(attrBy), Reason: in.text(attrReason), At: in.time(attrAt)}
	return s, in.err
}

// Pause returns the part that makes the relays that heed it claim nothing more, from their next round on (AP16). The switch is what was
// read; of the note By, Reason and At count. If it has changed since, the Commit fails with a [StaleError].
//
// Cost: 2 write units.
func (o *Outbox) Pause(read Switch, note Audit) txn.Part { return o.turn(read, true, note) }

// Resume returns the part that lets the relays go on. Errors and cost as for [Outbox.Pause].
func (o *Outbox) Resume(read Switch, note Audit) txn.Part { return o.turn(read, false, note) }

func (o *Outbox) turn(read Switch, paused bool, note Audit) txn.Part {
	step := map[bool]string{true: "pause", false: "resume"}[paused]
	label := "AP16." + step
	key, err := keys.OutboxSwitch(o.config.Service)
	switch {
	case o.err != nil:
		return txn.BadPart(label, o.err)
	case err != nil:
		return txn.BadPart(label, &InvalidError{Field: "Config.Service", Reason: keyReason(err)})
	case read.Paused == paused:
		return txn.BadPart(label, &StaleError{EventID: "switch of " + o.config.Service, Step: step, Version: read.Version})
	}
	if err := note.check(""); err != nil {
		return txn.BadPart(label, err)
	}
	at, err := keys.Time(note.At)
	if err != nil {
		return txn.BadPart(label, &InvalidError{Field: "Audit.At", Reason: keyReason(err)})
	}
	var e update.Expression
	if read.Version == 0 {
		e.RequireNone(attrVersion)
	} else {
		e.Require(attrVersion, number(read.Version))
	}
	e.Set(attrFormat, &types.AttributeValueMemberN{Value: recordFormat})
	e.Set(attrPaused, &types.AttributeValueMemberBOOL{Value: paused})
	e.Set(attrVersion, number(read.Version+1))
	e.Set(attrBy, text(note.By))
	e.Set(attrReason, text(note.Reason))
	e.Set(attrAt, text(at))
	return txn.NewPart(label, txn.Write{
		Action: txn.ActionUpdate, Table: o.config.Table, Key: o.config.Table.Key(key.PK, key.SK),
		Update: e.Update(), Condition: e.Condition(), Names: e.Names(), Values: e.Values(),
		Fence: true, // the version only rises
		Explain: func(old txn.Item) error {
			stored, err := decodeSwitch(old)
			if err != nil {
				return err
			}
			return &StaleError{EventID: "switch of " + o.config.Service, Step: step, Version: stored.Version, Owner: stored.By}
		},
	})
}

// check holds what an operator has to say against its rules.
func (a Audit) check(eventID string) error {
	for _, field := range []struct{ name, value string }{{"Audit.By", a.By}, {"Audit.Reason", a.Reason}} {
		if field.value == "" || cut(field.value, MaxReasonBytes) != field.value {
			return &InvalidError{EventID: eventID, Field: field.name, Reason: "is not UTF-8 of 1 to " + strconv.Itoa(MaxReasonBytes) + " bytes"}
		}
	}
	if _, err := keys.Time(a.At); err != nil || a.At.IsZero() {
		return &InvalidError{EventID: eventID, Field: "Audit.At", Reason: "is missing or out of range"}
	}
	return nil
}

// paused says whether an operator has paused the relay. Whoever cannot read the switch goes on: a pause is a help for operators, and no
// outage of it may become one of publishing.
func (r *Relay) paused(ctx context.Context) bool {
	if !r.config.Heed {
		return false
	}
	var set Switch
	err := r.try(ctx, "AP16.switch", func(ctx context.Context) (err error) {
		set, err = r.events.readSwitch(ctx, r.client)
		return err
	})
	return err == nil && set.Paused
}
