package ledger

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// Defaults of a [BatchConfig].
const (
	DefaultLinger      = 5 * time.Millisecond
	DefaultQueue       = 10_000
	DefaultConcurrency = 32
	DefaultMaxRounds   = 8
)

// BatchConfig says how a [Batcher] works. The zero value is ready for production.
type BatchConfig struct {
	// Linger is how long a transaction waits for others at most, unless a batch is full before. Default: 5 ms. Negative: it
	// waits only while one of its balances is being written.
	Linger time.Duration
	// MaxTransactions limits a batch. Default: as many as fit the 100 writes of a DynamoDB transaction.
	MaxTransactions int
	// Queue limits how many transactions wait or are on their way; the next one gets a [QueueFullError].
	// Default: 10,000.
	Queue int
	// Concurrency is how many batches are on their way at once. Default: 32.
	Concurrency int
	// MaxRounds is in how many DynamoDB transactions a posting takes part with others before it is committed alone.
	// Default: 8.
	MaxRounds int
	// AfterFunc calls a function in a goroutine of its own after a while; stop prevents it. Default: time.AfterFunc.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
}

// WithDefaults returns the configuration with its empty fields filled in.
func (c BatchConfig) WithDefaults() BatchConfig {
	fill := func(field *int, otherwise int) {
		if *field <= 0 {
			*field = otherwise
		}
	}
	if c.Linger == 0 {
		c.Linger = DefaultLinger
	}
	fill(&c.MaxTransactions, txn.MaxItems)
	fill(&c.Queue, DefaultQueue)
	fill(&c.Concurrency, DefaultConcurrency)
	fill(&c.MaxRounds, DefaultMaxRounds)
	if c.AfterFunc == nil {
		c.AfterFunc = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	return c
}

// Submission is what one caller wants committed as a whole.
type Submission struct {
	// Transaction is what is posted. For a striped account see [Account.Spread]. One with Expect, or with an amount beyond
	// 64 bits of minor units, is committed alone.
	Transaction Transaction
	// Parts are committed with it, or not at all: an idempotency result, an event, writes of the caller's own. They count
	// among the 100 writes, and come before the posting, so an idempotency part decides first.
	Parts []txn.Part
}

// Posted says how a submission came to be posted.
type Posted struct {
	// Repeated says that this very transaction was posted before, and its Parts with it if they were the same then.
	// Nothing was written now.
	Repeated bool
	// Shared is how many transactions were committed together; 1 for one alone, 0 for a repeated one.
	Shared int
	// Receipt is that of the DynamoDB transaction, for all of them.
	Receipt txn.Receipt
}

// Batcher posts many independent transactions that share accounts with one write of each shared balance. One item
// takes one write at a time, so an account that everybody posts to is otherwise as slow as one transaction after
// another. Each transaction keeps its own identity, outcome and error, and is all or nothing by itself.
//
// # Order
//
// Transactions wait in the order in which Post was called. A batch is the oldest one that is due, and those behind it
// that share its busiest balance. It has one effect: that of its transactions one after the other in that order. What must be
// available is what they need in that order, so money that one brings in the next may spend, and none spends
// what comes in later. No balance is in two batches at once. A transaction that has to wait for another balance
// is passed by at most 16 batches of its own.
//
// # One does not sink the others
//
// When DynamoDB refuses a batch, its reasons are read by their places. A header that is there is a repeat and leaves; so does a
// transaction whose own Parts failed. From the record that each refused balance returned, every transaction is judged in
// order: what that record alone refuses gets its error, with that record as its proof; what would fit without those before
// it waits for them to be decided; the others are committed again at once. Each round decides or puts off at least
// one, and after [BatchConfig.MaxRounds] a transaction is committed alone. A batch that cannot be sent or is
// refused as a whole is halved until the one at fault stands alone. While items are busy, all of a batch
// wait together, within the retries of the Committer; then only those whose items were busy get a ContentionError.
//
// # Answers that get lost
//
// Within one Commit the marks prove what was applied. A caller who gets a txn.AmbiguousError or an [AbandonedError], or
// crashes, posts the same transaction again, here or anywhere: its header decides, and Posted.Repeated says so.
//
// # Panics
//
// A panic below a batch, in the client or in what explains a caller's Part, is raised in one call of Post, that of the oldest
// transaction of the batch that still has a caller, as a [PanicError]. The others of the batch get an [AbandonedError],
// and other batches go on. If no caller is left, it is raised where it occurred and ends the program.
type Batcher struct {
	book      *Ledger
	committer *txn.Committer
	config    BatchConfig
	ctx       context.Context // that of every Commit
	cancel    context.CancelFunc
	forget    func() bool // stops waiting for the end of the caller's context

	mu      sync.Mutex
	queue   queue
	held    int // submissions without an outcome
	running int // batches on their way
	timer   func() bool
	closed  bool
	ended   bool
	drained chan struct{} // closed when closed and nothing is left
}

// Batcher returns a Batcher of this ledger. Its commits carry the values of ctx. When ctx ends, it closes at once:
// what is on its way is cancelled. It has no goroutine while there is nothing to do.
func (l *Ledger) Batcher(ctx context.Context, committer *txn.Committer, config BatchConfig) *Batcher {
	b := &Batcher{
		book: l, committer: committer, config: config.WithDefaults(),
		queue: queue{spots: make(map[ref]*spot)}, drained: make(chan struct{}),
	}
	b.ctx, b.cancel = context.WithCancel(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget = context.AfterFunc(ctx, b.abort) // which may be at once
	return b
}

// Post posts a transaction in company (AP10, AP12) and returns when its outcome is known, or ctx ends. A transaction
// that was posted before is no error: see [Posted].
//
// The error is a [QueueFullError] or [ErrBatcherClosed] (nothing was sent), an [AbandonedError], or what committing
// the Parts and [Ledger.Post] alone would return: the reasons inside a txn.CanceledError are those of this submission, and each
// names its part. What needs no stored record is reported as it is, without a txn.InvalidError around it.
// Where a lost answer leaves a refusal unsettled, txn.CanceledError.Unsettled says so.
//
// Cost: as [Ledger.Post], but the shared balances are paid once for all: 2 write units for the header and each posting,
// 2 for each balance that is its own, and its part of 2 for those it shares. It reads nothing.
func (b *Batcher) Post(ctx context.Context, s Submission) (_ Posted, err error) {
	if b.book == nil {
		return Posted{}, errBatcherClosed.Wrap(nil, "ledger: the batcher was not made by Ledger.Batcher")
	}
	ctx, op := b.book.watch.Begin(ctx, "AP10.post")
	defer op.End(&err)
	watch.Outcome(ctx, observe.Failed) // if the batch panics
	posted, err := b.post(ctx, s)
	watch.Outcome(ctx, observe.OK)
	if posted.Repeated {
		watch.Outcome(ctx, observe.Replayed)
	}
	return posted, err
}

func (b *Batcher) post(ctx context.Context, s Submission) (Posted, error) {
	sub, err := b.book.submission(s)
	if err != nil {
		return Posted{}, err
	}
	if err := ctx.Err(); err != nil {
		return Posted{}, sub.abandoned(false, err)
	}
	if err := b.take(sub); err != nil {
		return Posted{}, err
	}
	select {
	case <-sub.done:
		return sub.outcome()
	case <-ctx.Done():
		return b.leave(sub, ctx.Err())
	}
}

// submission is a Submission on its way.
type submission struct {
	tx    Transaction
	parts []txn.Part
	plan  *plan
	own   int     // writes that it shares with nobody: parts, header and postings
	spots []*spot // its balances

	number int64 // in the order of Post
	state  state
	sent   bool
	gone   bool // its caller has left
	due    bool // does not linger
	alone  bool // takes no company
	rounds int  // commits that it took part in
	passed int  // batches that went without it

	posted   Posted
	err      error
	panicked *PanicError   // raised in the Post of this one
	done     chan struct{} // closed with the outcome
}

// outcome is what Post returns once it is known.
func (s *submission) outcome() (Posted, error) {
	if s.panicked != nil {
		panic(s.panicked)
	}
	return s.posted, s.err
}

// submission checks what needs no stored record. The transaction is copied: a caller who has left may change it.
func (l *Ledger) submission(s Submission) (*submission, error) {
	sub := &submission{tx: s.Transaction, parts: slices.Clone(s.Parts), done: make(chan struct{})}
	sub.tx.Postings, sub.tx.Metadata, sub.tx.Expect = slices.Clone(sub.tx.Postings), maps.Clone(sub.tx.Metadata), slices.Clone(sub.tx.Expect)
	for _, part := range sub.parts {
		if err := part.Err(); err != nil {
			return nil, err
		}
		sub.own += part.Writes()
	}
	var err error
	if sub.plan, err = l.plan(&sub.tx, origin{}); err != nil {
		return nil, err
	}
	sub.own += 1 + len(sub.plan.postings)
	if sub.own+len(sub.plan.changes) > txn.MaxItems {
		return nil, &LimitError{What: "transaction", ID: sub.tx.ID, Limit: "writes, its parts, header and balances included", Max: txn.MaxItems}
	}
	for _, c := range sub.plan.changes {
		_, err := c.posted.MinorInt64()
		sub.alone = sub.alone || c.expect > 0 || err != nil
	}
	return sub, nil
}

// refresh plans a submission anew if another bucket is known to be current by now. What could be planned before can be
// planned again.
func (l *Ledger) refresh(s *submission) {
	for _, c := range s.plan.changes {
		known, ok := l.hints.get(hintKey{c.ref, c.month})
		if !ok || !l.outdated(c, known) {
			c.hint, c.hinted = known, ok // it says the same
			continue
		}
		if p, err := l.plan(&s.tx, origin{}); err == nil {
			s.plan = p
		}
		return
	}
}

// outdated says whether a plan made by a hint would put a change into another bucket.
func (l *Ledger) outdated(c *change, known hint) bool {
	rolls := known.room < c.slots && known.bucket+1 < l.buckets()
	if rolls {
		known.bucket++
	}
	return c.bucket != known.bucket || c.rolls != rolls
}

func (s *submission) abandoned(sent bool, err error) error {
	return &AbandonedError{Tenant: s.tx.Tenant, Transaction: s.tx.ID, Sent: sent, Err: err}
}

// unfinished is the error of a submission that a batcher which was told to end has not decided.
func (s *submission) unfinished(sent bool) error {
	if sent {
		return s.abandoned(true, context.Canceled)
	}
	return errBatcherClosed.Wrap(nil, "ledger: %s: the batcher is closed", headerName(s.tx.Tenant, s.tx.ID))
}

// leave ends the wait of a caller whose context has ended.
func (b *Batcher) leave(sub *submission, err error) (Posted, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if sub.state == ended {
		return sub.outcome()
	}
	sub.gone = true
	if sub.state == waiting {
		b.queue.remove(sub)
		b.end(sub, Posted{}, nil)
		b.settle()
	}
	return Posted{}, sub.abandoned(sub.sent, err)
}

// Close takes no more transactions, commits those that wait without lingering, and returns when all have their outcome.
// If ctx ends before, it cancels what is on its way, whose callers get an error that says what is known, and returns
// ctx's error. No goroutine is left in either case. Closing twice is harmless.
//
// Cost: that of what still waits, nothing by itself.
func (b *Batcher) Close(ctx context.Context) error {
	if b.book == nil {
		return nil // nobody made it
	}
	b.mu.Lock()
	b.close()
	b.dispatch()
	b.mu.Unlock()
	select {
	case <-b.drained:
		return nil
	case <-ctx.Done():
		b.abort()
		<-b.drained
		return errBatcherClosed.Wrap(ctx.Err(), "ledger: close batcher: %v before all was committed", ctx.Err())
	}
}

// abort closes at once: what waits gets ErrBatcherClosed, what is on its way is cancelled.
func (b *Batcher) abort() {
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.close()
	for _, sub := range b.queue.drain() {
		b.end(sub, Posted{}, sub.unfinished(sub.sent))
	}
	b.settle()
}

func (b *Batcher) close() {
	b.closed = true
	if b.timer != nil {
		b.timer()
		b.timer = nil
	}
	b.settle()
}

// settle notices that a closed batcher has nothing left to do.
func (b *Batcher) settle() {
	if b.closed && b.held == 0 && b.running == 0 && !b.ended {
		b.ended = true
		b.forget()
		b.cancel()
		close(b.drained)
	}
}

// end gives a submission its outcome.
func (b *Batcher) end(sub *submission, posted Posted, err error) {
	sub.state, sub.posted, sub.err = ended, posted, err
	b.held--
	close(sub.done)
}
