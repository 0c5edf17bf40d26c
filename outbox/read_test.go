package outbox_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// oneShard is the outbox of one shard, so that a test sees one order.
func oneShard(t *testing.T) *bench {
	return setupMap(t, shardmap.Fixed(1))
}

func (b *bench) createDue(t *testing.T, id string, due time.Time) {
	t.Helper()
	e := accepted("order-" + id)
	e.ID, e.Due = id, due
	b.commit(t, b.events.Create(e))
}

func (b *bench) list(t *testing.T, client outbox.Client, cutoff time.Time, limit int) (ids []string) {
	t.Helper()
	for listed, err := range b.events.Ready(t.Context(), client, 0, cutoff, limit) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, listed.EventID)
	}
	return ids
}

func TestReadyListsWhatIsDueTheEarliestFirst(t *testing.T) {
	t.Parallel()
	b := oneShard(t)
	b.createDue(t, "c", day.Add(2*time.Nanosecond))
	b.createDue(t, "a", day.Add(time.Nanosecond))
	b.createDue(t, "b", day)
	b.createDue(t, "d", day)
	for _, c := range []struct {
		what   string
		cutoff time.Time
		limit  int
		want   []string
	}{
		{"before the first", day.Add(-time.Nanosecond), 0, nil},
		{"at the first", day, 0, []string{"b", "d"}},
		{"a nanosecond after it", day.Add(time.Nanosecond), 0, []string{"b", "d", "a"}},
		{"all", day.Add(time.Hour), 0, []string{"b", "d", "a", "c"}},
		{"at most three", day.Add(time.Hour), 3, []string{"b", "d", "a"}},
		{"exactly all", day.Add(time.Hour), 4, []string{"b", "d", "a", "c"}},
	} {
		if got := b.list(t, b.client, c.cutoff, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestReadyShowsWhatARelayNeedsToChooseAndClaim(t *testing.T) {
	t.Parallel()
	b := oneShard(t)
	e := accepted("order-1")
	b.commit(t, b.events.Create(e))
	want := outbox.Listed{
		EventID: e.ID, Due: day, Version: 1, Attempt: 0,
		Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 1, Type: "OrderAccepted",
	}
	for listed, err := range b.events.Ready(t.Context(), b.client, 0, day, 0) {
		if err != nil || listed != want {
			t.Errorf("%+v, %v; want %+v", listed, err, want)
		}
	}
}

// Items evaluated are items returned, an idle poll evaluates nothing, and pages follow one another (O2).
func TestReadyEvaluatesWhatItReturns(t *testing.T) {
	t.Parallel()
	b := oneShard(t)
	meter := &meter{Client: b.client}
	b.list(t, meter, day, 0)
	if meter.calls != 1 || meter.evaluated != 0 || meter.halves != 1 {
		t.Errorf("idle poll: %+v, want one call that evaluates nothing for half a unit", meter)
	}
	for i := range 30 {
		b.createDue(t, string(rune('A'+i)), day)
	}
	for _, c := range []struct{ page, limit, calls, items int }{{0, 0, 1, 30}, {0, 10, 1, 10}, {7, 0, 5, 30}, {10, 0, 4, 30}, {10, 15, 2, 15}} {
		meter.page, meter.calls, meter.evaluated = c.page, 0, 0
		if got := b.list(t, meter, day, c.limit); len(got) != c.items || !slices.IsSorted(got) {
			t.Errorf("%+v: %v", c, got)
		}
		if meter.calls != c.calls || c.page == 0 && meter.evaluated != c.items {
			t.Errorf("%+v: %d calls evaluated %d items", c, meter.calls, meter.evaluated)
		}
	}
}

func TestReadyStopsWhenTheCallerDoes(t *testing.T) {
	t.Parallel()
	b := oneShard(t)
	for i := range 3 {
		b.createDue(t, string(rune('A'+i)), day)
	}
	meter := &meter{Client: b.client, page: 1}
	for range b.events.Ready(t.Context(), meter, 0, day, 0) {
		break
	}
	if meter.calls != 1 {
		t.Errorf("%d calls", meter.calls)
	}
}

func TestReadsRefuseWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for field, list := range map[string]func() (int, time.Time){
		"shard":  func() (int, time.Time) { return 13, day },
		"cutoff": func() (int, time.Time) { return 0, day.AddDate(10000, 0, 0) },
	} {
		shard, cutoff := list()
		for _, err := range b.events.Ready(t.Context(), b.client, shard, cutoff, 0) {
			var invalid *outbox.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("bad %s: %v", field, err)
			}
		}
	}
	if _, err := b.events.Get(t.Context(), b.client, ""); !errors.Is(err, outbox.ErrInvalid) {
		t.Errorf("get nothing: %v, want ErrInvalid", err)
	}
	broken := &meter{Client: b.client, err: context.DeadlineExceeded}
	if _, err := b.events.Get(t.Context(), broken, "evt-1"); !errors.Is(err, outbox.ErrRead) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("get: %v, want ErrRead with its cause", err)
	}
	for _, err := range b.events.Ready(t.Context(), broken, 0, day, 0) {
		if !errors.Is(err, outbox.ErrRead) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ready: %v, want ErrRead with its cause", err)
		}
	}
}

func TestADamagedRecordIsNotGivenOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := accepted("order-1")
	b.commit(t, b.events.Create(e))
	whole := b.item(t, e.ID)
	delete(whole, txn.MarkAttribute)
	damage := map[string]types.AttributeValue{
		"payload": &types.AttributeValueMemberB{Value: []byte("other")},
		"v":       &types.AttributeValueMemberN{Value: "2"},
		"tenant":  &types.AttributeValueMemberS{Value: "apex"},
		"dueAt":   &types.AttributeValueMemberS{Value: "soon"},
		"version": &types.AttributeValueMemberN{Value: "1.5"},
		"digest":  &types.AttributeValueMemberS{Value: "text"},
		"traceId": &types.AttributeValueMemberN{Value: "1"},
	}
	for attr := range whole {
		if attr != "PK" && attr != "SK" && attr != "traceId" && attr != "readyPk" && attr != "readySk" {
			damage["no "+attr] = nil
		}
	}
	for what, value := range damage {
		item := maps.Clone(whole)
		if value == nil {
			delete(item, what[len("no "):])
		} else {
			item[what] = value
		}
		b.commit(t, txn.Put(b.orders, item))
		if _, err := b.events.Get(t.Context(), b.client, e.ID); !errors.Is(err, outbox.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", what, err)
		}
	}
}

// What somebody else put into the index is an error and not an event, and the events behind it are listed all the same.
func TestAForeignIndexEntryIsNotListedAndHidesNoEvent(t *testing.T) {
	t.Parallel()
	for what, attrs := range map[string]map[string]string{
		"a due time that is none": {"readySk": "DUE#+soon#evt-1"},
		"no version":              {"readySk": "DUE#2026-11-29T14:18:00.000000000Z#evt-1"},
	} {
		b := oneShard(t)
		item := b.orders.Key("foreign", "foreign")
		item["readyPk"] = &types.AttributeValueMemberS{Value: "SERVICE#orders#READY#0000"}
		for attr, value := range attrs {
			item[attr] = &types.AttributeValueMemberS{Value: value}
		}
		b.commit(t, txn.Put(b.orders, item))
		b.createDue(t, "evt-2", day)
		var events, faults []string
		for listed, err := range b.events.Ready(t.Context(), b.client, 0, day, 0) {
			if err == nil {
				events = append(events, listed.EventID)
			} else if faults = append(faults, err.Error()); !errors.Is(err, outbox.ErrCorrupt) {
				t.Errorf("%s: %v, want ErrCorrupt", what, err)
			}
		}
		if len(faults) != 1 || !slices.Equal(events, []string{"evt-2"}) {
			t.Errorf("%s: listed %q with the errors %q", what, events, faults)
		}
	}
}

func TestGetCostsOneUnitForEach4KiB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := accepted("order-1")
	b.commit(t, b.events.Create(e))
	meter := &meter{Client: b.client}
	if _, err := b.events.Get(t.Context(), meter, e.ID); err != nil {
		t.Fatal(err)
	}
	if meter.calls != 1 || meter.halves != 2 {
		t.Errorf("%+v, want one call for one unit", meter)
	}
}

// meter counts what reads evaluate and cost, in half units. It can make pages smaller than the caller asks for, and fail.
type meter struct {
	outbox.Client
	page                     int
	err                      error
	calls, evaluated, halves int
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if m.err != nil {
		return nil, m.err
	}
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.GetItem(ctx, &asked, opts...)
	if err == nil {
		m.calls++
		m.halves += int(2 * *out.ConsumedCapacity.CapacityUnits)
	}
	return out, err
}

func (m *meter) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if m.err != nil {
		return nil, m.err
	}
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	if page := int32(m.page); page > 0 && (in.Limit == nil || *in.Limit > page) {
		asked.Limit = &page
	}
	out, err := m.Client.Query(ctx, &asked, opts...)
	if err == nil {
		m.calls++
		m.evaluated += int(out.ScannedCount)
		m.halves += int(2 * *out.ConsumedCapacity.CapacityUnits)
	}
	return out, err
}
