package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// The attributes of a record. They are a public format: see the golden files in testdata/items.
const (
	attrFormat           = "v"
	attrState            = "state"
	attrVersion          = "version"
	attrAttempt          = "attempt"
	attrDue              = "dueAt"
	attrMapVersion       = "shardMapVersion"
	attrHashVersion      = "hashVersion"
	attrShard            = "shard"
	attrEventID          = "eventId"
	attrTenant           = "tenant"
	attrAggregateType    = "aggregateType"
	attrAggregateID      = "aggregateId"
	attrAggregateVersion = "aggregateVersion"
	attrType             = "eventType"
	attrSchemaVersion    = "schemaVersion"
	attrOccurred         = "occurredAt"
	attrCausation        = "causationId"
	attrTrace            = "traceId"
	attrPayload          = "payload"
	attrDigest           = "digest"
	attrEncoding         = "encoding"
	attrOwner            = "owner"
	attrClaim            = "claim"
	attrLease            = "leaseUntil"
	attrFailure          = "failure"
	attrFailedAt         = "failedAt"
	attrLastClaim        = "lastClaim"
	attrAck              = "ack"
	attrCompleted        = "completedAt"
	attrPassed           = "passedAt"
)

// attributes are the names that a record, a journal or a note uses, none of which may be a key's.
var attributes = []string{
	attrFormat, attrState, attrVersion, attrAttempt, attrDue, attrMapVersion, attrHashVersion, attrShard, attrEventID,
	attrTenant, attrAggregateType, attrAggregateID, attrAggregateVersion, attrType, attrSchemaVersion, attrOccurred,
	attrCausation, attrTrace, attrPayload, attrDigest, attrEncoding, attrOwner, attrClaim, attrLease, attrFailure, attrFailedAt,
	attrLastClaim, attrAck, attrCompleted, attrPassed, attrEvents, attrStep, attrBy, attrReason, attrAt, attrPaused,
	txn.MarkAttribute, txn.UpdateMarkAttribute,
}

// recordFormat is the format that this package writes and reads.
const recordFormat = "1"

// projected are the attributes that the READY index carries besides the keys: what a relay needs to choose and to
// claim. An index's projection cannot be changed later, so it has the aggregate as well.
var projected = []string{
	attrVersion, attrAttempt, attrTenant, attrAggregateType, attrAggregateID, attrAggregateVersion, attrType,
}

// MaxRecordBytes is how large the record of a new event may be: the limit of an item, less 4 KiB that its later states
// need for the lease, the failures and the broker's answer.
const MaxRecordBytes = capacity.MaxItemBytes - 4*1024

// markBytes is what txn adds to a record: the attribute and a mark of at most 36 bytes.
const markBytes = len(txn.MarkAttribute) + 36

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// newRecord returns the item of a new event: state READY, version 1, attempt 0, no lease, listed in the index.
func (o *Outbox) newRecord(e Event, digest []byte) (txn.Item, error) {
	if o.err != nil {
		return nil, o.err
	}
	if err := e.validate(); err != nil {
		return nil, err
	}
	bad := func(field string, err error) error {
		return &InvalidError{EventID: e.ID, Field: field, Reason: keyReason(err)}
	}
	if o.config.Ordered && e.ID != e.OrderedID() {
		return nil, &InvalidError{EventID: e.ID, Field: "ID", Reason: "is not OrderedID, as an ordered outbox needs it"}
	}
	key, err := keys.Outbox(e.ID)
	if err != nil {
		return nil, bad("ID", err)
	}
	occurred, err := keys.Time(e.OccurredAt)
	if err != nil {
		return nil, bad("OccurredAt", err)
	}
	due, err := keys.Time(e.due())
	if err != nil {
		return nil, bad("Due", err)
	}
	place, err := o.place(e)
	if errors.Is(err, shardmap.ErrKey) {
		return nil, bad("ID", err)
	} else if err != nil {
		return nil, fmt.Errorf("outbox: create event %q: %w", e.ID, err)
	}
	ready, err := keys.OutboxReady(o.config.Service, place.Shard, e.due(), e.ID)
	if err != nil {
		return nil, bad("ID", err)
	}
	item := o.config.Table.Key(key.PK, key.SK)
	item[o.config.IndexPK], item[o.config.IndexSK] = text(ready.PK), text(ready.SK)
	item[attrState], item[attrVersion], item[attrAttempt] = text(string(Ready)), number(1), number(0)
	item[attrDue] = text(due)
	item[attrShard] = number(int64(place.Shard))
	item[attrMapVersion], item[attrHashVersion] = number(int64(place.MapVersion)), number(int64(place.HashVersion))
	if err := o.envelope(e, item, occurred, digest); err != nil {
		return nil, err
	}
	if size := capacity.ItemSize(item) + markBytes; size > MaxRecordBytes {
		return nil, &InvalidError{EventID: e.ID, Field: "Payload",
			Reason: "makes a record of " + strconv.Itoa(size) + " bytes; at most " + strconv.Itoa(MaxRecordBytes) + " can be stored"}
	}
	return item, nil
}

// place puts an event on a shard: by its ID, or, if events are ordered, by its aggregate, whose events of one version of the
// map then queue up on one shard.
func (o *Outbox) place(e Event) (shardmap.Placement, error) {
	key := e.ID
	if o.config.Ordered {
		key = keys.Join(e.Tenant, e.AggregateType, e.AggregateID)
	}
	if o.versions != nil {
		return o.versions.Place(e.OccurredAt, key)
	}
	return o.config.Map.Place(key)
}

// envelope adds what never changes.
func (o *Outbox) envelope(e Event, item txn.Item, occurred string, digest []byte) error {
	item[attrFormat] = &types.AttributeValueMemberN{Value: recordFormat}
	item[attrEventID], item[attrTenant] = text(e.ID), text(e.Tenant)
	item[attrAggregateType], item[attrAggregateID] = text(e.AggregateType), text(e.AggregateID)
	item[attrAggregateVersion] = number(e.AggregateVersion)
	item[attrType], item[attrSchemaVersion] = text(e.Type), number(int64(e.SchemaVersion))
	item[attrOccurred] = text(occurred)
	payload, encoding, err := o.pack(e)
	if err != nil {
		return err
	}
	item[attrPayload] = &types.AttributeValueMemberB{Value: payload}
	if encoding != "" {
		item[attrEncoding] = text(encoding)
	}
	item[attrDigest] = &types.AttributeValueMemberB{Value: digest}
	if e.CausationID != "" {
		item[attrCausation] = text(e.CausationID)
	}
	if e.TraceID != "" {
		item[attrTrace] = text(e.TraceID)
	}
	return nil
}

// Record is a stored event with its state.
type Record struct {
	// Event is the envelope. Its Due is when the event may be published next.
	Event Event
	State State
	// Attempt counts the attempts to publish, from 0.
	Attempt int64
	// Version rises with every step but the renewal of a lease, from 1.
	Version int64
	// Placement says on which shard the event is listed while it is READY or PARKED, and by which rules.
	Placement shardmap.Placement

	// Owner is the relay that has the event, or that completed it, and Claim the token of its claim.
	Owner, Claim string
	// LeaseUntil is when the owner's lease ends: at that time it has ended. Only while IN_FLIGHT.
	LeaseUntil time.Time
	// Failure is why the last attempt that failed did, and FailedAt when; for a PARKED event that is when it was parked.
	Failure  string
	FailedAt time.Time
	// Ack is the broker's answer, and CompletedAt when it was stored.
	Ack         string
	CompletedAt time.Time
	// PassedAt is when an operator passed the event.
	PassedAt time.Time
	// ExpiresAt is when the record may be cleaned up: the time to live of a COMPLETED event, in whole seconds.
	ExpiresAt time.Time
}

// decode reads a record and checks its digest.
func (o *Outbox) decode(id string, item txn.Item) (Record, error) {
	in := reader{id: id, item: item}
	in.format()
	r := Record{
		Event: Event{
			ID: in.text(attrEventID), Tenant: in.text(attrTenant),
			AggregateType: in.text(attrAggregateType), AggregateID: in.text(attrAggregateID), AggregateVersion: in.number(attrAggregateVersion),
			Type: in.text(attrType), SchemaVersion: int(in.number(attrSchemaVersion)),
			OccurredAt: in.time(attrOccurred), Due: in.time(attrDue),
			CausationID: in.optional(attrCausation), TraceID: in.optional(attrTrace),
			Payload: unpack(&in),
		},
		State:   State(in.text(attrState)),
		Attempt: in.number(attrAttempt),
		Version: in.number(attrVersion),
		Placement: shardmap.Placement{
			MapVersion: int(in.number(attrMapVersion)), HashVersion: int(in.number(attrHashVersion)), Shard: int(in.number(attrShard)),
		},
		Owner: in.optional(attrOwner), Claim: in.optional(attrClaim),
		LeaseUntil: in.optionalTime(attrLease),
		Failure:    in.optional(attrFailure), FailedAt: in.optionalTime(attrFailedAt),
		Ack: in.optional(attrAck), CompletedAt: in.optionalTime(attrCompleted), PassedAt: in.optionalTime(attrPassed),
	}
	if item[o.config.TTL] != nil {
		r.ExpiresAt = time.Unix(in.number(o.config.TTL), 0).UTC()
	}
	r.check(&in)
	if in.err != nil {
		return Record{}, in.err
	}
	return r, nil
}

// check holds a record against its digest and its state.
func (r *Record) check(in *reader) {
	digest := r.Event.digest()
	stored := in.binary(attrDigest)
	switch {
	case in.err != nil:
	case r.Event.ID != in.id || !bytes.Equal(stored, digest[:]):
		in.fail(attrDigest)
	case r.State == InFlight && (r.Claim == "" || r.LeaseUntil.IsZero()):
		// Nobody could give the event back: a lease without an end is damage, not a lease for ever.
		in.fail(attrLease)
	case r.State != Ready && r.State != InFlight && r.State != Completed && r.State != Parked && r.State != Passed:
		in.fail(attrState)
	}
}

// seen is what a step names of the record in its condition.
func (r Record) seen() seen {
	return seen{eventID: r.Event.ID, shard: r.Placement.Shard, version: r.Version, attempt: r.Attempt, claim: r.Claim, lease: r.LeaseUntil}
}

// reader reads attributes and keeps the first error.
type reader struct {
	id   string
	item txn.Item
	err  error
}

func (r *reader) fail(attr string) {
	if r.err == nil {
		r.err = corrupt(r.id, attr)
	}
}

// format refuses a record of another format, whose attributes may mean something else.
func (r *reader) format() {
	if strconv.FormatInt(r.number(attrFormat), 10) != recordFormat {
		r.fail(attrFormat)
	}
}

func (r *reader) text(attr string) string {
	value, ok := r.item[attr].(*types.AttributeValueMemberS)
	if !ok {
		r.fail(attr)
		return ""
	}
	return value.Value
}

func (r *reader) optional(attr string) string {
	if r.item[attr] == nil {
		return ""
	}
	return r.text(attr)
}

func (r *reader) optionalTime(attr string) time.Time {
	if r.item[attr] == nil {
		return time.Time{}
	}
	return r.time(attr)
}

func (r *reader) number(attr string) int64 {
	value, ok := r.item[attr].(*types.AttributeValueMemberN)
	if !ok {
		r.fail(attr)
		return 0
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil {
		r.fail(attr)
	}
	return n
}

func (r *reader) time(attr string) time.Time {
	at, err := keys.ParseTime(r.text(attr))
	if err != nil {
		r.fail(attr)
	}
	return at
}

func (r *reader) binary(attr string) []byte {
	value, ok := r.item[attr].(*types.AttributeValueMemberB)
	if !ok {
		r.fail(attr)
		return nil
	}
	return value.Value
}
