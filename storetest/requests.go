package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/txn"
)

// Idempotency tests AP08 on the table of a configuration.
func Idempotency(ctx context.Context, client *dynamodb.Client, config idempotency.Config) error {
	r := begin(ctx, client)
	table, requests := config.WithDefaults().Table, idempotency.New(config)
	r.promise("one command has one effect and one result, whoever sends it and whatever is lost", func() error {
		return r.oneResult(table, requests)
	})
	first := result("first")
	r.promise("a lost answer ends as success", func() error {
		_, err := r.commitLossy(requests.Once(r.command("lost", "10"), first))
		return err
	})
	r.promise("a repeat gets the first result back", func() error {
		if err := r.commit(requests.Once(r.command("repeated", "10"), first), r.fact(table, "repeated-0")); err != nil {
			return err
		}
		err := r.commit(requests.Once(r.command("repeated", "10.0"), result("second")), r.fact(table, "repeated-1"))
		replay, ok := idempotency.Replayed(err)
		if !ok {
			return fmt.Errorf("the repeat ends with: %v", err)
		}
		return r.same(replay.Result, first, table, "repeated-")
	})
	r.promise("Lookup finds what was committed", func() error {
		found, err := requests.Lookup(r.ctx, r.client, r.command("repeated", "10"))
		if err != nil {
			return err
		}
		return r.same(found, first, table, "repeated-")
	})
	r.promise("another command under the same key is a mismatch and changes nothing", func() error {
		err := r.commit(requests.Once(r.command("repeated", "11"), result("other")), r.fact(table, "repeated-2"))
		if !errors.Is(err, idempotency.ErrMismatch) {
			return fmt.Errorf("it ends with: %v", err)
		}
		found, err := requests.Lookup(r.ctx, r.client, r.command("repeated", "10"))
		if err != nil {
			return err
		}
		return r.same(found, first, table, "repeated-")
	})
	return r.end()
}

func (r *run) oneResult(table txn.Table, requests *idempotency.Requests) error {
	client := r.faulty(func(call dynamosim.Call) dynamosim.Fate {
		if call.Sequence%3 == 1 {
			return dynamosim.LoseAnswer
		}
		return dynamosim.Deliver
	})
	var results [rivals]idempotency.Result
	errs := compete(func(i int) error {
		results[i] = result(fmt.Sprint(i))
		_, err := txn.Commit(r.ctx, client, requests.Once(r.command("shared", "10"), results[i]), r.fact(table, fmt.Sprint("shared-", i)))
		if replay, ok := idempotency.Replayed(err); ok {
			results[i], err = replay.Result, nil
		}
		return err
	})
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	for _, got := range results {
		if err := r.same(got, results[0], table, "shared-"); err != nil {
			return err
		}
	}
	return nil
}

// same checks that a result is the one of the only effect.
func (r *run) same(got, want idempotency.Result, table txn.Table, effects string) error {
	if got.Kind != want.Kind || got.Code != want.Code || !bytes.Equal(got.Body, want.Body) || !maps.Equal(got.Effect, want.Effect) {
		return fmt.Errorf("the result is %+v, want %+v", got, want)
	}
	return r.oneFact(table, effects)
}

func (r *run) command(key, quantity string) idempotency.Request {
	return idempotency.Request{
		Tenant: "storetest", Key: r.id + key, Operation: "order.accept",
		Command: idempotency.NewFields().Decimal("quantity", quantity),
	}
}

// result has a body that is no text, which a store must not change.
func result(who string) idempotency.Result {
	return idempotency.Result{Code: "201", Body: []byte("\x00\xff" + who), Effect: map[string]string{"by": who}}
}
