package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// books is the ledger that a journal is imported into.
type books struct {
	tenant     string
	client     *dynamodb.Client
	committer  *txn.Committer
	book       *ledger.Ledger
	batcher    *ledger.Batcher
	survey     *survey
	currencies map[string]money.Currency // by commodity
	symbols    map[string]string         // commodities by the code of their currency

	mu   sync.Mutex
	open map[string]*openAccount
}

// openAccount remembers which assets of an account are known to be open.
type openAccount struct {
	mu     sync.Mutex
	assets map[money.Currency]bool
}

// newBooks returns the books of a tenant. Nearly all transactions of a journal meet in a few accounts, so they are posted
// in batches: whatever waits for the same balance while it is being written goes next, together.
func newBooks(ctx context.Context, tenant string, client *dynamodb.Client, config txn.Config, s *survey) *books {
	b := &books{
		tenant: tenant, client: client, committer: txn.New(client, config), book: ledger.New(ledger.Config{}), survey: s,
		currencies: map[string]money.Currency{}, symbols: map[string]string{}, open: map[string]*openAccount{},
	}
	b.batcher = b.book.Batcher(context.WithoutCancel(ctx), b.committer, ledger.BatchConfig{Linger: -1})
	return b
}

// learn fixes the money of every commodity. least are the decimal places that the user asked for.
func (b *books) learn(ctx context.Context, least map[string]int) error {
	for _, symbol := range b.survey.symbols() {
		c, err := b.commodity(ctx, symbol, max(b.survey.commodities[symbol].needs, least[symbol]))
		if err != nil {
			return fmt.Errorf("commodity %s: %w", shown(symbol), err)
		}
		b.currencies[symbol], b.symbols[c.Code()] = c, symbol
	}
	return nil
}

func (b *books) commit(ctx context.Context, parts ...txn.Part) error {
	_, err := b.committer.Commit(ctx, parts...)
	return err
}

// post posts a transaction after it has opened the accounts that it needs. It reports whether it was posted before.
func (b *books) post(ctx context.Context, tx ledger.Transaction) (repeated bool, err error) {
	for _, p := range tx.Postings {
		if err := b.ensure(ctx, p.Account, p.Amount.Currency()); err != nil {
			return false, err
		}
	}
	for {
		done, err := b.batcher.Post(ctx, ledger.Submission{Transaction: tx})
		var limit *ledger.LimitError
		if !errors.As(err, &limit) || limit.Max != ledger.MaxOpenMonths {
			return done.Repeated, err
		}
		if room, closing := b.closeOldest(ctx, tx, limit.ID); closing != nil || !room {
			return false, errors.Join(err, closing)
		}
	}
}

// closeOldest closes the oldest months of an account that has so many open ones that it can take no further: after ten
// years of a journal the first ones are history. It reports whether the transaction has room now.
func (b *books) closeOldest(ctx context.Context, tx ledger.Transaction, account string) (room bool, err error) {
	for _, p := range tx.Postings {
		if p.Account != account {
			continue
		}
		balance, err := b.book.Balance(ctx, b.client, b.tenant, account, p.Amount.Currency())
		if err != nil {
			return false, err
		}
		if len(balance.Open) < ledger.MaxOpenMonths {
			continue // somebody was faster
		}
		through := balance.Open[ledger.MaxSealed-1].Month
		if through >= ledger.MonthOf(tx.EffectiveAt) {
			return false, nil
		}
		err = b.commit(ctx, b.book.ClosePeriod(balance, through))
		if err != nil && !errors.Is(err, ledger.ErrDuplicate) && !errors.Is(err, ledger.ErrVersion) {
			return false, err
		}
	}
	return true, nil
}

// ensure opens an account and an asset in it, unless they are open.
func (b *books) ensure(ctx context.Context, id string, c money.Currency) error {
	b.mu.Lock()
	known := b.open[id]
	if known == nil {
		known = &openAccount{assets: map[money.Currency]bool{}}
		b.open[id] = known
	}
	b.mu.Unlock()

	known.mu.Lock()
	defer known.mu.Unlock()
	for !known.assets[c] {
		err := b.openAsset(ctx, id, c)
		switch {
		case err == nil:
			known.assets[c] = true
		case !errors.Is(err, ledger.ErrDuplicate) && !errors.Is(err, ledger.ErrVersion): // these: another import was faster
			return err
		}
	}
	return nil
}

func (b *books) openAsset(ctx context.Context, id string, c money.Currency) error {
	asset := ledger.Asset{Currency: c, NoMinimum: true} // hledger knows no minimum
	account, err := b.book.Account(ctx, b.client, b.tenant, id)
	if errors.Is(err, ledger.ErrNotFound) {
		account = ledger.Account{Tenant: b.tenant, ID: id, Side: sideOf(id), Assets: b.room(id)}
		return b.commit(ctx, b.book.OpenAccount(account, asset))
	}
	if err != nil {
		return err
	}
	_, err = b.book.Balance(ctx, b.client, b.tenant, id, c)
	if errors.Is(err, ledger.ErrNotFound) {
		return b.commit(ctx, b.book.OpenAsset(account, asset))
	}
	return err
}

// room is for how many commodities an account is opened: twice what the files have, for those of later files.
func (b *books) room(id string) int {
	return max(8, 2*len(b.survey.accounts[id]), strings.Count(id, "  "))
}

// creditAccounts are the first words of the accounts that hledger takes for liabilities, equity and revenue.
var creditAccounts = map[string]bool{
	"liability": true, "liabilities": true, "debt": true, "debts": true, "equity": true,
	"income": true, "incomes": true, "revenue": true, "revenues": true,
}

// sideOf is the normal side of an account by its name. It shows in the ledger's own reports; sums do not depend on it.
func sideOf(id string) ledger.Side {
	first, _, _ := strings.Cut(id, ":")
	if creditAccounts[strings.ToLower(first)] {
		return ledger.CreditSide
	}
	return ledger.DebitSide
}
