package look

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// Ledger returns the verbs that read books.
func Ledger(a *app.App) []*cobra.Command {
	return []*cobra.Command{ledgerBalance(a), ledgerEntries(a), ledgerShow(a), ledgerTrial(a), ledgerVerify(a)}
}

// books is what every verb of the noun begins with.
type books struct {
	a      *app.App
	tenant string
	deploy *deployment.Deployment
	assets money.Registry
	ledger *ledger.Ledger
	store  *app.Store
}

func openBooks(ctx context.Context, a *app.App) (b *books, err error) {
	b = &books{a: a}
	if b.tenant, err = a.Tenant(); err != nil {
		return nil, err
	}
	if b.deploy, err = a.Deployment(); err != nil {
		return nil, err
	}
	if b.ledger, err = b.deploy.Books(); err != nil {
		return nil, app.Usage("%v", err)
	}
	if b.assets, err = b.deploy.Assets(); err != nil {
		return nil, app.Usage("%v", err)
	}
	b.store, err = a.Store(ctx)
	return b, err
}

// accounts are those of the call, or else those of the deployment.
func (b *books) accounts(args []string) []string {
	if len(args) > 0 {
		return args
	}
	return b.deploy.Ledger.Accounts
}

type balanceItem struct {
	Account      string     `json:"account"`
	Asset        string     `json:"asset"`
	Stripe       int        `json:"stripe"`
	Side         string     `json:"side"`
	Status       string     `json:"status"`
	Posted       *app.Money `json:"posted"`
	Reserved     *app.Money `json:"reserved"`
	Available    *app.Money `json:"available"`
	Minimum      *app.Money `json:"minimum,omitempty"`
	Signed       *app.Money `json:"signed"`
	Reservations string     `json:"reservations"`
	Postings     string     `json:"postings"`
	Version      string     `json:"version"`
	Closed       string     `json:"closed_through,omitempty"`
}

func balanceOf(b ledger.Balance) balanceItem {
	item := balanceItem{
		Account: b.Account, Asset: b.Currency.Code(), Stripe: b.Stripe, Side: b.Side.String(), Status: string(b.Status),
		Posted: app.AsMoney(b.Posted), Reserved: app.AsMoney(b.Reserved), Available: app.AsMoney(b.Available), Signed: app.AsMoney(b.Signed),
		Reservations: strconv.FormatInt(b.Reservations, 10), Postings: strconv.FormatInt(b.Totals().Count, 10),
		Version: strconv.FormatInt(b.Version, 10), Closed: string(b.ClosedThrough),
	}
	if !b.NoMinimum {
		item.Minimum = app.AsMoney(b.Minimum)
	}
	return item
}

func ledgerBalance(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "balance ACCOUNT",
		Short: "shows what an account has, holds and may spend",
		Long: `Shows each balance of an account: posted, reserved and available as the account's own side sees them, with strong reads.
1 read unit for each 4 KiB of balances.`,
		Example: "  dynafin ledger balance --tenant acme customer-7",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := openBooks(cmd.Context(), a)
			if err != nil {
				return err
			}
			_, balances, err := b.ledger.Balances(cmd.Context(), b.store, b.tenant, args[0])
			if err != nil {
				return err
			}
			l := app.List[balanceItem]{Schema: "ledger.balance/v1", Table: b.deploy.Ledger.Table, Empty: "no asset is open"}
			for _, balance := range balances {
				l.Items = append(l.Items, balanceOf(balance))
			}
			l.Columns = []app.Column[balanceItem]{
				{Name: "account", Value: func(b balanceItem) string { return b.Account }},
				{Name: "asset", Value: func(b balanceItem) string { return b.Asset }},
				{Name: "stripe", Kind: app.Number, Data: true, Value: func(b balanceItem) string { return strconv.Itoa(b.Stripe) }},
				{Name: "status", Value: func(b balanceItem) string { return b.Status }},
				{Name: "side", Value: func(b balanceItem) string { return b.Side }},
				amount("posted", func(b balanceItem) *app.Money { return b.Posted }),
				amount("reserved", func(b balanceItem) *app.Money { return b.Reserved }),
				amount("available", func(b balanceItem) *app.Money { return b.Available }),
				{Name: "postings", Kind: app.Number, Value: func(b balanceItem) string { return b.Postings }},
				{Name: "version", Kind: app.Number, Value: func(b balanceItem) string { return b.Version }},
			}
			l.Next = fmt.Sprintf("dynafin ledger entries --tenant %s %s", quoted(b.tenant), quoted(args[0]))
			return app.Print(a, l)
		},
	}
}

// amount is a column of money: on the right, with its currency.
func amount[T any](name string, value func(T) *app.Money) app.Column[T] {
	return app.Column[T]{Name: name, Kind: app.Number, Value: func(item T) string {
		if m := value(item); m != nil {
			return m.Text
		}
		return ""
	}}
}

type lineItem struct {
	Transaction string     `json:"transaction"`
	Line        int        `json:"line"`
	Account     string     `json:"account"`
	Amount      *app.Money `json:"amount"`
	Side        string     `json:"side"`
	Effective   string     `json:"effective_at"`
	Recorded    string     `json:"recorded_at,omitempty"`
	Source      string     `json:"source,omitempty"`
}

// lineOf shows an amount without sign: the side says it.
func lineOf(transaction string, line int, p ledger.Posting) lineItem {
	item := lineItem{Transaction: transaction, Line: line, Account: p.Account, Amount: app.AsMoney(p.Amount.Abs()), Side: "DEBIT"}
	if p.Amount.Sign() < 0 {
		item.Side = "CREDIT"
	}
	return item
}

func lineColumns() []app.Column[lineItem] {
	return []app.Column[lineItem]{
		{Name: "effective_at", Title: "effective", Value: func(l lineItem) string { return l.Effective }},
		{Name: "transaction", Kind: app.ID, Value: func(l lineItem) string { return l.Transaction }},
		{Name: "line", Kind: app.Number, Value: func(l lineItem) string { return strconv.Itoa(l.Line) }},
		{Name: "account", Value: func(l lineItem) string { return l.Account }},
		{Name: "side", Value: func(l lineItem) string { return l.Side }},
		amount("amount", func(l lineItem) *app.Money { return l.Amount }),
		{Name: "source", Kind: app.ID, Value: func(l lineItem) string { return l.Source }},
		{Name: "recorded_at", Data: true, Value: func(l lineItem) string { return l.Recorded }},
	}
}

func ledgerEntries(a *app.App) *cobra.Command {
	var month, from, until, asset string
	cmd := &cobra.Command{
		Use:   "entries ACCOUNT",
		Short: "lists the postings of an account by effective time",
		Long: `Lists the postings of an account in the order of their effective times, of one month or between two times. About 1 read unit for 13
postings.`,
		Example: "  dynafin ledger entries --tenant acme customer-7 --month 2026-11\n  dynafin ledger entries --tenant acme cash --from 2026-11-01T00:00:00Z -o csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := openBooks(cmd.Context(), a)
			if err != nil {
				return err
			}
			q := ledger.StatementQuery{Tenant: b.tenant, Account: args[0], Month: ledger.Month(month)}
			if month != "" && !q.Month.Valid() {
				return app.Usage("--month %q is not written as 2026-11", month)
			}
			if q.From, err = moment("from", from); err != nil {
				return err
			}
			if q.Until, err = moment("until", until); err != nil {
				return err
			}
			if asset != "" {
				if q.Asset, err = b.assets.Currency(asset); err != nil {
					return app.Usage("--asset: %v", err)
				}
			}
			l := app.List[lineItem]{Schema: "ledger.entries/v1", Table: b.deploy.Ledger.Table, Columns: lineColumns(), Empty: "no postings"}
			for line, err := range b.ledger.Statement(cmd.Context(), b.store, q) {
				if err != nil {
					return err
				}
				item := lineOf(line.Transaction, line.Line, line.Posting)
				item.Effective, item.Recorded, item.Source = app.Stamp(line.EffectiveAt), app.Stamp(line.RecordedAt), line.Source
				l.Items = append(l.Items, item)
			}
			if len(l.Items) > 0 {
				l.Next = fmt.Sprintf("dynafin ledger show --tenant %s %s", quoted(b.tenant), quoted(l.Items[0].Transaction))
			}
			return app.Print(a, l)
		},
	}
	cmd.Flags().StringVar(&month, "month", "", "only `MONTH`, written as 2026-11")
	cmd.Flags().StringVar(&from, "from", "", "from this `TIME` on, RFC 3339")
	cmd.Flags().StringVar(&until, "until", "", "before this `TIME`, RFC 3339")
	cmd.Flags().StringVar(&asset, "asset", "", "only the asset `CODE`")
	return cmd
}

// moment reads a time of a flag; "" is none.
func moment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, app.Usage("--%s %q is no time such as 2026-11-29T14:18:00Z", flag, text)
	}
	return t, nil
}

type entryItem struct {
	Transaction string            `json:"transaction"`
	Tenant      string            `json:"tenant"`
	Effective   string            `json:"effective_at"`
	Recorded    string            `json:"recorded_at"`
	Source      string            `json:"source,omitempty"`
	Reverses    string            `json:"reverses,omitempty"`
	Corrects    string            `json:"corrects,omitempty"`
	Captures    string            `json:"captures,omitempty"`
	ReversedBy  []string          `json:"reversed_by,omitempty"`
	CorrectedBy []string          `json:"corrected_by,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Lines       []lineItem        `json:"lines"`
}

func ledgerShow(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "show TRANSACTION",
		Short:   "shows one transaction: its lines, and what reversed or corrected it",
		Example: "  dynafin ledger show --tenant acme pay-1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := openBooks(cmd.Context(), a)
			if err != nil {
				return err
			}
			entry, err := b.ledger.Transaction(cmd.Context(), b.store, b.tenant, args[0])
			if err != nil {
				return err
			}
			links, err := b.ledger.Links(cmd.Context(), b.store, entry)
			if err != nil {
				return err
			}
			return b.showEntry(entry, links)
		},
	}
}

func (b *books) showEntry(entry ledger.Entry, links ledger.Links) error {
	item := entryItem{
		Transaction: entry.ID, Tenant: entry.Tenant, Effective: app.Stamp(entry.EffectiveAt), Recorded: app.Stamp(entry.RecordedAt), Source: entry.Source,
		Reverses: entry.Reverses, Corrects: entry.Corrects, Captures: entry.Captures, ReversedBy: links.ReversedBy, CorrectedBy: links.CorrectedBy,
		Metadata: entry.Metadata,
	}
	for i, p := range entry.Postings {
		line := lineOf(entry.ID, i, p)
		line.Effective, line.Recorded, line.Source = item.Effective, item.Recorded, item.Source
		item.Lines = append(item.Lines, line)
	}
	next := fmt.Sprintf("dynafin trace --tenant %s %s", quoted(b.tenant), quoted(entry.ID))
	if b.a.CSV() { // a line for each posting
		return app.Print(b.a, app.List[lineItem]{Columns: lineColumns(), Items: item.Lines, Next: next})
	}
	now := b.a.Now()
	head := fields(
		field{"transaction", entry.ID}, field{"tenant", entry.Tenant}, field{"effective", at(now, entry.EffectiveAt)},
		field{"recorded", at(now, entry.RecordedAt)}, field{"source", entry.Source}, field{"reverses", entry.Reverses}, field{"corrects", entry.Corrects},
		field{"captures", entry.Captures}, field{"reversed by", strings.Join(links.ReversedBy, ", ")},
		field{"corrected by", strings.Join(links.CorrectedBy, ", ")}, field{"metadata", pairs(entry.Metadata)},
	)
	for _, line := range item.Lines {
		head = append(head, fmt.Sprintf("  %-6s  %18s  %s", line.Side, line.Amount.Text, app.Printable(line.Account)))
	}
	return app.Print(b.a, app.List[entryItem]{Schema: "ledger.show/v1", Table: b.deploy.Ledger.Table, Items: []entryItem{item}, Head: head, Next: next})
}
