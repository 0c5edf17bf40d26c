package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
)

// Repair tests the life of a request on a lease (AP08) and the queue of repair (AP18) on the table and index of a
// configuration, whose clock is not used: the suite has its own.
func Repair(ctx context.Context, client *dynamodb.Client, config idempotency.Config) error {
	r := begin(ctx, client)
	var passed atomic.Int64
	config.Now = func() time.Time {
		return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC).Add(time.Duration(passed.Load()))
	}
	table, requests := config.WithDefaults().Table, idempotency.New(config)
	lease := int64(config.WithDefaults().Lease)
	request := func(key string) idempotency.Request {
		c := r.command(key, "10")
		c.Tenant = "storetest-" + r.id
		return c
	}
	r.promise("of rivals with one key one has the claim, whatever is lost", func() error {
		lossy := r.faulty(func(call dynamosim.Call) dynamosim.Fate {
			if call.Attempt == 1 {
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		})
		var won atomic.Int64
		errs := compete(func(int) error {
			_, err := requests.Begin(r.ctx, lossy, request("claimed"), idempotency.Transactional)
			if err == nil {
				won.Add(1)
			} else if errors.Is(err, idempotency.ErrInProgress) {
				err = nil
			}
			return err
		})
		if err := errors.Join(errs[:]...); err != nil || won.Load() != 1 {
			return fmt.Errorf("%d have it: %w", won.Load(), err)
		}
		return nil
	})
	r.promise("a late loser commits nothing", func() error {
		first, err := requests.Begin(r.ctx, r.client, request("late"), idempotency.Transactional)
		if err != nil {
			return err
		}
		passed.Add(lease)
		second, err := requests.Begin(r.ctx, r.client, request("late"), idempotency.Transactional)
		if err != nil {
			return err
		}
		if err := r.commit(first.Complete(result("first")), r.fact(table, "late-0")); !errors.Is(err, idempotency.ErrLeaseLost) {
			return fmt.Errorf("it ends with: %v", err)
		}
		if err := r.commit(second.Complete(result("second")), r.fact(table, "late-1")); err != nil {
			return err
		}
		return r.oneFact(table, "late-")
	})
	r.promise("an external attempt is found by its lease, and completed from what the prober finds", func() error {
		if _, err := requests.Begin(r.ctx, r.client, request("external"), idempotency.External); err != nil {
			return err
		}
		passed.Add(2 * lease)
		if _, err := requests.Begin(r.ctx, r.client, request("external"), idempotency.External); !errors.Is(err, idempotency.ErrRepairRequired) {
			return fmt.Errorf("the repeat ends with: %v", err)
		}
		prober := idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
			return idempotency.Found(result("provider"), r.fact(table, "external-0")), nil
		})
		worker := idempotency.NewRepairWorker(requests, r.client, prober, idempotency.RepairConfig{Tenants: idempotency.Tenants(request("").Tenant), Grace: -1})
		err := r.eventually(func() (bool, error) {
			round, err := worker.Once(r.ctx)
			return round.Completed == 1, err
		})
		if err != nil {
			return err
		}
		found, err := requests.Lookup(r.ctx, r.client, request("external"))
		if err != nil {
			return err
		}
		return r.same(found, result("provider"), table, "external-")
	})
	return r.end()
}
