package schema_test

import (
	"context"
	"fmt"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/schema"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// Three primitives share the table of orders. Their descriptions come from the very values that the service works with.
func orderTables() schema.Deployment {
	table := txn.Table{Name: "Orders"}
	return schema.Deployment{
		HomeRegion: "eu-west-1",
		Tables: []schema.Table{
			idempotency.New(idempotency.Config{Table: table}).Schema(),
			sentinel.New(sentinel.Config{Table: table}).Schema(sentinel.ClientOrder),
			outbox.New(outbox.Config{Service: "orders", Table: table}).Schema(),
		},
	}
}

// Somebody creates the table by hand, and forgets an index, a projected attribute and what protects the data.
func ExampleDeployment_Verify() {
	d := orderTables()
	creations, err := d.Create()
	if err != nil {
		fmt.Println(err)
		return
	}
	byHand := creations[0].CreateTable
	byHand.DeletionProtectionEnabled = nil
	byHand.GlobalSecondaryIndexes = byHand.GlobalSecondaryIndexes[1:]
	byHand.AttributeDefinitions = byHand.AttributeDefinitions[:4] // PK, SK and the keys of the index that is left
	byHand.GlobalSecondaryIndexes[0].Projection.NonKeyAttributes = byHand.GlobalSecondaryIndexes[0].Projection.NonKeyAttributes[1:]

	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{Region: "eu-west-1"}).Client()
	if _, err := client.CreateTable(ctx, byHand); err != nil {
		fmt.Println(err)
		return
	}
	findings, err := d.Verify(ctx, client)
	for _, f := range findings {
		fmt.Println(f)
	}
	fmt.Println(err)
	// Output:
	// error: Orders / GSI1: INDEX_MISSING: want an index, got none
	// error: Orders / GSI3: PROJECTION_MISSING: want aggregateId, got an index without
	// error: Orders: TTL_OFF: want items that expire by expiresAt, got none that expire
	// error: Orders: UNPROTECTED: want protection from deletion, got none
	// warning: Orders: RECOVERY_UNREADABLE: want point-in-time recovery over 35 days, got an endpoint that cannot say
	// <nil>
}

// A relay may do to events what relays do, and nothing to the requests in the same table.
func ExampleDeployment_Policy() {
	policy, err := orderTables().Policy(schema.Scope{Account: "123456789012"}, "outbox.relay")
	for _, s := range policy.Statement {
		fmt.Println(s.Sid, s.Action, s.Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"])
	}
	fmt.Println(err)
	// Output:
	// OutboxRelay1 [dynamodb:Query] [SERVICE#orders#READY#*]
	// OutboxRelay2 [dynamodb:GetItem dynamodb:UpdateItem] [OUTBOX#*]
	// OutboxRelay3 [dynamodb:PutItem dynamodb:DeleteItem dynamodb:Query] [SERVICE#orders#CLAIMS]
	// OutboxRelay4 [dynamodb:GetItem] [SERVICE#orders#SWITCH]
	// <nil>
}

// The service's own table has roles, too: one for each kind of program, with the keys that it reaches.
func ExampleRole() {
	trades := schema.Table{Name: "Trades", PK: "orderPk", SK: "tradeSk", Transactions: true, Roles: []schema.Role{
		{Name: "trades.write", Grants: []schema.Grant{
			{Actions: []schema.Action{schema.PutItem}, Keys: []string{"TEN#*#ORDER#*"}, InTransaction: true},
		}},
		{Name: "trades.read", Grants: []schema.Grant{
			{Actions: []schema.Action{schema.GetItem, schema.Query}, Keys: []string{"TEN#*#ORDER#*"}},
		}},
	}}
	d := orderTables()
	d.Tables = append(d.Tables, trades)
	policy, err := d.Policy(schema.Scope{Account: "123456789012", Tenant: "acme"}, "trades.write", "idempotency.claim")
	for _, s := range policy.Statement {
		fmt.Println(s.Sid, s.Action, s.Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"], s.Condition["StringEquals"])
	}
	fmt.Println(err)
	// Output:
	// TradesWrite1 [dynamodb:PutItem] [TEN#acme#ORDER#*] map[dynamodb:EnclosingOperation:[TransactWriteItems]]
	// IdempotencyClaim1 [dynamodb:PutItem dynamodb:UpdateItem] [TEN#acme#REQ#*] map[]
	// <nil>
}
