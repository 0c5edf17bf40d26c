package txn_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/txn"
)

// Two writes commit together, and the receipt says what they cost.
func ExampleCommit() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, "Orders")

	orders := txn.Table{Name: "Orders"}
	order := orders.Key("ORDER#1", "META")
	order["account"] = &types.AttributeValueMemberS{Value: "acct-7"}

	receipt, err := txn.Commit(ctx, client,
		txn.Put(orders, order, txn.IfAbsent()),
		txn.Update(orders, orders.Key("ACCT#acct-7", "META"), expression.Add(expression.Name("orders"), expression.Value(1))),
	)
	fmt.Println(err, "- base", receipt.Base(), "index", receipt.Index(), "in", receipt.Attempts, "request")
	// Output: <nil> - base 4 index 1 in 1 request
}

// A loser learns why from the stored item that DynamoDB returns with the refusal. It costs no read.
func ExampleExplain() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTable(client, "Orders")

	orders := txn.Table{Name: "Orders"}
	reserve := func(owner string) txn.Part {
		seat := orders.Key("SEAT#12A", "META")
		seat["owner"] = &types.AttributeValueMemberS{Value: owner}
		return txn.Put(orders, seat, txn.IfAbsent(), txn.Explain(func(old txn.Item) error {
			return fmt.Errorf("seat 12A belongs to %s", old["owner"].(*types.AttributeValueMemberS).Value)
		}))
	}
	_, err := txn.Commit(ctx, client, reserve("Ann"))
	fmt.Println(err)
	_, err = txn.Commit(ctx, client, reserve("Bob"))

	var canceled *txn.CanceledError
	fmt.Println(errors.As(err, &canceled), canceled.Reasons[0].Err)
	// Output:
	// <nil>
	// true seat 12A belongs to Ann
}

// The answer is lost after the commit. The next attempt finds the transaction's own mark and reports success.
func ExampleCommitter_Commit_lostAnswer() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{TokenPolicy: dynamosim.IgnoreTokens}) // no help from request tokens
	createTable(db.Client(), "Orders")
	unlucky := db.Client(func(o *dynamodb.Options) {
		o.HTTPClient = dynamosim.Faulty(db, func(call dynamosim.Call) dynamosim.Fate {
			if call.Sequence == 1 {
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		})
	})

	orders := txn.Table{Name: "Orders"}
	account := orders.Key("ACCT#acct-7", "META")
	receipt, err := txn.New(unlucky, txn.Config{}).Commit(ctx,
		txn.Put(orders, orders.Key("DEPOSIT#1", "META"), txn.IfAbsent()),
		txn.Update(orders, account, expression.Add(expression.Name("balance"), expression.Value(100))),
	)
	fmt.Println(err, "- recovered:", receipt.Recovered, "after", receipt.Attempts, "requests")

	stored, _ := db.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("Orders"), Key: account})
	fmt.Println("balance", stored.Item["balance"].(*types.AttributeValueMemberN).Value)
	// Output:
	// <nil> - recovered: true after 2 requests
	// balance 100
}

// Every error has a stable code, whatever wraps it. docs/errors.md explains it, and says whether a repeat can help.
func ExampleErrInvalid() {
	client := dynamosim.Open(dynamosim.Options{}).Client()
	_, err := txn.Commit(context.Background(), client) // of nothing
	err = fmt.Errorf("closing the day: %w", err)

	fmt.Println(errors.Is(err, txn.ErrInvalid))
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		fmt.Println("code:", coded.Code())
	}
	// Output:
	// true
	// code: DFN-1201
}
