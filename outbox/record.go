package outbox

import (
	"bytes"
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
)

// attributes are the names that a record uses, none of which may be a key's.
var attributes = []string{
	attrFormat, attrState, attrVersion, attrAttempt, attrDue, attrMapVersion, attrHashVersion, attrShard, attrEventID,
	attrTenant, attrAggregateType, attrAggregateID, attrAggregateVersion, attrType, attrSchemaVersion, attrOccurred,
	attrCausation, attrTrace, attrPayload, attrDigest, txn.MarkAttribute, txn.UpdateMarkAttribute,
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
	place, err := o.config.Map.Place(e.ID)
	if err != nil {
		return nil, bad("ID", err)
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
	e.envelope(item, occurred, digest)
	if size := capacity.ItemSize(item) + markBytes; size > MaxRecordBytes {
		return nil, &InvalidError{EventID: e.ID, Field: "Payload",
			Reason: "makes a record of " + strconv.Itoa(size) + " bytes; at most " + strconv.Itoa(MaxRecordBytes) + " can be stored"}
	}
	return item, nil
}

// envelope adds what never changes.
func (e Event) envelope(item txn.Item, occurred string, digest []byte) {
	item[attrFormat] = &types.AttributeValueMemberN{Value: recordFormat}
	item[attrEventID], item[attrTenant] = text(e.ID), text(e.Tenant)
	item[attrAggregateType], item[attrAggregateID] = text(e.AggregateType), text(e.AggregateID)
	item[attrAggregateVersion] = number(e.AggregateVersion)
	item[attrType], item[attrSchemaVersion] = text(e.Type), number(int64(e.SchemaVersion))
	item[attrOccurred] = text(occurred)
	payload := append([]byte{}, e.Payload...) // nil would be no value at all
	item[attrPayload] = &types.AttributeValueMemberB{Value: payload}
	item[attrDigest] = &types.AttributeValueMemberB{Value: digest}
	if e.CausationID != "" {
		item[attrCausation] = text(e.CausationID)
	}
	if e.TraceID != "" {
		item[attrTrace] = text(e.TraceID)
	}
}

// Record is a stored event with its state.
type Record struct {
	// Event is the envelope. Its Due is when the event may be published next.
	Event Event
	State State
	// Attempt counts the attempts to publish, from 0.
	Attempt int64
	// Version rises with every change of the record, from 1.
	Version int64
	// Placement says on which shard the event is listed while it is READY, and by which rules.
	Placement shardmap.Placement
}

// decode reads a record and checks its digest.
func decode(id string, item txn.Item) (Record, error) {
	in := reader{id: id, item: item}
	in.format()
	r := Record{
		Event: Event{
			ID: in.text(attrEventID), Tenant: in.text(attrTenant),
			AggregateType: in.text(attrAggregateType), AggregateID: in.text(attrAggregateID), AggregateVersion: in.number(attrAggregateVersion),
			Type: in.text(attrType), SchemaVersion: int(in.number(attrSchemaVersion)),
			OccurredAt: in.time(attrOccurred), Due: in.time(attrDue),
			CausationID: in.optional(attrCausation), TraceID: in.optional(attrTrace),
			Payload: in.binary(attrPayload),
		},
		State:   State(in.text(attrState)),
		Attempt: in.number(attrAttempt),
		Version: in.number(attrVersion),
		Placement: shardmap.Placement{
			MapVersion: int(in.number(attrMapVersion)), HashVersion: int(in.number(attrHashVersion)), Shard: int(in.number(attrShard)),
		},
	}
	digest := r.Event.digest()
	if stored := in.binary(attrDigest); in.err == nil && (r.Event.ID != id || !bytes.Equal(stored, digest[:])) {
		return Record{}, corrupt(id, attrDigest)
	}
	if in.err != nil {
		return Record{}, in.err
	}
	return r, nil
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
