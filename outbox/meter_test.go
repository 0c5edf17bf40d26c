package outbox_test

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/outbox"
)

// relayMeter counts what a relay asks of DynamoDB.
type relayMeter struct {
	outbox.RelayClient
	mu     sync.Mutex
	read   requests
	wrote  map[string]float64 // write units by operation and index: "UpdateItem", "UpdateItem index"
	writer int
}

// requests counts reads of the base table and of the index.
type requests struct{ base, index int }

func newRelayMeter(client outbox.RelayClient) *relayMeter {
	return &relayMeter{RelayClient: client, wrote: map[string]float64{}}
}

func (m *relayMeter) reads() requests {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read
}

func (m *relayMeter) writes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writer
}

// units returns the write units so far, of base table and index, and forgets them.
func (m *relayMeter) units(operation string) (base, index float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	base, index = m.wrote[operation], m.wrote[operation+" index"]
	delete(m.wrote, operation)
	delete(m.wrote, operation+" index")
	return base, index
}

func (m *relayMeter) note(operation string, used *types.ConsumedCapacity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writer++
	if used == nil {
		return
	}
	m.wrote[operation] += *used.Table.CapacityUnits
	for _, index := range used.GlobalSecondaryIndexes {
		m.wrote[operation+" index"] += *index.CapacityUnits
	}
}

func (m *relayMeter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	m.mu.Lock()
	m.read.base++
	m.mu.Unlock()
	return m.RelayClient.GetItem(ctx, in, opts...)
}

func (m *relayMeter) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	m.mu.Lock()
	if in.IndexName == nil {
		m.read.base++
	} else {
		m.read.index++
	}
	m.mu.Unlock()
	return m.RelayClient.Query(ctx, in, opts...)
}

func (m *relayMeter) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.RelayClient.UpdateItem(ctx, &asked, opts...)
	if err == nil {
		m.note("UpdateItem", out.ConsumedCapacity)
	}
	return out, err
}

func (m *relayMeter) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.RelayClient.PutItem(ctx, &asked, opts...)
	if err == nil {
		m.note("PutItem", out.ConsumedCapacity)
	}
	return out, err
}

func (m *relayMeter) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.RelayClient.DeleteItem(ctx, &asked, opts...)
	if err == nil {
		m.note("DeleteItem", out.ConsumedCapacity)
	}
	return out, err
}
