package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/sentinel"
)

// Sentinel tests AP17 on the table of a configuration.
func Sentinel(ctx context.Context, client *dynamodb.Client, config sentinel.Config) error {
	r := begin(ctx, client)
	table, names := config.Table.WithDefaults(sentinel.DefaultTable), sentinel.New(config)
	lookup := func(name string) (sentinel.Held, error) {
		return names.Lookup(r.ctx, r.client, "storetest", sentinel.ClientOrder, r.id+name)
	}
	r.promise("of many who want a name one gets it, and the others learn who", func() error {
		errs := compete(func(i int) error {
			return r.commit(names.Reserve(r.claim("wanted", fmt.Sprint(i))), r.fact(table, fmt.Sprint("owner-", i)))
		})
		held, err := lookup("wanted")
		if err != nil {
			return errors.Join(append(errs[:], err)...)
		}
		for i, err := range errs {
			var taken *sentinel.TakenError
			if won := held.Owner == fmt.Sprint(i); won != (err == nil) || !won && (!errors.As(err, &taken) || taken.Owner != held.Owner) {
				return fmt.Errorf("the name belongs to %s; %d is told: %v", held.Owner, i, err)
			}
		}
		return r.oneFact(table, "owner-")
	})
	r.promise("a released name is free, and what was read before is stale", func() error {
		if err := r.commit(names.Reserve(r.claim("released", "1")), r.fact(table, "first")); err != nil {
			return err
		}
		read, err := lookup("released")
		if err != nil {
			return err
		}
		if err := r.commit(names.Release(read)); err != nil {
			return err
		}
		if _, err := lookup("released"); !errors.Is(err, sentinel.ErrNotFound) {
			return fmt.Errorf("looking it up ends with: %v", err)
		}
		if err := r.commit(names.Reserve(r.claim("released", "1"))); err != nil {
			return err
		}
		if err := r.commit(names.Release(read)); !errors.Is(err, sentinel.ErrNotOwned) {
			return fmt.Errorf("releasing it by the first reading ends with: %v", err)
		}
		return nil
	})
	r.promise("a lost answer to a move ends as success", func() error {
		if err := r.commit(names.Reserve(r.claim("old", "1"))); err != nil {
			return err
		}
		read, err := lookup("old")
		if err != nil {
			return err
		}
		if _, err := r.commitLossy(names.Move(read, r.claim("new", "1"))); err != nil {
			return err
		}
		if _, err := lookup("old"); !errors.Is(err, sentinel.ErrNotFound) {
			return fmt.Errorf("looking up the old name ends with: %v", err)
		}
		_, err = lookup("new")
		return err
	})
	return r.end()
}

func (r *run) claim(name, owner string) sentinel.Claim {
	return sentinel.Claim{Tenant: "storetest", Kind: sentinel.ClientOrder, Name: r.id + name, Owner: owner, Command: "by " + owner}
}
