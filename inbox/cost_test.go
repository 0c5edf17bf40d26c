package inbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// AMP06: a receipt and a protected item of at most 1 KiB are four units; the receipt is about 0.35 KiB.
func TestCostsAreThoseOfTheTables(t *testing.T) {
	t.Parallel()
	b := setup(t)
	protected := func(id string, bytes int) txn.Part {
		item := b.state.Key("POSITION#"+id, "META")
		item["data"] = &types.AttributeValueMemberS{Value: ""}
		item["data"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", bytes-capacity.ItemSize(item)-len(txn.MarkAttribute)-22)}
		return txn.Put(b.state, item)
	}
	one, two := b.inbox(inbox.Config{}), b.inbox(inbox.Config{Maps: []shardmap.Map{map13, map17}})
	long := strings.Repeat("i", 200)
	for _, c := range []struct {
		what     string
		received *inbox.Inbox
		id       string
		parts    []txn.Part
		units    int
	}{
		{"a receipt alone", one, "evt-1", nil, 2},
		{"a receipt with 1 KiB of protected state", one, "evt-2", []txn.Part{protected("a", 1024)}, 4},
		{"a byte more of protected state", one, "evt-3", []txn.Part{protected("b", 1025)}, 6},
		{"a long ID", one, long, []txn.Part{protected("c", 1024)}, 4},
		{"two live maps", two, "evt-4", []txn.Part{protected("d", 1024)}, 6},
	} {
		e := filled(c.id)
		outcome, err := c.received.Process(t.Context(), impatient(b.client), e, effectOf(e), c.parts...)
		if err != nil || outcome.Commit.Total() != capacity.Whole(c.units) {
			t.Errorf("%s: %s units, %v; want %d", c.what, outcome.Commit.Total(), err, c.units)
		}
	}
	item := b.read(t, b.receipts, receiptKey, "EVENT#evt-1")
	if size := capacity.ItemSize(item); size < 300 || size > 358 {
		t.Errorf("a receipt has %d bytes, the plan has 0.35 KiB", size)
	}
	meter := &readMeter{client: b.client}
	if _, err := two.Lookup(t.Context(), meter, filled("evt-4")); err != nil || meter.units != 1 {
		t.Errorf("look up where it is: %v units, %v", meter.units, err)
	}
	meter = &readMeter{client: b.client}
	if _, err := two.Lookup(t.Context(), meter, filled("evt-9")); err == nil || meter.units != 2 {
		t.Errorf("look up of nothing under two maps: %v units, %v", meter.units, err)
	}
}

// readMeter counts what reads cost.
type readMeter struct {
	client *dynamodb.Client
	units  float64
}

func (m *readMeter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.client.GetItem(ctx, &asked, opts...)
	if err == nil {
		m.units += *out.ConsumedCapacity.CapacityUnits
	}
	return out, err
}
