package ledger

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// TrialBalance is a list of balances. If it has every account that its transactions post to, the balances add up to zero
// for every asset.
type TrialBalance struct {
	// Rows are the totals of each account and asset, by account, class and code of the asset.
	Rows []Total
	// Sums are what Rows add up to for every asset, debits positive, by class and code.
	Sums []money.Amount
}

// Balanced says whether every sum is zero.
func (t TrialBalance) Balanced() bool {
	return !slices.ContainsFunc(t.Sums, func(sum money.Amount) bool { return !sum.IsZero() })
}

// add takes in the rows of one account.
func (t *TrialBalance) add(rows []Total) error {
	t.Rows = append(t.Rows, rows...)
	for _, row := range rows {
		order := func(sum money.Amount, c money.Currency) int {
			return cmp.Or(cmp.Compare(classOf(sum.Currency()), classOf(c)), cmp.Compare(sum.Currency().Code(), c.Code()),
				cmp.Compare(sum.Currency().Scale(), c.Scale()))
		}
		i, found := slices.BinarySearchFunc(t.Sums, row.Currency, order)
		if !found {
			t.Sums = slices.Insert(t.Sums, i, money.Zero(row.Currency))
		}
		sum, err := t.Sums[i].Add(row.Signed)
		if err != nil {
			return err
		}
		t.Sums[i] = sum
	}
	return nil
}

// TrialBalance reads the balances of a set of accounts, in all their assets (strongly consistent). Each balance is what it
// was at a moment of its own during the call. So if a transaction is posted meanwhile, it may be in one row and not yet in
// another, and the sums differ from zero by that. While nothing is posted, they are zero. For one moment see
// [Ledger.TrialBalanceCut], for any time in the past [Ledger.TrialBalanceAt].
//
// Cost: that of [Ledger.Balances] for each account.
// Errors: those of [Ledger.Balances].
func (l *Ledger) TrialBalance(ctx context.Context, client Client, tenant string, accounts ...string) (_ TrialBalance, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.trial")
	defer op.End(&err)
	return l.trialBalance(accounts, func(account string) ([]Total, error) {
		_, all, err := l.Balances(ctx, client, tenant, account)
		if err != nil {
			return nil, err
		}
		return totals(all)
	})
}

// TrialBalanceAt adds up a set of accounts as of a time, in all their assets. In a closed month nothing changes any
// more; and with a KnownAt in the past, beyond which no writer's clock is behind, nothing does either: such a trial
// balance is exact whatever is posted meanwhile.
//
// Cost: that of [Ledger.Balances] for each account, and that of [Ledger.BalanceAt] for each balance.
// Errors: those of [Ledger.Balances] and [Ledger.BalanceAt].
func (l *Ledger) TrialBalanceAt(ctx context.Context, client Client, at AsOf, tenant string, accounts ...string) (_ TrialBalance, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.trialat")
	defer op.End(&err)
	return l.trialBalance(accounts, func(account string) ([]Total, error) {
		_, all, err := l.Balances(ctx, client, tenant, account)
		if err != nil {
			return nil, err
		}
		var rows []Total
		for _, stripes := range assets(all) {
			row, err := l.totalAt(ctx, client, stripes, at)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	})
}

// trialBalance asks for the rows of each account, each account once.
func (l *Ledger) trialBalance(accounts []string, rows func(account string) ([]Total, error)) (t TrialBalance, err error) {
	accounts = slices.Compact(slices.Sorted(slices.Values(accounts)))
	all := make([][]Total, len(accounts))
	err = each(len(accounts), func(i int) (err error) {
		all[i], err = rows(accounts[i])
		return err
	})
	for i := 0; i < len(all) && err == nil; i++ {
		err = t.add(all[i])
	}
	if err != nil {
		return TrialBalance{}, err
	}
	return t, nil
}

// totals adds up the stripes of each asset.
func totals(all []Balance) ([]Total, error) {
	var rows []Total
	for _, stripes := range assets(all) {
		var row Total
		for _, b := range stripes {
			if err := row.add(b); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// CutClient are the calls that reading many balances at one moment makes. *dynamodb.Client satisfies it.
type CutClient interface {
	Client
	TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error)
}

const (
	// cutItems is how many items one TransactGetItems reads.
	cutItems = 100
	// cutTries is how often a cut is tried.
	cutTries = 8
)

// TrialBalanceCut reads the balances of a set of accounts as they were at one and the same moment, so that the sums are
// exact while others post. Up to 100 balances, stripes counted, are one TransactGetItems. More take several, and then
// all are read until two times in a row find every version unchanged, so that there was a moment between the two when
// all of them held. It blocks no writer, and a writer may get in its way: after eight tries the error is a [MovedError].
//
// Cost: that of [Ledger.Balances] for each account, and 2 read units for each balance and try; two tries at least if they
// are more than 100.
func (l *Ledger) TrialBalanceCut(ctx context.Context, client CutClient, tenant string, accounts ...string) (_ TrialBalance, err error) {
	ctx, op := l.watch.Begin(ctx, "AP12.cut")
	defer op.End(&err)
	accounts = slices.Compact(slices.Sorted(slices.Values(accounts)))
	found := make([][]Balance, len(accounts))
	err = each(len(accounts), func(i int) (err error) {
		_, found[i], err = l.Balances(ctx, client, tenant, accounts[i])
		return err
	})
	if err != nil {
		return TrialBalance{}, err
	}
	all := slices.Concat(found...)
	if len(all) > 0 {
		if all, err = l.cut(ctx, client, all); err != nil {
			return TrialBalance{}, err
		}
	}
	var t TrialBalance
	for _, account := range found {
		rows, err := totals(all[:len(account)])
		if err == nil {
			err = t.add(rows)
		}
		if err != nil {
			return TrialBalance{}, err
		}
		all = all[len(account):]
	}
	return t, nil
}

// cut reads balances again, at one moment.
func (l *Ledger) cut(ctx context.Context, client CutClient, all []Balance) ([]Balance, error) {
	single := len(all) <= cutItems
	var before []Balance
	for range cutTries {
		now, busy, err := l.collect(ctx, client, all)
		switch {
		case err != nil:
			return nil, err
		case busy: // two equal readings with a busy one in between prove the same
		case single || slices.EqualFunc(before, now, func(a, b Balance) bool { return a.Version == b.Version }):
			return now, nil
		default:
			before = now
		}
	}
	return nil, &MovedError{What: "trial balance", Tenant: all[0].Tenant, ID: all[0].Account, Tries: cutTries}
}

// collect reads balances group by group, each group at one moment. busy says that a writer was in the way.
func (l *Ledger) collect(ctx context.Context, client CutClient, all []Balance) (now []Balance, busy bool, err error) {
	for group := range slices.Chunk(all, cutItems) {
		in := &dynamodb.TransactGetItemsInput{}
		for _, b := range group {
			key, err := b.ref().key()
			if err != nil {
				return nil, false, invalidKey("account", b.Account, err)
			}
			in.TransactItems = append(in.TransactItems, types.TransactGetItem{
				Get: &types.Get{TableName: &l.config.Table.Name, Key: l.config.Table.Key(key.PK, key.SK)},
			})
		}
		out, err := client.TransactGetItems(ctx, in, watch.In(ctx)...)
		var canceled *types.TransactionCanceledException
		switch {
		case errors.As(err, &canceled) && conflicted(canceled):
			return nil, true, nil
		case err != nil:
			return nil, false, errRead.Wrap(err, "ledger: read %d balances of tenant %q: %v", len(group), group[0].Tenant, err)
		}
		for i, response := range out.Responses {
			b, err := l.decodeCut(group[i].ref(), response.Item)
			if err != nil {
				return nil, false, err
			}
			now = append(now, b)
		}
	}
	return now, false, nil
}

func (l *Ledger) decodeCut(r ref, item txn.Item) (Balance, error) {
	if len(item) == 0 {
		return Balance{}, missing(nil, "asset", r.tenant, r.account, r.code)
	}
	return decodeAuthority(r, item)
}

// conflicted says whether nothing but the writes of others was in the way.
func conflicted(canceled *types.TransactionCanceledException) bool {
	found := false
	for _, reason := range canceled.CancellationReasons {
		switch code := reason.Code; {
		case code == nil || *code == "None":
		case *code == "TransactionConflict":
			found = true
		default:
			return false
		}
	}
	return found
}
