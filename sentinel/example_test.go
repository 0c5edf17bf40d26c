package sentinel_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// Two orders want one client order ID. The second learns from the refused transaction whose it is.
func Example() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTables(client)

	names := sentinel.New(sentinel.Config{})
	orders := txn.Table{Name: "Orders"}
	accept := func(orderID, requestKey string) error {
		_, err := txn.Commit(ctx, client,
			names.Reserve(sentinel.Claim{
				Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-1", Owner: orderID, Command: requestKey,
			}),
			txn.Put(orders, orders.Key("TEN#acme#ORDER#"+orderID, "META"), txn.IfAbsent()),
		)
		return err
	}
	fmt.Println("order-1:", accept("order-1", "req-1"))

	var taken *sentinel.TakenError
	if errors.As(accept("order-2", "req-2"), &taken) {
		fmt.Println("order-2:", taken.Name, "belongs to", taken.Owner, "- same command:", taken.SameCommand)
	}
	if errors.As(accept("order-3", "req-1"), &taken) {
		fmt.Println("order-3:", taken.Name, "belongs to", taken.Owner, "- same command:", taken.SameCommand)
	}
	// Output:
	// order-1: <nil>
	// order-2: C-1 belongs to order-1 - same command: false
	// order-3: C-1 belongs to order-1 - same command: true
}

// A user changes her e-mail address: the new one is taken and the old one given up in the transaction that changes her
// own record, on condition of what was read.
func ExampleNames_Move() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTables(client)

	names := sentinel.New(sentinel.Config{})
	users := txn.Table{Name: "Orders"}
	ann := users.Key("TEN#acme#USER#ann", "META")
	email := func(address, command string) sentinel.Claim {
		return sentinel.Claim{Tenant: "acme", Kind: "EMAIL", Name: address, Owner: "ann", Command: command}
	}
	has := func(address string) expression.ConditionBuilder {
		return expression.Name("email").Equal(expression.Value(address))
	}
	set := func(address string) expression.UpdateBuilder {
		return expression.Set(expression.Name("email"), expression.Value(address))
	}

	_, err := txn.Commit(ctx, client, names.Reserve(email("ann@old.example", "cmd-1")),
		txn.Update(users, ann, set("ann@old.example"), txn.IfAbsent()))
	fmt.Println("sign up:", err)

	old, err := names.Lookup(ctx, client, "acme", "EMAIL", "ann@old.example")
	fmt.Println("held by:", old.Owner, err)

	_, err = txn.Commit(ctx, client, names.Move(old, email("ann@new.example", "cmd-2")),
		txn.Update(users, ann, set("ann@new.example"), txn.If(has("ann@old.example"))))
	fmt.Println("move:", err)

	_, err = names.Lookup(ctx, client, "acme", "EMAIL", "ann@old.example")
	fmt.Println("old address is free:", errors.Is(err, sentinel.ErrNotFound))
	// Output:
	// sign up: <nil>
	// held by: ann <nil>
	// move: <nil>
	// old address is free: true
}
