package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// tiny has months of two buckets with three postings each.
var tiny = ledger.Config{BucketPostings: 3, BucketKiB: 1 << 20, MonthlyCap: 6}

// post posts by Ledger.Commit, which follows the buckets.
func (b *bench) post(t *testing.T, tx ledger.Transaction) error {
	t.Helper()
	_, err := b.book.Commit(t.Context(), impatient(b.client), func() []txn.Part { return []txn.Part{b.book.Post(tx)} })
	return err
}

// buckets counts the stored postings of an account by their partitions.
func (b *bench) buckets(t *testing.T, account string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for key := range b.dump(t) {
		pk, sk, _ := strings.Cut(key, " / ")
		if rest, ok := strings.CutPrefix(pk, "TEN#acme#ACCT#"+account+"#"); ok && strings.HasPrefix(sk, "POST#") {
			counts[rest]++
		}
	}
	return counts
}

// openSmall opens the account in small buckets, and a bank in large ones.
func (b *bench) openSmall(t *testing.T, account ledger.Account) {
	t.Helper()
	account.Tenant, account.Side = tenant, ledger.CreditSide
	b.commit(t, b.book.OpenAccount(account, ledger.Asset{Currency: usd, NoMinimum: true}))
	wide := ledger.New(ledger.Config{Table: b.books, Now: func() time.Time { return b.now }})
	b.commit(t, wide.OpenAccount(ledger.Account{Tenant: tenant, ID: "bank", Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true}))
}

// A bucket takes as many postings as it may, the next one follows, and past the last one nothing is taken: rejected, never
// grown (AP10).
func TestBucketsRollAndTheMonthIsCapped(t *testing.T) {
	t.Parallel()
	b := setup(t, tiny)
	b.openSmall(t, ledger.Account{ID: "ann"})
	for i := range 6 {
		if err := b.post(t, transfer(fmt.Sprintf("t-%d", i), "bank", "ann", "1.00")); err != nil {
			t.Fatalf("posting %d: %v", i, err)
		}
	}
	if got := b.buckets(t, "ann"); got["MONTH#2026-11#BKT#00"] != 3 || got["MONTH#2026-11#BKT#01"] != 3 || len(got) != 2 {
		t.Errorf("buckets: %v", got)
	}
	err := b.untouched(t, "the seventh posting", ledger.ErrCap, b.book.Post(transfer("t-7", "bank", "ann", "1.00")))
	var full *ledger.CapError
	if !errors.As(err, &full) || full.Account != "ann" || full.Month != "2026-11" || full.Buckets != 2 || full.Slots != 3 {
		t.Errorf("%+v", full)
	}
	next := transfer("t-7", "bank", "ann", "1.00")
	next.EffectiveAt = next.EffectiveAt.AddDate(0, 1, 0)
	if err := b.post(t, next); err != nil {
		t.Errorf("the next month: %v", err)
	}
	if e := b.entry(t, "t-5"); e.Buckets[0] != 0 || e.Buckets[1] != 1 {
		t.Errorf("the header does not say where its postings are: %v", e.Buckets)
	}
}

// A writer that has never seen the account assumes the first bucket, is told the current one by the refusal, and is right
// from then on. It reads nothing.
func TestAWriterLearnsTheBucketFromTheRefusal(t *testing.T) {
	t.Parallel()
	b := setup(t, tiny)
	b.openSmall(t, ledger.Account{ID: "ann"})
	for i := range 4 {
		if err := b.post(t, transfer(fmt.Sprintf("t-%d", i), "bank", "ann", "1.00")); err != nil {
			t.Fatal(err)
		}
	}
	config := tiny
	config.Table, config.Now = b.books, func() time.Time { return b.now }
	b.book = ledger.New(config)
	err := b.untouched(t, "a stranger's first attempt", ledger.ErrRolled, b.book.Post(transfer("t-4", "bank", "ann", "1.00")))
	var rolled *ledger.RolledError
	if !errors.As(err, &rolled) || rolled.Bucket != 1 || rolled.Account != "ann" {
		t.Errorf("%+v", rolled)
	}
	b.commit(t, b.book.Post(transfer("t-4", "bank", "ann", "1.00")))
	b.commit(t, b.book.Post(transfer("t-5", "bank", "ann", "1.00")))
}

func TestRollingBucketsUnderConcurrency(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{BucketPostings: 4, BucketKiB: 1 << 20, MonthlyCap: 40})
	b.openSmall(t, ledger.Account{ID: "ann"})
	var wg sync.WaitGroup
	errs := make([]error, 50)
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = b.post(t, transfer(fmt.Sprintf("t-%d", i), "bank", "ann", "1.00"))
		}()
	}
	wg.Wait()
	posted := 0
	for _, err := range errs {
		switch {
		case err == nil:
			posted++
		case !errors.Is(err, ledger.ErrCap):
			t.Errorf("%v", err)
		}
	}
	counts := b.buckets(t, "ann")
	for bucket, n := range counts {
		if n != 4 {
			t.Errorf("%s has %d postings, want 4", bucket, n)
		}
	}
	if posted != 40 || len(counts) != 10 {
		t.Errorf("%d postings in %d buckets, want 40 in 10", posted, len(counts))
	}
	if totals := b.balance(t, "ann").Totals(); totals.Count != 40 || totals.Sum != dollars("-40.00") {
		t.Errorf("%+v", totals)
	}
}

// late is a client whose answer comes after something else has happened.
type late struct {
	txn.Client
	meanwhile func()
}

func (l late) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := l.Client.TransactWriteItems(ctx, in, opts...)
	l.meanwhile()
	return out, err
}

// What a refusal says of a bucket can be old when it is heard. It does not undo what is known better.
func TestOldNewsOfABucketIsDropped(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{BucketPostings: 3, BucketKiB: 1 << 20, MonthlyCap: 9})
	b.openSmall(t, ledger.Account{ID: "ann"})
	others := ledger.New(ledger.Config{BucketPostings: 3, BucketKiB: 1 << 20, MonthlyCap: 9, Table: b.books, Now: func() time.Time { return b.now }})
	post := func(book *ledger.Ledger, i int) {
		t.Helper()
		_, err := book.Commit(t.Context(), impatient(b.client), func() []txn.Part {
			return []txn.Part{book.Post(transfer(fmt.Sprintf("t-%d", i), "bank", "ann", "1.00"))}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		post(others, i) // three in bucket 0, one in bucket 1
	}
	slow := late{b.client, func() {
		for i := 4; i < 8; i++ {
			post(b.book, i) // up to two in bucket 2, of which the second is told so
		}
	}}
	if _, err := impatient(slow).Commit(t.Context(), b.book.Post(transfer("t-9", "bank", "ann", "1.00"))); !errors.Is(err, ledger.ErrRolled) {
		t.Errorf("a posting to bucket 0: %v", err)
	}
	b.commit(t, b.book.Post(transfer("t-9", "bank", "ann", "1.00")))
}

// A table that was put back to an earlier state has an earlier bucket than the Ledger remembers. One refusal is enough to see it.
func TestALedgerFollowsATableThatWasPutBack(t *testing.T) {
	t.Parallel()
	b := setup(t, tiny)
	b.openSmall(t, ledger.Account{ID: "ann"})
	before := b.dump(t)
	for i := range 4 {
		if err := b.post(t, transfer(fmt.Sprintf("t-%d", i), "bank", "ann", "1.00")); err != nil {
			t.Fatal(err)
		}
	}
	for key, item := range b.dump(t) {
		if old, ok := before[key]; ok {
			b.forge(t, old)
		} else {
			b.lose(t, txn.Item{"PK": item["PK"], "SK": item["SK"]})
		}
	}
	b.untouched(t, "a posting to bucket 1", ledger.ErrRolled, b.book.Post(transfer("t-0", "bank", "ann", "1.00")))
	b.commit(t, b.book.Post(transfer("t-0", "bank", "ann", "1.00")))
	batcher := b.book.Batcher(t.Context(), impatient(b.client), ledger.BatchConfig{Linger: -1})
	for i := 1; i < 6; i++ {
		if _, err := batcher.Post(t.Context(), ledger.Submission{Transaction: transfer(fmt.Sprintf("t-%d", i), "bank", "ann", "1.00")}); err != nil {
			t.Errorf("posting %d: %v", i, err)
		}
	}
	if err := batcher.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := b.buckets(t, "ann"); got["MONTH#2026-11#BKT#00"] != 3 || got["MONTH#2026-11#BKT#01"] != 3 {
		t.Errorf("buckets: %v", got)
	}
}

// The bytes of a bucket are limited as well: a long posting takes the slots of several.
func TestLongPostingsFillABucketEarlier(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{BucketPostings: 10, BucketKiB: 4, MonthlyCap: 20}) // slots of 410 bytes
	b.openSmall(t, ledger.Account{ID: "ann"})
	long := strings.Repeat("s", 600)
	for i := 0; ; i++ {
		tx := transfer(fmt.Sprintf("t-%d", i), "bank", "ann", "1.00")
		tx.Source = long
		if err := b.post(t, tx); err != nil {
			if !errors.Is(err, ledger.ErrCap) {
				t.Fatal(err)
			}
			break
		}
	}
	for bucket, n := range b.buckets(t, "ann") {
		if n != 3 { // of nearly 1 KiB each, in 3 of 10 slots each
			t.Errorf("%s has %d long postings, want 3", bucket, n)
		}
	}
}

// The assets of an account share each bucket, each within its own part of it.
func TestAssetsShareABucket(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{BucketPostings: 6, BucketKiB: 1 << 20, MonthlyCap: 6})
	account := ledger.Account{Tenant: tenant, ID: "ann", Side: ledger.DebitSide, Assets: 2}
	b.commit(t, b.book.OpenAccount(account, ledger.Asset{Currency: usd, NoMinimum: true}))
	account, err := b.book.Account(t.Context(), b.client, tenant, "ann")
	if err != nil {
		t.Fatal(err)
	}
	b.commit(t, b.book.OpenAsset(account, ledger.Asset{Currency: eur, NoMinimum: true}))
	b.untouched(t, "the same asset again", ledger.ErrDuplicate, b.book.OpenAsset(account, ledger.Asset{Currency: eur, NoMinimum: true}))
	yen := money.MustParse("1 JPY").Currency()
	b.untouched(t, "an account that was read before", ledger.ErrVersion, b.book.OpenAsset(account, ledger.Asset{Currency: yen, NoMinimum: true}))
	if account, err = b.book.Account(t.Context(), b.client, tenant, "ann"); err != nil {
		t.Fatal(err)
	}
	b.untouched(t, "a third asset in an account for two", ledger.ErrLimit, b.book.OpenAsset(account, ledger.Asset{Currency: yen, NoMinimum: true}))
	for _, currency := range []string{"USD", "EUR"} {
		own := func(id, amount string) ledger.Transaction {
			tx := transfer(id+currency, "ann", "ann", amount)
			if currency == "EUR" {
				for i := range tx.Postings {
					tx.Postings[i].Amount = euros(tx.Postings[i].Amount.Text())
				}
			}
			return tx
		}
		if err := b.post(t, own("t-1", "1.00")); err != nil {
			t.Fatal(err)
		}
		if err := b.post(t, own("t-2", "1.00")); !errors.Is(err, ledger.ErrCap) {
			t.Errorf("four postings of %s in three slots: %v", currency, err)
		}
	}
}

// The month is that of the effective time in UTC, to the nanosecond.
func TestMonthsChangeOnTheNanosecond(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	tokyo := time.FixedZone("Tokyo", 9*60*60)
	first := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		at    time.Time
		month ledger.Month
	}{
		{first.Add(-1), "2026-11"}, {first, "2026-12"}, {first.Add(1), "2026-12"},
		{time.Date(2026, 12, 1, 8, 59, 59, 999_999_999, tokyo), "2026-11"}, {time.Date(2026, 12, 1, 9, 0, 0, 0, tokyo), "2026-12"},
		{time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), "0001-01"}, {time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), "9999-12"},
	} {
		tx := transfer(fmt.Sprintf("t-%d", i), "bank", "fees", "1.00")
		tx.EffectiveAt = c.at
		b.commit(t, b.book.Post(tx))
		if got := b.buckets(t, "bank")["MONTH#"+string(c.month)+"#BKT#00"]; got == 0 {
			t.Errorf("a posting at %v is not in %s: %v", c.at, c.month, b.buckets(t, "bank"))
		}
		if e := b.entry(t, tx.ID); !e.EffectiveAt.Equal(c.at) {
			t.Errorf("%v is read as %v", c.at, e.EffectiveAt)
		}
	}
}

// Stripes are authorities of their own; lanes are partitions of one authority.
func TestStripesAndLanes(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	house := ledger.Account{Tenant: tenant, ID: "house", Side: ledger.DebitSide, Stripes: 3}
	hot := ledger.Account{Tenant: tenant, ID: "hot", Side: ledger.CreditSide, Lanes: 2}
	b.commit(t, b.book.OpenAccount(house, ledger.Asset{Currency: usd, NoMinimum: true}))
	b.commit(t, b.book.OpenAccount(hot, ledger.Asset{Currency: usd}))
	for i, c := range []struct{ stripe, lane int }{{0, 0}, {1, 0}, {2, 1}, {2, 0}} {
		tx := transfer(fmt.Sprintf("t-%d", i), "house", "hot", "1.00")
		tx.Postings[0].Stripe, tx.Postings[1].Lane = c.stripe, c.lane
		b.commit(t, b.book.Post(tx))
	}
	for stripe, want := range []string{"1.00", "1.00", "2.00"} {
		now, err := b.book.StripeBalance(t.Context(), b.client, tenant, "house", usd, stripe)
		if err != nil || now.Posted.Text() != want || now.Stripe != stripe {
			t.Errorf("stripe %d: %s, %v; want %s", stripe, now.Posted, err, want)
		}
	}
	b.has(t, "hot", "4.00", "0.00", "4.00")
	want := map[string]int{"MONTH#2026-11#BKT#00": 3, "STRIPE#0000#LANE#0001#MONTH#2026-11#BKT#00": 1}
	if got := b.buckets(t, "hot"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("partitions of the lanes: %v, want %v", got, want)
	}
	tx := transfer("t-9", "house", "hot", "1.00")
	tx.Postings[0].Stripe = 3
	b.untouched(t, "a stripe that is not there", ledger.ErrNotFound, b.book.Post(tx))
	tx = transfer("t-9", "house", "hot", "1.00")
	tx.Postings[1].Lane = 2
	b.untouched(t, "a lane that no reader visits", ledger.ErrLimit, b.book.Post(tx))
	account := ledger.Account{Tenant: tenant, ID: "poor", Side: ledger.DebitSide, Stripes: 2}
	b.untouched(t, "stripes with a minimum", ledger.ErrInvalid, b.book.OpenAccount(account, ledger.Asset{Currency: usd}))
}
