package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// payments pays customers out. What pays is a bank, outside of any transaction, so a process that dies leaves a request of which
// nobody knows whether it had its effect. Nobody tries it again then: it is in the repair queue (AP18), and a worker asks the bank.
type payments struct {
	client    *dynamodb.Client
	committer *txn.Committer
	requests  *idempotency.Requests
	books     *books
	bank      *bank
	clock     *clock
	count     paid
}

// paid is what became of the payments.
type paid struct {
	Asked     int `json:"asked"`
	Paid      int `json:"paid"`      // without trouble, now or when it was asked for again
	Crashed   int `json:"crashed"`   // the process died before or after the bank was called
	Completed int `json:"completed"` // by the repair worker: the bank had paid
	Released  int `json:"released"`  // by the repair worker: the bank can no longer pay; the customer's repeat did it
	Escalated int `json:"escalated"` // even the bank did not know; an operator decided, with its letter
	Unsettled int `json:"unsettled"` // in the repair queue still
}

func newPayments(s *service, pace txn.Config) *payments {
	c := s.books.clock
	return &payments{
		client: s.client, committer: txn.New(s.client, pace), requests: paymentRequests(pace, c.now), books: s.books, bank: newBank(), clock: c,
	}
}

// paymentRequests are in the table of the results of the orders' API.
func paymentRequests(pace txn.Config, now func() time.Time) *idempotency.Requests {
	return idempotency.New(idempotency.Config{Table: idempotencyTable, Txn: pace, Now: now, Owner: "payments"})
}

// payment is what a customer asks for.
type payment struct {
	of     account
	amount money.Amount
}

func (p payment) key() string { return "pay-out-" + p.of.id }

// reservation holds the money from before the bank is called until it is known what became of the call.
func (p payment) reservation() ledger.Reservation {
	return ledger.Reservation{Tenant: p.of.tenant, ID: p.key(), Account: p.of.id, Amount: p.amount}
}

func (p payment) request() idempotency.Request {
	return idempotency.Request{
		Tenant: p.of.tenant, Key: p.key(), Operation: "payment.out", SchemaVersion: 1,
		Command: idempotency.NewFields().String("account", p.of.id).Amount("amount", p.amount.Text(), p.amount.Currency().Code()),
	}
}

func (p payment) result() idempotency.Result {
	return idempotency.Result{Kind: idempotency.Accepted, Code: "PAID", Body: fmt.Appendf(nil, `{"paid":%q}`, p.amount), Effect: map[string]string{"reference": p.key()}}
}

// trouble is what goes wrong with a payment, on purpose. It follows from the account alone.
type trouble int

const (
	none trouble = iota
	diesBeforeTheCall
	diesAfterTheCall
	bankForgets // whether it paid
)

func (p payment) trouble() trouble {
	sum := fnv.New32a()
	fmt.Fprint(sum, p.of.tenant, p.of.id)
	return [...]trouble{none, diesAfterTheCall, none, diesBeforeTheCall, none, none, bankForgets, diesAfterTheCall}[sum.Sum32()%8]
}

// paymentsOf are what customers want to be paid out at the end of the day: every other account, in US dollars.
func paymentsOf(accounts []account, m market) (list []payment, err error) {
	usd, err := money.ISO("USD")
	for i, of := range accounts {
		if i%2 == 0 {
			var amount money.Amount
			amount, err = money.FromMinor(int64(100_000+137*i), usd)
			list = append(list, payment{of, amount})
		}
	}
	return list, err
}

var errDied = errors.New("the process died")

// run takes payments, some of which crash, repairs them, lets the customers ask again, and lets operators decide what is left.
func (p *payments) run(ctx context.Context, list []payment) error {
	p.count.Asked = len(list)
	for _, one := range list {
		err := p.pay(ctx, one, one.trouble())
		switch {
		case errors.Is(err, errDied):
			p.count.Crashed++
		case err != nil:
			return fmt.Errorf("%s of %s: %w", one.key(), one.of.tenant, err)
		}
	}
	byKey := map[string]payment{}
	for _, one := range list {
		byKey[txn.JoinKey(one.of.tenant, one.key())] = one
	}
	var tenants []string
	for _, one := range list {
		tenants = append(tenants, one.of.tenant)
	}
	slices.Sort(tenants)
	tenants = slices.Compact(tenants)
	if err := p.repair(ctx, tenants, byKey); err != nil {
		return err
	}
	for _, one := range list { // the customers whose payment came to nothing ask again
		if err := p.pay(ctx, one, none); err != nil && !errors.Is(err, idempotency.ErrRepairRequired) {
			return fmt.Errorf("%s of %s again: %w", one.key(), one.of.tenant, err)
		}
	}
	return p.decide(ctx, tenants, byKey)
}

// pay is the handler of the request: claim, hold the money, call the bank, and then complete request and books in one transaction.
func (p *payments) pay(ctx context.Context, one payment, trouble trouble) error {
	claim, err := p.requests.Begin(ctx, p.client, one.request(), idempotency.External)
	if _, done := idempotency.Replayed(err); done {
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.books.once(ctx, p.books.ledger.Reserve(one.reservation())); err != nil {
		return err
	}
	if trouble == diesBeforeTheCall {
		return errDied
	}
	p.bank.pay(one.reference(claim.Attempt()), one.amount, trouble)
	if trouble != none {
		return errDied
	}
	captured, err := p.captured(ctx, one)
	if err != nil {
		return err
	}
	_, err = insist(ctx, p.committer, claim.Complete(one.result()), captured)
	if _, done := idempotency.Replayed(err); err != nil && !done { // done, by an attempt of this commit that had no answer
		return err
	}
	p.count.Paid++
	return nil
}

// captured is the part that posts a payment.
func (p *payments) captured(ctx context.Context, one payment) (txn.Part, error) {
	held, err := p.books.ledger.Reservation(ctx, p.client, one.of.tenant, one.key())
	if err != nil {
		return txn.Part{}, err
	}
	tx := houseAccount(one.of.tenant, street).Spread(ledger.Transaction{
		Tenant: one.of.tenant, ID: one.key(), EffectiveAt: marketCloses, Source: one.key(),
		Postings: []ledger.Posting{ledger.Debit(one.of.id, one.amount), ledger.Credit(street, one.amount)},
	})
	return p.books.ledger.Capture(held, ledger.Capture{Transaction: tx, Final: true}), nil
}

// repair runs the repair worker, hour after hour, until it has found out what it can.
func (p *payments) repair(ctx context.Context, tenants []string, byKey map[string]payment) error {
	probe := func(ctx context.Context, r idempotency.Record) (idempotency.Finding, error) {
		one := byKey[txn.JoinKey(r.Tenant, r.Key)]
		switch p.bank.find(one.reference(r.Attempt)) {
		case bankPaid:
			captured, err := p.captured(ctx, one)
			return idempotency.Found(one.result(), captured), err
		case bankNever: // and from now on it never will: the reference is blocked
			return idempotency.AbsentForGood(), nil
		default:
			return idempotency.Ambiguous("the bank does not know"), nil
		}
	}
	worker := idempotency.NewRepairWorker(p.requests, p.client, idempotency.ProberFunc(probe), idempotency.RepairConfig{
		Tenants: idempotency.Tenants(tenants...), ProbesMax: 3,
	})
	for quiet := 0; quiet < 3; {
		p.clock.pass(10 * time.Minute)
		round, err := worker.Once(ctx)
		if err != nil {
			return err
		}
		p.count.Completed += round.Completed
		p.count.Released += round.Released
		p.count.Escalated += round.Escalated
		if quiet++; round.Listed > 0 {
			quiet = 0
		}
	}
	return nil
}

// decide settles what was escalated, by the bank's letter.
func (p *payments) decide(ctx context.Context, tenants []string, byKey map[string]payment) error {
	for _, tenant := range tenants {
		for r, err := range p.requests.Escalated(ctx, p.client, tenant) {
			if err != nil {
				return err
			}
			one := byKey[txn.JoinKey(r.Tenant, r.Key)]
			captured, err := p.captured(ctx, one)
			if err != nil {
				return err
			}
			note := idempotency.Audit{By: "ann", Reason: "the bank confirms the payment by letter", At: p.clock.now()}
			_, err = insist(ctx, p.committer, p.requests.Settle(r, one.result(), note), captured)
			if _, done := idempotency.Replayed(err); err != nil && !done {
				return err
			}
		}
		for _, err := range p.requests.Due(ctx, p.client, tenant, p.clock.now()) {
			if err != nil {
				return err
			}
			p.count.Unsettled++
		}
	}
	return nil
}

// bank is the other side. It pays a reference once, and remembers, mostly.
type bank struct {
	mu        sync.Mutex
	paid      map[string]money.Amount
	blocked   map[string]bool
	forgotten map[string]bool
}

type bankAnswer int

const (
	bankNever bankAnswer = iota
	bankPaid
	bankUnsure
)

func newBank() *bank {
	return &bank{paid: map[string]money.Amount{}, blocked: map[string]bool{}, forgotten: map[string]bool{}}
}

// reference is what the bank knows a call by. It follows from the request and the number of the attempt, so that whoever looks for
// the call of a process that died knows it too.
func (p payment) reference(attempt int) string {
	return txn.JoinKey(p.of.tenant, p.key(), fmt.Sprint(attempt))
}

func (b *bank) pay(reference string, amount money.Amount, t trouble) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.blocked[reference] {
		b.paid[reference] = amount
		b.forgotten[reference] = t == bankForgets
	}
}

// find says whether a reference was paid. If it was not, it is blocked, so that a call that is still on its way comes to nothing.
func (b *bank) find(reference string) bankAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, paid := b.paid[reference]
	switch {
	case b.forgotten[reference]:
		return bankUnsure
	case paid:
		return bankPaid
	default:
		b.blocked[reference] = true
		return bankNever
	}
}
