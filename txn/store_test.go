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
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// shop is a table of orders behind a network.
type shop struct {
	client *dynamodb.Client
	orders txn.Table
}

// openShop returns an empty shop; choose decides the fates of its transactions, nil is that all are delivered.
func openShop(t stores.TB, options stores.Options, choose func(dynamosim.Call) dynamosim.Fate) shop {
	store := stores.Open(t, options)
	return shop{
		orders: txn.Table{Name: store.Table(t, ordersTable("Orders"))},
		client: store.Faulty(func(call dynamosim.Call) dynamosim.Fate {
			if choose == nil || call.Operation != "TransactWriteItems" {
				return dynamosim.Deliver
			}
			return choose(call)
		}),
	}
}

// createTable is for the examples, which have no other way to fail.
func createTable(client *dynamodb.Client, name string) {
	if _, err := client.CreateTable(context.Background(), ordersTable(name)); err != nil {
		panic(err)
	}
}

func ordersTable(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
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
	}
}

func (s shop) read(t stores.TB, key txn.Item) txn.Item {
	out, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &s.orders.Name, Key: key, ConsistentRead: aws.Bool(true)})
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
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		options := stores.Options{
			Tokens:             rapid.SampledFrom([]dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}).Draw(rt, "tokens"),
			CanceledKeepsToken: rapid.Bool().Draw(rt, "cancelled keeps token"),
		}
		s := openShop(rt, options, func(dynamosim.Call) dynamosim.Fate { return rapid.SampledFrom(fates).Draw(rt, "fate") })
		clock := &clockwork{}
		committer := txn.New(s.client, clock.config())
		counter := item("counter")

		for i := range rapid.IntRange(1, 3).Draw(rt, "commits") {
			before := s.count(rt, counter)
			record := item(fmt.Sprint("record-", i))
			_, err := committer.Commit(context.Background(),
				txn.Put(s.orders, record, txn.IfAbsent()),
				txn.Update(s.orders, counter, expression.Add(expression.Name("n"), expression.Value(1))))
			moved := s.count(rt, counter) - before
			there := s.read(rt, record) != nil
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
			seen[string(o.Outcome)]++
		}
	}, string(observe.OK), string(observe.Recovered), string(observe.Ambiguous))
}

func (s shop) count(t stores.TB, key txn.Item) int {
	n := 0
	if v, ok := s.read(t, key)["n"].(*types.AttributeValueMemberN); ok {
		fmt.Sscan(v.Value, &n)
	}
	return n
}

func TestOfManyCommitsThatCreateOneItemOneWinsAndTheRestLearnWho(t *testing.T) {
	s := openShop(t, stores.Options{}, nil)
	explain := txn.Explain(func(old txn.Item) error { return &takenError{by: old["owner"].(*types.AttributeValueMemberS).Value} })
	const workers = 16
	errs := make([]error, workers)
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			owner := fmt.Sprint("worker-", i)
			_, errs[i] = txn.Commit(context.Background(), s.client,
				txn.Put(s.orders, item("name", "owner", owner), txn.IfAbsent(), explain),
				txn.Put(s.orders, item(owner), txn.IfAbsent()))
		})
	}
	group.Wait()
	winner := s.read(t, item("name"))["owner"].(*types.AttributeValueMemberS).Value
	for i, err := range errs {
		owner := fmt.Sprint("worker-", i)
		created := s.read(t, item(owner)) != nil
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
	s := openShop(t, stores.Options{}, nil)
	long := func(kib int) string { return string(make([]byte, kib<<10)) }
	exists := txn.If(expression.AttributeExists(expression.Name("PK")))
	set := expression.Set(expression.Name("x"), expression.Value(1))
	for _, row := range []struct {
		name        string
		part        txn.Part
		base, index string
	}{
		{"put, small", txn.Put(s.orders, item("new")), "2", "0"},
		{"put, just over 1 KiB", txn.Put(s.orders, item("new", "x", long(1))), "4", "0"},
		{"put with an index entry", txn.Put(s.orders, item("new", "account", "a")), "2", "1"},
		{"put over a larger item", txn.Put(s.orders, item("large")), "6", "0"},
		{"update", txn.Update(s.orders, item("small"), set), "2", "0"},
		{"delete", txn.Delete(s.orders, item("large")), "6", "0"},
		{"delete of nothing", txn.Delete(s.orders, item("nobody")), "2", "0"},
		{"check", txn.Check(s.orders, item("small"), exists), "2", "0"},
		{"check of a larger item", txn.Check(s.orders, item("large"), exists), "6", "0"},
	} {
		before := []txn.Part{txn.Put(s.orders, item("small")), txn.Put(s.orders, item("large", "x", long(2))), txn.Delete(s.orders, item("new"))}
		if _, err := txn.Commit(t.Context(), s.client, before...); err != nil {
			t.Fatal(err)
		}
		receipt, err := txn.Commit(t.Context(), s.client, row.part)
		if err != nil {
			t.Fatal(err)
		}
		if base, index := receipt.Base().String(), receipt.Index().String(); base != row.base || index != row.index {
			t.Errorf("%s: %s base and %s index units, want %s and %s", row.name, base, index, row.base, row.index)
		}
	}
}
