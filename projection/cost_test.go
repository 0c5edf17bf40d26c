package projection_test

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// AMP09: a checkpoint alone is one unit; AMP04 and CS06: with the view four, with a receipt six.
func TestCostsAreThoseOfTheTables(t *testing.T) {
	t.Parallel()
	b := setup(t)
	nothing := func(ctx, int, projection.Event) ([]txn.Part, error) { return nil, nil }
	withReceipt, _ := receipts(b)
	for _, c := range []struct {
		what     string
		view     projection.View
		versions []int64
		units    int // of the last
	}{
		{"checkpoint alone, the first", nothing, []int64{1}, 1},
		{"checkpoint alone", nothing, []int64{1, 2}, 1},
		{"with the view", b.seeing, []int64{1, 2}, 4},
		{"with view and receipt", withReceipt, []int64{1, 2}, 6},
		{"stale", b.seeing, []int64{1, 1}, 0},
		{"parked", b.seeing, []int64{1, 3}, 6},
		{"parked again", b.seeing, []int64{1, 3, 3}, 0},
		{"applied while a gap stays", b.seeing, []int64{1, 4, 2}, 6},
		{"applied, and one drained", b.seeing, []int64{1, 3, 2}, 6 + 8},
		{"alone, and one drained", nothing, []int64{1, 3, 2}, 4 + 6},
	} {
		source := "source " + c.what
		ns := b.projection(b.client, projection.Config{View: c.view}).Namespace(1)
		var out projection.Outcome
		var err error
		for _, version := range c.versions {
			if out, err = ns.Apply(t.Context(), changed(source, version)); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
		}
		if out.Units != capacity.Whole(c.units) {
			t.Errorf("%s: %s units, want %d", c.what, out.Units, c.units)
		}
	}
	for parked, units := range map[bool]int{false: 4, true: 6} {
		source := map[bool]string{false: "forced", true: "forced with a gap"}[parked]
		if parked {
			b.apply(t, source, 9, projection.Parked)
		}
		out, err := b.ns.ForceAdvance(t.Context(), projection.Force{Source: source, To: 5, By: "ann", Reason: "lost"})
		if err != nil || out.Units != capacity.Whole(units) {
			t.Errorf("%s: %s units, %v; want %d", source, out.Units, err, units)
		}
	}
}

func checkpointKey(b *bench) txn.Item { return b.points.Key(partition, "SOURCE#order-1") }

func TestReadsCostWhatTheDocumentationSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, "order-1", 1, projection.Applied)
	if size := capacity.ItemSize(b.read(t, b.points, checkpointKey(b))); size < 200 || size > 308 {
		t.Errorf("a checkpoint has %d bytes, the plan has 0.3 KiB", size)
	}
	meter := &readMeter{Client: b.client}
	ns := b.projection(meter, projection.Config{}).Namespace(1)
	for what, c := range map[string]struct {
		read  func() error
		units float64
	}{
		"Checkpoint": {func() error { _, err := ns.Checkpoint(t.Context(), "order-1"); return err }, 1},
		"Lag":        {func() error { _, err := ns.Lag(t.Context(), "order-1", 1); return err }, 1},
		"Gaps": {func() error {
			for _, err := range ns.Gaps(t.Context()) {
				return err
			}
			return nil
		}, 3.5},
		"Totals": {func() error { _, err := ns.Totals(t.Context()); return err }, 7},
	} {
		meter.units = 0
		if err := c.read(); err != nil || meter.units != c.units {
			t.Errorf("%s: %v units, %v; want %v", what, meter.units, err, c.units)
		}
	}
}

// readMeter counts what reads cost.
type readMeter struct {
	*dynamodb.Client
	mu    sync.Mutex
	units float64
}

func (m *readMeter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.GetItem(ctx, &asked, opts...)
	if err == nil {
		m.units += *out.ConsumedCapacity.CapacityUnits
	}
	return out, err
}

func (m *readMeter) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := m.Client.Query(ctx, in, opts...)
	if err == nil && out.ConsumedCapacity != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.units += *out.ConsumedCapacity.CapacityUnits
	}
	return out, err
}
