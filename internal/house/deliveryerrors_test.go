package house

import (
	"time"

	"github.com/dynafin/dynafin/inbox"
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
