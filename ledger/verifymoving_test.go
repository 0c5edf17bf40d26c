package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/ledger"
)

// intruder is a client that does something before each request of a verification.
type intruder struct {
	*dynamodb.Client
	before func(request int, read bool) // read: of the balance
	n      int
}

func (c *intruder) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	c.n++
	c.before(c.n, true)
	return c.Client.GetItem(ctx, in, opts...)
}

func (c *intruder) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.n++
	c.before(c.n, false)
	return c.Client.Query(ctx, in, opts...)
}

// moving has an account with twenty postings on one day in November, in buckets of fifteen.
func moving(t *testing.T, lanes int) *bench {
	t.Helper()
	b := setup(t, ledger.Config{BucketPostings: 30, MonthlyCap: 300})
	b.openWide(t, "cash", 1, lanes)
	b.openWide(t, "sales", 1, 1)
	for i := range 20 {
		b.pay(t, fmt.Sprintf("t-%02d", i), day.Add(time.Duration(i)*time.Second), "cash", "sales", "1.00")
	}
	return b
}

func (b *bench) verifyDuring(t *testing.T, before func(request int, read bool)) ledger.Report {
	t.Helper()
	of := ledger.Verification{Tenant: tenant, Account: "cash", Asset: usd, PageSize: 6, Locate: true}
	r, err := b.book.Verify(t.Context(), &intruder{Client: b.client, before: before}, of)
	if err != nil || !r.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(r.Findings) > 0 {
		t.Errorf("postings of others pass for damage: %v", r.Findings)
	}
	return r
}

// What is effective when it is posted is caught up with at the end, through buckets that fill up meanwhile, and nothing is read
// twice. On several lanes the month is read anew.
func TestVerifyCatchesUpWithNewPostings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lanes, until, most int }{{1, 34, 40}, {2, 13, 40}} {
		b := moving(t, c.lanes)
		posted, requests := 20, 0
		r := b.verifyDuring(t, func(request int, read bool) {
			if requests = request; request > 1 && request <= c.until {
				b.pay(t, fmt.Sprintf("t-%02d", posted), day.Add(time.Duration(posted)*time.Second), "cash", "sales", "1.00")
				posted++
			}
		})
		if r.Err() != nil || r.Postings != int64(posted) || posted != 19+c.until || r.Recomputed != b.balance(t, "cash").Totals() || requests > c.most {
			t.Errorf("%d lanes: %v, %d postings of %d, %d requests", c.lanes, r.Err(), r.Postings, posted, requests)
		}
	}
}

// What is posted with an earlier effective time, behind the reader, makes the month be read anew.
func TestVerifyReadsAMonthAnewForABackdatedPosting(t *testing.T) {
	t.Parallel()
	b := moving(t, 1)
	r := b.verifyDuring(t, func(request int, read bool) {
		if request == 3 { // behind the first page
			b.pay(t, "late", day.Add(-time.Hour), "cash", "sales", "1.00")
			b.pay(t, "new", day.Add(time.Hour), "cash", "sales", "1.00")
		}
	})
	if r.Err() != nil || r.Months != 1 || r.Recomputed != b.balance(t, "cash").Totals() {
		t.Errorf("%v: %+v", r.Err(), r)
	}
}

// An account that never holds still is reported as that: not proved, and not broken.
func TestVerifySaysWhatItCouldNotCatch(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.openWide(t, "cash", 1, 1)
	b.openWide(t, "sales", 1, 1)
	b.pay(t, "oct", day.AddDate(0, -1, 0), "cash", "sales", "1.00")
	b.pay(t, "nov", day, "cash", "sales", "1.00")
	posted := 0
	r := b.verifyDuring(t, func(request int, read bool) {
		posted++ // one too early to be caught, and one too late to be overlooked
		b.pay(t, fmt.Sprint("late-", posted), day.Add(-time.Duration(posted)*time.Minute), "cash", "sales", "1.00")
		b.pay(t, fmt.Sprint("new-", posted), day.Add(time.Duration(posted)*time.Second), "cash", "sales", "1.00")
	})
	var moved *ledger.MovedError
	if !errors.As(r.Err(), &moved) || moved.ID != "cash 2026-11" || r.Months != 1 || len(r.Moved) != 1 || r.Moved[0] != "2026-11" {
		t.Errorf("%v: %+v", r.Err(), r)
	}
	b.closeBooks(t, "cash", "2026-11")
	if r := b.verify(t, ledger.Verification{Account: "cash"}); r.Err() != nil || r.Months != 2 {
		t.Errorf("closed: %v", r.Err())
	}
}

// Fewer postings than were counted before anybody else came are missing, however much is posted meanwhile; and as many as
// then, but not the same, are changed.
func TestDamageIsFoundWhileOthersPost(t *testing.T) {
	t.Parallel()
	third := postingKey(t, "cash", "t-03", 0, day.Add(3*time.Second))
	for kind, damage := range map[ledger.FindingKind]func(*bench){
		ledger.MissingPostings: func(b *bench) { b.lose(t, third) },
		ledger.ChangedPostings: func(b *bench) {
			item := b.stored(t, third)
			item["amount"] = number("99")
			b.forge(t, item)
		},
	} {
		b := moving(t, 1)
		damage(b)
		posted := 0
		r, err := b.book.Verify(t.Context(), &intruder{Client: b.client, before: func(_ int, read bool) {
			if read {
				posted++
				b.pay(t, fmt.Sprint("late-", posted), day.Add(-time.Duration(posted)*time.Minute), "cash", "sales", "1.00")
			}
		}}, ledger.Verification{Tenant: tenant, Account: "cash", Asset: usd})
		if err != nil || len(r.Findings) != 1 || r.Findings[0].Kind != kind || len(r.Moved) > 0 {
			t.Errorf("%s: %+v, %v", kind, r, err)
		}
	}
}

// However often a verification is broken off and continued, it tries a month three times and no more; and it looks for damage
// in as many postings as it counted, however many come.
func TestAContinuedVerificationEnds(t *testing.T) {
	t.Parallel()
	for _, damaged := range []bool{false, true} {
		b := books(t)
		if damaged {
			b.lose(t, novemberKey(t, 3))
		}
		posted, steps, busy := 0, 0, !damaged
		stop := errors.New("one step at a time")
		of := ledger.Verification{Tenant: tenant, Account: "cash", Asset: usd, From: "2026-11", Locate: true, Progress: func(p ledger.Progress) error {
			steps++
			busy = !damaged || p.Findings > 0
			return stop
		}}
		if damaged {
			of.PageSize = 1
		}
		c := &intruder{Client: b.client, before: func(int, bool) {
			if busy {
				posted++
				b.pay(t, fmt.Sprint("late-", posted), day.AddDate(0, 0, -20).Add(-time.Duration(posted)*time.Minute), "cash", "sales", "1.00")
				b.pay(t, fmt.Sprint("new-", posted), day.Add(time.Duration(posted)*time.Minute), "cash", "sales", "1.00")
			}
		}}
		var r ledger.Report
		for !r.Done && steps <= 60 {
			r, _ = b.book.Verify(t.Context(), c, of)
			of.Checkpoint = r.Checkpoint
		}
		want := ledger.ErrMoved
		if damaged {
			want = ledger.ErrUnproved
		}
		if !r.Done || !errors.Is(r.Err(), want) || damaged && steps > 12 {
			t.Errorf("damaged %v: %d steps, %+v", damaged, steps, r)
		}
	}
}

// A month may be closed at any point of its verification.
func TestAMonthMayBeClosedWhileItIsVerified(t *testing.T) {
	t.Parallel()
	for at := 1; at <= 10; at++ {
		b := moving(t, 1)
		r := b.verifyDuring(t, func(request int, read bool) {
			if request == at {
				b.closeBooks(t, "cash", "2026-11")
				b.pay(t, "dec", day.AddDate(0, 1, 0), "cash", "sales", "1.00")
			}
		})
		if r.Err() != nil || r.Months < 1 || at < 7 && r.Recomputed != b.balance(t, "cash").Totals() {
			t.Errorf("closed before request %d: %v, %+v", at, r.Err(), r)
		}
	}
}

// Writers and verifications run against one another without findings, and the writers are never refused.
func TestVerifyBlocksNobody(t *testing.T) {
	t.Parallel()
	b := moving(t, 1)
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := range 25 {
				tx := transfer(fmt.Sprintf("w-%d-%d", w, i), "cash", "sales", "1.00")
				tx.EffectiveAt = day.Add(time.Duration(i*w) * time.Second)
				if err := b.post(t, tx); err != nil {
					t.Errorf("writer: %v", err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for busy := true; busy; {
		select {
		case <-done:
			busy = false
		default:
		}
		for _, account := range []string{"cash", "sales"} {
			if r := b.verify(t, ledger.Verification{Account: account, PageSize: 10}); r.Err() != nil && !errors.Is(r.Err(), ledger.ErrMoved) {
				t.Errorf("%s: %v", account, r.Err())
			}
		}
	}
	if r := b.verify(t, ledger.Verification{Account: "cash"}); r.Err() != nil || r.Postings != 95 {
		t.Errorf("in the end: %v", r.Err())
	}
}

// All that a verification keeps between two pages is in its checkpoint, and that is as long after thousands of postings as after
// a hundred; a page is the rest.
func TestAVerificationKeepsNoPostings(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	longest := func() (most, steps int) {
		of := ledger.Verification{Tenant: tenant, Account: "bank", Asset: usd, PageSize: 50, Progress: func(p ledger.Progress) error {
			most, steps = max(most, len(p.Checkpoint)), steps+1
			return nil
		}}
		if report, err := b.book.Verify(t.Context(), b.client, of); err != nil || report.Err() != nil {
			t.Fatalf("%v, %v", report.Err(), err)
		}
		return most, steps
	}
	post := func(from, to int) {
		for i := from; i < to; i++ {
			tx := ledger.Transaction{Tenant: tenant, ID: fmt.Sprintf("t-%03d", i), EffectiveAt: day}
			for range 48 {
				tx.Postings = append(tx.Postings, ledger.Debit("bank", dollars("2.00")), ledger.Credit("bank", dollars("1.00")))
			}
			tx.Postings = append(tx.Postings, ledger.Credit("fees", dollars("48.00")))
			b.commit(t, b.book.Post(tx))
		}
	}
	post(0, 2)
	few, short := longest()
	post(2, 40)
	many, long := longest()
	if long < 10*short || many > few+32 { // a few more digits of its counts and sums
		t.Errorf("%d bytes after %d steps, %d after %d", few, short, many, long)
	}
}
