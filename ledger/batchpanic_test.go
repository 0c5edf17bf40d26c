package ledger_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// outcome is what a caller gets: a result, or a panic.
type outcome struct {
	result
	panicked any
}

// listen posts one transaction after the other and catches panics.
func (c *crowd) listen(all ...ledger.Submission) []outcome {
	outcomes := make([]outcome, len(all))
	done := make(chan int)
	for i, s := range all {
		go func() {
			defer func() {
				outcomes[i].panicked = recover()
				done <- i
			}()
			outcomes[i].Posted, outcomes[i].err = c.batcher.Post(c.t.Context(), s)
		}()
		synctest.Wait()
	}
	for range all {
		<-done
	}
	return outcomes
}

func submissions(all ...ledger.Transaction) []ledger.Submission {
	list := make([]ledger.Submission, len(all))
	for i, tx := range all {
		list[i].Transaction = tx
	}
	return list
}

// wantAbandoned fails the test unless a caller was told, by an error, that somebody else's panic broke the batch.
func wantAbandoned(t *testing.T, who string, got outcome) {
	t.Helper()
	var abandoned *ledger.AbandonedError
	if got.panicked != nil || !errors.As(got.err, &abandoned) || !abandoned.Sent || !errors.Is(got.err, ledger.ErrPanic) {
		t.Errorf("%s was told %v, and got the panic %v", who, got.err, got.panicked)
	}
}

var errBroken = errors.New("broken client")

// A client that panics has done so for one caller; the others of the batch get an error, other batches go on, and closing ends.
func TestAPanicIsRaisedForOneCallerOnly(t *testing.T) {
	for name, broken := range map[string]func(){
		"panic": func() { panic(errBroken) }, "end of the goroutine": runtime.Goexit,
	} {
		inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
			c.open(t, "bank", "ann-", "bob-", "till", "cy-")
			calls := 0
			c.through(ledger.BatchConfig{}, func(_ context.Context, in *dynamodb.TransactWriteItemsInput, next func() (*dynamodb.TransactWriteItemsOutput, error)) (*dynamodb.TransactWriteItemsOutput, error) {
				if in.TransactItems[0].Put.Item["PK"].(*types.AttributeValueMemberS).Value == "TEN#acme#TXN#till" {
					return next()
				}
				out, err := next() // it was applied, and nobody learns of it
				if calls++; calls == 1 {
					broken()
				}
				return out, err
			})
			all := []ledger.Transaction{transfer("a", "bank", "ann-", "1.00"), transfer("b", "bank", "bob-", "1.00"), transfer("till", "till", "cy-", "1.00")}
			got := c.listen(submissions(all...)...)
			raised, _ := got[0].panicked.(*ledger.PanicError)
			switch {
			case name != "panic":
				wantAbandoned(t, name+": the first", got[0])
			case raised == nil || !errors.Is(raised, errBroken) || !errors.Is(raised, ledger.ErrPanic) || !strings.Contains(string(raised.Stack), "batchpanic_test.go"):
				t.Errorf("the oldest caller got the panic %v", got[0].panicked)
			}
			wantAbandoned(t, name+": the second", got[1])
			if got[2].err != nil {
				t.Errorf("%s: another batch: %v", name, got[2].err)
			}
			c.expect(c.post(all...), "repeated, repeated, repeated")
		})
	}
}

// What a caller's own part does in explaining its failure is no different.
func TestAPartThatPanicsLeavesNothingHanging(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-")
		all := submissions(transfer("a", "bank", "ann-", "1.00"), transfer("b", "bank", "ann-", "1.00"), transfer("c", "bank", "ann-", "1.00"))
		all[1].Parts = []txn.Part{txn.Check(c.table, c.table.Key("x", "NOTE"), txn.If(expression.Name("PK").AttributeExists()), txn.Explain(func(txn.Item) error { panic("no words") }))}
		got := c.listen(all...)
		if raised, _ := got[0].panicked.(*ledger.PanicError); raised == nil || raised.Value != "no words" {
			t.Errorf("the oldest caller got the panic %v", got[0].panicked)
		}
		wantAbandoned(t, "the second", got[1])
		wantAbandoned(t, "the third", got[2])
		c.has(t, "bank", "0.00", "0.00", "0.00")
		c.expect(c.post(transfer("a", "bank", "ann-", "1.00"), transfer("c", "bank", "ann-", "1.00")), "2, 2")
	})
}

// A caller who has left cannot be told: the next one is. Where none is left, the program ends, as after any panic.
func TestAPanicFindsACallerOrEndsTheProgram(t *testing.T) {
	const alone = "DYNAFIN_TEST_ALONE"
	if os.Getenv(alone) == "" {
		t.Run("the next one", func(t *testing.T) { lonely(t, 2) })
		self := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		self.Env = append(os.Environ(), alone+"=1")
		out, err := self.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "broken client") {
			t.Errorf("the program ended with %v:\n%s", err, out)
		}
		return
	}
	lonely(t, 1)
}

// lonely lets the first of a number of callers leave while its batch is on its way to a client that panics.
func lonely(t *testing.T, callers int) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-")
		c.through(ledger.BatchConfig{}, func(context.Context, *dynamodb.TransactWriteItemsInput, func() (*dynamodb.TransactWriteItemsOutput, error)) (*dynamodb.TransactWriteItemsOutput, error) {
			time.Sleep(time.Second)
			panic(errBroken)
		})
		impatient, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		left := make(chan error)
		go func() {
			_, err := c.batcher.Post(impatient, ledger.Submission{Transaction: transfer("a", "bank", "ann-", "1.00")})
			left <- err
		}()
		synctest.Wait()
		if callers == 2 {
			got := c.listen(submissions(transfer("b", "bank", "ann-", "1.00"))...)
			if raised, _ := got[0].panicked.(*ledger.PanicError); raised == nil {
				t.Errorf("who stays got %v, and the panic %v", got[0].err, got[0].panicked)
			}
		}
		if err := <-left; !errors.Is(err, ledger.ErrAbandoned) {
			t.Errorf("who left got %v", err)
		}
		time.Sleep(time.Second)
	})
}
