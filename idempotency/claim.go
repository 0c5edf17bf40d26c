package idempotency

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Claimer are the calls that Begin makes. *dynamodb.Client satisfies it.
type Claimer interface {
	Updater
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Claim is one attempt at a request, which this caller has until its lease ends or it says how it went: with
// [Claim.Complete] or [Claim.Reject], [Claim.Release], or [Claim.Repair]. It is safe for concurrent use.
type Claim struct {
	requests *Requests
	record   Record
	renewed  atomic.Pointer[time.Time] // to when, if it was
}

// leaseUntil is when the lease ends, as far as this claim knows.
func (c *Claim) leaseUntil() time.Time {
	if until := c.renewed.Load(); until != nil {
		return *until
	}
	return c.record.LeaseUntil
}

// Record returns the record as it was claimed.
func (c *Claim) Record() Record { return c.record }

// Attempt returns the number of the attempt, from 1.
func (c *Claim) Attempt() int { return c.record.Attempt }

// Begin claims a request for an attempt that takes more than one transaction (AP08, IDX08). The mode says what the effect
// will be, see [Mode]. Exactly one of any number of concurrent callers gets the claim. For the others, and for repeats, the
// error is, in this order of precedence:
//
//   - [*RecordError], [*VersionError]: the stored record cannot be judged;
//   - [*MismatchError]: the key belongs to another command or another operation;
//   - [*ReplayedError]: the command was completed before, here is its result (see [Replayed]);
//   - [*InProgressError]: another attempt has it; repeat after its RetryAfter;
//   - [*RepairRequiredError]: nobody knows yet what became of an earlier attempt;
//   - [ErrWrite]: no definite answer. Repeat; if it had been applied, the claim ends with its lease.
//
// An attempt whose lease has ended is taken over by exactly one caller if it is [Transactional]. If it is [External] nobody
// takes it over: the first caller who finds it sends it to repair. What decides is the mode and the lease that are stored,
// and the caller's clock; never the record's TTL.
//
// Key and fingerprint are taken at the call; changing the command afterwards changes nothing.
//
// Cost: 1 write unit for each KiB begun of the record, and 1 of the index for an attempt that is listed. A replay costs the
// refused write, 1 unit for each KiB begun of the stored record, and no read; with a [Cache] nothing.
func (r *Requests) Begin(ctx context.Context, client Claimer, request Request, mode Mode) (_ *Claim, err error) {
	ctx, op := r.watch.Begin(ctx, "AP08.begin")
	defer op.End(&err)
	id, key, err := r.identify(request)
	if err != nil {
		return nil, err
	}
	if mode != Transactional && mode != External {
		return nil, &InvalidError{Field: "mode", Reason: "is neither Transactional nor External"}
	}
	now := r.config.Now()
	if err := r.config.Cache.answer(id, now); err != nil {
		return nil, err
	}
	first, item, err := r.first(id, key, mode, now)
	if err != nil {
		return nil, err
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &r.config.Table.Name, Item: item,
		ConditionExpression:                 aws.String("attribute_not_exists(#pk)"),
		ExpressionAttributeNames:            map[string]string{"#pk": r.config.Table.PK},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, watch.In(ctx)...)
	if err == nil {
		return r.claimed(first)
	}
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, errWrite.Wrap(err, "idempotency: begin %s: %v", business(id.tenant, id.key), err)
	}
	stored, err := r.match(id, failed.Item)
	if err != nil {
		return nil, err
	}
	return r.meet(ctx, client, id, stored, first, now)
}

// claimed hands out a claim whose lease has not ended. An answer that took longer is worth nothing: somebody else may have
// the request by now.
func (r *Requests) claimed(rec *Record) (*Claim, error) {
	if now := r.config.Now(); rec.State != InProgress || !now.Before(rec.LeaseUntil) {
		return nil, rec.verdict(now)
	}
	return &Claim{requests: r, record: *rec}, nil
}

// first returns the record of a first attempt, and the item that stores it.
func (r *Requests) first(id *identity, key txn.Item, mode Mode, now time.Time) (*Record, txn.Item, error) {
	token, err := r.newID()
	if err != nil {
		return nil, nil, err
	}
	rec := id.record(InProgress, now)
	rec.Mode, rec.Revision, rec.Owner, rec.ClaimID, rec.LeaseUntil = mode, 1, r.config.Owner, token, now.Add(r.config.Lease)
	item, err := rec.item()
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(item, key)
	place, err := r.config.Map.Place(id.key)
	if err != nil {
		return nil, nil, &InvalidError{Field: "Request.Key", Reason: "has no shard", Cause: err}
	}
	due, err := keys.RepairDue(id.tenant, place.Shard, rec.LeaseUntil, id.key)
	if err == nil {
		_, err = keys.RepairEscalated(id.tenant, place.Shard, rec.LeaseUntil, id.key)
	}
	if err != nil { // found out before there is anything to repair
		return nil, nil, &InvalidError{Field: "Request.Key", Reason: "is too long to be listed for repair", Cause: err}
	}
	if r.watched(mode) {
		item[r.config.IndexPK], item[r.config.IndexSK] = stringAttr(due.PK), stringAttr(due.SK)
		item[attrShard] = numberAttr(int64(place.Shard))
		rec.shard, rec.listedAt = place.Shard, rec.LeaseUntil
	}
	return &rec, item, r.fits(&rec)
}

// watched says whether attempts of this mode are listed from the beginning.
func (r *Requests) watched(mode Mode) bool { return mode == External || r.config.WatchTransactional }

// fits refuses a record beyond the limit.
func (r *Requests) fits(rec *Record) error {
	item, err := rec.item()
	if err != nil {
		return err
	}
	key, err := keys.Request(rec.Tenant, rec.Key)
	if err != nil {
		return &InvalidError{Field: "Request", Reason: "does not give a key", Cause: err}
	}
	maps.Copy(item, r.config.Table.Key(key.PK, key.SK))
	if rec.Reason != "" { // and, from repair, how often it was looked for
		item[attrReason], item[attrProbes] = stringAttr(rec.Reason), numberAttr(int64(rec.Probes))
	}
	if len(rec.Evidence) > 0 {
		item[attrEvidence] = textsAttr(rec.Evidence)
	}
	if rec.shard >= 0 {
		item[attrShard] = numberAttr(int64(rec.shard))
	}
	if rec.listed() {
		due, err := keys.RepairDue(rec.Tenant, rec.shard, rec.listedAt, rec.Key)
		if err != nil {
			return &InvalidError{Field: "Request.Key", Reason: "is too long to be listed for repair", Cause: err}
		}
		item[r.config.IndexPK], item[r.config.IndexSK] = stringAttr(due.PK), stringAttr(due.SK)
	}
	if size := capacity.ItemSize(item) + updateMarkBytes; size > r.config.RecordBytesMax {
		return &TooLargeError{Tenant: rec.Tenant, Key: rec.Key, Bytes: size, BytesMax: r.config.RecordBytesMax}
	}
	return nil
}

// meet decides what a begun attempt means for a record that is there already.
func (r *Requests) meet(ctx context.Context, client Claimer, id *identity, stored, wanted *Record, now time.Time) (*Claim, error) {
	var c *change
	ended := !stored.LeaseUntil.IsZero() && !now.Before(stored.LeaseUntil)
	switch {
	case stored.ClaimID == wanted.ClaimID: // this very attempt: it was applied and its answer lost
		return r.claimed(stored)
	case stored.State == Released:
		c = r.again(stepResume, stored, wanted, now)
	case stored.State == InProgress && ended && stored.Mode == Transactional:
		c = r.again(stepTakeOver, stored, wanted, now)
		c.requireLease()
	case stored.State == InProgress && (ended || stored.LeaseUntil.IsZero()):
		c = r.expire(stored, now)
	default:
		if stored.State == Completed {
			r.config.Cache.keep(stored)
		}
		return nil, stored.verdict(now)
	}
	after, err := c.apply(ctx, client)
	if after == nil {
		return nil, err
	}
	if err == nil && after.State == InProgress {
		return r.claimed(after)
	}
	if err := id.mismatch(after); err != nil { // somebody else came first: another command, if this one was cleaned up
		return nil, err
	}
	return nil, after.verdict(now)
}

// again is the next attempt at a request that nobody has.
func (r *Requests) again(step step, stored, wanted *Record, now time.Time) *change {
	c := r.change(step, stored, now)
	c.Set(attrAttempt, numberAttr(int64(stored.Attempt+1)))
	c.Set(attrMode, stringAttr(wanted.Mode.String()))
	c.held(wanted.Owner, wanted.ClaimID, wanted.LeaseUntil)
	c.Remove(attrReason, attrEvidence, attrProbes) // they were about another attempt, and would mislead a prober
	if r.watched(wanted.Mode) {
		c.due(wanted.LeaseUntil)
	} else if stored.listed() {
		c.unlist()
	}
	return c
}

// expire sends an attempt that nobody may take over to repair. It is due from the end of its lease, which is the place
// in the index that it has.
func (r *Requests) expire(stored *Record, now time.Time) *change {
	c := r.change(stepExpire, stored, now)
	c.requireLease()
	c.left()
	reason, due := "the lease ended without an outcome", stored.LeaseUntil
	if due.IsZero() {
		reason, due = "the record has no lease", now
	}
	c.because(reason, nil)
	c.Set(attrProbes, numberAttr(0))
	c.due(due)
	return c
}

// Complete returns the part that stores the result (AP08), to be committed with the effect if that is transactional, and
// with whatever else is true by it. The transaction is cancelled as a whole if the claim is no longer the record's: by
// another attempt, a repair worker or an operator. The error then holds a [*LeaseLostError], and [Replayed] finds the
// result that the request has by then, if it has one. A lease that has ended alone is no reason: what counts is whether
// anybody else came.
//
// What is wrong with the result is reported by Commit, before anything is sent: [*InvalidError], [*TooLargeError].
//
// Cost: 2 write units for each KiB begun of the record, and 1 of the index if the attempt was listed.
func (c *Claim) Complete(result Result) txn.Part {
	label := "AP08.complete"
	if result.Kind == Rejected {
		label = "AP08.reject"
	}
	if err := result.validate(); err != nil {
		return txn.BadPart(label, err)
	}
	now := c.requests.config.Now()
	change := c.requests.change(stepComplete, &c.record, now)
	change.complete(result.clone(), now)
	return change.part(label)
}

// Reject is [Claim.Complete] for a definite refusal by the business: it is stored and replayed like any result.
//
// Cost: that of Complete.
func (c *Claim) Reject(result Result) txn.Part {
	result.Kind = Rejected
	return c.Complete(result)
}

// Renew lets the lease end at now + lease if that is later than it would, and returns when it ends. It never moves
// backward, also when a clock does. If the claim is no longer the record's, the error is a [*LeaseLostError].
//
// Cost: 1 write unit for each KiB begun of the record, and 2 of the index if the attempt is listed.
func (c *Claim) Renew(ctx context.Context, client Updater, lease time.Duration) (_ time.Time, err error) {
	ctx, op := c.requests.watch.Begin(ctx, "AP08.renew")
	defer op.End(&err)
	if lease <= 0 || lease > LeaseMax {
		return time.Time{}, &InvalidError{Field: "lease", Reason: "must be above zero and at most " + LeaseMax.String()}
	}
	now := c.requests.config.Now()
	until := now.Add(lease)
	change := c.requests.change(stepRenew, &c.record, now)
	text, err := keys.Time(until)
	change.fail("Config.Now", err)
	change.When(change.Name(attrLeaseUntil) + " < " + change.Value(stringAttr(text)))
	change.Set(attrLeaseUntil, stringAttr(text))
	if c.record.listed() {
		change.due(until)
	}
	change.mine = func(stored *Record) bool {
		return stored.State == InProgress && stored.ClaimID == c.record.ClaimID && !stored.LeaseUntil.Before(until)
	}
	after, err := change.apply(ctx, client)
	if err != nil {
		return time.Time{}, err
	}
	c.renewed.Store(&after.LeaseUntil)
	return after.LeaseUntil, nil
}

// Release gives the claim back. The caller vouches that the attempt has had no effect and will have none; the next one may
// begin at once. Of a transactional attempt that is true if nothing was committed.
//
// Cost: 1 write unit for each KiB begun of the record, and 2 of the index if the attempt is listed.
// Errors: [ErrLeaseLost] if the claim is no longer the record's, [ErrWrite] if no answer came; sending it again does no harm.
func (c *Claim) Release(ctx context.Context, client Updater, reason string) (err error) {
	ctx, op := c.requests.watch.Begin(ctx, "AP08.release")
	defer op.End(&err)
	now := c.requests.config.Now()
	change := c.requests.change(stepRelease, &c.record, now)
	change.left()
	change.because(reason, nil)
	if c.record.listed() {
		change.due(now.Add(c.requests.config.RetryHold))
	}
	_, err = change.apply(ctx, client)
	return err
}

// Evidence is what an attempt that does not know its outcome leaves to repair. A process that dies leaves none: let the
// reference by which the effect can be looked up follow from the key and the number of the attempt, which every record has.
type Evidence struct {
	// Reason says what happened, up to [MaxReasonBytes]; more is cut off.
	Reason string
	// Details are references by which the effect can be looked up. Up to [MaxEvidenceBytes] together.
	Details map[string]string
}

// MaxEvidenceBytes is what a record keeps of [Evidence.Details].
const MaxEvidenceBytes = 2048

func (e Evidence) validate() error {
	bytes := 0
	for name, value := range e.Details {
		if name == "" || !utf8.ValidString(name) || !utf8.ValidString(value) {
			return &InvalidError{Field: "Evidence.Details", Reason: "has an empty name or invalid UTF-8"}
		}
		bytes += len(name) + len(value)
	}
	if bytes > MaxEvidenceBytes {
		return &InvalidError{Field: "Evidence.Details", Reason: "are too large"}
	}
	return nil
}

// Repair says that the outcome is not known, and lists the request for repair (AP18, IDX19). It is due from the end of
// the lease on: until then the effect may still be under way.
//
// Cost: 1 write unit for each KiB begun of the record, and 1 of the index if the attempt was not listed (AMP13).
// Errors: [ErrLeaseLost] if the claim is no longer the record's, [ErrWrite] if no answer came; sending it again does no harm.
func (c *Claim) Repair(ctx context.Context, client Updater, evidence Evidence) (err error) {
	ctx, op := c.requests.watch.Begin(ctx, "AP18.repair")
	defer op.End(&err)
	if err := evidence.validate(); err != nil {
		return err
	}
	change := c.requests.change(stepRepair, &c.record, c.requests.config.Now())
	change.left()
	change.because(evidence.Reason, evidence.Details)
	change.Set(attrProbes, numberAttr(0))
	change.due(c.leaseUntil())
	_, err = change.apply(ctx, client)
	return err
}
