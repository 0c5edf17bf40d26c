package idempotency

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Audit is the note that an operator's decision leaves beside a request.
type Audit struct {
	// By and Reason say who decided, and why. Required, up to MaxReasonBytes each.
	By, Reason string
	// At is when. Required.
	At time.Time

	// Step is what was done: "settle", "free" or "requeue". Tenant, Key and Revision are the request and the revision of its
	// record after it; Attempt is the attempt it was about and Escalated why it was escalated. They are filled in.
	Step        string
	Tenant, Key string
	Revision    int64
	Attempt     int
	Escalated   string
}

const (
	attrStep      = "step"
	attrBy        = "by"
	attrAt        = "at"
	attrEscalated = "escalated"
)

// Settle returns the part by which an operator completes an escalated request with a result, accepted or rejected, and
// leaves a note (AP18). Other parts may be committed with it. The record is what was read: if it has changed since, the
// Commit fails with a [*LeaseLostError].
//
// Cost: 2 write units for each KiB begun of the record and of the note, and 1 of the index.
func (r *Requests) Settle(rec Record, result Result, note Audit) txn.Part {
	if err := result.validate(); err != nil {
		return txn.BadPart("AP18.settle", err)
	}
	c := r.change(stepSettle, &rec, note.At)
	c.complete(result.clone(), note.At)
	return c.audited(note)
}

// Free returns the part by which an operator vouches that an escalated request has had no effect and will have none, and
// leaves a note (AP18). Its client may repeat it then. Errors and cost as for [Requests.Settle], with 2 units of the index.
func (r *Requests) Free(rec Record, note Audit) txn.Part {
	c := r.change(stepFree, &rec, note.At)
	c.because(note.Reason, nil)
	c.due(note.At.Add(r.config.RetryHold))
	return c.audited(note)
}

// Requeue returns the part by which an operator sends an escalated request back to the repair workers, due at a time, and
// leaves a note (AP18). Errors and cost as for [Requests.Free].
func (r *Requests) Requeue(rec Record, due time.Time, note Audit) txn.Part {
	c := r.change(stepRequeue, &rec, note.At)
	c.Set(attrProbes, numberAttr(0))
	c.due(due)
	return c.audited(note)
}

// audited is a change with its note, one of each.
func (c *change) audited(note Audit) txn.Part {
	label := "AP18." + string(c.step)
	for _, field := range []struct{ name, value string }{{"Audit.By", note.By}, {"Audit.Reason", note.Reason}} {
		if field.value == "" || cut(field.value, MaxReasonBytes) != field.value {
			return txn.BadPart(label, &InvalidError{Field: field.name, Reason: "is not UTF-8 of 1 to " + strconv.Itoa(MaxReasonBytes) + " bytes"})
		}
	}
	at, err := keys.Time(note.At)
	if err != nil || note.At.IsZero() {
		return txn.BadPart(label, &InvalidError{Field: "Audit.At", Reason: "is missing or out of range"})
	}
	key, err := keys.RequestAudit(c.read.Tenant, c.read.Key, int(c.read.Revision+1))
	c.fail("Record.Revision", err)
	if c.err != nil {
		return txn.BadPart(label, c.err)
	}
	table := c.requests.config.Table
	item := table.Key(key.PK, key.SK)
	item[attrVersion], item[attrStep], item[attrAt] = numberAttr(recordVersion), stringAttr(string(c.step)), stringAttr(at)
	item[attrBy], item[attrReason] = stringAttr(note.By), stringAttr(note.Reason)
	item[attrAttempt], item[attrEscalated] = numberAttr(int64(c.read.Attempt)), stringAttr(c.read.Reason)
	return txn.NewPart(label, c.write(), txn.Write{
		Action: txn.ActionPut, Table: table, Item: item,
		Condition: "attribute_not_exists(#pk)", Names: map[string]string{"#pk": table.PK}, Fence: true,
	})
}

// Audits returns the notes that operators left beside a request, the oldest first. They stay when the record is cleaned
// up.
//
// Cost: 1 read unit for each 4 KiB begun, strongly consistent.
// Errors: [ErrInvalid], [ErrRead], [ErrRecord].
func (r *Requests) Audits(ctx context.Context, client QueryClient, tenant, key string) (_ []Audit, err error) {
	ctx, op := r.watch.Begin(ctx, "AP18.audits")
	defer op.End(&err)
	if r.err != nil {
		return nil, r.err
	}
	place, err := keys.Request(tenant, key)
	if err != nil {
		return nil, &InvalidError{Field: "Request", Reason: "does not give a key", Cause: err}
	}
	query := &dynamodb.QueryInput{
		TableName: &r.config.Table.Name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk AND begins_with(#sk, :notes)"),
		ExpressionAttributeNames:  map[string]string{"#pk": r.config.Table.PK, "#sk": r.config.Table.SK},
		ExpressionAttributeValues: txn.Item{":pk": stringAttr(place.PK), ":notes": stringAttr(keys.RequestAuditPrefix)},
	}
	var notes []Audit
	for more := true; more; more = query.ExclusiveStartKey != nil {
		page, err := client.Query(ctx, query, watch.In(ctx)...)
		if err != nil {
			return nil, errRead.Wrap(err, "idempotency: notes of %s: %v", business(tenant, key), err)
		}
		for _, item := range page.Items {
			note, err := r.note(tenant, key, item)
			if err != nil {
				return nil, err
			}
			notes = append(notes, note)
		}
		query.ExclusiveStartKey = page.LastEvaluatedKey
	}
	return notes, nil
}

func (r *Requests) note(tenant, key string, item txn.Item) (Audit, error) {
	d := &decoder{tenant: tenant, key: key, item: item}
	_, _, revision, err := keys.ParseRequestAudit(keys.Key{PK: d.text(r.config.Table.PK), SK: d.text(r.config.Table.SK)})
	if err != nil {
		d.fail(r.config.Table.SK, "is no key of a note")
	}
	note := Audit{Tenant: tenant, Key: key, Revision: int64(revision), Step: d.text(attrStep), By: d.text(attrBy), Reason: d.text(attrReason),
		At: d.time(attrAt), Attempt: int(d.number(attrAttempt)), Escalated: d.text(attrEscalated)}
	return note, d.err
}
