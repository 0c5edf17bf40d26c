package look

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

type trialRow struct {
	Account  string     `json:"account"`
	Asset    string     `json:"asset"`
	Side     string     `json:"side"`
	Debit    *app.Money `json:"debit,omitempty"`
	Credit   *app.Money `json:"credit,omitempty"`
	Reserved *app.Money `json:"reserved"`
	Postings string     `json:"postings"`
}

func ledgerTrial(a *app.App) *cobra.Command {
	cut := false
	cmd := &cobra.Command{
		Use:   "trial-balance [ACCOUNT...]",
		Short: "lists what accounts have, and whether debits equal credits",
		Long: `Lists what accounts have, debits and credits apart, and adds them up for each asset. The accounts are those of the call, or of the
deployment file, or with --scan all. While others post, a transaction may be in one row only; with --cut all rows are of one moment, for
twice the price. Findings: a sum that is not zero, over all accounts.`,
		Example: "  dynafin ledger trial-balance --tenant acme cash customer-7 revenue --cut",
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := openBooks(cmd.Context(), a)
			if err != nil {
				return err
			}
			tb, whole, err := b.trial(cmd.Context(), args, cut)
			if err != nil {
				return err
			}
			return b.printTrial(tb, whole)
		},
	}
	cmd.Flags().BoolVar(&cut, "cut", false, "read all balances at one moment")
	return cmd
}

// trial reads a trial balance; whole says that it has all accounts, so that its sums must be zero.
func (b *books) trial(ctx context.Context, args []string, cut bool) (tb ledger.TrialBalance, whole bool, err error) {
	accounts := b.accounts(args)
	if len(accounts) == 0 {
		rows, err := b.a.Scan(ctx, b.deploy.Ledger.At(), ", name accounts, or list them in the deployment file")
		if err != nil {
			return tb, true, err
		}
		if accounts, err = b.found(rows); err != nil {
			return tb, true, err
		}
	}
	if cut {
		tb, err = b.ledger.TrialBalanceCut(ctx, b.store, b.tenant, accounts...)
	} else {
		tb, err = b.ledger.TrialBalance(ctx, b.store, b.tenant, accounts...)
	}
	return tb, len(args) == 0, err
}

// found returns the accounts of the tenant that items of the table belong to.
func (b *books) found(rows iter.Seq2[txn.Item, error]) (accounts []string, err error) {
	seen := map[string]bool{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		balance, ok, err := b.ledger.BalanceIn(row)
		if err != nil {
			return nil, err
		}
		if ok && balance.Tenant == b.tenant && !seen[balance.Account] {
			seen[balance.Account] = true
			accounts = append(accounts, balance.Account)
		}
	}
	return accounts, nil
}

func trialRows(tb ledger.TrialBalance) (rows []trialRow) {
	for _, t := range tb.Rows {
		row := trialRow{Account: t.Account, Asset: t.Currency.Code(), Side: t.Side.String(), Reserved: app.AsMoney(t.Reserved), Postings: strconv.FormatInt(t.Postings, 10)}
		if t.Signed.Sign() < 0 {
			row.Credit = app.AsMoney(t.Signed.Abs())
		} else {
			row.Debit = app.AsMoney(t.Signed)
		}
		rows = append(rows, row)
	}
	return rows
}

func trialColumns() []app.Column[trialRow] {
	return []app.Column[trialRow]{
		{Name: "account", Value: func(r trialRow) string { return r.Account }},
		{Name: "asset", Value: func(r trialRow) string { return r.Asset }},
		{Name: "side", Value: func(r trialRow) string { return r.Side }},
		amount("debit", func(r trialRow) *app.Money { return r.Debit }),
		amount("credit", func(r trialRow) *app.Money { return r.Credit }),
		amount("reserved", func(r trialRow) *app.Money { return r.Reserved }),
		{Name: "postings", Kind: app.Number, Value: func(r trialRow) string { return r.Postings }},
	}
}

func (b *books) printTrial(tb ledger.TrialBalance, whole bool) error {
	l := app.List[trialRow]{Schema: "ledger.trial-balance/v1", Table: b.deploy.Ledger.Table, Items: trialRows(tb), Columns: trialColumns(), Empty: "no accounts"}
	sums := sumsText(tb.Sums)
	l.Foot = []string{"sum " + sums}
	l.Next = fmt.Sprintf("dynafin ledger verify --tenant %s", quoted(b.tenant))
	if err := app.Print(b.a, l); err != nil {
		return err
	}
	if whole && !tb.Balanced() {
		return app.Findings("the books do not balance: debits less credits are %s", sums)
	}
	return nil
}

// sumsText writes sums by asset: "0.00 EUR, 0.00 USD".
func sumsText(sums []money.Amount) string {
	var all []string
	for _, s := range sums {
		all = append(all, s.String())
	}
	return strings.Join(all, ", ")
}

type proofItem struct {
	Account  string        `json:"account"`
	Asset    string        `json:"asset"`
	Stripe   int           `json:"stripe"`
	Verdict  string        `json:"verdict"`
	Months   int           `json:"months"`
	Postings string        `json:"postings"`
	Sum      *app.Money    `json:"sum,omitempty"`
	Findings []findingItem `json:"findings,omitempty"`
	More     int           `json:"more_findings,omitempty"`
}

type findingItem struct {
	Kind        string `json:"kind"`
	Month       string `json:"month,omitempty"`
	Transaction string `json:"transaction,omitempty"`
	Detail      string `json:"detail"`
	Text        string `json:"text"`
}

func ledgerVerify(a *app.App) *cobra.Command {
	locate := false
	cmd := &cobra.Command{
		Use:   "verify [ACCOUNT...]",
		Short: "recomputes balances from their postings and proves them",
		Long: `Recomputes balances from their postings and holds count, sum and digest against the control totals that were kept when they were
posted. It only reads and holds up nobody. The accounts are those of the call, or of the deployment file; with --scan all of them are proved
in one pass over the table. Findings: a balance that is not proved.`,
		Example: "  dynafin ledger verify --tenant acme customer-7 --locate",
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := openBooks(cmd.Context(), a)
			if err != nil {
				return err
			}
			reports, err := b.verify(cmd.Context(), args, locate)
			if err != nil {
				return err
			}
			return b.printProof(reports)
		},
	}
	cmd.Flags().BoolVar(&locate, "locate", false, "of what is not proved, find the postings that changed")
	return cmd
}

func (b *books) verify(ctx context.Context, args []string, locate bool) (reports []ledger.Report, err error) {
	accounts := b.accounts(args)
	if len(accounts) == 0 {
		rows, err := b.a.Scan(ctx, b.deploy.Ledger.At(), ", or name accounts")
		if err != nil {
			return nil, err
		}
		return b.ledger.VerifyAll(rows, nil)
	}
	for _, account := range accounts {
		_, balances, err := b.ledger.Balances(ctx, b.store, b.tenant, account)
		if err != nil {
			return reports, err
		}
		for _, balance := range balances {
			report, err := b.ledger.Verify(ctx, b.store, ledger.Verification{
				Tenant: b.tenant, Account: account, Asset: balance.Currency, Stripe: balance.Stripe, Locate: locate,
			})
			if err != nil {
				return reports, err
			}
			reports = append(reports, report)
			b.a.Hint("verified %s of account %s: %s", balance.Currency.Code(), account, plural(int(report.Postings), "posting", "postings"))
		}
	}
	return reports, nil
}

func proofOf(r ledger.Report) proofItem {
	item := proofItem{Account: r.Place.Account, Asset: r.Place.Asset, Stripe: r.Place.Stripe, Months: r.Months,
		Postings: strconv.FormatInt(r.Postings, 10), Sum: app.AsMoney(r.Recomputed.Sum), More: r.More, Verdict: "PROVED"}
	switch {
	case len(r.Findings) > 0:
		item.Verdict = "BROKEN"
	case len(r.Moved) > 0:
		item.Verdict = "MOVED"
	}
	for _, f := range r.Findings {
		item.Findings = append(item.Findings, findingItem{Kind: string(f.Kind), Month: string(f.Month), Transaction: f.Transaction, Detail: f.Detail, Text: f.String()})
	}
	return item
}

func (b *books) printProof(reports []ledger.Report) error {
	l := app.List[proofItem]{Schema: "ledger.verify/v1", Table: b.deploy.Ledger.Table, Empty: "no balances"}
	var broken, moved int
	for _, r := range reports {
		item := proofOf(r)
		l.Items = append(l.Items, item)
		switch item.Verdict {
		case "BROKEN":
			if broken++; broken == 1 {
				l.Next = fmt.Sprintf("dynafin ledger verify --tenant %s %s --locate", quoted(b.tenant), quoted(r.Place.Account))
			}
		case "MOVED":
			moved++
		}
		for _, f := range item.Findings {
			l.Foot = append(l.Foot, app.Printable(fmt.Sprintf("%s %s: %s", item.Account, item.Asset, f.Text)))
		}
	}
	l.Columns = []app.Column[proofItem]{
		{Name: "account", Value: func(p proofItem) string { return p.Account }},
		{Name: "asset", Value: func(p proofItem) string { return p.Asset }},
		{Name: "stripe", Kind: app.Number, Value: func(p proofItem) string { return strconv.Itoa(p.Stripe) }},
		{Name: "verdict", Value: func(p proofItem) string { return p.Verdict }},
		number("months", func(p proofItem) int { return p.Months }),
		{Name: "postings", Kind: app.Number, Value: func(p proofItem) string { return p.Postings }},
		amount("sum", func(p proofItem) *app.Money { return p.Sum }),
		number("findings", func(p proofItem) int { return len(p.Findings) + p.More }),
	}
	if err := app.Print(b.a, l); err != nil {
		return err
	}
	var f found
	f.add(broken, "balance is not proved", "balances are not proved")
	f.add(moved, "balance moved while it was read", "balances moved while they were read")
	return f.err()
}
