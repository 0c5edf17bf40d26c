package outbox

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Audit is the note that an operator's decision leaves beside the event.
type Audit struct {
	// EventID is the event, and Version that of its record after the change.
	EventID string
	Version int64
	// Step is what was done: "redrive", "pass" or "hold".
	Step string
	// By and Reason say who decided, and why. Required, up to MaxReasonBytes each.
	By, Reason string
	// At is when. Required.
	At time.Time
	// Failure and Attempt are why the event was parked, or last failed, and after how many attempts.
	Failure string
	Attempt int64
}

// The attributes of a note, beside the record's own names.
const (
	attrStep   = "step"
	attrBy     = "by"
	attrReason = "reason"
	attrAt     = "at"
)

// Redrive returns the part that makes a parked event READY again, due at a time, with its attempts counted anew, and
// leaves a note of who decided so (AP16). The record is what was read; of the note By, Reason and At are the operator's. If
// the event has changed since, or is one of another service, the Commit fails with a [StaleError].
//
// Cost: 2 write units for each KiB begun of the record and of the note, and 2 of the index.
func (o *Outbox) Redrive(r Record, due time.Time, note Audit) txn.Part {
	c := o.change(stepRedrive, r.seen())
	c.ours(o, r.Placement.Shard)
	c.Set(attrAttempt, number(0))
	c.due(o, r.Placement.Shard, due)
	return o.audited(c, r, note)
}

// Pass returns the part that gives up a parked event for good, and leaves a note of who decided so (AP16). In an ordered
// outbox the next version of the aggregate may then be published. The record stays. Errors as for [Outbox.Redrive].
//
// Cost: 2 write units for each KiB begun of the record and of the note, and 1 of the index.
func (o *Outbox) Pass(r Record, note Audit) txn.Part {
	c := o.change(stepPass, r.seen())
	c.ours(o, r.Placement.Shard)
	c.setTime(attrPassed, note.At)
	c.Remove(o.config.IndexPK, o.config.IndexSK)
	return o.audited(c, r, note)
}

// Hold returns the part that parks a READY event before it is published, and leaves a note of who decided so (AP16): the event is
// listed by [Outbox.Parked] until it is redriven or passed. In an ordered outbox its aggregate stops there. Errors as for
// [Outbox.Redrive].
//
// Cost: as for [Outbox.Redrive].
func (o *Outbox) Hold(r Record, note Audit) txn.Part {
	c := o.change(stepHold, r.seen())
	c.ours(o, r.Placement.Shard)
	c.Set(attrFailure, text(cut("held: "+note.Reason, MaxReasonBytes)))
	c.setTime(attrFailedAt, note.At)
	key, err := keys.OutboxParked(o.config.Service, r.Placement.Shard, note.At, r.Event.ID)
	c.list(o, key, err)
	return o.audited(c, r, note)
}

// audited is a change with its note, one of each.
func (o *Outbox) audited(c *change, r Record, note Audit) txn.Part {
	label := "AP16." + string(c.step)
	if err := note.check(r.Event.ID); err != nil {
		return txn.BadPart(label, err)
	}
	at, err := keys.Time(note.At)
	c.fail("Audit.At", err)
	key, err := keys.OutboxAudit(r.Event.ID, int(r.Version+1))
	c.fail("Version", err)
	if c.err != nil {
		return txn.BadPart(label, c.err)
	}
	item := o.config.Table.Key(key.PK, key.SK)
	item[attrFormat] = &types.AttributeValueMemberN{Value: recordFormat}
	item[attrStep], item[attrBy], item[attrReason] = text(string(c.step)), text(note.By), text(note.Reason)
	item[attrAt], item[attrFailure], item[attrAttempt] = text(at), text(r.Failure), number(r.Attempt)
	return txn.NewPart(label, c.write(o), txn.Write{
		Action: txn.ActionPut, Table: o.config.Table, Item: item,
		Condition: "attribute_not_exists(#pk)", Names: map[string]string{"#pk": o.config.Table.PK}, Fence: true,
		Explain: func(txn.Item) error {
			return &StaleError{EventID: r.Event.ID, Step: string(c.step), State: r.State, Version: r.Version + 1}
		},
	})
}

// Audits returns the notes that operators left beside an event, the oldest first.
//
// Cost: 1 read unit for each 4 KiB begun, strongly consistent.
// Errors: [ErrInvalid], [ErrRead], [ErrCorrupt].
func (o *Outbox) Audits(ctx context.Context, client QueryClient, id string) (_ []Audit, err error) {
	ctx, op := o.watch.Begin(ctx, "AP16.audits")
	defer op.End(&err)
	if o.err != nil {
		return nil, o.err
	}
	key, err := keys.Outbox(id)
	if err != nil {
		return nil, &InvalidError{EventID: id, Field: "id", Reason: keyReason(err)}
	}
	query := &dynamodb.QueryInput{
		TableName: &o.config.Table.Name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk AND begins_with(#sk, :notes)"),
		ExpressionAttributeNames:  map[string]string{"#pk": o.config.Table.PK, "#sk": o.config.Table.SK},
		ExpressionAttributeValues: txn.Item{":pk": text(key.PK), ":notes": text(keys.OutboxAuditPrefix)},
	}
	var notes []Audit
	for {
		page, err := client.Query(ctx, query, watch.In(ctx)...)
		if err != nil {
			return nil, errRead.Wrap(err, "outbox: list notes of event %q: %v", id, err)
		}
		for _, item := range page.Items {
			in := reader{id: id, item: item}
			in.format()
			note := Audit{
				EventID: id, Step: in.text(attrStep), By: in.text(attrBy), Reason: in.text(attrReason), At: in.time(attrAt),
				Failure: in.text(attrFailure), Attempt: in.number(attrAttempt),
			}
			revision, err := strconv.ParseInt(strings.TrimPrefix(in.text(o.config.Table.SK), keys.OutboxAuditPrefix), 10, 64)
			if err != nil {
				in.fail(o.config.Table.SK)
			}
			if note.Version = revision; in.err != nil {
				return nil, in.err
			}
			notes = append(notes, note)
		}
		if page.LastEvaluatedKey == nil {
			return notes, nil
		}
		query.ExclusiveStartKey = page.LastEvaluatedKey
	}
}
