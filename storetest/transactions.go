package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/txn"
)

// Txn tests the transactions that every primitive relies on, on a table with a partition key and a sort key, both texts.
func Txn(ctx context.Context, client *dynamodb.Client, table txn.Table) error {
	r := begin(ctx, client)
	table = table.WithDefaults(table.Name)
	exists := txn.If(expression.AttributeExists(expression.Name(table.PK)))
	r.promise("all writes of a transaction are applied, or none", func() error {
		err := r.commit(r.fact(table, "alone"), txn.Check(table, r.key(table, "nobody"), exists))
		if !errors.Is(err, txn.ErrCanceled) {
			return fmt.Errorf("a transaction whose condition fails ends with: %v", err)
		}
		item, err := r.read(table, "alone")
		if err == nil && item != nil {
			err = errors.New("half of a cancelled transaction is stored")
		}
		return err
	})
	r.promise("of many who create one item one wins, and the others learn who", func() error { return r.oneCreates(table) })
	r.promise("a lost answer ends as success, with one effect", func() error {
		count := expression.Add(expression.Name("n"), expression.Value(1))
		if _, err := r.commitLossy(r.fact(table, "counted"), txn.Update(table, r.key(table, "counter"), count)); err != nil {
			return err
		}
		item, err := r.read(table, "counter")
		if n, ok := item["n"].(*types.AttributeValueMemberN); err == nil && (!ok || n.Value != "1") {
			err = fmt.Errorf("the counter is %v, want 1", item["n"])
		}
		return err
	})
	r.promise("a transaction reports its units", func() error {
		receipt, err := txn.Commit(r.ctx, r.client, r.fact(table, "cost-1"), r.fact(table, "cost-2"))
		if err == nil && receipt.Base() != capacity.Whole(4) {
			err = fmt.Errorf("two small items cost %s units, want 4", receipt.Base())
		}
		return err
	})
	return r.end()
}

func (r *run) oneCreates(table txn.Table) error {
	var told [rivals]string
	errs := compete(func(i int) error {
		item := r.key(table, "contested")
		item["by"] = &types.AttributeValueMemberS{Value: fmt.Sprint(i)}
		return r.commit(r.fact(table, fmt.Sprint("creator-", i)), txn.Put(table, item, txn.IfAbsent(), txn.Explain(func(old txn.Item) error {
			if by, ok := old["by"].(*types.AttributeValueMemberS); ok {
				told[i] = by.Value
			}
			return nil
		})))
	})
	item, err := r.read(table, "contested")
	if err != nil {
		return err
	}
	by, _ := item["by"].(*types.AttributeValueMemberS)
	for i, err := range errs {
		switch won := by != nil && by.Value == fmt.Sprint(i); {
		case by == nil:
			return errors.Join(append([]error{errors.New("nobody created the item")}, errs[:]...)...)
		case won && err != nil:
			return fmt.Errorf("the winner is told: %v", err)
		case !won && !errors.Is(err, txn.ErrCanceled):
			return fmt.Errorf("a loser is told: %v", err)
		case !won && told[i] != by.Value:
			return fmt.Errorf("a loser is shown the item of %q, the winner is %q", told[i], by.Value)
		}
	}
	return r.oneFact(table, "creator-")
}
