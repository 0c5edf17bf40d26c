package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// Whatever is submitted together, and whatever becomes of requests and answers: the books are what some order of the
// transactions gives, one by one, and every caller hears what this order says (L3, L8, E1, E2, E7).
func TestABatchIsSomeSerialOrder(t *testing.T) {
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		var draw crowdHistory
		draw.from(rt)
		fault := ""
		synctest.Test(t, func(t *testing.T) { fault = draw.run(t, seen) })
		if fault != "" {
			rt.Fatal(fault)
		}
	}, "posted", "repeated", "duplicate", "insufficient", "frozen", "not found", "unbalanced", "canceled", "ambiguous", "shared")
}

// crowdHistory is what happens, drawn before it begins.
type crowdHistory struct {
	options dynamosim.Options
	config  ledger.BatchConfig
	fates   []dynamosim.Fate
	waves   [][]ledger.Submission
}

func (h *crowdHistory) from(rt *rapid.T) {
	h.options = dynamosim.Options{
		TokenPolicy:        rapid.SampledFrom(anyTokenPolicy).Draw(rt, "tokens"),
		CanceledKeepsToken: rapid.Bool().Draw(rt, "canceled keeps token"),
		ServiceTime:        dynamosim.ServiceTime{Transaction: rapid.SampledFrom([]time.Duration{0, loadService}).Draw(rt, "service time")},
	}
	h.config = ledger.BatchConfig{
		Linger:          rapid.SampledFrom([]time.Duration{0, 0, 0, -1}).Draw(rt, "linger"),
		MaxTransactions: rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(rt, "max"),
		Concurrency:     rapid.IntRange(1, 4).Draw(rt, "concurrency"),
		MaxRounds:       rapid.IntRange(1, 8).Draw(rt, "rounds"),
	}
	fates := []dynamosim.Fate{
		dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.LateCommit, dynamosim.Throttle, dynamosim.Conflict, dynamosim.InProgress,
		dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter,
	}
	for range rapid.IntRange(0, 6).Draw(rt, "troubles") {
		fate := rapid.SampledFrom(fates).Draw(rt, "fate")
		h.fates = append(h.fates, slices.Repeat([]dynamosim.Fate{fate}, rapid.SampledFrom([]int{1, 1, 2, 3, 8, 8}).Draw(rt, "times"))...)
		h.fates = append(h.fates, slices.Repeat([]dynamosim.Fate{dynamosim.Deliver}, rapid.IntRange(0, 3).Draw(rt, "pause"))...)
	}
	pool := make([]ledger.Submission, rapid.IntRange(3, 7).Draw(rt, "transactions"))
	for i := range pool {
		pool[i] = drawSubmission(rt, fmt.Sprint("t", i))
	}
	indexes := make([]int, len(pool))
	for i := range indexes {
		indexes[i] = i
	}
	for range rapid.IntRange(1, 3).Draw(rt, "waves") {
		var wave []ledger.Submission
		for _, i := range rapid.Permutation(indexes).Draw(rt, "order")[:rapid.IntRange(2, len(pool)).Draw(rt, "of them")] {
			wave = append(wave, pool[i])
		}
		if rapid.IntRange(0, 2).Draw(rt, "twice") == 0 { // two requests for one thing
			wave = append(wave, wave[0])
		}
		if rapid.IntRange(0, 3).Draw(rt, "mix up") == 0 { // another transaction under an identifier in use
			wave[len(wave)-1] = drawSubmission(rt, wave[0].Transaction.ID)
		}
		h.waves = append(h.waves, wave)
	}
}

// own is the table of the submissions' own records.
var own = txn.Table{Name: "LedgerOwn", PK: "PK", SK: "SK"}

func drawSubmission(rt *rapid.T, id string) ledger.Submission {
	name := rapid.Custom(func(rt *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(rt, "odd") == 0 {
			return rapid.SampledFrom(modelNames[4:]).Draw(rt, "account")
		}
		return rapid.SampledFrom(modelNames[:4]).Draw(rt, "account")
	})
	tx := ledger.Transaction{Tenant: tenant, ID: id, EffectiveAt: day}
	amount := func() string { return rapid.SampledFrom([]string{"1.00", "2.00", "3.00", "5.00"}).Draw(rt, "amount") }
	for range rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(rt, "pairs") {
		a := amount()
		tx.Postings = append(tx.Postings, ledger.Debit(name.Draw(rt, "debit"), dollars(a)), ledger.Credit(name.Draw(rt, "credit"), dollars(a)))
	}
	if rapid.IntRange(0, 19).Draw(rt, "unbalanced") == 19 {
		tx.Postings[0].Amount = dollars("7.77")
	}
	s := ledger.Submission{Transaction: tx}
	if n := rapid.SampledFrom([]int{9, 9, 9, 9, 0, 1}).Draw(rt, "note"); n < 2 {
		note := fmt.Sprint("note-", n)
		s.Parts = []txn.Part{txn.Put(own, own.Key(note, "NOTE"), txn.IfAbsent(), txn.Label(note))}
	}
	return s
}

func noteOf(s ledger.Submission) string {
	if len(s.Parts) == 0 {
		return ""
	}
	return s.Parts[0].Label()
}

// run lets the history happen and returns what cannot be explained.
func (h *crowdHistory) run(t *testing.T, seen map[string]int) string {
	var requests atomic.Int64
	c := newCrowd(t, h.options, ledger.Config{BucketPostings: 8, MonthlyCap: 800}, h.config, func(dynamosim.Call) dynamosim.Fate {
		if n := int(requests.Add(1)) - 1; n < len(h.fates) {
			return h.fates[n]
		}
		return dynamosim.Deliver
	})
	house := ledger.Account{Tenant: tenant, ID: "house", Side: ledger.DebitSide, Stripes: 2, Lanes: 2}
	c.commit(t, c.book.OpenAccount(house, ledger.Asset{Currency: usd, NoMinimum: true}))
	c.open(t, "ann-", "bob-", "cash+", "ice-")
	c.commit(t, c.book.SetBalanceStatus(c.balance(t, "ice-"), ledger.StatusFrozen))
	c.commit(t, c.book.Post(transfer("start", "house", "ann-", "6.00")), txn.Put(own, own.Key("x", "NOTE")))
	c.commit(t, c.book.Post(transfer("more", "cash+", "bob-", "4.00")))
	now, fault := c.readBooks()
	if fault != "" {
		return fault
	}
	for _, wave := range h.waves {
		for i := range wave {
			wave[i].Transaction = house.Spread(wave[i].Transaction)
		}
		var all []told
		for i, r := range c.submit(wave...) {
			all = append(all, told{saying(wave[i].Transaction, noteOf(wave[i])), r})
			seen[all[i].outcome()]++
			if r.Shared > 1 {
				seen["shared"]++
			}
		}
		c.settle()
		end, fault := c.readBooks()
		if fault == "" {
			fault = explains(now, all, end)
		}
		if fault != "" {
			return fault
		}
		now = end
	}
	if err := c.batcher.Close(t.Context()); err != nil {
		return err.Error()
	}
	return c.prove(house)
}

// settle lets requests land whose callers have given up: they come after the next one.
func (c *crowd) settle() {
	in := &dynamodb.GetItemInput{TableName: aws.String(c.table.Name), Key: c.table.Key("x", "NOTE")}
	for range 3 {
		_, _ = c.faulty.GetItem(c.t.Context(), in) // its own fate does not matter
	}
	time.Sleep(time.Minute)
}

// readBooks reads what is stored of a model's transactions.
func (c *crowd) readBooks() (b serialBooks, fault string) {
	b = serialBooks{cents: map[string]int64{}, headers: map[string]string{}, notes: map[string]bool{}}
	for _, name := range modelNames[:5] {
		total, err := c.book.Total(c.t.Context(), c.client, tenant, name, usd)
		if err != nil {
			return b, err.Error()
		}
		b.cents[name] = cents(total.Signed)
	}
	stored := c.dump(c.t)
	for key := range stored {
		id, isHeader := strings.CutSuffix(key, " / HEADER")
		if !isHeader {
			continue
		}
		entry, err := c.book.Transaction(c.t.Context(), c.client, tenant, strings.TrimPrefix(id, "TEN#acme#TXN#"))
		if err != nil {
			return b, err.Error()
		}
		b.headers[entry.ID] = saying(entry.Transaction, "").lines
	}
	for n := range 2 {
		note := fmt.Sprint("note-", n)
		out, err := c.client.GetItem(c.t.Context(), &dynamodb.GetItemInput{TableName: aws.String(own.Name), Key: own.Key(note, "NOTE"), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return b, err.Error()
		}
		if len(out.Item) > 0 {
			b.notes[note] = true
		}
	}
	return b, ""
}

// prove recomputes every balance from its postings, and adds all of them up.
func (c *crowd) prove(house ledger.Account) string {
	var errs []error
	for _, name := range modelNames[:5] {
		for stripe := range map[bool]int{true: house.Stripes, false: 1}[name == house.ID] {
			report, err := c.book.Verify(c.t.Context(), c.client, ledger.Verification{Tenant: tenant, Account: name, Asset: usd, Stripe: stripe})
			errs = append(errs, err, report.Err())
			b, err := c.book.StripeBalance(c.t.Context(), c.client, tenant, name, usd, stripe)
			errs = append(errs, err)
			for _, m := range b.Open {
				if used := int64(m.Bucket+1)*b.Slots - m.Room; m.Room < 0 || used < m.Count {
					errs = append(errs, fmt.Errorf("%s: %d postings in %d slots", name, m.Count, used))
				}
			}
		}
	}
	trial, err := c.book.TrialBalance(c.t.Context(), c.client, tenant, modelNames[:5]...)
	if errs = append(errs, err); err == nil && !trial.Balanced() {
		errs = append(errs, fmt.Errorf("all accounts together have %v", trial.Sums))
	}
	if err := errors.Join(errs...); err != nil {
		return err.Error()
	}
	return ""
}
