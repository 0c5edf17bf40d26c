package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// A bank: the house, two customers, and a till with cash. Everybody's clocks are off, months are closed, accounts are
// frozen, and the buckets are so small that postings move on to the next one all the time.

const bank = "bank"

var (
	dollar, _ = money.ISO("USD")
	books     = txn.Table{Name: ledger.DefaultTable}
)

// kept says what is known of each account: its side, its minimum, and what it has when the history begins, in cents.
var kept = map[string]struct {
	side     ledger.Side
	minimum  int64
	anything bool // no minimum
	opening  int64
}{
	"house": {side: ledger.DebitSide, anything: true, opening: 2500},
	"ann":   {side: ledger.CreditSide, opening: 1000},
	"bob":   {side: ledger.CreditSide, minimum: -500, opening: 500},
	"till":  {side: ledger.DebitSide, minimum: 200, opening: 800},
	"fees":  {side: ledger.CreditSide, anything: true, opening: 1800},
}

func newBook(now func() time.Time) *ledger.Ledger {
	return ledger.New(ledger.Config{Table: books, BucketPostings: 4, BucketKiB: 1 << 20, MonthlyCap: 400, DueMap: shardmap.Fixed(2), Now: now})
}

func cents(n int64) money.Amount {
	a, err := money.FromMinor(n, dollar)
	if err != nil {
		panic(err)
	}
	return a
}

// entry is one line of a transaction: cents to the debit of an account, or to its credit if below zero.
type entry struct {
	account string
	cents   int64
}

// pays debits one account and credits another.
func pays(debit, credit string, n int64) []entry { return []entry{{debit, n}, {credit, -n}} }

func transaction(id string, at time.Time, lines []entry) ledger.Transaction {
	tx := ledger.Transaction{Tenant: bank, ID: id, EffectiveAt: at}
	for _, line := range lines {
		tx.Postings = append(tx.Postings, ledger.Posting{Account: line.account, Amount: cents(line.cents)})
	}
	return tx
}

// about is an operation on an account, with what the model must know of it.
func about(account string, do invariant.AuthorityVerb) invariant.AuthorityOp {
	k := kept[account]
	return invariant.AuthorityOp{Account: account, Do: do, Opening: k.opening, Floor: k.minimum, NoFloor: k.anything}
}

// posted are the operations that a transaction is on the accounts that it touches.
func posted(tx ledger.Transaction) (ops []invariant.AuthorityOp) {
	for _, p := range tx.Postings {
		n, err := p.Amount.MinorInt64()
		if err != nil {
			panic(err)
		}
		if kept[p.Account].side == ledger.CreditSide {
			n = -n
		}
		at := slices.IndexFunc(ops, func(op invariant.AuthorityOp) bool { return op.Account == p.Account })
		if at >= 0 {
			ops[at].By += n
			continue
		}
		op := about(p.Account, invariant.AuthorityPost)
		op.ID, op.By, op.Month = tx.ID, n, string(ledger.MonthOf(tx.EffectiveAt))
		ops = append(ops, op)
	}
	return ops
}

// clerk is what one process of the bank has, for as long as it lives.
type clerk struct {
	p       *invariant.Process
	book    *ledger.Ledger
	commits *txn.Committer
	open    map[string]*asked // what it was asked for and does not know the outcome of
	shared  func()            // called for every transaction that was committed with another one
}

// staff are the clerks of all processes.
type staff struct {
	mu     sync.Mutex
	clerks map[*invariant.Process]*clerk
	shared func()
}

func newStaff() *staff { return &staff{clerks: map[*invariant.Process]*clerk{}} }

func (s *staff) clerk(p *invariant.Process) *clerk {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clerks[p] == nil {
		s.clerks[p] = &clerk{p: p, book: newBook(p.Now), commits: txn.New(p.Client(), p.Txn()), open: map[string]*asked{}, shared: s.shared}
	}
	return s.clerks[p]
}

// until attempts something until its outcome is known. It gives up with the context, or with the life of the process.
func (c *clerk) until(ctx context.Context, a *asked, attempt func() error) (string, error) {
	for {
		word, err := a.ended(attempt())
		if err == nil {
			if !a.doubt {
				delete(c.open, fmt.Sprint(a.ops))
			}
			return word, nil
		}
		if c.p.Sleep(ctx, c.p.Jitter(10*time.Second)) != nil {
			return "", err
		}
	}
}

// commit commits the part that make makes, follows the buckets, and notes what came of it.
func (c *clerk) commit(ctx context.Context, make func() txn.Part, ops ...invariant.AuthorityOp) (string, error) {
	return c.until(ctx, c.begin(ops...), func() error { return c.try(ctx, make) })
}

func (c *clerk) try(ctx context.Context, make func() txn.Part) error {
	_, err := c.book.Commit(ctx, c.commits, func() []txn.Part { return []txn.Part{make()} })
	return err
}

// post posts a transaction.
func (c *clerk) post(ctx context.Context, tx ledger.Transaction, forGood bool) (string, error) {
	refuse := func(reason string) txn.Part { return c.book.Refuse(tx, reason) }
	return c.settle(ctx, func() txn.Part { return c.book.Post(tx) }, refuse, forGood, posted(tx)...)
}

// reserve holds cents of an account.
func (c *clerk) reserve(ctx context.Context, id, account string, n int64, expires time.Time, forGood bool) (string, error) {
	op := about(account, invariant.AuthorityHold)
	op.Hold, op.By = id, n
	if kept[account].side == ledger.DebitSide {
		n = -n
	}
	r := ledger.Reservation{Tenant: bank, ID: id, Account: account, Amount: cents(n), ExpiresAt: expires}
	refuse := func(reason string) txn.Part { return c.book.RefuseReservation(r, reason) }
	switch late := !expires.After(c.p.Now()); {
	case late && forGood: // whoever asked before may have been told something else
		a := c.begin(op)
		a.doubt = true
		return c.refuse(ctx, a, refuse, "its time has come")
	case late:
		return "its time has come", nil
	}
	return c.settle(ctx, func() txn.Part { return c.book.Reserve(r) }, refuse, forGood, op)
}

// settle commits a part. If a refusal is to be final it is stored, and whoever comes later is told the same.
func (c *clerk) settle(ctx context.Context, make func() txn.Part, refuse func(reason string) txn.Part, forGood bool, ops ...invariant.AuthorityOp) (string, error) {
	a := c.begin(ops...)
	word, err := c.until(ctx, a, func() error { return c.try(ctx, make) })
	if err != nil || !forGood || word == invariant.AuthorityDone || strings.HasPrefix(word, "refused: ") {
		return word, err
	}
	return c.refuse(ctx, a, refuse, word)
}

// refuse stores a refusal, and says what is stored.
func (c *clerk) refuse(ctx context.Context, a *asked, refuse func(reason string) txn.Part, word string) (string, error) {
	for {
		_, err := c.commits.Commit(ctx, refuse(word)) // which also stops a copy that is on its way
		var refused *ledger.RefusedError
		switch {
		case err == nil, errors.As(err, &refused):
			if err != nil {
				word = refused.Reason
			}
			if a.doubt {
				a.doubt = false
				a.refused(nothing)
			}
			return "refused: " + word, nil
		case ledger.Repeated(err):
			a.doubt = false
			return a.done(), nil
		case c.p.Sleep(ctx, c.p.Jitter(10*time.Second)) != nil:
			return "", err
		}
	}
}

// held reads a reservation, and makes a part of it.
func (c *clerk) held(ctx context.Context, id string, make func(ledger.Reservation) txn.Part) func() txn.Part {
	return func() txn.Part {
		r, err := c.book.Reservation(ctx, c.p.Client(), bank, id)
		if err != nil {
			return txn.BadPart("read", err)
		}
		return make(r)
	}
}

// capture posts a transaction out of a hold.
func (c *clerk) capture(ctx context.Context, hold, account string, tx ledger.Transaction, final bool) (string, error) {
	ops := posted(tx)
	for i := range ops {
		if ops[i].Account == account {
			ops[i].Do, ops[i].Hold, ops[i].By, ops[i].Final = invariant.AuthorityCapture, hold, -ops[i].By, final
		}
	}
	return c.commit(ctx, c.held(ctx, hold, func(r ledger.Reservation) txn.Part {
		return c.book.Capture(r, ledger.Capture{Transaction: tx, Final: final})
	}), ops...)
}

func (c *clerk) release(ctx context.Context, hold, account string) (string, error) {
	op := about(account, invariant.AuthorityRelease)
	op.Hold = hold
	return c.commit(ctx, c.held(ctx, hold, c.book.Release), op)
}

// sweep expires what is due.
func (c *clerk) sweep(ctx context.Context) error {
	for shard := range c.book.Shards() {
		for r, err := range c.book.Due(ctx, c.p.Client(), bank, shard, c.p.Now()) {
			if err != nil {
				return err
			}
			op := about(r.Account, invariant.AuthorityRelease)
			op.Hold = r.ID
			if _, err := c.commit(ctx, func() txn.Part { return c.book.Expire(r) }, op); err != nil {
				return err
			}
		}
	}
	return nil
}

// reverse takes back cents of both lines of a transaction of two.
func (c *clerk) reverse(ctx context.Context, original, id string, n int64, at time.Time) (string, error) {
	e, err := c.book.Transaction(ctx, c.p.Client(), bank, original)
	if err != nil {
		return "", err
	}
	tx := transaction(id, at, []entry{{e.Postings[0].Account, -n}, {e.Postings[1].Account, n}})
	return c.commit(ctx, func() txn.Part {
		return c.book.Reverse(e, ledger.Reversal{ID: id, EffectiveAt: at,
			Parts: []ledger.ReversedPart{{Line: 0, Amount: cents(n)}, {Line: 1, Amount: cents(-n)}}})
	}, posted(tx)...)
}

func (c *clerk) balance(ctx context.Context, account string) (ledger.Balance, error) {
	return c.book.Balance(ctx, c.p.Client(), bank, account, dollar)
}

func (c *clerk) closePeriod(ctx context.Context, account string, month ledger.Month) (string, error) {
	op := about(account, invariant.AuthorityClose)
	op.Month = string(month)
	return c.commit(ctx, func() txn.Part {
		b, err := c.balance(ctx, account)
		if err != nil {
			return txn.BadPart("read", err)
		}
		return c.book.ClosePeriod(b, month)
	}, op)
}

func (c *clerk) setStatus(ctx context.Context, account string, to ledger.Status) (string, error) {
	do := invariant.AuthorityFreeze
	if to == ledger.StatusOpen {
		do = invariant.AuthorityThaw
	}
	return c.commit(ctx, func() txn.Part {
		stored, err := c.book.Account(ctx, c.p.Client(), bank, account)
		if err != nil {
			return txn.BadPart("read", err)
		}
		b, err := c.balance(ctx, account)
		if err != nil {
			return txn.BadPart("read", err)
		}
		return c.book.SetStatus(stored, to, b)
	}, about(account, do))
}

func (c *clerk) look(ctx context.Context, account string) (string, error) {
	answered := c.p.Begin(about(account, invariant.AuthorityLook))
	b, err := c.balance(ctx, account)
	if err != nil {
		answered(invariant.NoEffect)
		return "", err
	}
	has, err := b.Posted.MinorInt64()
	reserved, err2 := b.Reserved.MinorInt64()
	answered(invariant.Standing(has, reserved))
	return "looked", errors.Join(err, err2)
}
