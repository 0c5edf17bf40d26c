package txn_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/txn"
)

// database returns a client of an embedded database with the table Orders, behind a network whose faults choose decides.
func database(t dynamosim.TB, options dynamosim.Options, choose func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	db := dynamosim.New(t, options)
	client := db.Client(func(o *dynamodb.Options) {
		o.HTTPClient = dynamosim.Faulty(db, func(call dynamosim.Call) dynamosim.Fate {
			if choose == nil || call.Operation != "TransactWriteItems" {
				return dynamosim.Deliver
			}
			return choose(call)
		})
	})
	createTable(client, "Orders")
	return client
}

func createTable(client *dynamodb.Client, name string) {
	_, err := client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: "S"}, {AttributeName: aws.String("SK"), AttributeType: "S"},
			{AttributeName: aws.String("account"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("GSI1"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("account"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	})
	if err != nil {
		panic(err)
	}
}

func read(t interface{ Fatal(...any) }, client *dynamodb.Client, key txn.Item) txn.Item {
	out, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("Orders"), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// TestEveryCommitHasOneEffectWhateverIsLostAndWhateverTokensDo: a counter and a write-once record commit together, through
// any sequence of faults, under each treatment of request tokens. The record tells how often the counter must have
// moved: once if it is there, else never.
func TestEveryCommitHasOneEffectWhateverIsLostAndWhateverTokensDo(t *testing.T) {
	fates := []dynamosim.Fate{dynamosim.Deliver, dynamosim.Deliver, dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.Throttle,
		dynamosim.Conflict, dynamosim.InProgress, dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter}
	seen := make(map[txn.Outcome]int)
	rapid.Check(t, func(rt *rapid.T) {
		options := dynamosim.Options{
			TokenPolicy:        rapid.SampledFrom([]dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}).Draw(rt, "tokens"),
			CanceledKeepsToken: rapid.Bool().Draw(rt, "cancelled keeps token"),
		}
		client := database(t, options, func(dynamosim.Call) dynamosim.Fate { return rapid.SampledFrom(fates).Draw(rt, "fate") })
		clock := &clockwork{}
		committer := txn.New(client, clock.config())
		counter := item("counter")

		for i := range rapid.IntRange(1, 3).Draw(rt, "commits") {
			before := count(rt, client, counter)
			record := item(fmt.Sprint("record-", i))
			_, err := committer.Commit(context.Background(),
				txn.Put(orders, record, txn.IfAbsent()),
				txn.Update(orders, counter, expression.Add(expression.Name("n"), expression.Value(1))))
			moved := count(rt, client, counter) - before
			there := read(rt, client, record) != nil
			if moved > 1 || (moved == 1) != there {
				rt.Fatalf("the counter moved by %d, the record is there: %t (error: %v)", moved, there, err)
			}
			if err == nil && moved != 1 {
				rt.Fatalf("success without an effect")
			}
			if err != nil && moved != 0 && !errors.Is(err, txn.ErrAmbiguous) {
				rt.Fatalf("a definite error with an effect: %v", err)
			}
		}
		for _, o := range clock.seen {
			seen[o.Outcome]++
		}
	})
	for _, outcome := range []txn.Outcome{txn.OutcomeApplied, txn.OutcomeRecovered, txn.OutcomeAmbiguous} {
		if seen[outcome] == 0 {
			t.Errorf("no history ended %s: the test has not seen what it is for (%v)", outcome, seen)
		}
	}
}

func count(t interface{ Fatal(...any) }, client *dynamodb.Client, key txn.Item) int {
	n := 0
	if v, ok := read(t, client, key)["n"].(*types.AttributeValueMemberN); ok {
		fmt.Sscan(v.Value, &n)
	}
	return n
}

func TestOfManyCommitsThatCreateOneItemOneWinsAndTheRestLearnWho(t *testing.T) {
	client := database(t, dynamosim.Options{}, nil)
	explain := txn.Explain(func(old txn.Item) error { return &takenError{by: old["owner"].(*types.AttributeValueMemberS).Value} })
	const workers = 16
	errs := make([]error, workers)
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			owner := fmt.Sprint("worker-", i)
			_, errs[i] = txn.Commit(context.Background(), client,
				txn.Put(orders, item("name", "owner", owner), txn.IfAbsent(), explain),
				txn.Put(orders, item(owner), txn.IfAbsent()))
		})
	}
	group.Wait()
	winner := read(t, client, item("name"))["owner"].(*types.AttributeValueMemberS).Value
	for i, err := range errs {
		owner := fmt.Sprint("worker-", i)
		created := read(t, client, item(owner)) != nil
		var taken *takenError
		switch {
		case owner == winner:
			if err != nil || !created {
				t.Errorf("the winner got %v", err)
			}
		case !errors.As(err, &taken) || taken.by != winner || created:
			t.Errorf("%s got %v, created: %t", owner, err, created)
		}
	}
}

// TestCostOfEachKindOfWrite holds the write units of one Commit: twice the item for each write, once for each index entry.
func TestCostOfEachKindOfWrite(t *testing.T) {
	long := func(kib int) string { return string(make([]byte, kib<<10)) }
	exists := txn.If(expression.AttributeExists(expression.Name("PK")))
	set := expression.Set(expression.Name("x"), expression.Value(1))
	for _, row := range []struct {
		name        string
		part        txn.Part
		base, index string
	}{
		{"put, small", txn.Put(orders, item("new")), "2", "0"},
		{"put, just over 1 KiB", txn.Put(orders, item("new", "x", long(1))), "4", "0"},
		{"put with an index entry", txn.Put(orders, item("new", "account", "a")), "2", "1"},
		{"put over a larger item", txn.Put(orders, item("large")), "6", "0"},
		{"update", txn.Update(orders, item("small"), set), "2", "0"},
		{"delete", txn.Delete(orders, item("large")), "6", "0"},
		{"delete of nothing", txn.Delete(orders, item("nobody")), "2", "0"},
		{"check", txn.Check(orders, item("small"), exists), "2", "0"},
		{"check of a larger item", txn.Check(orders, item("large"), exists), "6", "0"},
	} {
		client := database(t, dynamosim.Options{}, nil)
		for _, it := range []txn.Item{item("small"), item("large", "x", long(2))} {
			if _, err := txn.Commit(t.Context(), client, txn.Put(orders, it)); err != nil {
				t.Fatal(err)
			}
		}
		receipt, err := txn.Commit(t.Context(), client, row.part)
		if err != nil {
			t.Fatal(err)
		}
		if base, index := receipt.Base().String(), receipt.Index().String(); base != row.base || index != row.index {
			t.Errorf("%s: %s base and %s index units, want %s and %s", row.name, base, index, row.base, row.index)
		}
	}
}
