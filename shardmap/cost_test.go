package shardmap_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/shardmap"
)

// meter counts what a client's calls cost.
type meter struct {
	client        *dynamodb.Client
	reads, writes capacity.Units
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.client.GetItem(ctx, in, opts...)
	if err == nil {
		m.reads += capacity.FromWire(*out.ConsumedCapacity.CapacityUnits)
	}
	return out, err
}

func (m *meter) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.client.PutItem(ctx, in, opts...)
	if err == nil {
		m.writes += capacity.FromWire(*out.ConsumedCapacity.CapacityUnits)
	}
	return out, err
}

func (m *meter) spent(t *testing.T, what string, reads, writes int) {
	t.Helper()
	if m.reads != capacity.Whole(reads) || m.writes != capacity.Whole(writes) {
		t.Errorf("%s: %v read and %v write units, want %d and %d", what, m.reads, m.writes, reads, writes)
	}
	m.reads, m.writes = 0, 0
}

func TestEveryStepCostsWhatItSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := &meter{client: b.client}
	maps := shardmap.NewStore(m, b.config)
	v, err := maps.Create(t.Context(), lane, shardmap.Default13(), rules, "ann")
	must(t, v, err)
	m.spent(t, "create", 0, 1)
	proposal := shardmap.Proposal{Shards: 17, From: b.now.Add(2 * rules.Notice())}
	v, err = maps.Propose(t.Context(), lane, proposal, "ann")
	must(t, v, err)
	m.spent(t, "propose", 1, 1)
	v, err = maps.Admit(t.Context(), lane, 2, "ann")
	must(t, v, err)
	m.spent(t, "admit", 1, 1)
	v, err = maps.Admit(t.Context(), lane, 2, "ann")
	must(t, v, err)
	m.spent(t, "admit again", 1, 0)

	loader := maps.Loader(lane)
	for range 1000 {
		b.now = b.now.Add(10 * time.Millisecond)
		v, err := loader.Versions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Place(b.now, "evt-1"); err != nil {
			t.Fatal(err)
		}
	}
	m.spent(t, "1,000 events within 10 s at a MaxAge of 10 s", 2, 0)
}

// Up to six versions with their whole history are one read unit.
func TestSixVersionsAreOneReadUnit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	for version := 1; version < 6; version++ {
		from := b.now.Add(rules.Notice())
		v, err := b.maps.Propose(t.Context(), lane, shardmap.Proposal{Shards: 13 + version, From: from}, "ann")
		must(t, v, err)
		v, err = b.maps.Admit(t.Context(), lane, version+1, "ann")
		must(t, v, err)
		b.now = from.Add(rules.MaxSkew + rules.Horizon)
		v, err = b.maps.Drain(t.Context(), lane, version, from, "ann")
		must(t, v, err)
		v, err = b.maps.Retire(t.Context(), lane, version, evidence(from), "ann")
		must(t, v, err)
	}
	if size := capacity.ItemSize(b.item(t)); size > capacity.ReadUnitBytes {
		t.Errorf("%d bytes", size)
	}
}
