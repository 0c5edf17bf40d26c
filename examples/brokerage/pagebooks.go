package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/examples/brokerage/internal/page"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// pageParts are the parts of the page that are read out of the exports of the night.
type pageParts struct {
	books      []page.Books
	accounts   []page.Account
	items      []page.Item
	breaks     []page.Break
	invariants []page.Invariant
	matched    int
	effect     money.Amount
}

// tell reads them, when everything is proved.
func (n *night) tell(rows []ledger.Total) (err error) {
	lines := n.x.lines
	for i, l := range lines { // as they are now: what was changed by hand is restored
		for _, item := range n.seeds.postings {
			original, ok, err := n.service.books.ledger.LineIn(item)
			if err != nil {
				return err
			}
			if ok && original.Tenant == l.Tenant && original.Transaction == l.Transaction && original.Line == l.Line {
				lines[i] = original
			}
		}
	}
	slices.SortFunc(lines, func(a, b ledger.Line) int {
		return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Transaction, b.Transaction), cmp.Compare(a.Line, b.Line))
	})
	if n.told.books, err = n.conservation(lines); err != nil {
		return err
	}
	if n.told.accounts, err = trialAccounts(lines); err != nil {
		return err
	}
	if n.told.effect, err = n.effect(rows); err != nil {
		return err
	}
	n.told.items = n.x.samples.items()
	n.told.invariants = n.invariants()
	return nil
}

// conservation are the running totals of each currency. Openings and the account of the largest orders are left out: beside them
// nothing else could be seen.
func (n *night) conservation(lines []ledger.Line) (all []page.Books, err error) {
	prime := map[string]bool{}
	for _, l := range lines {
		if strings.HasSuffix(l.Account, primeAccount) || l.Source == "opening" {
			prime[txn.JoinKey(l.Tenant, l.Transaction)] = true
		}
	}
	type running struct {
		points          []page.Point
		debits, credits money.Amount
	}
	of := map[money.Currency]*running{}
	for i, l := range lines {
		if prime[txn.JoinKey(l.Tenant, l.Transaction)] {
			continue
		}
		if c := l.Amount.Currency(); c.Kind() == money.KindCash {
			if of[c] == nil {
				of[c] = &running{debits: money.Zero(c), credits: money.Zero(c)}
			}
			side := &of[c].debits
			if l.Amount.Sign() < 0 {
				side = &of[c].credits
			}
			if *side, err = side.Add(l.Amount.Abs()); err != nil {
				return nil, err
			}
		}
		if i+1 == len(lines) || lines[i+1].Transaction != l.Transaction || lines[i+1].Tenant != l.Tenant {
			for _, r := range of { // a transaction is over: whatever it moved is complete
				r.points = append(r.points, page.Point{Step: n.office.story.stepAt(l.RecordedAt), Debits: r.debits, Credits: r.credits})
			}
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(of), compareAssets) {
		all = append(all, page.Books{Asset: c.Code() + ", without openings and " + primeAccount[1:] + " accounts", Points: thinned(of[c].points, 60)})
	}
	return all, nil
}

// trialAccounts is the trial balance: customers together, and the accounts of the house, for each asset.
func trialAccounts(lines []ledger.Line) ([]page.Account, error) {
	type key struct {
		asset money.Currency
		name  string
	}
	names := map[string]string{street: "Bank and custodian", fees: "Fees earned", rounding: "Rounding differences"}
	rows := map[key]*page.Account{}
	for _, l := range lines {
		k := key{l.Amount.Currency(), cmp.Or(names[l.Account], "Customers")}
		zero := money.Zero(k.asset)
		if rows[k] == nil {
			rows[k] = &page.Account{Name: k.name, Debits: zero, Credits: zero, Balance: zero}
		}
		row, side := rows[k], &rows[k].Debits
		if l.Amount.Sign() < 0 {
			side = &row.Credits
		}
		var err error
		if *side, err = side.Add(l.Amount.Abs()); err != nil {
			return nil, err
		}
		if row.Balance, err = row.Balance.Add(l.Amount); err != nil {
			return nil, err
		}
		if row.Posted++; len(row.Entries) < 3 && l.Source != "opening" {
			row.Entries = append(row.Entries, page.Entry{At: l.EffectiveAt, ID: l.Transaction, What: l.Account, Amount: l.Amount})
		}
	}
	var list []page.Account
	for _, k := range slices.SortedFunc(maps.Keys(rows), func(a, b key) int {
		return cmp.Or(compareAssets(a.asset, b.asset), strings.Compare(a.name, b.name))
	}) {
		list = append(list, *rows[k])
	}
	return list, nil
}

// effect is by how much the books differ from those of a day without any fault, worked out from the orders alone: what the accounts
// began with, what each true fill moves, what was paid out and what was distributed. Every asset must agree; the figure is in dollars.
func (n *night) effect(rows []ledger.Total) (money.Amount, error) {
	want := map[string]money.Amount{}
	add := func(tenant string, postings ...ledger.Posting) error {
		for _, p := range postings {
			k := txn.JoinKey(tenant, p.Account, p.Amount.Currency().Code())
			before, ok := want[k]
			if !ok {
				before = money.Zero(p.Amount.Currency())
			}
			sum, err := before.Add(p.Amount)
			if err != nil {
				return err
			}
			want[k] = sum
		}
		return nil
	}
	if err := n.faultless(add); err != nil {
		return zeroUSD, err
	}
	off := zeroUSD
	for _, row := range rows {
		k := txn.JoinKey(row.Tenant, row.Account, row.Currency.Code())
		expected, ok := want[k]
		if !ok {
			expected = money.Zero(row.Currency)
		}
		difference, err := row.Signed.Sub(expected)
		switch {
		case err != nil:
			return off, err
		case difference.IsZero():
		case row.Currency != off.Currency():
			return off, fmt.Errorf("%s of %s has %s, not %s: %w", row.Account, row.Tenant, row.Signed, expected, errDisagree)
		default:
			if off, err = off.Add(difference.Abs()); err != nil {
				return off, err
			}
		}
	}
	return off, nil
}

// faultless gives all postings of a day without faults.
func (n *night) faultless(add func(tenant string, postings ...ledger.Posting) error) error {
	m := n.service.books.market
	for _, of := range n.accounts {
		for _, asset := range m.assets() {
			amount, err := endowment(of, asset)
			if err == nil {
				err = add(of.tenant, ledger.Debit(street, amount), ledger.Credit(of.id, amount))
			}
			if err != nil {
				return err
			}
		}
	}
	holds := map[account]money.Amount{}
	for _, tenant := range tenantsOf(n.accounts) {
		for _, w := range n.x.of(tenant).accepted {
			if err := faultlessFills(w, holds, add); err != nil {
				return err
			}
		}
	}
	list, err := paymentsOf(n.accounts, m)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := add(p.of.tenant, ledger.Debit(p.of.id, p.amount), ledger.Credit(street, p.amount)); err != nil {
			return err
		}
	}
	for _, of := range n.accounts {
		if of.tenant != n.accounts[0].tenant {
			continue
		}
		units, err := endowment(of, m.instruments[distributed].security)
		if traded, ok := holds[of]; ok && err == nil {
			units, err = units.Add(traded)
		}
		if err != nil {
			return err
		}
		_, right, err := n.service.books.payouts(of, units, marketCloses)
		if err == nil {
			err = add(of.tenant, right.Postings...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// faultlessFills gives what the true fills of an order move, and adds up what an account gets of the fund that distributes.
func faultlessFills(w working, holds map[account]money.Amount, add func(tenant string, postings ...ledger.Posting) error) error {
	reported, err := fills(w)
	open := w.Quantity
	for _, f := range reported {
		rest, err := open.Sub(f.Quantity)
		if err != nil {
			return err
		}
		if rest.Sign() < 0 {
			continue
		}
		open = rest
		t := trade{tradePayload: tradePayload{TradeID: f.ID, Account: w.Account, Side: w.Side}, tenant: w.Tenant, at: f.At, quantity: f.Quantity, price: f.Price}
		tx, err := t.transaction()
		if err == nil {
			err = add(w.Tenant, tx.Postings...)
		}
		if err != nil {
			return err
		}
		if w.Symbol == distributed {
			moved, of := f.Quantity, account{w.Tenant, w.Account}
			if w.Side == "sell" {
				moved = moved.Neg()
			}
			if before, ok := holds[of]; ok {
				if moved, err = before.Add(moved); err != nil {
					return err
				}
			}
			holds[of] = moved
		}
	}
	return err
}

// closedBreak notes a break that was closed, the first few of each comparison.
func (n *night) closedBreak(b reconcile.Break, what found) {
	kind := b.Batch + ": " + string(b.Kind)
	shown := 0
	for _, one := range n.told.breaks {
		if one.Kind == kind {
			shown++
		}
	}
	if n.office.story == nil || shown >= 3 {
		return
	}
	side := func(s reconcile.SideRows) string {
		switch {
		case s.Rows == 0:
			return "nothing"
		case s.Sum.Currency() != (money.Currency{}):
			return s.Sum.String()
		default:
			return plural(s.Rows, "row", "rows")
		}
	}
	n.told.breaks = append(n.told.breaks, page.Break{
		ID: shortKey(b), Kind: kind, Ours: side(b.Left), Theirs: side(b.Right), Difference: b.Drift,
		Age: n.clock.now().Sub(b.Created), Owner: b.Owner, Resolution: what.note + " (" + what.proof + ")",
	})
}

// shortKey is what tells a break from others of its comparison.
func shortKey(b reconcile.Break) string {
	components := strings.Split(b.Key, "#")
	if b.Batch == batchBooks { // account and asset
		return strings.Join(components[1:3], " ")
	}
	return components[len(components)-1]
}
