package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// between is a client that another one is behind.
type between func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, next func() (*dynamodb.TransactWriteItemsOutput, error)) (*dynamodb.TransactWriteItemsOutput, error)

type intercepted struct {
	next txn.Client
	between
}

func (i intercepted) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return i.between(ctx, in, func() (*dynamodb.TransactWriteItemsOutput, error) { return i.next.TransactWriteItems(ctx, in, opts...) })
}

// through replaces the batcher by one whose requests pass a function.
func (c *crowd) through(config ledger.BatchConfig, b between) {
	c.t.Helper()
	if err := c.batcher.Close(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	c.batcher = c.book.Batcher(c.t.Context(), txn.New(intercepted{c.client, b}, txn.Config{}), config)
}

// About a busy item: only those who need it give up when the Committer does, be it a balance that others share or a record of
// their own.
func TestABusyItemFailsOnlyThoseWhoNeedIt(t *testing.T) {
	for _, hot := range []string{"ACCT#bob-", "TXN#b", "ACCT#bob-#MONTH#2026-11#BKT#00"} {
		inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
			c.open(t, "bank", "ann-", "bob-", "cy-")
			c.through(ledger.BatchConfig{}, func(_ context.Context, in *dynamodb.TransactWriteItemsInput, next func() (*dynamodb.TransactWriteItemsOutput, error)) (*dynamodb.TransactWriteItemsOutput, error) {
				reasons, busy := make([]types.CancellationReason, len(in.TransactItems)), false
				for i, item := range in.TransactItems {
					key := map[string]types.AttributeValue{}
					if item.Update != nil {
						key = item.Update.Key
					} else if item.Put != nil {
						key = item.Put.Item
					}
					reasons[i].Code = aws.String("None")
					if key["PK"].(*types.AttributeValueMemberS).Value == "TEN#acme#"+hot {
						reasons[i].Code, busy = aws.String("TransactionConflict"), true
					}
				}
				if busy {
					return nil, &types.TransactionCanceledException{CancellationReasons: reasons}
				}
				return next()
			})
			results := c.post(transfer("a", "bank", "ann-", "1.00"), transfer("b", "bank", "bob-", "1.00"), transfer("c", "bank", "cy-", "1.00"))
			c.expect(results, "2, busy, 2")
			var contention *txn.ContentionError
			if !errors.As(results[1].err, &contention) || contention.Attempts != 8 || !slices.Equal(contention.Parts, []string{"AP10.post", "AP12.balance"}) {
				t.Errorf("%s: %+v", hot, contention)
			}
		})
	}
}

// The first takes what the second needs, and then cannot be committed: the second is judged without it.
func TestNobodyIsRefusedForAnothersSake(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-")
		c.commit(t, c.book.Post(transfer("start", "bank", "ann-", "10.00")))
		c.through(ledger.BatchConfig{}, func(_ context.Context, in *dynamodb.TransactWriteItemsInput, next func() (*dynamodb.TransactWriteItemsOutput, error)) (*dynamodb.TransactWriteItemsOutput, error) {
			if id := in.TransactItems[0].Put.Item["PK"].(*types.AttributeValueMemberS).Value; strings.HasSuffix(id, "first") && len(in.TransactItems) == 5 {
				return nil, &types.ThrottlingException{}
			}
			return next()
		})
		c.expect(c.post(transfer("first", "ann-", "bank", "8.00"), transfer("second", "ann-", "bank", "9.00")), "busy, 1")
	})
}

// A refusal after a lost answer is not the last word: the lost copy may still arrive.
func TestARefusalThatALostCopyMayOverturnSaysSo(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-", "bob-")
		attempts := 0
		c.through(ledger.BatchConfig{}, func(_ context.Context, _ *dynamodb.TransactWriteItemsInput, next func() (*dynamodb.TransactWriteItemsOutput, error)) (*dynamodb.TransactWriteItemsOutput, error) {
			if attempts++; attempts == 1 {
				return nil, dynamosim.ErrLost
			}
			return next()
		})
		results := c.post(transfer("a", "ann-", "bank", "1.00"), transfer("b", "bank", "bob-", "1.00"))
		c.expect(results, "insufficient, 1")
		var canceled *txn.CanceledError
		if !errors.As(results[0].err, &canceled) || !canceled.Unsettled {
			t.Errorf("%+v", canceled)
		}
	})
}

// A lost answer is no conflict: within a Commit the mark proves, after it the header does.
func TestALostAnswerHasOneEffectForEveryMember(t *testing.T) {
	for _, tokens := range anyTokenPolicy {
		for _, row := range []struct {
			fate dynamosim.Fate
			lost int
			want string
		}{
			{dynamosim.LoseAnswer, 1, "2, 2"}, {dynamosim.InternalErrorAfter, 3, "2, 2"}, {dynamosim.LoseRequest, 1, "2, 2"},
			{dynamosim.LoseAnswer, 8, "ambiguous, ambiguous"}, {dynamosim.LoseRequest, 8, "ambiguous, ambiguous"},
		} {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				c := newCrowd(t, dynamosim.Options{TokenPolicy: tokens}, ledger.Config{}, ledger.BatchConfig{}, func(dynamosim.Call) dynamosim.Fate {
					if calls++; calls <= row.lost {
						return row.fate
					}
					return dynamosim.Deliver
				})
				c.open(t, "bank", "ann-", "bob-")
				all := []ledger.Transaction{transfer("a", "bank", "ann-", "1.00"), transfer("b", "bank", "bob-", "1.00")}
				c.expect(c.post(all...), row.want)
				for _, again := range c.post(all...) {
					if again.err != nil || !again.Repeated && row.fate == dynamosim.LoseAnswer {
						t.Errorf("after %v lost %d times a repeat gets %+v", row.fate, row.lost, again)
					}
				}
				c.has(t, "bank", "2.00", "0.00", "2.00")
				if err := c.batcher.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestACallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, dynamosim.Options{ServiceTime: dynamosim.ServiceTime{Transaction: loadService}}, ledger.Config{}, ledger.BatchConfig{}, nil)
		c.open(t, "bank", "ann-")
		leave := func(id string, after time.Duration) *ledger.AbandonedError {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			_, err := c.batcher.Post(ctx, ledger.Submission{Transaction: transfer(id, "bank", "ann-", "1.00")})
			var abandoned *ledger.AbandonedError
			if !errors.As(err, &abandoned) || abandoned.Transaction != id || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%s left and got %v", id, err)
			}
			return abandoned
		}
		stays := make(chan error)
		go func() {
			_, err := c.batcher.Post(t.Context(), ledger.Submission{Transaction: transfer("stays", "bank", "ann-", "1.00")})
			stays <- err
		}()
		if leave("early", 2*time.Millisecond).Sent {
			t.Error("what still waited is said to be sent")
		}
		if err := <-stays; err != nil {
			t.Errorf("who stays gets %v", err)
		}
		if !leave("late", 7*time.Millisecond).Sent {
			t.Error("what was on its way is said not to be sent")
		}
		time.Sleep(loadService)
		c.expect(c.post(transfer("late", "bank", "ann-", "1.00"), transfer("early", "bank", "ann-", "1.00")), "repeated, 1")
		c.has(t, "ann-", "3.00", "0.00", "3.00")
		if err := c.batcher.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTheQueueIsBounded(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{Queue: 2}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-")
		results := c.post(transfer("a", "bank", "ann-", "1.00"), transfer("b", "bank", "ann-", "1.00"), transfer("c", "bank", "ann-", "1.00"))
		var full *ledger.QueueFullError
		if !errors.As(results[2].err, &full) || full.Max != 2 || full.Transaction != "c" {
			t.Errorf("the third of two gets %v", results[2].err)
		}
		c.expect(results[:2], "2, 2")
		c.expect(c.post(transfer("c", "bank", "ann-", "1.00")), "1")
	})
}

// A bubble does not end while one of its goroutines is left: these tests would fail with a deadlock.
func TestNoGoroutineIsLeft(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *crowd, context.CancelFunc) error{
		"close waits for all": func(t *testing.T, c *crowd, _ context.CancelFunc) error { return c.batcher.Close(t.Context()) },
		"close in a hurry": func(t *testing.T, c *crowd, _ context.CancelFunc) error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := c.batcher.Close(ctx); !errors.Is(err, ledger.ErrBatcherClosed) || !errors.Is(err, context.Canceled) {
				return fmt.Errorf("close says %w", err)
			}
			return nil
		},
		"its context ends": func(t *testing.T, _ *crowd, cancel context.CancelFunc) error { cancel(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t, dynamosim.Options{ServiceTime: dynamosim.ServiceTime{Transaction: loadService}}, ledger.Config{}, ledger.BatchConfig{}, nil)
				c.open(t, "bank", "ann-")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c.batcher = c.book.Batcher(ctx, txn.New(c.client, txn.Config{}), ledger.BatchConfig{})
				outcomes := make([]error, 40)
				answered := atomic.Int64{}
				for i := range outcomes { // one batch is on its way, the others wait
					go func() {
						_, outcomes[i] = c.batcher.Post(t.Context(), ledger.Submission{Transaction: transfer(fmt.Sprint(i), "bank", "ann-", "1.00")})
						answered.Add(1)
					}()
					synctest.Wait()
				}
				if err := end(t, c, cancel); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if n := answered.Load(); n != 40 {
					t.Errorf("%d of 40 callers have an answer", n)
				}
				if _, err := c.batcher.Post(t.Context(), ledger.Submission{Transaction: transfer("x", "bank", "ann-", "1.00")}); !errors.Is(err, ledger.ErrBatcherClosed) {
					t.Errorf("a closed batcher says %v", err)
				}
				if err := c.batcher.Close(t.Context()); err != nil {
					t.Errorf("closing again: %v", err)
				}
				c.truthful(outcomes)
			})
		})
	}
}

func TestABatcherOfAContextThatHasEndedIsClosed(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 {
			b := c.book.Batcher(ctx, impatient(c.client), ledger.BatchConfig{})
			synctest.Wait()
			if _, err := b.Post(t.Context(), ledger.Submission{Transaction: transfer("a", "bank", "ann-", "1.00")}); !errors.Is(err, ledger.ErrBatcherClosed) {
				t.Fatalf("%v", err)
			}
			if err := b.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// truthful holds what callers were told against what is stored. Who was told that nothing is known may find either.
func (c *crowd) truthful(outcomes []error) {
	c.t.Helper()
	stored := c.dump(c.t)
	for i, err := range outcomes {
		_, posted := stored[fmt.Sprintf("TEN#acme#TXN#%d / HEADER", i)]
		var abandoned *ledger.AbandonedError
		unknown := errors.Is(err, txn.ErrAmbiguous) || errors.As(err, &abandoned) && abandoned.Sent
		if !unknown && posted != (err == nil) {
			c.t.Errorf("transaction %d is stored: %v, and its caller was told %v", i, posted, err)
		}
	}
}

func TestABatchIsAtMostAHundredWrites(t *testing.T) {
	for _, row := range []struct{ most, want int }{{0, 24}, {7, 7}} { // 24 headers, 48 postings, 24 customers and the bank: 97 writes
		inCrowd(t, ledger.BatchConfig{MaxTransactions: row.most}, nil, func(t *testing.T, c *crowd) {
			c.open(t, "bank")
			var all []ledger.Transaction
			for i := range 60 {
				c.open(t, fmt.Sprintf("c%d-", i))
				all = append(all, transfer(fmt.Sprint(i), "bank", fmt.Sprintf("c%d-", i), "1.00"))
			}
			shared := 0
			for _, r := range c.post(all...) {
				if r.err != nil {
					t.Fatal(r.err)
				}
				shared = max(shared, r.Shared)
			}
			if shared != row.want {
				t.Errorf("%d transactions in a batch, want %d", shared, row.want)
			}
			c.has(t, "bank", "60.00", "0.00", "60.00")
		})
	}
}

// The bank has two slots in a bucket and two buckets, so a batch has to take what fits, move on, and stop at the cap.
func TestABatchMovesOnToTheNextBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, dynamosim.Options{}, ledger.Config{BucketPostings: 4, BucketKiB: 1 << 20, MonthlyCap: 8}, ledger.BatchConfig{}, nil)
		c.open(t, "bank", "ann-", "bob-", "cy-", "dan-", "eve-")
		var all []ledger.Transaction
		for i, name := range []string{"ann-", "bob-", "cy-", "dan-", "eve-"} {
			all = append(all, transfer(fmt.Sprint(i), "bank", name, "1.00"))
		}
		results := c.post(all[0])
		results = append(results, c.post(all[1:]...)...)
		c.expect(results, "1, 1, 2, 2, cap")
		c.has(t, "bank", "4.00", "0.00", "4.00")
		buckets := []int{}
		for i := range 4 {
			buckets = append(buckets, c.entry(t, fmt.Sprint(i)).Buckets[0])
		}
		if !slices.Equal(buckets, []int{0, 0, 1, 1}) {
			t.Errorf("the bank's postings are in buckets %v", buckets)
		}
		if err := c.batcher.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestMonthsAndVersionsDoNotMix(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-")
		december, large, expecting := transfer("b", "bank", "ann-", "1.00"), transfer("d", "bank", "ann-", "92233720368547758.08"), transfer("e", "bank", "ann-", "1.00")
		december.EffectiveAt = day.AddDate(0, 1, 0)
		expecting.Expect = []ledger.Expected{{Account: "ann-", Currency: usd, Version: 99}}
		results := c.post(transfer("a", "bank", "ann-", "1.00"), december, transfer("c", "bank", "ann-", "1.00"), large, expecting)
		c.expect(results, "2, 1, 2, 1, version")
		for _, m := range c.balance(t, "ann-").Open {
			if want := map[ledger.Month]int64{"2026-11": 3, "2026-12": 1}[m.Month]; m.Count != want {
				t.Errorf("%s has %d postings, want %d", m.Month, m.Count, want)
			}
		}
	})
}

// Two accounts are never idle at the same moment, and yet a transaction between them gets its turn: who alone keeps one of
// them busy is kept from it, and so is who would come along in the company of others.
func TestNobodyIsPassedForever(t *testing.T) {
	type stream struct {
		from, to string
		offset   time.Duration
	}
	for name, row := range map[string]struct {
		most    int // in a batch
		streams []stream
	}{
		"alone":      {1, []stream{{"left", "a", 0}, {"right", "b", loadService / 2}}},
		"in company": {2, []stream{{"hub", "a", 0}, {"hub", "left", 0}, {"till", "b", loadService / 2}, {"till", "right", loadService / 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t, dynamosim.Options{ServiceTime: dynamosim.ServiceTime{Transaction: loadService}}, ledger.Config{}, ledger.BatchConfig{Linger: -1, MaxTransactions: row.most}, nil)
				c.open(t, "left", "right", "hub", "till", "a", "b")
				begin, over, streams := time.Now(), atomic.Bool{}, sync.WaitGroup{}
				for s, stream := range row.streams {
					for i := range 3 { // one on its way, the others waiting, in a known order
						streams.Go(func() {
							time.Sleep(stream.offset + time.Duration(i*len(row.streams)+s)*time.Microsecond)
							for n := 0; !over.Load() && time.Since(begin) < 2*time.Second; n++ {
								if _, err := c.batcher.Post(t.Context(), ledger.Submission{Transaction: transfer(fmt.Sprintf("%d-%d-%d", s, i, n), stream.from, stream.to, "1.00")}); err != nil {
									t.Error(err)
									return
								}
							}
						})
					}
				}
				time.Sleep(20*loadService + loadService/4)
				asked := time.Since(begin)
				if _, err := c.batcher.Post(t.Context(), ledger.Submission{Transaction: transfer("x", "left", "right", "1.00")}); err != nil {
					t.Error(err)
				}
				if batches := int((time.Since(begin) - asked) / loadService); batches < 5 || batches > 20 {
					t.Errorf("it had to wait for %d batches", batches)
				}
				over.Store(true)
				streams.Wait() // nobody asks a batcher that is closed
				if err := c.batcher.Close(t.Context()); err != nil {
					t.Error(err)
				}
				synctest.Wait()
			})
		})
	}
}
