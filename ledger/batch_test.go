package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// loadService is how long a transaction takes where it takes time.
const loadService = 5 * time.Millisecond

// crowd is a ledger in a bubble of virtual time, and a batcher that many callers post through.
type crowd struct {
	*bench
	t       *testing.T
	batcher *ledger.Batcher
	table   txn.Table        // of the callers' own records
	faulty  *dynamodb.Client // what the batcher has
}

// inCrowd runs a test in a bubble. The faults may be nil.
func inCrowd(t *testing.T, config ledger.BatchConfig, fates func(dynamosim.Call) dynamosim.Fate, test func(*testing.T, *crowd)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, dynamosim.Options{}, ledger.Config{}, config, fates)
		test(t, c)
		if err := c.batcher.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func newCrowd(t *testing.T, options dynamosim.Options, books ledger.Config, config ledger.BatchConfig, fates func(dynamosim.Call) dynamosim.Fate) *crowd {
	db := dynamosim.Open(options)
	c := &crowd{bench: &bench{client: db.Client(), now: day}, t: t}
	for _, table := range []*string{&c.books.Name, &c.table.Name} {
		in := newTable(ledger.New(ledger.Config{}))
		*table = *in.TableName + map[bool]string{true: "", false: "Own"}[table == &c.books.Name]
		in.TableName = table
		if _, err := c.client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	books.Table, books.Now = c.books, func() time.Time { return c.now }
	c.book = ledger.New(books)
	c.faulty = c.client
	if fates != nil {
		c.faulty = db.Client(func(o *dynamodb.Options) { o.HTTPClient = dynamosim.Faulty(db, fates) })
	}
	c.batcher = c.book.Batcher(t.Context(), txn.New(c.faulty, txn.Config{}), config)
	return c
}

// result is what one caller was told.
type result struct {
	ledger.Posted
	err error
}

// submit posts one submission after the other, each when the one before waits, and returns when all have their outcome.
func (c *crowd) submit(all ...ledger.Submission) []result {
	results := make([]result, len(all))
	done := make(chan int)
	for i, s := range all {
		go func() {
			results[i].Posted, results[i].err = c.batcher.Post(c.t.Context(), s)
			done <- i
		}()
		synctest.Wait()
	}
	for range all {
		<-done
	}
	return results
}

// post submits transactions without parts of their own.
func (c *crowd) post(all ...ledger.Transaction) []result {
	submissions := make([]ledger.Submission, len(all))
	for i, tx := range all {
		submissions[i].Transaction = tx
	}
	return c.submit(submissions...)
}

// outcomes says in short what became of each: posted and with how many others, repeated, or the kind of error.
func outcomes(results []result) string {
	kinds := []struct {
		err  error
		name string
	}{
		{ledger.ErrInsufficient, "insufficient"}, {ledger.ErrDuplicate, "duplicate"}, {ledger.ErrRefused, "refused"},
		{ledger.ErrNotFound, "not found"}, {ledger.ErrUnbalanced, "unbalanced"}, {ledger.ErrFrozen, "frozen"},
		{ledger.ErrVersion, "version"}, {ledger.ErrCap, "cap"}, {ledger.ErrScale, "scale"}, {ledger.ErrPeriodClosed, "closed"},
		{ledger.ErrLimit, "limit"}, {txn.ErrContention, "busy"}, {txn.ErrAmbiguous, "ambiguous"}, {txn.ErrInvalid, "invalid"}, {txn.ErrRefused, "refused by DynamoDB"},
		{txn.ErrCanceled, "canceled"},
	}
	said := make([]string, len(results))
	for i, r := range results {
		switch {
		case r.err == nil && r.Repeated:
			said[i] = "repeated"
		case r.err == nil:
			said[i] = fmt.Sprint(r.Shared)
		default:
			said[i] = r.err.Error()
			for _, kind := range kinds {
				if errors.Is(r.err, kind.err) {
					said[i] = kind.name
					break
				}
			}
		}
	}
	return strings.Join(said, ", ")
}

func (c *crowd) expect(results []result, want string) {
	c.t.Helper()
	if got := outcomes(results); got != want {
		c.t.Errorf("outcomes: %s\n    want: %s", got, want)
		for i, r := range results {
			if r.err != nil {
				c.t.Logf("%d: %v", i, r.err)
			}
		}
	}
}

func TestTransactionsThatShareAnAccountAreOneWriteOfIt(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-", "bob-", "cy-")
		results := c.post(transfer("t-1", "bank", "ann-", "1.00"), transfer("t-2", "bank", "bob-", "2.00"), transfer("t-3", "bank", "cy-", "3.00"))
		c.expect(results, "3, 3, 3")
		if units := results[0].Receipt.Base().String(); units != "26" { // 3 headers, 6 postings, 4 balances
			t.Errorf("three transactions consumed %s units", units)
		}
		c.has(t, "bank", "6.00", "0.00", "6.00")
		c.has(t, "bob-", "2.00", "0.00", "2.00")
		if bank := c.balance(t, "bank"); bank.Version != 2 || bank.Totals().Count != 3 {
			t.Errorf("the bank's balance has version %d and %d postings", bank.Version, bank.Totals().Count)
		}
		for _, id := range []string{"t-1", "t-2", "t-3"} {
			c.entry(t, id)
		}
	})
}

// Each row is a batch, in order, and what becomes of each of its members. Ann has 10 dollars, everybody else nothing.
func TestOneMemberDoesNotSinkTheOthers(t *testing.T) {
	in := func(id, amount string) ledger.Transaction { return transfer(id, "bank", "ann-", amount) }
	out := func(id, amount string) ledger.Transaction { return transfer(id, "ann-", "bank", amount) }
	to := func(id, from, to, amount string) ledger.Transaction { return transfer(id, from, to, amount) }
	for _, row := range []struct {
		name string
		all  []ledger.Transaction
		want string
		ann  string
	}{
		{"all fit", []ledger.Transaction{out("a", "4.00"), out("b", "6.00")}, "2, 2", "0.00"},
		{"the first come first", []ledger.Transaction{out("a", "8.00"), out("b", "3.00"), out("c", "2.00")}, "2, insufficient, 2", "0.00"},
		{"who does not fit alone does not keep others waiting", []ledger.Transaction{out("a", "10.01"), out("b", "10.00")}, "insufficient, 1", "0.00"},
		{"money that comes in first may be spent", []ledger.Transaction{in("a", "5.00"), out("b", "15.00")}, "2, 2", "0.00"},
		{"money that comes in later may not", []ledger.Transaction{out("a", "15.00"), in("b", "5.00")}, "insufficient, 1", "15.00"},
		{"a repeat", []ledger.Transaction{out("a", "4.00"), transfer("start", "bank", "ann-", "10.00"), out("b", "6.00")}, "2, repeated, 2", "0.00"},
		{"the same twice", []ledger.Transaction{out("a", "4.00"), out("a", "4.00"), out("b", "6.00")}, "2, repeated, 2", "0.00"},
		{"an identifier twice", []ledger.Transaction{out("a", "4.00"), out("a", "5.00"), out("b", "6.00")}, "2, duplicate, 2", "0.00"},
		{"an identifier in use", []ledger.Transaction{out("start", "4.00"), out("b", "6.00")}, "duplicate, 1", "4.00"},
		{"refused for good", []ledger.Transaction{out("refused", "1.00"), out("b", "6.00")}, "refused, 1", "4.00"},
		{"an account that is not there", []ledger.Transaction{out("a", "4.00"), to("b", "ann-", "nobody", "1.00"), out("c", "6.00")}, "2, not found, 2", "0.00"},
		{"a frozen account", []ledger.Transaction{out("a", "4.00"), to("b", "ann-", "ice-", "1.00"), out("c", "6.00")}, "2, frozen, 2", "0.00"},
		{"who depends on a refused one is judged without it", []ledger.Transaction{to("a", "bob-", "ann-", "5.00"), out("b", "15.00")}, "insufficient, insufficient", "10.00"},
		{"who was in the way of nobody in the end", []ledger.Transaction{to("a", "ann-", "ice-", "8.00"), out("b", "9.00")}, "frozen, 1", "1.00"},
		{"to and fro without funds", []ledger.Transaction{to("a", "bob-", "cy-", "1.00"), to("b", "cy-", "bob-", "1.00")}, "insufficient, insufficient", "10.00"},
		{"a chain", []ledger.Transaction{to("a", "ann-", "bob-", "10.00"), to("b", "bob-", "ann-", "9.00"), to("c", "ann-", "cy-", "9.00")}, "3, 3, 3", "0.00"},
	} {
		t.Run(row.name, func(t *testing.T) {
			inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
				c.open(t, "bank", "ann-", "bob-", "cy-", "ice-")
				c.commit(t, c.book.SetBalanceStatus(c.balance(t, "ice-"), ledger.StatusFrozen))
				c.commit(t, c.book.Post(transfer("start", "bank", "ann-", "10.00")))
				c.commit(t, c.book.Refuse(out("refused", "1.00"), "no"))
				c.expect(c.post(row.all...), row.want)
				c.has(t, "ann-", row.ann, "0.00", row.ann)
			})
		})
	}
}

// A refusal carries its proof: the record that the batch met, not what others in the batch would have left.
func TestARefusalInCompanyIsProvedByTheRecord(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-")
		c.commit(t, c.book.Post(transfer("start", "bank", "ann-", "10.00")))
		results := c.post(transfer("a", "ann-", "bank", "7.00"), transfer("b", "ann-", "bank", "5.00"))
		c.expect(results, "1, insufficient")
		var poor *ledger.InsufficientError
		if !errors.As(results[1].err, &poor) || poor.Available != dollars("3.00") || poor.Need != dollars("5.00") {
			t.Errorf("the second was refused with %+v", poor)
		}
		var canceled *txn.CanceledError
		if !errors.As(results[1].err, &canceled) || len(canceled.Reasons) != 1 || canceled.Reasons[0].Part != "AP12.balance" {
			t.Errorf("the second was refused with %+v", canceled)
		}
	})
}

// What a caller brings along is committed with its transaction and with no other's.
func TestEachSubmissionCommitsItsOwnParts(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		c.open(t, "bank", "ann-")
		note := func(name string) txn.Part {
			return txn.Put(c.table, c.table.Key(name, "NOTE"), txn.IfAbsent(), txn.Label("note "+name))
		}
		c.commit(t, note("taken"))
		submission := func(id string, parts ...txn.Part) ledger.Submission {
			return ledger.Submission{Transaction: transfer(id, "bank", "ann-", "1.00"), Parts: parts}
		}
		bad := txn.Update(c.table, c.table.Key("x", "NOTE"), expressionThatFails(), txn.Label("bad"))
		results := c.submit(submission("a", note("one")), submission("b", note("taken")), submission("c", note("two"), note("three")),
			submission("d", note("two")), submission("e", bad), submission("f"))
		c.expect(results, "2, canceled, 2, canceled, refused by DynamoDB, 1")
		if results[1].err == nil || !strings.Contains(results[1].err.Error(), "note taken") || strings.Contains(results[1].err.Error(), "note one") {
			t.Errorf("the refusal of b names %v", results[1].err)
		}
		c.has(t, "ann-", "3.00", "0.00", "3.00")
		for name, there := range map[string]bool{"one": true, "two": true, "three": true, "x": false} {
			out, err := c.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(c.table.Name), Key: c.table.Key(name, "NOTE")})
			if err != nil || (len(out.Item) > 0) != there {
				t.Errorf("note %s: %v, %v", name, out.Item, err)
			}
		}
	})
}

func TestWhatNeedsNoRecordIsRefusedAtOnce(t *testing.T) {
	inCrowd(t, ledger.BatchConfig{}, nil, func(t *testing.T, c *crowd) {
		unbalanced := transfer("a", "bank", "ann-", "1.00")
		unbalanced.Postings[0].Amount = dollars("2.00")
		var parts []txn.Part
		for i := range 96 {
			parts = append(parts, txn.Put(c.table, c.table.Key(fmt.Sprint(i), "NOTE")))
		}
		results := c.submit(
			ledger.Submission{Transaction: unbalanced},
			ledger.Submission{Transaction: transfer("b", "bank", "ann-", "1.00"), Parts: parts},
			ledger.Submission{Transaction: transfer("c", "bank", "ann-", "1.00"), Parts: []txn.Part{txn.BadPart("bad", ledger.ErrScale)}},
		)
		c.expect(results, "unbalanced, limit, scale")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.batcher.Post(ctx, ledger.Submission{Transaction: transfer("d", "bank", "ann-", "1.00")})
		var abandoned *ledger.AbandonedError
		if !errors.As(err, &abandoned) || abandoned.Sent || !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who had left before gets %v", err)
		}
	})
}

// expressionThatFails is an update that DynamoDB refuses when it meets the item: it adds to what is not there.
func expressionThatFails() expression.UpdateBuilder {
	return expression.Set(expression.Name("n"), expression.Name("n").Plus(expression.Value(1)))
}
