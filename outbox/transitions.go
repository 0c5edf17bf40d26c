package outbox

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// UpdateClient is the call that changes one event. *dynamodb.Client satisfies it.
type UpdateClient interface {
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// What a record keeps of a reason and of a broker's answer, in bytes.
const (
	MaxReasonBytes = 512
	MaxAckBytes    = 1024
)

// cut shortens what others say to what a record has room for, at a whole character.
func cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// claim is READY -> IN_FLIGHT for a new owner. The answer is the whole record.
func (o *Outbox) claim(s seen, owner, token string, lease time.Time) *change {
	c := o.change(stepClaim, s)
	c.When("attribute_not_exists(" + c.Name(attrLease) + ")")
	c.Set(attrAttempt, number(s.attempt+1))
	c.Set(attrOwner, text(owner))
	c.Set(attrClaim, text(token))
	c.setTime(attrLease, lease)
	c.Remove(o.config.IndexPK, o.config.IndexSK)
	c.mine = func(stored txn.Item) bool {
		return holds(stored, attrState, string(InFlight)) && holds(stored, attrClaim, token)
	}
	c.all = true
	return c
}

// renew moves the end of a lease, only ever forward.
func (o *Outbox) renew(s seen, lease time.Time) *change {
	c := o.change(stepRenew, s)
	until, err := keys.Time(lease)
	c.fail(attrLease, err)
	c.When(c.Name(attrLease) + " < " + c.Value(text(until)))
	c.Set(attrLease, text(until))
	c.mine = func(stored txn.Item) bool {
		return holds(stored, attrClaim, s.claim) && holds(stored, attrLease, until)
	}
	return c
}

// complete is IN_FLIGHT -> COMPLETED with the broker's answer. The record may be cleaned up at expires, never if that is
// zero.
func (o *Outbox) complete(s seen, ack string, at, expires time.Time) *change {
	c := o.change(stepComplete, s)
	c.Set(attrAck, text(cut(ack, MaxAckBytes)))
	c.setTime(attrCompleted, at)
	if !expires.IsZero() {
		seconds, err := keys.Expiry(expires)
		c.fail(o.config.TTL, err)
		c.Set(o.config.TTL, number(seconds))
	}
	c.Remove(attrLease)
	c.mine = func(stored txn.Item) bool {
		return holds(stored, attrState, string(Completed)) && holds(stored, attrClaim, s.claim)
	}
	return c
}

// retry is IN_FLIGHT -> READY by the owner, with a reason and another due time.
func (o *Outbox) retry(s seen, reason string, at, due time.Time) *change {
	return o.release(stepRetry, s, reason, at, due)
}

// recover is IN_FLIGHT -> READY by anybody, once the lease that was read has ended and is that lease still.
func (o *Outbox) recover(s seen, reason string, at, due time.Time) *change {
	return o.release(stepRecover, s, reason, at, due).leaseIs(s.lease)
}

func (o *Outbox) release(step step, s seen, reason string, at, due time.Time) *change {
	c := o.change(step, s)
	c.failed(s, reason, at)
	c.due(o, s.shard, due)
	return c
}

// park is IN_FLIGHT -> PARKED by the owner, with a reason.
func (o *Outbox) park(s seen, reason string, at time.Time) *change {
	return o.bury(stepPark, s, reason, at)
}

// giveUp is IN_FLIGHT -> PARKED by anybody, once the lease that was read has ended and is that lease still.
func (o *Outbox) giveUp(s seen, reason string, at time.Time) *change {
	return o.bury(stepGiveUp, s, reason, at).leaseIs(s.lease)
}

func (o *Outbox) bury(step step, s seen, reason string, at time.Time) *change {
	c := o.change(step, s)
	c.failed(s, reason, at)
	key, err := keys.OutboxParked(o.config.Service, s.shard, at, s.eventID)
	c.list(o, key, err)
	return c
}

// failed ends a claim without success. Its token stays as that of the last claim: by it a repeat finds that it was
// applied.
func (c *change) failed(s seen, reason string, at time.Time) {
	c.Set(attrFailure, text(cut(reason, MaxReasonBytes)))
	c.setTime(attrFailedAt, at)
	c.Set(attrLastClaim, text(s.claim))
	c.Remove(attrOwner, attrClaim, attrLease)
	c.mine = func(stored txn.Item) bool {
		return holdsVersion(stored, s.version+1) && holds(stored, attrLastClaim, s.claim)
	}
}

func (c *change) leaseIs(lease time.Time) *change {
	until, err := keys.Time(lease)
	c.fail(attrLease, err)
	c.Require(attrLease, text(until))
	return c
}

// fence raises the version of a READY event and nothing else: a claim that saw the old version can never be applied.
func (o *Outbox) fence(s seen) *change {
	c := o.change(stepFence, s)
	c.mine = func(stored txn.Item) bool {
		return holds(stored, attrState, string(Ready)) && !holdsVersion(stored, s.version)
	}
	return c
}

func holdsVersion(stored txn.Item, version int64) bool {
	value, ok := stored[attrVersion].(*types.AttributeValueMemberN)
	return ok && value.Value == strconv.FormatInt(version, 10)
}

// reschedule moves a READY event to another due time.
func (o *Outbox) reschedule(s seen, due time.Time) *change {
	c := o.change(stepReschedule, s)
	c.ours(o, s.shard)
	c.due(o, s.shard, due)
	at, err := keys.Time(due)
	c.fail("due", err)
	c.mine = func(stored txn.Item) bool {
		return holds(stored, attrState, string(Ready)) && holdsVersion(stored, s.version+1) && holds(stored, attrDue, at)
	}
	return c
}

// Reschedule moves a READY event to another due time (AP16). The record is what was read: if it has changed since, or is one
// of another service, the error is a [StaleError] and nothing changes. Repeating it is safe.
//
// Cost: 1 write unit for each KiB begun of the record, and 2 of the index.
func (o *Outbox) Reschedule(ctx context.Context, client UpdateClient, r Record, due time.Time) (err error) {
	ctx, op := o.watch.Begin(ctx, "AP16.reschedule")
	defer op.End(&err)
	_, err = o.apply(ctx, client, o.reschedule(r.seen(), due))
	return err
}
