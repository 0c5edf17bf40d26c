package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/txn"
)

// Inbox tests AP09 on the table of a configuration.
func Inbox(ctx context.Context, client *dynamodb.Client, config inbox.Config) error {
	r := begin(ctx, client)
	table, received := config.WithDefaults().Table, inbox.New(config)
	r.promise("an event has one effect, whoever delivers it and whatever is lost", func() error {
		return r.oneReceipt(table, received)
	})
	r.promise("a repeat is a success with the stored effect", func() error {
		first := map[string]string{"by": "first"}
		if _, err := received.Process(r.ctx, r.committer(), r.delivered("repeated", "10"), first, r.fact(table, "repeated-0")); err != nil {
			return err
		}
		again, err := received.Process(r.ctx, r.committer(), r.delivered("repeated", "10"), nil, r.fact(table, "repeated-1"))
		if err != nil || !again.Duplicate || !maps.Equal(again.Effect, first) {
			return fmt.Errorf("the repeat ends with: %+v, %v", again, err)
		}
		return r.oneFact(table, "repeated-")
	})
	r.promise("other content under the same ID is a mismatch and changes nothing", func() error {
		_, err := received.Process(r.ctx, r.committer(), r.delivered("repeated", "11"), nil, r.fact(table, "repeated-2"))
		if !errors.Is(err, inbox.ErrMismatch) {
			return fmt.Errorf("it ends with: %v", err)
		}
		return r.oneFact(table, "repeated-")
	})
	r.promise("Lookup finds the receipt", func() error {
		stored, err := received.Lookup(r.ctx, r.client, r.delivered("repeated", "10"))
		if err == nil && stored.Effect["by"] != "first" {
			err = fmt.Errorf("the effect is %v", stored.Effect)
		}
		return err
	})
	return r.end()
}

func (r *run) oneReceipt(table txn.Table, received *inbox.Inbox) error {
	committer := txn.New(r.faulty(func(call dynamosim.Call) dynamosim.Fate {
		if call.Sequence%3 == 1 {
			return dynamosim.LoseAnswer
		}
		return dynamosim.Deliver
	}), txn.Config{})
	var outcomes [rivals]inbox.Outcome
	errs := compete(func(i int) (err error) {
		effect := map[string]string{"by": fmt.Sprint(i)}
		outcomes[i], err = received.Process(r.ctx, committer, r.delivered("shared", "10"), effect, r.fact(table, fmt.Sprint("received-", i)))
		return err
	})
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	for _, outcome := range outcomes {
		if !maps.Equal(outcome.Effect, outcomes[0].Effect) {
			return fmt.Errorf("the effect is %v and %v", outcome.Effect, outcomes[0].Effect)
		}
	}
	return r.oneFact(table, "received-")
}

func (r *run) committer() *txn.Committer { return txn.New(r.client, txn.Config{}) }

func (r *run) delivered(id, quantity string) inbox.Event {
	return inbox.Event{ID: r.id + id, Type: "OrderFilled", Source: "storetest", Payload: []byte(quantity)}
}
