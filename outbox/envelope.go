package outbox

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// envelopeFormat is the version of the document that [Event.Envelope] writes.
const envelopeFormat = 1

// envelope is the document without the payload.
type envelope struct {
	Format           int    `json:"v"`
	EventID          string `json:"eventId"`
	Tenant           string `json:"tenant"`
	AggregateType    string `json:"aggregateType"`
	AggregateID      string `json:"aggregateId"`
	AggregateVersion int64  `json:"aggregateVersion"`
	EventType        string `json:"eventType"`
	SchemaVersion    int    `json:"schemaVersion"`
	OccurredAt       string `json:"occurredAt"`
	CausationID      string `json:"causationId,omitempty"`
	TraceID          string `json:"traceId,omitempty"`
}

// received is the document as a consumer reads it: with one of two payloads, or none if the event has an empty one.
type received struct {
	envelope
	Payload       json.RawMessage `json:"payload"`
	PayloadBase64 []byte          `json:"payloadBase64"`
}

// Envelope returns the event as one JSON object, which the publishers of this module send and [ParseEnvelope] reads:
//
//	{"v":1,"eventId":"…","tenant":"acme","aggregateType":"Order","aggregateId":"order-1","aggregateVersion":1,
//	"eventType":"OrderAccepted","schemaVersion":1,"occurredAt":"2026-11-29T14:18:00Z","causationId":"…","traceId":"…",
//	"payload":{"quantity":"100"}}
//
// A payload that is a JSON document stands in it byte for byte. Any other is in "payloadBase64", and an empty one is left
// out, as are an empty causation and trace. Due is not part of it.
func (e Event) Envelope() []byte {
	// Strings and numbers alone cannot fail.
	head, _ := json.Marshal(envelope{
		Format: envelopeFormat, EventID: e.ID, Tenant: e.Tenant,
		AggregateType: e.AggregateType, AggregateID: e.AggregateID, AggregateVersion: e.AggregateVersion,
		EventType: e.Type, SchemaVersion: e.SchemaVersion, OccurredAt: e.OccurredAt.UTC().Format(time.RFC3339Nano),
		CausationID: e.CausationID, TraceID: e.TraceID,
	})
	if len(e.Payload) == 0 {
		return head
	}
	head = head[:len(head)-len("}")]
	if embeds(e.Payload) {
		document := slices.Concat(head, []byte(`,"payload":`), e.Payload, []byte("}"))
		if json.Valid(document) { // the payload may be as deep as a document can be
			return document
		}
	}
	return fmt.Appendf(head, `,"payloadBase64":"%s"}`, base64.StdEncoding.EncodeToString(e.Payload))
}

// embeds says whether a payload may stand in a JSON document and be read from it unchanged: valid JSON without space around
// it, and of characters that every broker takes.
func embeds(payload []byte) bool {
	return json.Valid(payload) && utf8.Valid(payload) && len(bytes.TrimSpace(payload)) == len(payload) &&
		!bytes.ContainsAny(payload, "\ufffe\uffff")
}

// ParseEnvelope reads what [Event.Envelope] wrote: the same event, payload included, but for Due. Members that it does not
// know it passes over, so that producers can be newer than consumers. What it cannot read makes an [InvalidError], which
// does not repeat the content.
func ParseEnvelope(document []byte) (Event, error) {
	bad := func(field, reason string) error {
		return &InvalidError{Field: "envelope", Reason: field + " " + reason}
	}
	var in received
	if !utf8.Valid(document) || json.Unmarshal(document, &in) != nil {
		return Event{}, bad("document", "is not JSON of the right form")
	}
	if in.Format != envelopeFormat {
		return Event{}, bad("v", "is "+strconv.Itoa(in.Format)+", this version reads "+strconv.Itoa(envelopeFormat))
	}
	at, err := time.Parse(time.RFC3339Nano, in.OccurredAt)
	if err != nil {
		return Event{}, bad("occurredAt", "is not a time")
	}
	e := Event{
		ID: in.EventID, Tenant: in.Tenant, AggregateType: in.AggregateType, AggregateID: in.AggregateID,
		AggregateVersion: in.AggregateVersion, Type: in.EventType, SchemaVersion: in.SchemaVersion, OccurredAt: at.UTC(),
		CausationID: in.CausationID, TraceID: in.TraceID, Payload: in.PayloadBase64,
	}
	switch {
	case in.Payload == nil:
	case in.PayloadBase64 == nil:
		e.Payload = in.Payload
	default:
		return Event{}, bad("payload", "is there twice")
	}
	return e, e.validate()
}

// Attributes returns what a broker's message attributes say of the event, for filters and logs: eventId, eventType,
// schemaVersion, tenant and traceId, each unless it is empty. The payload is not among them.
func (e Event) Attributes() map[string]string {
	attributes := map[string]string{}
	for name, value := range map[string]string{
		"eventId": e.ID, "eventType": e.Type, "schemaVersion": strconv.Itoa(e.SchemaVersion), "tenant": e.Tenant, "traceId": e.TraceID,
	} {
		if value != "" {
			attributes[name] = value
		}
	}
	return attributes
}
