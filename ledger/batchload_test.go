package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// load is what many callers post to one house account, each from an account of a customer. It runs in virtual time, on
// a database with heat and no burst, where a transaction takes 5 ms and conflicts with every other one on its items.
type load struct {
	stripes, lanes int
	seconds        int
	// Either rate transactions a second are offered at even intervals, whether or not those before are answered, or each of
	// workers posts one after the other.
	rate, workers int
	// naive commits every transaction by itself.
	naive bool
	batch ledger.BatchConfig
}

// measured is what came of a load.
type measured struct {
	posted   int           // transactions a second, within the time of the load
	p50, p99 time.Duration // from Post to its answer
	shared   int           // a hundredth of a transaction in a DynamoDB transaction, on average
	failed   int
	throttle int // requests or members that a partition key could not take
}

// loadCustomers is how many customers an offered load comes from. One that posts often is busy at times.
const loadCustomers = 2_000

// answer is what one caller measured.
type answer struct {
	at, took time.Duration
	amount   int64
	shared   int
	err      error
}

func (l load) run(t *testing.T) (m measured) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db := dynamosim.Open(dynamosim.Options{Heat: &dynamosim.Heat{}, ServiceTime: dynamosim.ServiceTime{Transaction: loadService}})
		r := &runningLoad{load: l, t: t, book: ledger.New(ledger.Config{}), client: db.Client()}
		r.committer = txn.New(r.client, txn.Config{Jitter: seededWaits()})
		r.open()
		r.batcher = r.book.Batcher(t.Context(), r.committer, l.batch)
		answers := r.drive()
		if err := r.batcher.Close(t.Context()); err != nil {
			t.Error(err)
		}
		m = l.measure(answers)
		for _, key := range db.Hottest(-1) {
			m.throttle += key.Write.Throttled
		}
		r.prove(answers)
	})
	return m
}

// seededWaits draws waits, the same in every run as long as they are asked for in one order.
func seededWaits() func(limit time.Duration) time.Duration {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(4, 2))
	return func(limit time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(source.Int64N(int64(limit) + 1))
	}
}

type runningLoad struct {
	load
	t         *testing.T
	book      *ledger.Ledger
	client    *dynamodb.Client
	committer *txn.Committer
	batcher   *ledger.Batcher
	house     ledger.Account
}

func (r *runningLoad) customers() int { return max(r.workers, min(loadCustomers, r.rate*r.seconds)) }

// open creates the table and the accounts. It takes virtual time, which nobody measures.
func (r *runningLoad) open() {
	createTable(r.client, r.book)
	r.house = ledger.Account{Tenant: tenant, ID: "house", Side: ledger.DebitSide, Stripes: r.stripes, Lanes: r.lanes}
	parts := []txn.Part{r.book.OpenAccount(r.house, ledger.Asset{Currency: usd, NoMinimum: true})}
	for i := range r.customers() {
		customer := ledger.Account{Tenant: tenant, ID: fmt.Sprintf("customer-%d", i), Side: ledger.CreditSide}
		if parts = append(parts, r.book.OpenAccount(customer, ledger.Asset{Currency: usd})); len(parts) < 50-r.stripes/2 && i+1 < r.customers() {
			continue
		}
		if _, err := r.committer.Commit(r.t.Context(), parts...); err != nil {
			r.t.Fatal(err)
		}
		parts = parts[:0]
	}
}

func (r *runningLoad) drive() (answers []answer) {
	begin := time.Now()
	over := time.Duration(r.seconds) * time.Second
	out := make(chan answer, 1024)
	callers := r.workers
	if callers > 0 {
		for w := range r.workers {
			go func() {
				for i := 0; time.Since(begin) < over; i++ {
					out <- r.post(begin, fmt.Sprintf("pay-%d-%d", w, i), w, i)
				}
				out <- answer{at: -1}
			}()
		}
	} else {
		callers = r.rate * r.seconds
		go func() {
			for i := range callers { // no two come at one moment
				time.Sleep(time.Duration(i)*time.Second/time.Duration(r.rate) + time.Duration(i*7919%1000) - time.Since(begin))
				go func() {
					out <- r.post(begin, fmt.Sprintf("pay-%d", i), i%r.customers(), -1)
					out <- answer{at: -1}
				}()
			}
		}()
	}
	for callers > 0 {
		if a := <-out; a.at < 0 {
			callers--
		} else {
			answers = append(answers, a)
		}
	}
	return answers
}

// post posts one transaction and measures it. The workers keep to stripes of their own, so that every stripe is as busy as
// every other; what is offered goes where its identifier says.
func (r *runningLoad) post(begin time.Time, id string, customer, turn int) answer {
	start := time.Now()
	a := answer{amount: int64(1 + customer%97), shared: 1}
	amount, err := money.FromMinor(a.amount, usd)
	if err != nil {
		r.t.Error(err)
	}
	tx := ledger.Transaction{
		Tenant: tenant, ID: id, EffectiveAt: day,
		Postings: []ledger.Posting{ledger.Debit("house", amount), ledger.Credit(fmt.Sprintf("customer-%d", customer), amount)},
	}
	if turn < 0 {
		tx = r.house.Spread(tx)
	} else {
		tx.Postings[0].Stripe, tx.Postings[0].Lane = customer%r.stripes, (customer/r.stripes+turn)%r.lanes
	}
	if r.naive {
		_, a.err = r.committer.Commit(r.t.Context(), r.book.Post(tx))
	} else {
		var posted ledger.Posted
		posted, a.err = r.batcher.Post(r.t.Context(), ledger.Submission{Transaction: tx})
		a.shared = posted.Shared
	}
	a.at, a.took = time.Since(begin), time.Since(start)
	return a
}

func (l load) measure(answers []answer) (m measured) {
	var took []time.Duration
	const whole = 1_000_000_000
	batches := 0 // each caller's share of its batch, added up
	for _, a := range answers {
		if a.err != nil {
			m.failed++
			continue
		}
		took = append(took, a.took)
		batches += whole / a.shared
		if a.at <= time.Duration(l.seconds)*time.Second {
			m.posted++
		}
	}
	m.posted /= l.seconds
	slices.Sort(took)
	m.p50, m.p99, m.shared = took[len(took)/2], took[len(took)*99/100], len(took)*100*(whole/1000)/(batches/1000)
	return m
}

// prove holds the balances against what the callers were told, and every stripe against its postings.
func (r *runningLoad) prove(answers []answer) {
	r.t.Helper()
	ctx := context.Background()
	sum, count := int64(0), int64(0)
	for _, a := range answers {
		if a.err == nil {
			sum, count = sum+a.amount, count+1
		} else if !errors.Is(a.err, txn.ErrContention) {
			r.t.Errorf("a caller was told %v", a.err)
		}
	}
	total, err := r.book.Total(ctx, r.client, tenant, "house", usd)
	if err != nil || cents(total.Signed) != sum || total.Postings != count {
		r.t.Errorf("the house has %v in %d postings, want %d cents in %d: %v", total.Signed, total.Postings, sum, count, err)
	}
	for stripe := range r.stripes {
		report, err := r.book.Verify(ctx, r.client, ledger.Verification{Tenant: tenant, Account: "house", Asset: usd, Stripe: stripe})
		if err := errors.Join(err, report.Err()); err != nil {
			r.t.Error(err)
		}
	}
	var names []string
	for i := range r.customers() {
		names = append(names, fmt.Sprintf("customer-%d", i))
	}
	trial, err := r.book.TrialBalance(ctx, r.client, tenant, append(names, "house")...)
	if err != nil || !trial.Balanced() {
		r.t.Errorf("all accounts together have %v: %v", trial.Sums, err)
	}
}

// One house account, first as everybody would post to it, then spread over stripes and posted to in company.
func TestAHotAccountTakesTenThousandTransactionsASecond(t *testing.T) {
	naive := load{stripes: 1, lanes: 1, seconds: 1, workers: 8, naive: true}.run(t)
	t.Logf("one by one: %+v", naive)
	if naive.posted >= 500 {
		t.Errorf("%d single posts a second: what is the batcher for?", naive.posted)
	}
	together := load{stripes: 32, lanes: 1, seconds: 1, rate: 11_000, batch: ledger.BatchConfig{Linger: 20 * time.Millisecond}}.run(t)
	t.Logf("together: %+v", together)
	if together.posted < 10_000 || together.p99 >= 250*time.Millisecond || together.failed > 0 {
		t.Errorf("the batcher posted %d a second, p99 %v, %d failed; want 10000, 250 ms, none", together.posted, together.p99, together.failed)
	}
}
