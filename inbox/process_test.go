package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// P1: whatever message brings it, an event has one effect, and every later delivery is a success with the stored effect.
func TestAnEventHasOneEffectAndEveryRepeatGetsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := filled("evt-1")
	first := b.process(t, b.received, e)
	if first.Duplicate || !maps.Equal(first.Effect, effectOf(e)) || !first.ProcessedAt.Equal(day) {
		t.Errorf("first: %+v", first)
	}
	later := b.inbox(inbox.Config{Now: func() time.Time { return day.Add(time.Hour) }})
	again, err := later.Process(t.Context(), impatient(b.client), e, map[string]string{"positionId": "another"}, b.count(e.ID))
	if err != nil || !again.Duplicate || !maps.Equal(again.Effect, effectOf(e)) || !again.ProcessedAt.Equal(day) {
		t.Errorf("again: %+v, %v", again, err)
	}
	if n := b.counted(t, e.ID); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// P2: an ID that comes with other content is refused, whatever differs, and nothing changes.
func TestTheSameIDWithOtherContentIsAMismatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.process(t, b.received, filled("evt-1"))
	before := b.read(t, b.receipts, receiptKey, "EVENT#evt-1")
	for what, change := range map[string]func(*inbox.Event){
		"type":           func(e *inbox.Event) { e.Type = "OrderCancelled" },
		"source":         func(e *inbox.Event) { e.Source = "acme/Order/order-2" },
		"source version": func(e *inbox.Event) { e.SourceVersion = 4 },
		"payload":        func(e *inbox.Event) { e.Payload = []byte(`{"quantity":"11"}`) },
		"boundaries":     func(e *inbox.Event) { e.Type, e.Source = e.Type+e.Source, "" },
	} {
		e := filled("evt-1")
		change(&e)
		_, err := b.received.Process(t.Context(), impatient(b.client), e, nil, b.count("evt-1"))
		var mismatch *inbox.MismatchError
		if !errors.As(err, &mismatch) || errors.Is(err, inbox.ErrDuplicate) {
			t.Errorf("another %s: %v", what, err)
			continue
		}
		if mismatch.StoredSource != "acme/Order/order-1" || mismatch.StoredSourceVersion != 3 || !mismatch.ProcessedAt.Equal(day) {
			t.Errorf("another %s: %+v", what, mismatch)
		}
		if _, err := b.received.Lookup(t.Context(), b.client, e); !errors.Is(err, inbox.ErrMismatch) {
			t.Errorf("look up another %s: %v", what, err)
		}
	}
	if after := b.read(t, b.receipts, receiptKey, "EVENT#evt-1"); !reflect.DeepEqual(before, after) || b.counted(t, "evt-1") != 1 {
		t.Errorf("the receipt changed from %v to %v", before, after)
	}
}

// receiptKey is the partition of the receipt of evt-1: the shard is part of the format.
const receiptKey = "CONSUMER#portfolio#V#0001#SHARD#0003"

// The receipt is never there without the effect (P2): an effect that is refused leaves none, and the event can come again.
func TestARefusedEffectLeavesNoReceipt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := filled("evt-1")
	refuse := txn.Check(b.state, b.state.Key("ACCOUNT", "OPEN"), txn.If(expression.AttributeExists(expression.Name("PK"))))
	if _, err := b.received.Process(t.Context(), impatient(b.client), e, nil, b.count(e.ID), refuse); !errors.Is(err, txn.ErrCanceled) {
		t.Fatalf("%v, want ErrCanceled", err)
	}
	if _, err := b.received.Lookup(t.Context(), b.client, e); !errors.Is(err, inbox.ErrNotFound) || b.counted(t, e.ID) != 0 {
		t.Errorf("look up: %v, %d effects", err, b.counted(t, e.ID))
	}
	if outcome := b.process(t, b.received, e); outcome.Duplicate {
		t.Error("the next delivery counts as a duplicate")
	}
}

// Two consumers are two receipts: each takes effect.
func TestConsumersDoNotMeet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, consumer := range []string{"portfolio", "risk", "port#folio", "port%23folio"} {
		received := inbox.New(inbox.Config{Consumer: consumer, Table: b.receipts, Now: func() time.Time { return day }})
		outcome, err := received.Process(t.Context(), impatient(b.client), filled("evt-1"), nil, b.count("evt-1"))
		if err != nil || outcome.Duplicate || outcome.Effect != nil {
			t.Errorf("%s: %+v, %v", consumer, outcome, err)
		}
	}
	if n := b.counted(t, "evt-1"); n != 4 {
		t.Errorf("%d effects", n)
	}
}

// A lost answer is no conflict (E1), whatever request tokens do (E2).
func TestALostAnswerEndsAsSuccess(t *testing.T) {
	t.Parallel()
	for _, tokens := range anyTokenPolicy {
		b := setup(t, stores.Options{Tokens: tokens})
		client := b.store.Faulty(func(call dynamosim.Call) dynamosim.Fate {
			if call.Sequence == 1 {
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		})
		e := filled("evt-1")
		outcome, err := b.received.Process(t.Context(), impatient(client), e, effectOf(e), b.count(e.ID))
		if err != nil || outcome.Duplicate || !outcome.Commit.Recovered || b.counted(t, e.ID) != 1 {
			t.Errorf("tokens %v: %+v, %v, %d effects", tokens, outcome, err, b.counted(t, e.ID))
		}
	}
}

func TestOfManyDeliveriesAtOnceOneHasTheEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const workers = 16
	var outcomes [workers]inbox.Outcome
	var errs [workers]error
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			effect := map[string]string{"by": fmt.Sprint(i)}
			outcomes[i], errs[i] = b.received.Process(t.Context(), impatient(b.client), filled("evt-1"), effect, b.count("evt-1"))
		})
	}
	group.Wait()
	first := 0
	for i := range workers {
		if errs[i] != nil || outcomes[i].Effect["by"] != outcomes[0].Effect["by"] {
			t.Errorf("worker %d: %+v, %v", i, outcomes[i], errs[i])
		}
		if !outcomes[i].Duplicate {
			first++
		}
	}
	if first != 1 || b.counted(t, "evt-1") != 1 {
		t.Errorf("%d took effect, %d are stored", first, b.counted(t, "evt-1"))
	}
}

// While two versions of the map are live, an event that is placed by both has one effect, whichever comes first.
func TestTwoLiveMapsShareOneEffect(t *testing.T) {
	t.Parallel()
	for _, order := range [][2]int{{1, 2}, {2, 1}} {
		b := setup(t)
		received := b.inbox(inbox.Config{Maps: []shardmap.Map{map13, map17}})
		e := filled("evt-1")
		e.MapVersion = order[0]
		b.process(t, received, e)
		stored, err := received.Lookup(t.Context(), b.client, e)
		if err != nil || stored.Placement.MapVersion != order[0] {
			t.Errorf("%v: %+v, %v", order, stored, err)
		}
		e.MapVersion = order[1]
		if outcome := b.process(t, received, e); !outcome.Duplicate || !maps.Equal(outcome.Effect, effectOf(e)) {
			t.Errorf("%v: %+v", order, outcome)
		}
		if again, err := received.Lookup(t.Context(), b.client, e); err != nil || !reflect.DeepEqual(again, stored) {
			t.Errorf("%v: look up by the other version: %+v, %v", order, again, err)
		}
		e.Payload = nil
		if _, err := received.Process(t.Context(), impatient(b.client), e, nil); !errors.Is(err, inbox.ErrMismatch) {
			t.Errorf("%v: other content: %v", order, err)
		}
		if n := b.counted(t, e.ID); n != 1 {
			t.Errorf("%v: %d effects", order, n)
		}
	}
}

// E5: a receipt ends no earlier than its retention, to the second; past that it counts for as long as it is there.
func TestAReceiptOutlivesTheHorizon(t *testing.T) {
	t.Parallel()
	for nanoseconds, want := range map[time.Duration]time.Time{
		-1: day.Add(time.Hour), 0: day.Add(time.Hour), 1: day.Add(time.Hour + time.Second),
	} {
		b := setup(t)
		now := day.Add(nanoseconds)
		received := b.inbox(inbox.Config{Horizon: time.Hour, Retention: time.Hour, Now: func() time.Time { return now }})
		e := filled("evt-1")
		b.process(t, received, e)
		stored, err := received.Lookup(t.Context(), b.client, e)
		if err != nil || !stored.ExpiresAt.Equal(want) || stored.ExpiresAt.Before(now.Add(time.Hour)) {
			t.Errorf("processed %v off the second: %+v, %v; want an expiry at %v", nanoseconds, stored, err, want)
		}
		for _, after := range []time.Duration{-time.Second, 0, time.Second, 24 * time.Hour} {
			now = want.Add(after)
			if outcome := b.process(t, received, e); !outcome.Duplicate {
				t.Errorf("%v after its expiry a stored receipt does not count", after)
			}
		}
	}
	b := setup(t)
	forever := b.inbox(inbox.Config{Retention: inbox.KeepForever})
	b.process(t, forever, filled("evt-1"))
	if stored, err := forever.Lookup(t.Context(), b.client, filled("evt-1")); err != nil || !stored.ExpiresAt.IsZero() {
		t.Errorf("kept for ever: %+v, %v", stored, err)
	}
}

// A damaged receipt is neither a duplicate nor overwritten.
func TestADamagedReceiptIsReportedAndKept(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]types.AttributeValue{
		"v": number("2"), "fingerprint": &types.AttributeValueMemberB{Value: []byte("x")}, "fingerprintVersion": number("9"),
		"processedAt": &types.AttributeValueMemberS{Value: "yesterday"}, "effect": number("1"), "shard": nil, "sourceVersion": number("-1"),
	} {
		b := setup(t)
		b.process(t, b.received, filled("evt-1"))
		item := b.read(t, b.receipts, receiptKey, "EVENT#evt-1")
		item[attribute] = value
		if value == nil {
			delete(item, attribute)
		}
		if _, err := b.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.receipts.Name, Item: item}); err != nil {
			t.Fatal(err)
		}
		_, err := b.received.Process(t.Context(), impatient(b.client), filled("evt-1"), nil, b.count("evt-1"))
		var damaged *inbox.RecordError
		if !errors.As(err, &damaged) || damaged.Attribute != attribute || errors.Is(err, inbox.ErrDuplicate) {
			t.Errorf("%s: %v", attribute, err)
		}
		if _, err := b.received.Lookup(t.Context(), b.client, filled("evt-1")); !errors.Is(err, inbox.ErrCorrupt) {
			t.Errorf("look up with a bad %s: %v", attribute, err)
		}
		if after := b.read(t, b.receipts, receiptKey, "EVENT#evt-1"); !reflect.DeepEqual(item, after) || b.counted(t, "evt-1") != 1 {
			t.Errorf("%s: the receipt changed", attribute)
		}
	}
}

func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }

// While the receipt's item is busy the other reasons decide nothing: they may be this very event's own work.
func TestABusyReceiptDecidesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := filled("evt-1")
	b.process(t, b.received, e)
	outcome, err := b.received.Process(t.Context(), impatient(&busyOnce{Client: b.client}), e, nil,
		txn.Put(b.state, b.state.Key("EVENT#evt-1", "COUNT"), txn.IfAbsent()))
	if err != nil || !outcome.Duplicate {
		t.Errorf("%+v, %v; want a duplicate", outcome, err)
	}
}

// busyOnce answers the first transaction that its first item conflicts and its second fails its condition.
type busyOnce struct {
	*dynamodb.Client
	asked bool
}

func (c *busyOnce) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if c.asked {
		return c.Client.TransactWriteItems(ctx, in, opts...)
	}
	c.asked = true
	conflict, failed := "TransactionConflict", "ConditionalCheckFailed"
	return nil, &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{
		{Code: &conflict}, {Code: &failed, Item: txn.Item{"n": number("1")}},
	}}
}
