package outbox

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"
)

// Event is one business fact in the envelope that consumers get.
//
// A command that may build its event again must build the same one: take the fields from the command and the state it
// led to, not from the clock or from chance. It may make ID and OccurredAt anew only where a record in the same transaction
// lets the first commit win and no other one count: inside the Commit of an exchange of idempotency/httpkey, or beside
// idempotency.Requests.Once. What another commit built is then never stored.
type Event struct {
	// ID identifies the fact, wherever it is sent and however often. Required; [Event.StableID] derives one.
	ID string
	// Tenant is whose fact it is. Required.
	Tenant string
	// AggregateType, AggregateID and AggregateVersion say what changed, and to which version, from 1. Required.
	AggregateType    string
	AggregateID      string
	AggregateVersion int64
	// Type names the fact, for example "OrderAccepted", and SchemaVersion the form of its payload, from 1. Required.
	Type          string
	SchemaVersion int
	// OccurredAt is when the fact became true. Required; stored in UTC with nanoseconds.
	OccurredAt time.Time
	// Due is the time before which the event must not be published, and its place in the queue. Default: OccurredAt.
	Due time.Time
	// CausationID identifies the command or event that caused this one. Optional.
	CausationID string
	// TraceID connects the event with the traces of the request that created it. Optional. It is not content: a
	// repeated request has another one.
	TraceID string
	// Payload is the message by the consumers' contract: JSON or any other bytes, stored as they are. May be empty.
	Payload []byte
}

// StableID returns an ID that follows from the fact alone: 32 hexadecimal digits of a SHA-256 over Tenant, AggregateType,
// AggregateID, AggregateVersion and Type. Whoever derives it for the same fact, today or in a retry, gets the same. It
// fits aggregates that have at most one event of a type in each version.
func (e Event) StableID() string {
	digest := digestOf("dynafin outbox event ID 1", e.Tenant, e.AggregateType, e.AggregateID,
		strconv.FormatInt(e.AggregateVersion, 10), e.Type)
	return hex.EncodeToString(digest[:16])
}

// OrderedID returns the ID of an event of an ordered outbox: 32 hexadecimal digits of a SHA-256 over Tenant, AggregateType,
// AggregateID and AggregateVersion. A version has one event, so a relay finds the event of the version before by its key.
func (e Event) OrderedID() string {
	return orderedID(e.Tenant, e.AggregateType, e.AggregateID, e.AggregateVersion)
}

func orderedID(tenant, aggregateType, aggregateID string, version int64) string {
	digest := digestOf("dynafin outbox ordered event ID 1", tenant, aggregateType, aggregateID, strconv.FormatInt(version, 10))
	return hex.EncodeToString(digest[:16])
}

// AggregateKey returns what events of one aggregate have in common: 32 hexadecimal digits of a SHA-256 over Tenant,
// AggregateType and AggregateID. Brokers that keep order keep it among messages of one such key: the message group of a
// FIFO queue or topic, the partition key of a stream.
func (e Event) AggregateKey() string {
	digest := digestOf("dynafin outbox aggregate 1", e.Tenant, e.AggregateType, e.AggregateID)
	return hex.EncodeToString(digest[:16])
}

// digest identifies the content of an event: everything but its due time and its trace.
func (e Event) digest() [sha256.Size]byte {
	return digestOf("dynafin outbox event 1", e.ID, e.Tenant, e.AggregateType, e.AggregateID,
		strconv.FormatInt(e.AggregateVersion, 10), e.Type, strconv.Itoa(e.SchemaVersion),
		e.OccurredAt.UTC().Format(time.RFC3339Nano), e.CausationID, string(e.Payload))
}

// digestOf hashes fields with their lengths, so that no two lists of fields are one text.
func digestOf(fields ...string) [sha256.Size]byte {
	size := 0
	for _, field := range fields {
		size += 8 + len(field)
	}
	buf := make([]byte, 0, size)
	for _, field := range fields {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(field)))
		buf = append(buf, field...)
	}
	return sha256.Sum256(buf)
}

// due is when the event may be published.
func (e Event) due() time.Time {
	if e.Due.IsZero() {
		return e.OccurredAt
	}
	return e.Due
}

// validate returns everything that is wrong with the event, one InvalidError for each field.
func (e Event) validate() error {
	var all []error
	bad := func(field, reason string) {
		all = append(all, &InvalidError{EventID: e.ID, Field: field, Reason: reason})
	}
	for _, field := range []struct {
		name, text string
		required   bool
	}{
		{"ID", e.ID, true}, {"Tenant", e.Tenant, true}, {"AggregateType", e.AggregateType, true},
		{"AggregateID", e.AggregateID, true}, {"Type", e.Type, true},
		{"CausationID", e.CausationID, false}, {"TraceID", e.TraceID, false},
	} {
		switch {
		case field.required && field.text == "":
			bad(field.name, "is empty")
		case !utf8.ValidString(field.text):
			bad(field.name, "is not valid UTF-8")
		}
	}
	if e.AggregateVersion < 1 {
		bad("AggregateVersion", "is below 1")
	}
	if e.SchemaVersion < 1 {
		bad("SchemaVersion", "is below 1")
	}
	if e.OccurredAt.IsZero() {
		bad("OccurredAt", "is missing")
	}
	return errors.Join(all...)
}
