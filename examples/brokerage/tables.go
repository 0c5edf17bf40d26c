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

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// A table for each bounded context, with what its service owns. Idempotency belongs to the API of orders. Execution and
// portfolio keep the receipts of what they consume beside what it changes.
var (
	ordersTable      = txn.Table{Name: "brokerage-orders", PK: "PK", SK: "SK"}      // orders, client order IDs, outbox
	idempotencyTable = txn.Table{Name: "brokerage-idempotency", PK: "PK", SK: "SK"} // results
	executionTable   = txn.Table{Name: "brokerage-execution", PK: "PK", SK: "SK"}   // trades, outbox, inbox
	portfolioTable   = txn.Table{Name: "brokerage-portfolio", PK: "PK", SK: "SK"}   // positions, checkpoints, inbox
	ledgerTable      = txn.Table{Name: "brokerage-ledger", PK: "PK", SK: "SK"}      // balances, postings, reservations, inbox, checkpoints
	reconTable       = txn.Table{Name: "brokerage-reconciliation", PK: "PK", SK: "SK"}
)

// tables are the tables as CreateTable takes them. Indexes are sparse and hold no more than their readers need, so that
// an index entry stays within one write unit.
func tables() []*dynamodb.CreateTableInput {
	orders := table(ordersTable.Name)
	// AP02: an account's orders, newest first.
	addIndex(orders, "GSI1", "accountPk", "accountSk", "orderId", "clientOrderId", "symbol", "side", "quantity", "limitPrice", "status")
	// AP03: an account's orders of one status that is still open; a finished order leaves the index.
	addIndex(orders, "GSI2", "statusPk", "statusSk", "orderId", "symbol", "side", "quantity")
	addOutbox(orders, orderOutbox())

	execution := table(executionTable.Name)
	// AP05: an account's trades. AP06: those of a symbol.
	addIndex(execution, "GSI1", "accountPk", "accountSk", "tradeId", "orderId", "symbol", "side", "quantity", "price", "amount")
	addIndex(execution, "GSI2", "symbolPk", "symbolSk", "tradeId", "side", "quantity", "price")
	addOutbox(execution, executionOutbox())

	requests := table(idempotencyTable.Name)
	payments := paymentRequests(txn.Config{}, nil) // AP18: what is in need of repair
	addIndexes(requests, payments.IndexAttributes(), payments.Index())

	books := table(ledgerTable.Name)
	l := ledger.New(ledger.Config{Table: ledgerTable}) // AP12: open reservations, by expiry and by account
	addIndexes(books, l.IndexAttributes(), l.Indexes()...)

	recon := table(reconTable.Name)
	desk := reconcile.New(nil, reconcile.Config{Table: reconTable}) // AP15: what is due
	addIndexes(recon, desk.IndexAttributes(), desk.Index())
	return []*dynamodb.CreateTableInput{orders, requests, execution, table(portfolioTable.Name), books, recon}
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

// addOutbox adds the index of the events that wait for a relay (AP16).
func addOutbox(in *dynamodb.CreateTableInput, events *outbox.Outbox) {
	addIndexes(in, events.IndexAttributes(), events.Index())
}

func addIndexes(in *dynamodb.CreateTableInput, attributes []types.AttributeDefinition, indexes ...types.GlobalSecondaryIndex) {
	in.AttributeDefinitions = append(in.AttributeDefinitions, attributes...)
	in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, indexes...)
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
func createTables(ctx context.Context, client *dynamodb.Client, inputs []*dynamodb.CreateTableInput) error {
	for _, in := range inputs {
		name := aws.ToString(in.TableName)
		_, err := client.CreateTable(ctx, in)
		var exists *types.ResourceInUseException
		if err != nil && !errors.As(err, &exists) {
			return fmt.Errorf("create table %s: %w", name, err)
		}
		ready := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
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
