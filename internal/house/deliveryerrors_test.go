package house

import (
	"time"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/projection"
)

func inboxErrors() []errorCase {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	const consumer, event = "portfolio", "event-1"
	return []errorCase{
		{&inbox.InvalidError{EventID: event, Field: "Source", Reason: "is not valid UTF-8", Err: errBelow}, inbox.ErrInvalid, []string{event, "Source"}},
		{&inbox.DuplicateError{Consumer: consumer, EventID: event, Effect: map[string]string{"iban": payload}, ProcessedAt: at}, inbox.ErrDuplicate,
			[]string{consumer, event, "2026-11-29"}},
		{&inbox.MismatchError{Consumer: consumer, EventID: event, Source: "order-1", StoredSource: "order-2", ProcessedAt: at}, inbox.ErrMismatch,
			[]string{consumer, event, "order-1", "order-2"}},
		{&inbox.NotFoundError{Consumer: consumer, EventID: event}, inbox.ErrNotFound, []string{consumer, event}},
		{&inbox.RecordError{Consumer: consumer, EventID: event, Attribute: "effect", Reason: "is not a map"}, inbox.ErrCorrupt, []string{consumer, event, "effect"}},
		{&inbox.HeldBackError{Group: "order-1", Index: 3}, inbox.ErrHeldBack, []string{"order-1", "entry 3"}},
		{inbox.ErrRead, inbox.ErrRead, nil},
	}
}

func projectionErrors() []errorCase {
	const source = "order-7"
	return []errorCase{
		{&projection.InvalidError{Source: source, Version: 3, Field: "ID", Reason: "is not valid UTF-8"}, projection.ErrInvalid, []string{source, "3", "ID"}},
		{&projection.OverflowError{Source: source, Version: 9, Missing: 3, Parked: 100}, projection.ErrOverflow, []string{source, "9", "3", "100"}},
		{&projection.MismatchError{Source: source, Version: 3, EventID: "event-1", StoredID: "event-2"}, projection.ErrMismatch, []string{source, "event-1", "event-2"}},
		{&projection.DrainError{Source: source, Version: 3, Err: projection.ErrBusy}, projection.ErrDrain, []string{source, "3", "busy"}},
		{&projection.UnprovedError{Name: "portfolio", Namespace: 2, Faults: []string{"a gap"}}, projection.ErrUnproved, []string{"portfolio", "2", "a gap"}},
		{&projection.StateError{Name: "portfolio", Namespace: 2, Reason: "it was not started"}, projection.ErrState, []string{"portfolio", "2", "not started"}},
		{&projection.RecordError{PK: "PROJ#portfolio", SK: "ALIAS", Attribute: "namespace"}, projection.ErrCorrupt, []string{"PROJ#portfolio", "ALIAS", "namespace"}},
		{projection.ErrView, projection.ErrView, nil},
		{projection.ErrBusy, projection.ErrBusy, nil},
		{projection.ErrRead, projection.ErrRead, nil},
		{projection.ErrWrite, projection.ErrWrite, nil},
	}
}
