package idempotency

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/update"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Updater is the call that changes one record. *dynamodb.Client satisfies it.
type Updater interface {
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// change is one step of one record: an update on condition of what was read.
type change struct {
	requests *Requests
	step     step
	read     *Record
	// mine recognises in a stored record that this very change was applied before and only its answer was lost.
	mine func(stored *Record) bool

	update.Expression
	key txn.Item
	err error
}

// change begins a step from what was read: state, attempt, claim and revision must be the same still. The new revision is
// one higher.
func (r *Requests) change(step step, read *Record, now time.Time) *change {
	rule := transitions[step]
	c := &change{requests: r, step: step, read: read, err: r.err}
	key, err := keys.Request(read.Tenant, read.Key)
	c.fail("Request", err)
	c.key = r.config.Table.Key(key.PK, key.SK)
	c.Require(attrState, stringAttr(string(rule.from)))
	c.Require(attrAttempt, numberAttr(int64(read.Attempt)))
	if read.Revision > 0 {
		c.Require(attrRevision, numberAttr(read.Revision))
	} else {
		c.RequireNone(attrRevision)
	}
	if read.ClaimID != "" {
		c.Require(attrClaim, stringAttr(read.ClaimID))
	}
	if rule.from != rule.to {
		c.Set(attrState, stringAttr(string(rule.to)))
	}
	if step != stepRenew {
		c.Set(attrRevision, numberAttr(read.Revision+1))
	}
	c.setTime(attrUpdatedAt, now)
	return c
}

func (c *change) setTime(attribute string, at time.Time) {
	text, err := keys.Time(at)
	c.fail("Config.Now", err)
	c.Set(attribute, stringAttr(text))
}

// requireLease is for who takes away what another one had: the lease that was read, ended, must be the one that is stored.
func (c *change) requireLease() {
	if c.read.LeaseUntil.IsZero() {
		c.RequireNone(attrLeaseUntil)
		return
	}
	until, err := keys.Time(c.read.LeaseUntil)
	c.fail("Config.Now", err)
	c.Require(attrLeaseUntil, stringAttr(until))
}

func (c *change) fail(field string, err error) {
	if c.err == nil && err != nil {
		c.err = &InvalidError{Field: field, Reason: "gives no key or time that can be stored", Cause: err}
	}
}

// held gives the record to a new owner.
func (c *change) held(owner, claim string, until time.Time) {
	if owner != "" {
		c.Set(attrOwner, stringAttr(owner))
	} else if c.read.Owner != "" {
		c.Remove(attrOwner)
	}
	c.Set(attrClaim, stringAttr(claim))
	c.setTime(attrLeaseUntil, until)
	c.mine = func(stored *Record) bool { return stored.ClaimID == claim }
}

// left ends the hold of the claim that was read. Its token stays: by it the step recognises itself.
func (c *change) left() {
	c.Remove(attrLeaseUntil)
	to := transitions[c.step].to
	c.mine = func(stored *Record) bool {
		return stored.State == to && stored.ClaimID == c.read.ClaimID && stored.Revision == c.read.Revision+1
	}
}

// because keeps why, and what was known then. A step to the same state that somebody else took for another reason is not
// this one: what was known here is not stored.
func (c *change) because(reason string, evidence map[string]string) {
	reason = cut(reason, MaxReasonBytes)
	c.Set(attrReason, stringAttr(reason))
	if len(evidence) > 0 {
		c.Set(attrEvidence, textsAttr(evidence))
	}
	if same := c.mine; same != nil {
		c.mine = func(stored *Record) bool {
			return same(stored) && stored.Reason == reason && (len(evidence) == 0 || maps.Equal(stored.Evidence, evidence))
		}
	}
}

// due lists the record in the queue of repair from a time on.
func (c *change) due(at time.Time) {
	key, err := keys.RepairDue(c.read.Tenant, c.shard(), at, c.read.Key)
	c.list(key, err)
}

// escalated lists the record for operators.
func (c *change) escalated(at time.Time) {
	key, err := keys.RepairEscalated(c.read.Tenant, c.shard(), at, c.read.Key)
	c.list(key, err)
}

func (c *change) list(key keys.Key, err error) {
	c.fail("Request.Key", err)
	c.Set(c.requests.config.IndexPK, stringAttr(key.PK))
	c.Set(c.requests.config.IndexSK, stringAttr(key.SK))
}

// shard returns the shard that the record has had since it was first listed.
func (c *change) shard() int {
	if c.read.shard >= 0 {
		return c.read.shard
	}
	place, err := c.requests.config.Map.Place(c.read.Key)
	c.fail("Request.Key", err)
	c.Set(attrShard, numberAttr(int64(place.Shard)))
	return place.Shard
}

func (c *change) unlist() { c.Remove(c.requests.config.IndexPK, c.requests.config.IndexSK) }

// complete stores the result and takes the record out of the index.
func (c *change) complete(result Result, now time.Time) {
	config := &c.requests.config
	expiresAt, err := config.expiry(now)
	if c.err == nil {
		c.err = err
	}
	after := *c.read
	after.State, after.Result, after.UpdatedAt, after.expiresAt = Completed, result, now, expiresAt
	after.LeaseUntil, after.listedAt = time.Time{}, time.Time{}
	if c.err == nil {
		c.err = c.requests.fits(&after)
	}
	for name, value := range result.attributes() {
		c.Set(name, value)
	}
	if expiresAt != 0 {
		c.Set(attrExpiresAt, numberAttr(expiresAt))
	}
	c.Remove(attrLeaseUntil)
	c.unlist()
}

// apply sends the change by itself and returns the record as it is then, also if it was applied before and its answer was
// lost. A record that is no longer what was read makes a [LeaseLostError], beside the record if there is one; after any other
// error nobody knows.
func (c *change) apply(ctx context.Context, client Updater) (*Record, error) {
	if c.err != nil {
		return nil, c.err
	}
	config := &c.requests.config
	out, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &config.Table.Name, Key: c.key,
		UpdateExpression: aws.String(c.Update()), ConditionExpression: aws.String(c.Condition()),
		ExpressionAttributeNames: c.Names(), ExpressionAttributeValues: c.Values(),
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, watch.In(ctx)...)
	if err == nil {
		return config.decode(c.read.Tenant, c.read.Key, out.Attributes)
	}
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, errWrite.Wrap(err, "idempotency: %s of %s: %v", c.step, business(c.read.Tenant, c.read.Key), err)
	}
	stored, lost := c.lost(failed.Item)
	if stored != nil && c.mine != nil && c.mine(stored) {
		return stored, nil
	}
	return stored, lost
}

// write makes the change a write of a transaction, beside others.
func (c *change) write() txn.Write {
	return txn.Write{
		Action: txn.ActionUpdate, Table: c.requests.config.Table, Key: c.key,
		Update: c.Update(), Condition: c.Condition(), Names: c.Names(), Values: c.Values(),
		Fence:   true, // the revision only rises
		Settles: true,
		Explain: func(old txn.Item) error {
			_, err := c.lost(old)
			return err
		},
	}
}

// part makes the change a part of its own.
func (c *change) part(label string) txn.Part {
	if c.err != nil {
		return txn.BadPart(label, c.err)
	}
	return txn.NewPart(label, c.write())
}

// lost tells what a change met instead of what it had read. The result of another command is given away to nobody.
func (c *change) lost(item txn.Item) (*Record, error) {
	e := &LeaseLostError{Tenant: c.read.Tenant, Key: c.read.Key, Step: string(c.step), Attempt: c.read.Attempt}
	if len(item) == 0 {
		return nil, e
	}
	stored, err := c.requests.config.decode(c.read.Tenant, c.read.Key, item)
	if err != nil {
		return nil, err
	}
	e.StoredAttempt, e.State, e.Owner = stored.Attempt, stored.State, stored.Owner
	if stored.State == Completed && stored.Fingerprint == c.read.Fingerprint {
		e.Replayed = &ReplayedError{Tenant: stored.Tenant, Key: stored.Key, Result: stored.Result.clone(), CreatedAt: stored.UpdatedAt}
	}
	return stored, e
}

// MaxReasonBytes is what a record keeps of a reason.
const MaxReasonBytes = 512

// cut shortens what others say to what a record has room for, at a whole character.
func cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
