package outbox_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dynafin/dynafin/outbox"
)

func TestEventsThatFailAlikeHaveOneCause(t *testing.T) {
	t.Parallel()
	refused := func(id, reason string, final bool) string {
		return (&outbox.PublishError{EventID: id, Broker: "SQS", Reason: reason, Final: final}).Error()
	}
	for _, c := range []struct{ failure, want string }{
		{refused("evt-1", "503 from bus", false), "DFN-2109 SQS: 503 from bus"},
		{refused(`e"v\t`, "payload 1.2 MB over limit", true), "DFN-2108 SQS: payload 1.2 MB over limit"},
		{"no answer from 10.0.0.217:8443 for request 5f2c9a1e-77", "no answer from … for request …"},
		{"order evt-0001-of-acme is closed; ask order-000017", "order … is closed; ask …"},
		{"broken pipe", "broken pipe"},
		{"", ""},
	} {
		r := outbox.Record{Event: outbox.Event{ID: "evt-0001-of-acme", AggregateID: "order-000017", Type: "Accepted"}, Failure: c.failure}
		if got := r.Cause(); got != c.want {
			t.Errorf("%q: cause %q, want %q", c.failure, got, c.want)
		}
	}
	a := outbox.Record{Event: outbox.Event{ID: "a", Type: "Accepted"}, Failure: refused("a", "503", false)}
	b := outbox.Record{Event: outbox.Event{ID: "b", Type: "Accepted"}, Failure: refused("b", "503", false)}
	other := outbox.Record{Event: outbox.Event{ID: "b", Type: "Filled"}, Failure: b.Failure}
	if a.Group() != b.Group() || a.Group() == other.Group() || len(a.Group()) != 8 {
		t.Errorf("groups %s, %s and %s", a.Group(), b.Group(), other.Group())
	}
}

func TestParkedEntriesAreTheParkedEventsWithoutReadingThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	for i := range 20 {
		r := b.in(t, fmt.Sprint("order-", i), outbox.Parked)
		want = append(want, r.Event.ID+r.FailedAt.String())
	}
	b.in(t, "ready", outbox.Ready)
	meter := &meter{Client: b.client}
	var got, read []string
	for entry, err := range b.events.ParkedEntries(t.Context(), meter) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, entry.EventID+entry.At.String())
	}
	if meter.calls != b.events.Shards() || meter.evaluated != len(want) {
		t.Errorf("%d queries evaluated %d entries", meter.calls, meter.evaluated)
	}
	for r, err := range b.events.Parked(t.Context(), b.client) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, r.Event.ID+r.FailedAt.String())
	}
	if !slices.Equal(got, read) {
		t.Errorf("entries %v, events %v", got, read)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("entries %v, want %v", got, want)
	}
}
