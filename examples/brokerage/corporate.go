package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// distribution is what a fund pays on every unit that an account has: a corporate action. It was booked with two digits swapped, and
// books are not edited: the wrong transaction is reversed, and the right one is posted as its correction.
const distributed = "WORLD-ETF"

var announced, keyedIn = money.MustParseRational("0.45"), money.MustParseRational("0.54")

// corrected counts what was booked, reversed and booked again.
type corrected struct {
	Booked   int `json:"booked"`
	Reversed int `json:"reversed"`
	Rebooked int `json:"rebooked"`
}

// distribute books the distribution for the accounts of one tenant, wrongly, and puts it right.
func (b *books) distribute(ctx context.Context, accounts []account, at time.Time) (c corrected, err error) {
	in := b.market.instruments[distributed]
	for _, of := range accounts {
		has, err := b.ledger.Balance(ctx, b.client, of.tenant, of.id, in.security)
		if err != nil {
			return c, err
		}
		wrong, right, err := b.payouts(of, has.Posted, at)
		switch {
		case err != nil:
			return c, err
		case len(wrong.Postings) == 0 || len(right.Postings) == 0:
			continue
		}
		if err := b.once(ctx, b.ledger.Post(wrong)); err != nil {
			return c, fmt.Errorf("%s: %w", wrong.ID, err)
		}
		c.Booked++
		if err := b.correct(ctx, wrong, right, at); err != nil {
			return c, fmt.Errorf("%s: %w", wrong.ID, err)
		}
		c.Reversed++
		c.Rebooked++
	}
	return c, nil
}

// payouts are the transaction as it was keyed in, and as it should have been.
func (b *books) payouts(of account, units money.Amount, at time.Time) (wrong, right ledger.Transaction, err error) {
	payout := func(id string, rate money.Rational) (ledger.Transaction, error) {
		tx := ledger.Transaction{Tenant: of.tenant, ID: id, EffectiveAt: at, Source: distributed}
		exact, err := units.Rational().Mul(rate)
		if err != nil {
			return tx, err
		}
		amount, err := exact.Round(b.market.instruments[distributed].currency, money.HalfEven)
		if err == nil && !amount.Amount.IsZero() {
			tx.Postings = []ledger.Posting{ledger.Debit(street, amount.Amount), ledger.Credit(of.id, amount.Amount)}
		}
		return houseAccount(of.tenant, street).Spread(tx), err
	}
	wrong, notWrong := payout("distribution-"+of.id, keyedIn)
	right, notRight := payout("distribution-"+of.id+"-corrected", announced)
	return wrong, right, errors.Join(notWrong, notRight)
}

func (b *books) correct(ctx context.Context, wrong, right ledger.Transaction, at time.Time) error {
	original, err := b.ledger.Transaction(ctx, b.client, wrong.Tenant, wrong.ID)
	if err != nil {
		return err
	}
	if err := b.once(ctx, b.ledger.Reverse(original, ledger.Reversal{ID: wrong.ID + "-reversed", EffectiveAt: at, Source: wrong.Source})); err != nil {
		return err
	}
	return b.once(ctx, b.ledger.Correct(original, right))
}
