package outbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func TestInvalidEventsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	events := outbox.New(outbox.Config{Service: "orders"})
	for _, c := range []struct {
		field, reason string
		spoil         func(*outbox.Event)
	}{
		{"ID", "is empty", func(e *outbox.Event) { e.ID = "" }},
		{"ID", "is not valid UTF-8", func(e *outbox.Event) { e.ID = "\xff" }},
		{"ID", "is longer than DynamoDB allows", func(e *outbox.Event) { e.ID = strings.Repeat("e", 2048) }},
		{"ID", "is longer than DynamoDB allows", func(e *outbox.Event) { e.ID = strings.Repeat("e", 1000) }}, // of the index key
		{"Tenant", "is empty", func(e *outbox.Event) { e.Tenant = "" }},
		{"AggregateType", "is empty", func(e *outbox.Event) { e.AggregateType = "" }},
		{"AggregateID", "is not valid UTF-8", func(e *outbox.Event) { e.AggregateID = "\xff" }},
		{"AggregateVersion", "is below 1", func(e *outbox.Event) { e.AggregateVersion = 0 }},
		{"Type", "is empty", func(e *outbox.Event) { e.Type = "" }},
		{"SchemaVersion", "is below 1", func(e *outbox.Event) { e.SchemaVersion = -1 }},
		{"OccurredAt", "is missing", func(e *outbox.Event) { e.OccurredAt = time.Time{} }},
		{"OccurredAt", "is out of range", func(e *outbox.Event) { e.OccurredAt = day.AddDate(10000, 0, 0) }},
		{"Due", "is out of range", func(e *outbox.Event) { e.Due = day.AddDate(10000, 0, 0) }},
		{"CausationID", "is not valid UTF-8", func(e *outbox.Event) { e.CausationID = "\xff" }},
		{"TraceID", "is not valid UTF-8", func(e *outbox.Event) { e.TraceID = "\xff" }},
	} {
		e := accepted("order-1")
		c.spoil(&e)
		err := events.Create(e).Err()
		var invalid *outbox.InvalidError
		if !errors.As(err, &invalid) || !errors.Is(err, outbox.ErrInvalid) || invalid.Field != c.field || invalid.Reason != c.reason {
			t.Errorf("%v, want: %s %s", err, c.field, c.reason)
		}
	}
}

func TestEveryFaultOfAnEventIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	err := outbox.New(outbox.Config{Service: "orders"}).Create(outbox.Event{}).Err()
	for _, field := range []string{"ID", "Tenant", "AggregateType", "AggregateID", "AggregateVersion", "Type", "SchemaVersion", "OccurredAt"} {
		if err == nil || !strings.Contains(err.Error(), "outbox: "+field+" is ") {
			t.Errorf("%v: does not name %s", err, field)
		}
	}
}

func TestAHostileEventIDMakesOneShortLineOfALog(t *testing.T) {
	t.Parallel()
	e := accepted("order-1")
	e.ID = strings.Repeat("x\n", 1<<19)
	err := setup(t).events.Create(e).Err()
	if !errors.Is(err, outbox.ErrInvalid) || len(err.Error()) > 1024 || strings.Contains(err.Error(), "\n") {
		t.Errorf("%d bytes: %.200s", len(err.Error()), err)
	}
}

func TestAPayloadThatLeavesNoRoomIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := accepted("order-1")
	e.Payload = make([]byte, outbox.MaxRecordBytes)
	var invalid *outbox.InvalidError
	if err := b.events.Create(e).Err(); !errors.As(err, &invalid) || invalid.Field != "Payload" {
		t.Errorf("%v, want a Payload that is too large", err)
	}
	e.Payload = make([]byte, outbox.MaxRecordBytes-1024)
	b.commit(t, b.events.Create(e))
}

func TestAWrongConfigurationIsReportedByEveryUse(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]outbox.Config{
		"Config.Service": {},
		"Config.Map":     {Service: "orders", Map: shardmap.Fixed(-1)},
		"Config.Table":   {Service: "orders", Table: txn.Table{PK: "eventId"}},
		"Config.IndexPK": {Service: "orders", IndexPK: "PK"},
		"Config.IndexSK": {Service: "orders", IndexSK: "dueAt"},
		"Config.TTL":     {Service: "orders", TTL: "leaseUntil"},
	} {
		events := outbox.New(config)
		_, getErr := events.Get(t.Context(), nil, "evt-1")
		var readyErr error
		for _, err := range events.Ready(t.Context(), nil, 0, day, 0) {
			readyErr = err
		}
		for what, err := range map[string]error{"create": events.Create(accepted("order-1")).Err(), "get": getErr, "ready": readyErr} {
			var invalid *outbox.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("%s with a bad %s: %v", what, field, err)
			}
		}
	}
}

// The ID is a public format: a producer that is upgraded between two attempts must derive the same again.
func TestStableIDNeverChanges(t *testing.T) {
	t.Parallel()
	if got, want := accepted("order-1").StableID(), "6382327db6c93ac68ddcac29f6214134"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestOrderedIDNeverChanges(t *testing.T) {
	t.Parallel()
	if got, want := accepted("order-1").OrderedID(), "a62f288e981ce3abfa0469b0be5c154d"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestStableIDIsOfTheFactAlone(t *testing.T) {
	t.Parallel()
	type fact struct {
		tenant, kind, id, event string
		version                 int64
	}
	word := rapid.StringMatching(`[ab]{0,3}`)
	draw := func(rt *rapid.T, label string) fact {
		return fact{word.Draw(rt, label), word.Draw(rt, label), word.Draw(rt, label), word.Draw(rt, label), rapid.Int64Range(1, 3).Draw(rt, label)}
	}
	id := func(f fact, e outbox.Event) string {
		e.Tenant, e.AggregateType, e.AggregateID, e.Type, e.AggregateVersion = f.tenant, f.kind, f.id, f.event, f.version
		return e.StableID()
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := draw(rt, "a"), draw(rt, "b")
		noise := outbox.Event{TraceID: word.Draw(rt, "trace"), Payload: []byte(word.Draw(rt, "payload")), SchemaVersion: 7, Due: day}
		if same := id(a, noise) == id(b, outbox.Event{}); same != (a == b) {
			rt.Fatalf("%+v and %+v: same ID %v", a, b, same)
		}
	})
}

func TestErrorsSurviveWrapping(t *testing.T) {
	t.Parallel()
	for want, err := range map[error]error{
		outbox.ErrInvalid:   &outbox.InvalidError{EventID: "evt-1", Field: "Tenant", Reason: "is empty"},
		outbox.ErrDuplicate: &outbox.DuplicateError{EventID: "evt-1"},
		outbox.ErrNotFound:  &outbox.NotFoundError{EventID: "evt-1"},
		outbox.ErrStale:     &outbox.StaleError{EventID: "evt-1", Step: "claim", State: outbox.Completed, Version: 3},
	} {
		wrapped := fmt.Errorf("accept: %w", fmt.Errorf("commit: %w", err))
		var coded interface{ Code() string }
		if !errors.Is(wrapped, want) || !errors.As(wrapped, &coded) {
			t.Errorf("%v: lost its kind or its code", err)
			continue
		}
		for _, text := range []string{"outbox: ", `"evt-1"`, "[" + coded.Code() + "]", "retrying"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%v: does not say %s", err, text)
			}
		}
	}
}
