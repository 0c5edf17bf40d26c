package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
)

// meter is a client of relays that asks DynamoDB what their single writes cost.
type meter struct {
	*dynamodb.Client
	note func(base, index capacity.Units)
}

func (m *meter) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.Client.UpdateItem(ctx, &asked, opts...)
	if err == nil {
		m.add(out.ConsumedCapacity)
	}
	return out, err
}

func (m *meter) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.Client.PutItem(ctx, &asked, opts...)
	if err == nil {
		m.add(out.ConsumedCapacity)
	}
	return out, err
}

func (m *meter) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.Client.DeleteItem(ctx, &asked, opts...)
	if err == nil {
		m.add(out.ConsumedCapacity)
	}
	return out, err
}

func (m *meter) add(used *types.ConsumedCapacity) {
	if used == nil {
		return
	}
	var base, index capacity.Units
	if used.Table != nil {
		base = capacity.FromWire(aws.ToFloat64(used.Table.CapacityUnits))
	}
	for _, one := range used.GlobalSecondaryIndexes {
		index += capacity.FromWire(aws.ToFloat64(one.CapacityUnits))
	}
	m.note(base, index)
}
