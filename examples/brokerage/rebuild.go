package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/projection"
)

// rebuilt is what came of the rebuild of the portfolio.
type rebuilt struct {
	EventsLost int `json:"events_lost"` // by the bus, on their way to the portfolio
	GapsBefore int `json:"gaps_before"` // of the view that lost events
	Events     int `json:"events"`      // in the export, and in the new view
	Steps      int `json:"steps"`       // of the runbook, each written down with its proof
	Positions  int `json:"positions"`   // of the new view, each equal to what the books say
	Namespace  int `json:"namespace"`   // that readers use

	waiting int // events behind the gaps
}

// rebuild makes the portfolio anew from the export of execution, beside the one that lost events, and moves readers when it is
// proved (AP13).
func (n *night) rebuild(ctx context.Context) error {
	p := n.office.portfolio
	n.rebuilt.EventsLost = len(n.office.snapshot().Swallowed)
	gaps, waiting, err := p.gaps(ctx)
	if err != nil {
		return err
	}
	n.rebuilt.GapsBefore, n.rebuilt.waiting = gaps, waiting
	_, err = p.view.Namespace(p.reads+1).Runbook(projection.RunbookConfig{
		By: "finance-ops", AsOf: nightBegins, Frozen: true, Schema: "trades-1",
		Policy: "nothing is traded at night; readers move when it is proved; the old view stays",
		Source: projection.FromExport(n.x.execution, n.office.execution.versionIn), Reconcile: n.holdAgainstBooks,
		Progress: func(run projection.Run, _ projection.Build) { n.rebuilt.Steps = len(run.Done) },
	}).Run(ctx, projection.StepCutover)
	if err != nil {
		return err
	}
	err = p.follow(ctx)
	n.rebuilt.Namespace = p.reads
	return err
}

// versionIn is the event that an item of the Execution table has.
func (x *execution) versionIn(r export.Record) (projection.Event, bool, error) {
	stored, ok, err := x.events.Decode(r.New)
	if !ok || err != nil {
		return projection.Event{}, false, err
	}
	return versionOf(stored.Event), true, nil
}

// holdAgainstBooks compares the new view with what knows better: what an account has of a security in the books, less what it began
// the day with, is what trades gave it.
func (n *night) holdAgainstBooks(ctx context.Context, totals projection.Totals) (string, error) {
	n.rebuilt.Events = int(totals.Events)
	next := n.office.portfolio.reads + 1
	compared := 0
	for _, of := range n.accounts {
		view := map[string]money.Amount{}
		list, err := n.office.portfolio.positionsIn(ctx, next, of)
		if err != nil {
			return "", err
		}
		for _, one := range list {
			view[one.Quantity.Currency().Code()] = one.Quantity
		}
		for _, b := range n.x.of(of.tenant).balances {
			if b.Account != of.id || b.Currency.Kind() != money.KindSecurity {
				continue
			}
			if err := agrees(of, b, view[b.Currency.Code()]); err != nil {
				return "", err
			}
		}
		n.view[of] = list
		compared += len(list)
	}
	n.rebuilt.Positions = compared
	return fmt.Sprintf("%d positions are what the books say", compared), nil
}

func agrees(of account, b ledger.Balance, position money.Amount) error {
	security := b.Currency
	began, err := endowment(of, security)
	if err != nil {
		return err
	}
	traded, err := b.Posted.Sub(began)
	switch {
	case err != nil:
		return err
	case traded.IsZero() && position.IsZero():
		return nil
	case !traded.Equal(position):
		return errors.Join(errDisagree, fmt.Errorf("%s of %s: the view has %s of %s, the books %s", of.id, of.tenant, position, security, traded))
	}
	return nil
}

var errDisagree = errors.New("the view is not what the books say")
