package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// audited is what the books come to when all is done.
type audited struct {
	// Accounts and Balances are how many there are; Proved is how many balances are what their postings add up to.
	Accounts int `json:"accounts"`
	Balances int `json:"balances"`
	Proved   int `json:"balances_proved"`
	Postings int `json:"postings"`
	// TrialBalance has every asset: what all accounts have on either side, and the sum, which is nothing.
	TrialBalance []assetTotal `json:"trial_balance"`
	Balanced     bool         `json:"balanced"`
	// Reserved is how many reservations are open: those of orders that are good until they are cancelled.
	Reserved int `json:"reservations_open"`
	// Digest stands for the result of the day: every order by its client order ID, every balance, every position. It does not
	// depend on workers, lost answers, or how often the day is fed.
	Digest string `json:"business_digest"`
}

// assetTotal is what all accounts of the firm have of one asset.
type assetTotal struct {
	Asset  string `json:"asset"`
	Debit  string `json:"debit"`
	Credit string `json:"credit"`
	Sum    string `json:"sum"`

	sum money.Amount
}

// prove holds every balance against its postings, as the export of the night has them, and those anew that were found changed. Then
// it draws up the trial balance, from the balances as they are now.
func (n *night) prove(ctx context.Context) error {
	a := &n.audited
	a.Balances = len(n.x.reports)
	for _, r := range n.x.reports {
		key := txn.JoinKey(r.Place.Tenant, r.Place.Account, r.Place.Asset, strconv.Itoa(r.Place.Stripe))
		a.Postings += int(r.Postings)
		if r.Err() == nil || slices.Contains(n.restored, key) {
			a.Proved++
		}
	}
	rows, err := n.trialBalance(ctx)
	if err != nil {
		return err
	}
	if a.Reserved, err = n.service.books.held(ctx, n.accounts); err != nil {
		return err
	}
	a.Digest = n.digest(rows)
	if n.office.story != nil {
		if err := n.tell(rows); err != nil {
			return err
		}
	}
	switch {
	case a.Proved != a.Balances:
		return fmt.Errorf("%d of %d balances are not what their postings add up to", a.Balances-a.Proved, a.Balances)
	case !a.Balanced:
		return fmt.Errorf("the books do not balance: %v", a.TrialBalance)
	}
	return nil
}

// trialBalance reads what every account has (AP12), and adds up both sides of each asset.
func (n *night) trialBalance(ctx context.Context) (rows []ledger.Total, err error) {
	a := &n.audited
	a.Balanced = true
	sides := map[money.Currency][2]money.Amount{}
	for _, tenant := range tenantsOf(n.accounts) {
		ids := []string{street, fees, rounding}
		for _, of := range n.accounts {
			if of.tenant == tenant {
				ids = append(ids, of.id)
			}
		}
		a.Accounts += len(ids)
		trial, err := n.service.books.ledger.TrialBalance(ctx, n.service.client, tenant, ids...)
		if err != nil {
			return nil, err
		}
		a.Balanced = a.Balanced && trial.Balanced()
		rows = append(rows, trial.Rows...)
	}
	for _, row := range rows {
		side, zero := sides[row.Currency], money.Zero(row.Currency)
		if side[0].Currency() != row.Currency {
			side = [2]money.Amount{zero, zero}
		}
		at := 0
		if row.Signed.Sign() < 0 {
			at = 1
		}
		if side[at], err = side[at].Add(row.Signed.Abs()); err != nil {
			return nil, err
		}
		sides[row.Currency] = side
	}
	for _, c := range slices.SortedFunc(maps.Keys(sides), compareAssets) {
		sum, err := sides[c][0].Sub(sides[c][1])
		if err != nil {
			return nil, err
		}
		a.TrialBalance = append(a.TrialBalance, assetTotal{c.Code(), sides[c][0].Text(), sides[c][1].Text(), sum.Text(), sum})
		a.Balanced = a.Balanced && sum.IsZero()
	}
	return rows, nil
}

// digest stands for the result of the day.
func (n *night) digest(rows []ledger.Total) string {
	sum := sha256.New()
	for _, tenant := range slices.Sorted(maps.Keys(n.x.tenants)) {
		of := n.x.tenants[tenant]
		for _, name := range slices.Sorted(maps.Keys(of.orders)) {
			fmt.Fprintln(sum, "order", tenant, name, of.orders[name])
		}
	}
	for _, row := range rows {
		fmt.Fprintln(sum, "balance", row.Tenant, row.Account, row.Posted, row.Reserved)
	}
	for _, of := range n.accounts {
		for _, p := range n.view[of] {
			fmt.Fprintln(sum, "position", of.tenant, of.id, p.Quantity, p.Cost)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// compareAssets puts cash before securities.
func compareAssets(a, b money.Currency) int {
	return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(a.Code(), b.Code()))
}
