package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// row is one line of the trial balance.
type row struct {
	account, commodity string
	amount             money.Amount
}

// trialBalance reads the balances of accounts, in the order in which hledger lists them: by the parts of the name, then by
// commodity. What is not open, because all its transactions were refused, has no row.
func (b *books) trialBalance(ctx context.Context, accounts map[string]map[string]bool, workers int) ([]row, error) {
	var rows []row
	for account, symbols := range accounts {
		for symbol := range symbols {
			rows = append(rows, row{account: account, commodity: symbol})
		}
	}
	slices.SortFunc(rows, func(x, y row) int {
		return cmp.Or(slices.Compare(strings.Split(x.account, ":"), strings.Split(y.account, ":")), cmp.Compare(x.commodity, y.commodity))
	})
	faults := make([]error, workers)
	var working sync.WaitGroup
	for w := range workers {
		working.Go(func() {
			for i := w; i < len(rows) && faults[w] == nil; i += workers {
				balance, err := b.book.Balance(ctx, b.client, b.tenant, rows[i].account, b.currencies[rows[i].commodity])
				if err != nil && !errors.Is(err, ledger.ErrNotFound) {
					faults[w] = err
				}
				rows[i].amount = balance.Signed
			}
		})
	}
	working.Wait()
	return rows, errors.Join(faults...)
}

// internalAccounts are the accounts that this import used and no journal names.
func (b *books) internalAccounts() map[string]map[string]bool {
	found := map[string]map[string]bool{}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, account := range b.open {
		if !strings.Contains(id, "  ") {
			continue
		}
		found[id] = map[string]bool{}
		for c := range account.assets {
			found[id][b.symbols[c.Code()]] = true
		}
	}
	return found
}

// printBalance writes the rows as account, commodity and amount with tabs between, without those that are zero.
func (o *options) printBalance(w io.Writer, s *survey, rows []row) error {
	var text strings.Builder
	for _, r := range rows {
		amount, places := r.amount, s.commodities[r.commodity].places
		if asked, ok := o.places[r.commodity]; ok {
			rounded, err := amount.Round(asked, money.HalfEven)
			if err != nil {
				return fmt.Errorf("%s: %w", r.account, err)
			}
			amount, places = rounded, asked
		}
		if !amount.IsZero() {
			fmt.Fprintf(&text, "%s\t%s\t%s\n", r.account, r.commodity, padded(amount.Text(), places))
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

// merge adds accounts to others.
func merge(all ...map[string]map[string]bool) map[string]map[string]bool {
	merged := map[string]map[string]bool{}
	for _, accounts := range all {
		maps.Copy(merged, accounts)
	}
	return merged
}
