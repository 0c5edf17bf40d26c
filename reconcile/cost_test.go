package reconcile_test

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/reconcile"
)

// meter adds up what ordinary writes and reads of a client cost.
type meter struct {
	*dynamodb.Client
	mu                sync.Mutex
	base, index, read float64
}

func (m *meter) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.Client.PutItem(ctx, &asked, opts...)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.base += *out.ConsumedCapacity.Table.CapacityUnits
		for _, index := range out.ConsumedCapacity.GlobalSecondaryIndexes {
			m.index += *index.CapacityUnits
		}
	}
	return out, err
}

func (m *meter) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.Query(ctx, &asked, opts...)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.read += *out.ConsumedCapacity.CapacityUnits
	}
	return out, err
}

// AMP10: a batch costs 1 unit. AMP11: a discrepancy costs 2, one of them for the due index.
func TestABatchCostsOneUnitAndABreakTwo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := &meter{Client: b.client}
	b.desk = b.reconciler(m)
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Fatal(err)
	}
	if m.base != 1 || m.index != 0 {
		t.Errorf("a batch costs %v and %v", m.base, m.index)
	}
	m.base = 0
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, job("ann")); err != nil {
		t.Fatal(err)
	}
	if m.base != 3 || m.index != 3 {
		t.Errorf("three breaks cost %v and %v", m.base, m.index)
	}
	m.read = 0
	if got := b.due(t, reconcile.StatusOpen, day); got != nil || m.read != 13*0.5 {
		t.Errorf("an empty due queue of 13 shards costs %v", m.read)
	}
	receipt := b.commit(t, b.desk.Resolve(b.byKey(t, "b"), proof))
	if receipt.Base().String() != "2" || receipt.Index().String() != "1" {
		t.Errorf("to resolve costs %s and %s", receipt.Base(), receipt.Index())
	}
}
