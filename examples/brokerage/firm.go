package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dynafin/dynafin/txn"
)

// firm is everything that happens after the orders of the day are decided, one part after the other.
type firm struct {
	service  *service
	clock    *clock
	office   *backOffice
	payments *payments
	accounts []account // of the customers whose orders reached the books

	pace txn.Config

	corrected corrected
	recon     reconciled
	rebuilt   rebuilt
	audited   audited
	asked     asked
	told      pageParts
}

// run takes the firm through the rest of the day and the night. Every step may be taken again: what was done is found done.
func (f *firm) run(ctx context.Context, screen *console) error {
	steps := []struct {
		progress func() string
		work     func(context.Context) error
	}{
		{f.office.progress, func(ctx context.Context) error { return f.office.run(ctx, tenantsOf(f.accounts)) }},
		{said("enquiries are answered"), func(ctx context.Context) error { return f.enquire(context.WithoutCancel(ctx)) }},
		{said("customers are paid out"), f.pay},
		{said("a distribution is booked and corrected"), f.correct},
		{said("reconciliation"), func(ctx context.Context) error { return f.atNight(context.WithoutCancel(ctx)) }},
	}
	for _, step := range steps {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done := screen.follow(func(time.Duration) string { return step.progress() })
		err := step.work(ctx)
		done()
		if err != nil {
			return err
		}
	}
	return nil
}

func said(text string) func() string { return func() string { return text } }

func (f *firm) pay(ctx context.Context) error {
	list, err := paymentsOf(f.accounts, f.service.books.market)
	if err != nil {
		return err
	}
	return f.payments.run(context.WithoutCancel(ctx), list)
}

// correct books a distribution to the accounts of the first tenant.
func (f *firm) correct(ctx context.Context) (err error) {
	f.clock.reach(nightBegins)
	var holders []account
	for _, of := range f.accounts {
		if of.tenant == f.accounts[0].tenant {
			holders = append(holders, of)
		}
	}
	f.corrected, err = f.service.books.distribute(context.WithoutCancel(ctx), holders, marketCloses)
	if err != nil {
		return fmt.Errorf("distribution of %s: %w", distributed, err)
	}
	return nil
}

// tenantsOf are the tenants of accounts, sorted.
func tenantsOf(accounts []account) (tenants []string) {
	for _, of := range accounts {
		tenants = append(tenants, of.tenant)
	}
	slices.Sort(tenants)
	return slices.Compact(tenants)
}
