package outbox_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/outbox"
)

// TestEnvelopeIsAPublicFormat: what consumers read is these bytes, for ever.
func TestEnvelopeIsAPublicFormat(t *testing.T) {
	e := accepted("order-1")
	head := `{"v":1,"eventId":"` + e.ID + `","tenant":"acme","aggregateType":"Order","aggregateId":"order-1","aggregateVersion":1,` +
		`"eventType":"OrderAccepted","schemaVersion":1,"occurredAt":"2026-11-29T14:18:00Z",` +
		`"causationId":"req-order-1","traceId":"4bf92f3577b34da6a3ce929d0e0e4736"`
	for payload, want := range map[string]string{
		`{"orderId":"<1>", "price":1.50}`: head + `,"payload":{"orderId":"<1>", "price":1.50}}`,
		"\x00\xff":                        head + `,"payloadBase64":"AP8="}`,
		"":                                head + `}`,
	} {
		e.Payload = []byte(payload)
		if got := string(e.Envelope()); got != want {
			t.Errorf("the envelope is\n%s\nwant\n%s", got, want)
		}
	}
	e.CausationID, e.TraceID, e.Payload = "", "", nil
	if got := string(e.Envelope()); strings.Contains(got, "Id\":\"\"") || !json.Valid([]byte(got)) {
		t.Errorf("the envelope is %s", got)
	}
}

func TestEnvelopeComesBackAsItWas(t *testing.T) {
	chance.Check(t, func(t *rapid.T, seen chance.Seen) {
		text := rapid.StringN(1, 20, -1)
		payload := rapid.OneOf(
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) []byte { return b }),
			rapid.Map(text, func(s string) []byte { document, _ := json.Marshal(map[string]string{s: s}); return document }),
			rapid.SampledFrom([][]byte{[]byte("null"), []byte(" 1"), []byte("1\n"), []byte("1e400"), []byte(`{"a":1,"a":2}`), []byte(`"\ud800"`), []byte("\"\xff\"")}),
		)
		e := outbox.Event{
			ID: text.Draw(t, "ID"), Tenant: text.Draw(t, "tenant"), AggregateType: text.Draw(t, "type"), AggregateID: text.Draw(t, "aggregate"),
			AggregateVersion: rapid.Int64Min(1).Draw(t, "version"), Type: text.Draw(t, "kind"), SchemaVersion: rapid.IntMin(1).Draw(t, "schema"),
			OccurredAt:  time.Unix(rapid.Int64Range(-1e10, 1e11).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC(),
			CausationID: rapid.String().Draw(t, "causation"), TraceID: rapid.String().Draw(t, "trace"), Payload: payload.Draw(t, "payload"),
		}
		switch document := string(e.Envelope()); {
		case strings.Contains(document, `"payload":`):
			seen["a JSON payload"]++
		case strings.Contains(document, `"payloadBase64":`):
			seen["another payload"]++
		default:
			seen["none"]++
		}
		got, err := outbox.ParseEnvelope(e.Envelope())
		if len(e.Payload) == 0 {
			e.Payload, got.Payload = nil, nil
		}
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("%+v comes back as %+v, %v", e, got, err)
		}
	}, "a JSON payload", "another payload", "none")
}

func TestEnvelopesThatCannotBeReadAreRefused(t *testing.T) {
	whole := string(accepted("order-1").Envelope())
	for _, document := range []string{
		"", "null", "[]", "{}", `"SECRET"`, whole + whole, whole[:len(whole)-1], whole + "\xff", strings.Replace(whole, `"acme"`, "\"ac\xffme\"", 1),
		strings.Replace(whole, `"v":1`, `"v":2`, 1), strings.Replace(whole, `"v":1,`, "", 1), strings.Replace(whole, `"acme"`, `""`, 1),
		strings.Replace(whole, "2026-11-29", "SECRET", 1), strings.Replace(whole, `"aggregateVersion":1`, `"aggregateVersion":1.5`, 1),
		strings.Replace(whole, `"aggregateVersion":1`, `"aggregateVersion":0`, 1),
		strings.Replace(whole, `"payload":`, `"payloadBase64":"AA==","payload":`, 1),
		strings.Replace(whole, `"payload":`, `"payloadBase64":"*","payload":`, 1),
	} {
		_, err := outbox.ParseEnvelope([]byte(document))
		var invalid *outbox.InvalidError
		if !errors.As(err, &invalid) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s is answered with %v", document, err)
		}
	}
	newer := strings.Replace(whole, `"v":1`, `"v":1,"color":"red"`, 1)
	if _, err := outbox.ParseEnvelope([]byte(newer)); err != nil {
		t.Errorf("a member that a newer producer adds is answered with %v", err)
	}
}

// FuzzParseEnvelope: whatever comes, it is refused, or it is an event that is written as it was read.
func FuzzParseEnvelope(f *testing.F) {
	e := accepted("order-1")
	f.Add(e.Envelope())
	e.Payload = []byte{0, 255}
	f.Add(e.Envelope())
	f.Add([]byte(`{"v":1,"occurredAt":"2026-11-29T14:18:00Z","payload":null}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		e, err := outbox.ParseEnvelope(document)
		if err != nil {
			return
		}
		again, err := outbox.ParseEnvelope(e.Envelope())
		if err != nil || again.ID != e.ID || string(again.Payload) != string(e.Payload) || !again.OccurredAt.Equal(e.OccurredAt) {
			t.Fatalf("%+v comes back as %+v, %v", e, again, err)
		}
	})
}

func TestAggregateKeysDiffer(t *testing.T) {
	keys := map[string]bool{}
	for _, e := range []outbox.Event{
		{Tenant: "a", AggregateType: "b", AggregateID: "c"}, {Tenant: "ab", AggregateID: "c"}, {Tenant: "a", AggregateType: "bc"}, {AggregateID: "abc"},
	} {
		key := e.AggregateKey()
		if e.AggregateVersion, e.ID = 2, "other"; len(key) != 32 || keys[key] || e.AggregateKey() != key {
			t.Errorf("%+v has the key %q", e, key)
		}
		keys[key] = true
	}
}
