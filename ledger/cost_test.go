package ledger_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// What the package documentation says of units, measured. Nothing but the transaction itself is sent: no part of it
// reads beforehand.
func TestCosts(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "1000.00")))
	one := ledger.Transaction{Tenant: tenant, ID: "t-1", EffectiveAt: day, Postings: []ledger.Posting{
		ledger.Debit("bank", dollars("5.00")), ledger.Credit("bank", dollars("5.00")),
	}}
	three := transfer("t-3", "bank", "ann-", "2.00")
	three.Postings = append(three.Postings, ledger.Debit("ann-", dollars("1.00")), ledger.Credit("fees", dollars("1.00")))
	expiring := hold("r-2", "ann-", "10.00")
	expiring.ExpiresAt = day.Add(time.Hour)
	for _, c := range []struct {
		what               string
		part               func() txn.Part
		items, base, index int
	}{
		{"open an account with one asset", func() txn.Part {
			return b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: "new", Side: ledger.DebitSide}, ledger.Asset{Currency: usd})
		}, 2, 4, 0},
		// AMP07 and the header: two postings and one authority are 6 of these 8 units.
		{"two postings, one balance", func() txn.Part { return b.book.Post(one) }, 4, 8, 0},
		{"two postings, two balances", func() txn.Part { return b.book.Post(transfer("t-2", "bank", "ann-", "1.00")) }, 5, 10, 0},
		{"four postings, three balances", func() txn.Part { return b.book.Post(three) }, 8, 16, 0},
		{"refuse for good", func() txn.Part { return b.book.Refuse(transfer("t-4", "bank", "ann-", "1.00"), "no") }, 1, 2, 0},
		{"reserve", func() txn.Part { return b.book.Reserve(hold("r-1", "ann-", "10.00")) }, 2, 4, 1},
		{"reserve with expiry", func() txn.Part { return b.book.Reserve(expiring) }, 2, 4, 2},
		{"capture a part", func() txn.Part {
			return b.book.Capture(b.reservation(t, "r-1"), ledger.Capture{Transaction: transfer("c-1", "ann-", "bank", "4.00")})
		}, 6, 12, 1},
		{"capture the rest", func() txn.Part {
			return b.book.Capture(b.reservation(t, "r-1"), ledger.Capture{Transaction: transfer("c-2", "ann-", "bank", "6.00")})
		}, 6, 12, 1},
		{"release", func() txn.Part { return b.book.Release(b.reservation(t, "r-2")) }, 2, 4, 2},
		{"reverse", func() txn.Part {
			return b.book.Reverse(b.entry(t, "t-2"), ledger.Reversal{ID: "v-1", EffectiveAt: day})
		}, 7, 14, 0},
		{"correct", func() txn.Part {
			return b.book.Correct(b.entry(t, "t-2"), transfer("f-1", "bank", "ann-", "1.00"))
		}, 7, 14, 0},
		{"close one month", func() txn.Part { return b.book.ClosePeriod(b.balance(t, "fees"), "2026-11") }, 2, 4, 0},
	} {
		receipt := b.commit(t, c.part())
		if receipt.Items != c.items || receipt.Base() != capacity.Whole(c.base) || receipt.Index() != capacity.Whole(c.index) {
			t.Errorf("%s: %d items, %s base and %s index units; want %d, %d, %d", c.what,
				receipt.Items, receipt.Base(), receipt.Index(), c.items, c.base, c.index)
		}
	}
}

// The two postings and the authority of AMP07 are 6 units; each is within 1 KiB, also with long identifiers.
func TestRecordsStayWithinTheirUnits(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	long := strings.Repeat("a", 36)
	bank, ann := "bank-"+long, "ann-"+long
	for _, name := range []string{bank, ann} {
		b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: name, Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true}))
	}
	tx := transfer("t-"+long, bank, ann, "123456789.01")
	b.commit(t, b.book.Post(tx))
	sizes := map[string]int{"AUTH": 0, "POST": 0, "HEADER": 0}
	for key, item := range b.dump(t) {
		_, sk, _ := strings.Cut(key, " / ")
		kind, _, _ := strings.Cut(sk, "#")
		if _, ok := sizes[kind]; ok {
			sizes[kind] = max(sizes[kind], capacity.ItemSize(item))
		}
	}
	for kind, most := range map[string]int{"AUTH": 600, "POST": 614, "HEADER": 800} { // 614 bytes are one slot
		if sizes[kind] > most || sizes[kind] == 0 {
			t.Errorf("%s has %d bytes, want at most %d", kind, sizes[kind], most)
		}
	}
	// Every open month with postings adds the same to an authority, and the documentation says how much.
	for months := 1; months <= 4; months++ {
		next := transfer(fmt.Sprintf("m-%d-%s", months, long), bank, ann, "123456789.01")
		next.EffectiveAt = day.AddDate(0, -months, 0)
		receipt := b.commit(t, b.book.Post(next))
		if months < 4 && receipt.Base() != capacity.Whole(10) {
			t.Errorf("%d open months: %s units, want 10", months+1, receipt.Base())
		}
	}
}

// A read that nobody expects would fail here: the client can write and nothing else.
func TestPostingNeedsNoRead(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	only := &writesOnly{client: b.client}
	for i := range 5 {
		if _, err := impatient(only).Commit(t.Context(), b.book.Post(transfer(fmt.Sprintf("t-%d", i), "bank", "ann-", "1.00"))); err != nil {
			t.Fatal(err)
		}
	}
	if only.calls != 5 {
		t.Errorf("%d requests for 5 transactions", only.calls)
	}
}

type writesOnly struct {
	client *dynamodb.Client
	calls  int
}

func (w *writesOnly) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	w.calls++
	return w.client.TransactWriteItems(ctx, in, opts...)
}
