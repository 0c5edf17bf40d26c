// Command sentinel shows the pattern: clients give their orders IDs of their own, each of which must mean one order. Eight
// commands want one ID at once, an order gets another ID, and one gives its ID back. It runs on the embedded engine and
// prints what happens.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sentinel:", err)
		os.Exit(1)
	}
}

const tenant = "acme"

// orders is the table of the orders and of the IDs that clients gave them.
var orders = txn.Table{Name: "Orders"}

// service keeps orders, each with one client order ID.
type service struct {
	out    io.Writer
	client *dynamodb.Client
	names  *sentinel.Names
}

// run is the program.
func run(ctx context.Context, out io.Writer) error {
	db := dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable(orders.Name); err != nil {
		return err
	}
	s := &service{out, db.Client(), sentinel.New(sentinel.Config{Table: orders})} // in production: the *dynamodb.Client that you have
	steps := []struct {
		what string
		do   func() error
	}{
		{"order-1 takes C-77", func() error { return s.create(ctx, "order-1", "C-77", "key-1") }},
		{"order-2 wants C-77", func() error { return s.create(ctx, "order-2", "C-77", "key-2") }},
		{"order-1 again: no answer came", func() error { return s.create(ctx, "order-1", "C-77", "key-1") }},
		{"order-1 moves to C-78", func() error { return s.move(ctx, "order-1", "C-77", "C-78", "key-3") }},
		{"order-2 takes C-77, free by now", func() error { return s.create(ctx, "order-2", "C-77", "key-2") }},
		{"order-2 wants to move to C-78", func() error { return s.move(ctx, "order-2", "C-77", "C-78", "key-4") }},
		{"order-1 ends, and C-78 with it", func() error { return s.end(ctx, "order-1", "C-78") }},
		{"order-2 moves to C-78", func() error { return s.move(ctx, "order-2", "C-77", "C-78", "key-4") }},
	}
	fmt.Fprintf(out, "%-34s%s\n", "STEP", "RESULT")
	for _, step := range steps {
		result, err := meaning(step.do())
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Fprintf(out, "%-34s%s\n", step.what, result)
	}
	return errors.Join(s.show(ctx, "C-77", "C-78"), s.race(ctx))
}

func orderKey(order string) txn.Item {
	return orders.Key(txn.JoinKey("TEN", tenant, "ORDER", order), "META")
}

func claim(order, name, command string) sentinel.Claim {
	return sentinel.Claim{Tenant: tenant, Kind: sentinel.ClientOrder, Name: name, Owner: order, Command: command}
}

// create stores an order and takes its client order ID, both or neither. Nobody looks first whether the ID is free: the
// write decides, and whoever is too late learns from it who was faster.
func (s *service) create(ctx context.Context, order, name, command string) error {
	item := orderKey(order)
	item["clientOrderId"] = &types.AttributeValueMemberS{Value: name}
	_, err := txn.Commit(ctx, s.client, s.names.Reserve(claim(order, name, command)), txn.Put(orders, item, txn.IfAbsent()))
	return err
}

// move gives an order another client order ID: the old one becomes free and the new one is taken, or neither.
func (s *service) move(ctx context.Context, order, from, to, command string) error {
	held, err := s.names.Lookup(ctx, s.client, tenant, sentinel.ClientOrder, from)
	if err != nil {
		return err
	}
	has := expression.Name("clientOrderId")
	_, err = txn.Commit(ctx, s.client,
		s.names.Move(held, claim(order, to, command)),
		txn.Update(orders, orderKey(order), expression.Set(has, expression.Value(to)), txn.If(has.Equal(expression.Value(from)))),
	)
	return err
}

// end ends an order. Its client order ID is free from then on.
func (s *service) end(ctx context.Context, order, name string) error {
	held, err := s.names.Lookup(ctx, s.client, tenant, sentinel.ClientOrder, name)
	if err != nil {
		return err
	}
	has := expression.Name("clientOrderId")
	_, err = txn.Commit(ctx, s.client,
		s.names.Release(held),
		txn.Update(orders, orderKey(order), expression.Remove(has), txn.If(has.Equal(expression.Value(name)))),
	)
	return err
}

// meaning says in words how a step ended. An error that is no part of the story is returned.
func meaning(err error) (string, error) {
	var taken *sentinel.TakenError
	switch {
	case err == nil:
		return "done", nil
	case errors.As(err, &taken) && taken.SameCommand:
		return "was done before: " + taken.Name + " is its own", nil
	case errors.As(err, &taken):
		return "refused: " + taken.Name + " belongs to " + taken.Owner, nil
	}
	return "", err
}

// race lets eight orders want one ID at the same time.
func (s *service) race(ctx context.Context) error {
	results, errs := make([]string, 8), make([]error, 8)
	var racing sync.WaitGroup
	for i := range results {
		racing.Go(func() {
			order := fmt.Sprint("order-", 10+i)
			results[i], errs[i] = meaning(s.create(ctx, order, "C-99", "key-"+order))
		})
	}
	racing.Wait()
	told := map[string]int{}
	for _, result := range results {
		told[result]++
	}
	winner := fmt.Sprint("order-", 10+slices.Index(results, "done"))
	fmt.Fprintf(s.out, "\n%d orders want C-99 at once: %d has it, and %d are told which one\n",
		len(results), told["done"], told["refused: C-99 belongs to "+winner])
	return errors.Join(errs...)
}

// show prints who holds which ID.
func (s *service) show(ctx context.Context, names ...string) error {
	fmt.Fprintln(s.out)
	for _, name := range names {
		held, err := s.names.Lookup(ctx, s.client, tenant, sentinel.ClientOrder, name)
		var free *sentinel.NotFoundError
		switch {
		case errors.As(err, &free):
			fmt.Fprintf(s.out, "%s is free\n", name)
		case err != nil:
			return err
		default:
			fmt.Fprintf(s.out, "%s belongs to %s; change %d of its record\n", name, held.Owner, held.Version)
		}
	}
	return nil
}
