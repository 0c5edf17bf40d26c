package outbox_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func TestAnEventIsStoredReadyAndComesBackAsItWas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	whole := accepted("order-1")
	bare := outbox.Event{
		ID: "evt#1%", Tenant: "acme", AggregateType: "Order", AggregateID: "order-2", AggregateVersion: 1,
		Type: "OrderExpired", SchemaVersion: 2, OccurredAt: day.Add(time.Nanosecond), Due: day.Add(time.Hour), Payload: []byte{},
	}
	for _, e := range []outbox.Event{whole, bare} {
		b.commit(t, b.order(e.AggregateID), b.events.Create(e))
		got, err := b.events.Get(t.Context(), b.client, e.ID)
		if err != nil {
			t.Fatalf("get %q: %v", e.ID, err)
		}
		place, err := shardmap.Default13().Place(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if e.Due.IsZero() {
			e.Due = e.OccurredAt
		}
		want := outbox.Record{Event: e, State: outbox.Ready, Attempt: 0, Version: 1, Placement: place}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
	}
}

func TestFactAndEventAreThereBothOrNeither(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.commit(t, b.order("order-1"))
	e := accepted("order-1")
	_, err := impatient(b.client).Commit(t.Context(), b.order("order-1"), b.events.Create(e))
	if !errors.Is(err, txn.ErrCanceled) || errors.Is(err, outbox.ErrDuplicate) {
		t.Errorf("%v, want a cancellation that is no duplicate", err)
	}
	if _, err := b.events.Get(t.Context(), b.client, e.ID); !errors.Is(err, outbox.ErrNotFound) {
		t.Errorf("get: %v, want ErrNotFound", err)
	}
}

func TestADuplicateSaysWhetherItIsTheSameEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := accepted("order-1")
	b.commit(t, b.events.Create(first))
	for _, c := range []struct {
		what   string
		change func(*outbox.Event)
		same   bool
	}{
		{"nothing else", func(*outbox.Event) {}, true},
		{"another zone for the same time", func(e *outbox.Event) { e.OccurredAt = e.OccurredAt.In(time.FixedZone("", 3600)) }, true},
		{"another due time", func(e *outbox.Event) { e.Due = day.Add(time.Hour) }, true},
		{"another trace", func(e *outbox.Event) { e.TraceID = "" }, true},
		{"another tenant", func(e *outbox.Event) { e.Tenant = "apex" }, false},
		{"another aggregate type", func(e *outbox.Event) { e.AggregateType = "Trade" }, false},
		{"another aggregate", func(e *outbox.Event) { e.AggregateID = "order-2" }, false},
		{"another version", func(e *outbox.Event) { e.AggregateVersion = 2 }, false},
		{"another type", func(e *outbox.Event) { e.Type = "OrderRejected" }, false},
		{"another schema", func(e *outbox.Event) { e.SchemaVersion = 2 }, false},
		{"another time", func(e *outbox.Event) { e.OccurredAt = day.Add(1) }, false},
		{"another cause", func(e *outbox.Event) { e.CausationID = "" }, false},
		{"another payload", func(e *outbox.Event) { e.Payload = []byte(`{}`) }, false},
	} {
		again := first
		c.change(&again)
		_, err := impatient(b.client).Commit(t.Context(), b.events.Create(again))
		var duplicate *outbox.DuplicateError
		if !errors.As(err, &duplicate) || *duplicate != (outbox.DuplicateError{EventID: first.ID, Same: c.same}) {
			t.Errorf("%s: %v, want a DuplicateError with Same %v", c.what, err, c.same)
		}
	}
	if ready := b.ready(t, day.Add(2*time.Hour)); len(ready) != 1 {
		t.Errorf("READY: %v, want the one event", ready)
	}
}

// An event alone is enough to recognise an earlier attempt (E1), whatever request tokens do (E2).
// A record of another format may have another digest, so it proves no difference.
func TestADuplicateOfAnUnknownFormatIsNotJudged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := accepted("order-1")
	b.commit(t, b.events.Create(e))
	for attr, value := range map[string]types.AttributeValue{"v": &types.AttributeValueMemberN{Value: "2"}, "digest": nil} {
		item := b.item(t, e.ID)
		if item[attr] = value; value == nil {
			delete(item, attr)
		}
		b.commit(t, txn.Put(b.orders, item))
		_, err := impatient(b.client).Commit(t.Context(), b.events.Create(e))
		if !errors.Is(err, outbox.ErrCorrupt) || errors.Is(err, outbox.ErrDuplicate) {
			t.Errorf("%s: %v, want ErrCorrupt alone", attr, err)
		}
	}
}

func TestALostAnswerIsNoDuplicate(t *testing.T) {
	t.Parallel()
	for _, tokens := range anyTokenPolicy {
		b := setup(t, stores.Options{Tokens: tokens})
		client := b.store.Faulty(func(call dynamosim.Call) dynamosim.Fate {
			if call.Sequence == 1 {
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		})
		receipt, err := impatient(client).Commit(t.Context(), b.events.Create(accepted("order-1")))
		if err != nil || !receipt.Recovered {
			t.Errorf("token policy %v: %+v, %v", tokens, receipt, err)
		}
	}
}

// The shard never changes on a retry (O8): it follows from the ID, whatever else the retry changes.
func TestTheShardFollowsFromTheEventIDAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 40 {
		e := accepted("order-" + strings.Repeat("x", i))
		if i%2 == 1 {
			e.Due, e.Payload, e.TraceID = day.Add(-time.Hour), nil, ""
		}
		b.commit(t, b.events.Create(e))
		place, err := shardmap.Default13().Place(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if shard, listed := b.ready(t, day)[e.ID]; !listed || shard != place.Shard {
			t.Errorf("event %d is listed on shard %d (%v), want %d", i, shard, listed, place.Shard)
		}
	}
}

// 100,000 IDs spread evenly: chi-squared with 12 degrees of freedom exceeds 32.9 once in a thousand even spreads; the
// IDs are fixed, so the answer is always the same.
func TestStableIDsSpreadEvenlyOverTheShards(t *testing.T) {
	t.Parallel()
	const ids = 100_000
	e, places := accepted("order-1"), shardmap.Default13()
	counts := make([]int, places.Shards)
	for i := range ids {
		e.AggregateVersion = int64(i + 1)
		place, err := places.Place(e.StableID())
		if err != nil {
			t.Fatal(err)
		}
		counts[place.Shard]++
	}
	expected := ids / float64(len(counts))
	chi := 0.0
	for _, n := range counts {
		chi += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	if chi > 32.9 {
		t.Errorf("chi-squared %.1f of %v", chi, counts)
	}
}

// The units of create: AMP12 at the chapter's sizes, and the price of smaller events.
func TestCreateCosts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		what        string
		record      int // bytes of the stored record
		base, index int
	}{
		{"an event within 1 KiB", 1024, 2, 1},
		{"an event of 1.6 KiB (AMP12)", 1638, 4, 1},
		{"an event just over 2 KiB", 2049, 6, 1},
	} {
		e := accepted(fmt.Sprint("order-", c.record))
		e.Payload = make([]byte, c.record-recordBytesWithoutPayload(t, e))
		receipt := b.commit(t, b.events.Create(e))
		if got := capacity.ItemSize(b.item(t, e.ID)); got != c.record {
			t.Fatalf("%s: the record has %d bytes, want %d", c.what, got, c.record)
		}
		if receipt.Items != 1 || receipt.Base() != capacity.Whole(c.base) || receipt.Index() != capacity.Whole(c.index) {
			t.Errorf("%s: %d items, %s base, %s index units; want 1, %d, %d", c.what, receipt.Items, receipt.Base(), receipt.Index(), c.base, c.index)
		}
	}
}

// An index entry stays well below the 0.45 KiB that the plan allows it.
func TestAnIndexEntryIsSmall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := accepted("order-01JD8Q3ZK5V7W9X1Y2A4B6C8D0")
	b.commit(t, b.events.Create(e))
	entry := b.entry(t, e.ID)
	if size := capacity.ItemSize(entry); size > 460 {
		t.Errorf("%d bytes: %v", size, entry)
	}
	for _, attr := range []string{"payload", "digest", "state"} {
		if entry[attr] != nil {
			t.Errorf("the index projects %s", attr)
		}
	}
}

func TestPayloadIsTakenAtTheCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := accepted("order-1")
	e.Payload = []byte("before")
	part := b.events.Create(e)
	copy(e.Payload, "after!")
	b.commit(t, part)
	got, err := b.events.Get(t.Context(), b.client, e.ID)
	if err != nil || string(got.Event.Payload) != "before" {
		t.Errorf("payload %q, %v", got.Event.Payload, err)
	}
}

func TestServicesShareATableWithoutSeeingEachOthersEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trades := outbox.New(outbox.Config{Service: "trades", Table: b.orders})
	b.commit(t, b.events.Create(accepted("order-1")), trades.Create(accepted("order-2")))
	if ready := b.ready(t, day); len(ready) != 1 {
		t.Errorf("READY of orders: %v, want one", ready)
	}
}

// recordBytesWithoutPayload is the size of an event's record, mark included, in a store of its own.
func recordBytesWithoutPayload(t *testing.T, e outbox.Event) int {
	t.Helper()
	b := setup(t)
	e.Payload = nil
	b.commit(t, b.events.Create(e))
	return capacity.ItemSize(b.item(t, e.ID))
}
