package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/txn"
)

// Two tables, one for each bounded context. Orders holds what the order service owns: orders, client order IDs and
// the outbox. Idempotency belongs to the service's API.
var (
	ordersTable      = txn.Table{Name: "brokerage-orders", PK: "PK", SK: "SK"}
	idempotencyTable = txn.Table{Name: "brokerage-idempotency", PK: "PK", SK: "SK"}
)

// tables are the tables as CreateTable takes them. Indexes are sparse and hold no more than their readers need, so that
// an index entry stays within one write unit.
func (s *service) tables() []*dynamodb.CreateTableInput {
	orders := table(ordersTable.Name)
	// AP02: an account's orders, newest first.
	addIndex(orders, "GSI1", "accountPk", "accountSk", "orderId", "clientOrderId", "symbol", "side", "quantity", "limitPrice", "status")
	// AP03: an account's orders of one status that is still open; a finished order leaves the index.
	addIndex(orders, "GSI2", "statusPk", "statusSk", "orderId", "symbol", "side", "quantity")
	// AP16: the events that wait for a relay.
	orders.GlobalSecondaryIndexes = append(orders.GlobalSecondaryIndexes, s.events.Index())
	orders.AttributeDefinitions = append(orders.AttributeDefinitions, s.events.IndexAttributes()...)
	return []*dynamodb.CreateTableInput{orders, table(idempotencyTable.Name)}
}

func table(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:            aws.String(name),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            keySchema("PK", "SK"),
		AttributeDefinitions: []types.AttributeDefinition{attribute("PK"), attribute("SK")},
	}
}

func addIndex(in *dynamodb.CreateTableInput, name, pk, sk string, include ...string) {
	in.AttributeDefinitions = append(in.AttributeDefinitions, attribute(pk), attribute(sk))
	in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
		IndexName:  aws.String(name),
		KeySchema:  keySchema(pk, sk),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: include},
	})
}

func attribute(name string) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
}

func keySchema(pk, sk string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(sk), KeyType: types.KeyTypeRange},
	}
}

// tableWait is how long a table may take to become usable.
const tableWait = 5 * time.Minute

// createTables creates the tables that are absent and waits until all can be used. A table that is there with other
// keys or without an index is an error: it belongs to somebody else, or to another version of this program.
func (s *service) createTables(ctx context.Context) error {
	for _, in := range s.tables() {
		name := aws.ToString(in.TableName)
		_, err := s.client.CreateTable(ctx, in)
		var exists *types.ResourceInUseException
		if err != nil && !errors.As(err, &exists) {
			return fmt.Errorf("create table %s: %w", name, err)
		}
		ready := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) {
			o.MinDelay, o.MaxDelay = time.Second, 5*time.Second
		})
		described, err := ready.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: in.TableName}, tableWait)
		if err != nil {
			return fmt.Errorf("wait for table %s: %w", name, err)
		}
		if err := sameShape(in, described.Table); err != nil {
			return fmt.Errorf("table %s is not this program's: %w", name, err)
		}
	}
	return nil
}

func sameShape(want *dynamodb.CreateTableInput, have *types.TableDescription) error {
	if keys := schemaText(have.KeySchema); keys != schemaText(want.KeySchema) {
		return fmt.Errorf("its keys are %s, not %s", keys, schemaText(want.KeySchema))
	}
	for _, i := range want.GlobalSecondaryIndexes {
		at := slices.IndexFunc(have.GlobalSecondaryIndexes, func(h types.GlobalSecondaryIndexDescription) bool {
			return aws.ToString(h.IndexName) == aws.ToString(i.IndexName)
		})
		if at < 0 {
			return fmt.Errorf("it has no index %s", aws.ToString(i.IndexName))
		}
		if keys := schemaText(have.GlobalSecondaryIndexes[at].KeySchema); keys != schemaText(i.KeySchema) {
			return fmt.Errorf("the keys of its index %s are %s, not %s", aws.ToString(i.IndexName), keys, schemaText(i.KeySchema))
		}
	}
	return nil
}

func schemaText(schema []types.KeySchemaElement) string {
	var text string
	for _, k := range schema {
		text += fmt.Sprintf("%s %s ", aws.ToString(k.AttributeName), k.KeyType)
	}
	return text
}
