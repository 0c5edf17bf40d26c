package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/update"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// change is one step of one event: an update on condition of what was read.
type change struct {
	step    step
	eventID string
	version int64 // that was seen
	// mine recognises in a stored record that this very change was applied before and only its answer was lost.
	mine func(stored txn.Item) bool

	update.Expression
	key txn.Item
	all bool // the answer is the whole record
	err error
}

// seen is what a step has read of a record and names in its condition.
type seen struct {
	eventID string
	shard   int
	version int64
	attempt int64
	claim   string    // the token of the claim; only while IN_FLIGHT
	lease   time.Time // the end of the lease; only while IN_FLIGHT
}

// change begins a step from what was read: state, version and attempt, and the claim if there is one, must be the same
// still. The new version is one higher.
func (o *Outbox) change(step step, s seen) *change {
	rule := transitions[step]
	c := &change{step: step, eventID: s.eventID, version: s.version, err: o.err}
	key, err := keys.Outbox(s.eventID)
	c.fail("EventID", err)
	c.key = o.config.Table.Key(key.PK, key.SK)
	c.Require(attrState, text(string(rule.from)))
	c.Require(attrVersion, number(s.version))
	c.Require(attrAttempt, number(s.attempt))
	if rule.from == InFlight {
		c.Require(attrClaim, text(s.claim))
	}
	if rule.from != rule.to {
		c.Set(attrState, text(string(rule.to)))
	}
	if step != stepRenew {
		c.Set(attrVersion, number(s.version+1))
	}
	return c
}

func (c *change) setTime(attr string, at time.Time) {
	formatted, err := keys.Time(at)
	c.fail(attr, err)
	c.Set(attr, text(formatted))
}

func (c *change) fail(field string, err error) {
	if c.err == nil && err != nil {
		c.err = &InvalidError{EventID: c.eventID, Field: field, Reason: keyReason(err)}
	}
}

// ours requires that the event is listed on the shard that was read, for this service: it may share its table with others.
func (c *change) ours(o *Outbox, shard int) {
	partition := keys.OutboxReadyPartition
	if transitions[c.step].from == Parked {
		partition = keys.OutboxParkedPartition
	}
	pk, err := partition(o.config.Service, shard)
	c.fail("Placement.Shard", err)
	c.Require(o.config.IndexPK, text(pk))
}

// list puts the event into the sparse index, or moves it there.
func (c *change) list(o *Outbox, key keys.Key, err error) {
	c.fail("EventID", err)
	c.Set(o.config.IndexPK, text(key.PK))
	c.Set(o.config.IndexSK, text(key.SK))
}

// due lists the event as READY from a time on.
func (c *change) due(o *Outbox, shard int, at time.Time) {
	key, err := keys.OutboxReady(o.config.Service, shard, at, c.eventID)
	c.list(o, key, err)
	c.setTime(attrDue, at)
}

// apply sends the change. It returns the whole record if the change asks for it, or if it was applied before. A record
// that is no longer what was read makes a [StaleError]; after any other error nobody knows whether it was applied, and
// the same change may be sent again.
func (o *Outbox) apply(ctx context.Context, client UpdateClient, c *change) (txn.Item, error) {
	if c.err != nil {
		return nil, c.err
	}
	in := &dynamodb.UpdateItemInput{
		TableName: &o.config.Table.Name, Key: c.key,
		UpdateExpression: aws.String(c.Update()), ConditionExpression: aws.String(c.Condition()),
		ExpressionAttributeNames: c.Names(), ExpressionAttributeValues: c.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if c.all {
		in.ReturnValues = types.ReturnValueAllNew
	}
	out, err := client.UpdateItem(ctx, in, watch.In(ctx)...)
	if err == nil {
		return out.Attributes, nil
	}
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, errWrite.Wrap(err, "outbox: %s event %q: %v", c.step, c.eventID, err)
	}
	if failed.Item != nil && c.mine != nil && c.mine(failed.Item) {
		return failed.Item, nil
	}
	return nil, stale(c.step, c.eventID, failed.Item)
}

// part makes the change a part of a transaction, beside other writes.
func (c *change) write(o *Outbox) txn.Write {
	return txn.Write{
		Action: txn.ActionUpdate, Table: o.config.Table, Key: c.key,
		Update: c.Update(), Condition: c.Condition(), Names: c.Names(), Values: c.Values(),
		Fence:   true, // the version only rises
		Explain: func(old txn.Item) error { return stale(c.step, c.eventID, old) },
	}
}

// holds says whether a record has this text in an attribute.
func holds(item txn.Item, attr, want string) bool {
	value, ok := item[attr].(*types.AttributeValueMemberS)
	return ok && value.Value == want
}

// stale tells what a change met instead of what it had read.
func stale(step step, eventID string, stored txn.Item) error {
	if stored == nil {
		return &NotFoundError{EventID: eventID}
	}
	in := reader{id: eventID, item: stored}
	in.format()
	met := &StaleError{
		EventID: eventID, Step: string(step), State: State(in.text(attrState)), Version: in.number(attrVersion), Owner: in.optional(attrOwner),
	}
	if in.err != nil {
		return in.err
	}
	return met
}
