package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// trialBalance reads the balances of the accounts that the import used, in the order in which hledger lists them: by
// the parts of the name, then by commodity. The accounts that no journal names are among them if whole is set.
func (b *books) trialBalance(ctx context.Context, whole bool) ([]ledger.Total, error) {
	b.mu.Lock()
	var accounts []string
	for id, known := range b.open {
		if len(known.assets) > 0 && (whole || !isInternal(id)) {
			accounts = append(accounts, id)
		}
	}
	b.mu.Unlock()
	balances, err := b.book.TrialBalance(ctx, b.client, b.tenant, accounts...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(balances.Rows, func(x, y ledger.Total) int {
		return cmp.Or(slices.Compare(strings.Split(x.Account, ":"), strings.Split(y.Account, ":")),
			cmp.Compare(b.symbolOf(x.Currency.Code()), b.symbolOf(y.Currency.Code())))
	})
	return balances.Rows, nil
}

// verify proves every balance of the accounts that the import used from its stored postings: their count, sum and digest are
// what was kept when they were posted.
func (b *books) verify(ctx context.Context, screen *console) error {
	rows, err := b.trialBalance(ctx, true)
	if err != nil {
		return err
	}
	var postings int64
	for i, r := range rows {
		screen.progress("proving balance %d of %d", i+1, len(rows))
		proof, err := b.book.Verify(ctx, b.client, ledger.Verification{Tenant: b.tenant, Account: r.Account, Asset: r.Currency, Locate: true})
		if err = errors.Join(err, proof.Err()); err != nil {
			return err
		}
		postings += proof.Postings
	}
	screen.say("%s proved from %s", plural(len(rows), "balance"), plural(int(postings), "posting"))
	return nil
}

// print writes balances as account, commodity and amount with tabs between, without those that are zero. places says how
// to round for display, where that is asked for.
func (b *books) print(w io.Writer, rows []ledger.Total, places perCommodity) error {
	var text strings.Builder
	for _, r := range rows {
		symbol, amount, least := b.symbolOf(r.Currency.Code()), r.Signed, 0
		if m := b.survey.commodities[symbol]; m != nil {
			least = m.places
		}
		if asked, ok := places[symbol]; ok {
			rounded, err := amount.Round(asked, money.HalfEven)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Account, err)
			}
			amount, least = rounded, asked
		}
		if !amount.IsZero() {
			fmt.Fprintf(&text, "%s\t%s\t%s\n", r.Account, symbol, padded(amount.Text(), least))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// padded writes a decimal with at least so many places, and more only if it needs them.
func padded(text string, places int) string {
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if missing := places - len(fraction); missing > 0 {
		fraction += strings.Repeat("0", missing)
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}
