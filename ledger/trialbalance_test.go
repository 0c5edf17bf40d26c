package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

func shown(t ledger.TrialBalance) (rows []string) {
	for _, row := range t.Rows {
		rows = append(rows, fmt.Sprintf("%s %s", row.Account, row.Signed))
	}
	for _, sum := range t.Sums {
		rows = append(rows, "sum "+sum.String())
	}
	return rows
}

func TestATrialBalanceOfAllAccountsIsZero(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	share, err := money.Define("ACME.US", 0, money.KindSecurity)
	if err != nil {
		t.Fatal(err)
	}
	b.openWide(t, "cash", 2, 1)
	b.openWide(t, "sales", 1, 1)
	for _, name := range []string{"holdings", "market"} {
		b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: name, Side: ledger.DebitSide}, ledger.Asset{Currency: share, NoMinimum: true}))
	}
	shares, err := money.Parse("7", share)
	if err != nil {
		t.Fatal(err)
	}
	b.pay(t, "t-1", day, "cash", "sales", "5.00")
	b.record(t, "t-2", day, ledger.Posting{Account: "cash", Amount: dollars("1.00"), Stripe: 1}, ledger.Credit("sales", dollars("1.00")))
	b.record(t, "t-3", day, ledger.Debit("holdings", shares), ledger.Credit("market", shares), ledger.Debit("sales", euros("3.00")), ledger.Credit("cash", euros("3.00")))
	got, err := b.book.TrialBalance(t.Context(), b.client, tenant, "sales", "market", "cash", "holdings", "cash")
	want := []string{
		"cash -3.00 EUR", "cash 6.00 USD", "holdings 7 ACME.US", "market -7 ACME.US", "sales 3.00 EUR", "sales -6.00 USD",
		"sum 0.00 EUR", "sum 0.00 USD", "sum 0 ACME.US",
	}
	if err != nil || !got.Balanced() || !slices.Equal(shown(got), want) {
		t.Errorf("%q, %v", shown(got), err)
	}
	part, err := b.book.TrialBalance(t.Context(), b.client, tenant, "cash", "holdings")
	if err != nil || part.Balanced() || part.Sums[1] != dollars("6.00") {
		t.Errorf("a part: %q, %v", shown(part), err)
	}
	none, err := b.book.TrialBalanceCut(t.Context(), b.client, tenant)
	if err != nil || !none.Balanced() || len(none.Rows) > 0 {
		t.Errorf("nothing: %q, %v", shown(none), err)
	}
	if _, err := b.book.TrialBalance(t.Context(), b.client, tenant, "cash", "nobody"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an unknown account: %v", err)
	}
}

// crossing is a client that lets somebody post between the reads of a trial balance.
type crossing struct {
	*dynamodb.Client
	between func(n int)
	mu      sync.Mutex
	n       int
	cuts    int
	units   float64
}

func (c *crossing) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := c.Client.Query(ctx, in, opts...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	c.between(c.n)
	return out, err
}

func (c *crossing) TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	c.n++
	c.between(c.n)
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := c.Client.TransactGetItems(ctx, in, opts...)
	if err == nil {
		c.cuts++
		c.units += *out.ConsumedCapacity[0].CapacityUnits
	}
	return out, err
}

// A transaction that is posted between two rows is in one of them only; a cut has it in both or in none.
func TestACutIsOneMoment(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	var accounts []string
	for i := range 60 { // 120 balances: two requests
		accounts = append(accounts, fmt.Sprintf("a-%02d", i))
		b.openWide(t, accounts[i], 1, 1)
	}
	posted := 0
	post := func() {
		posted++
		b.pay(t, fmt.Sprint("t-", posted), day, "a-59", "a-00", "1.00")
	}
	c := &crossing{Client: b.client, between: func(int) { post() }}
	trial, err := b.book.TrialBalanceCut(t.Context(), c, tenant, accounts[:50]...)
	if err != nil || c.cuts != 1 || c.units != 200 || len(trial.Rows) != 100 {
		t.Errorf("100 balances: %d rows, %d requests, %v units, %v", len(trial.Rows), c.cuts, c.units, err)
	}
	quiet := 0 // posts before the first three requests of the cut
	c = &crossing{Client: b.client, between: func(n int) {
		if n > 60 && n <= 63 {
			post()
			quiet = n
		}
	}}
	trial, err = b.book.TrialBalanceCut(t.Context(), c, tenant, accounts...)
	if err != nil || !trial.Balanced() || c.cuts != 6 || quiet != 63 {
		t.Errorf("120 balances: %v, %d requests, %v", trial.Sums, c.cuts, err)
	}
	c = &crossing{Client: b.client, between: func(int) { post() }}
	_, err = b.book.TrialBalanceCut(t.Context(), c, tenant, accounts...)
	var moved *ledger.MovedError
	if !errors.As(err, &moved) || moved.Tries != c.cuts/2 {
		t.Errorf("without rest: %v after %d requests", err, c.cuts)
	}
	plain := &crossing{Client: b.client, between: func(n int) {
		if n == 30 {
			post()
		}
	}}
	if trial, err = b.book.TrialBalanceAt(t.Context(), plain, ledger.AsOf{EffectiveAt: day.Add(-1)}, tenant, accounts[0], accounts[59]); err != nil || !trial.Balanced() {
		t.Errorf("of the past: %v, %v", trial.Sums, err)
	}
}

// cancelling is a client whose cuts are cancelled.
type cancelling struct {
	*dynamodb.Client
	codes []string
	left  int
}

func (c *cancelling) TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	if c.left--; c.left < 0 {
		return c.Client.TransactGetItems(ctx, in, opts...)
	}
	canceled := &types.TransactionCanceledException{Message: aws.String("cancelled")}
	for _, code := range c.codes {
		canceled.CancellationReasons = append(canceled.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
	}
	return nil, canceled
}

func TestACutIsTriedAgainOnlyForConflicts(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.openWide(t, "cash", 1, 1)
	for _, c := range []struct {
		codes string
		times int
		kind  error
	}{
		{"None,TransactionConflict", 7, nil}, {"TransactionConflict", 8, ledger.ErrMoved}, {"TransactionConflict,ValidationError", 1, ledger.ErrRead}, {"None", 1, ledger.ErrRead},
	} {
		client := &cancelling{b.client, strings.Split(c.codes, ","), c.times}
		if _, err := b.book.TrialBalanceCut(t.Context(), client, tenant, "cash"); !errors.Is(err, c.kind) {
			t.Errorf("%s %d times: %v, want %v", c.codes, c.times, err, c.kind)
		}
	}
}
