package txn

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/cenkalti/backoff/v4"

	"github.com/dynafin/dynafin/internal/ambient"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
)

// Client is the one call that Commit makes. *dynamodb.Client satisfies it.
type Client interface {
	TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Config sets how a [Committer] works. The zero value is ready for production.
type Config struct {
	// MaxAttempts limits the requests of one Commit. Default: 8.
	MaxAttempts int
	// MaxElapsed limits the time after which no further attempt starts. Default: 30 seconds. It must stay far below the
	// ten minutes for which DynamoDB remembers a request token.
	MaxElapsed time.Duration
	// BaseDelay and MaxDelay bound the wait between attempts: the n-th wait is drawn evenly from zero to
	// BaseDelay doubled n times, at most MaxDelay; after throttling from eight times as much. Defaults: 25 ms and 2 s.
	BaseDelay, MaxDelay time.Duration

	// NewMark makes the mark of a Commit: unique, 1 to 36 bytes of ASCII. Default: 128 random bits.
	NewMark func() string
	// Jitter draws a wait evenly from zero to limit. Default: a cryptographic source.
	Jitter func(limit time.Duration) time.Duration
	// Now tells the time for MaxElapsed and observations. Default: time.Now.
	Now func() time.Time
	// NewTimer makes the timer of one Commit's waits. Default: the system's.
	NewTimer func() backoff.Timer
	// Observer, if set, is told of every Commit when it ends: "commit", with the access patterns of its parts.
	Observer observe.Observer
}

func (c Config) withDefaults() Config {
	if c.MaxAttempts <= 0 {
		c.MaxAttempts = 8
	}
	if c.MaxElapsed <= 0 {
		c.MaxElapsed = 30 * time.Second
	}
	if c.BaseDelay <= 0 {
		c.BaseDelay = 25 * time.Millisecond
	}
	if c.MaxDelay <= 0 {
		c.MaxDelay = 2 * time.Second
	}
	c.BaseDelay = min(c.BaseDelay, c.MaxDelay)
	if c.NewMark == nil {
		c.NewMark = ambient.ID
	}
	if c.Jitter == nil {
		c.Jitter = ambient.Wait
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewTimer == nil {
		c.NewTimer = func() backoff.Timer { return nil } // backoff takes nil for the system's timer
	}
	return c
}

// Committer commits transactions. It is safe for concurrent use.
type Committer struct {
	client Client
	config Config
	watch  watch.Watch
}

// New returns a Committer.
func New(client Client, config Config) *Committer {
	config = config.withDefaults()
	return &Committer{client: client, config: config, watch: watch.New("txn", "", config.Observer, config.Now)}
}

// Commit commits parts through a Committer with the default [Config]. See [Committer.Commit].
//
// Cost and errors: those of [Committer.Commit].
func Commit(ctx context.Context, client Client, parts ...Part) (Receipt, error) {
	return New(client, Config{}).Commit(ctx, parts...)
}

// Commit writes all parts in one TransactWriteItems, or none of them.
//
// It returns nil once the transaction is proved to be applied, also when the proof is the transaction's own mark found
// by a later attempt. Otherwise the error is, in this order of precedence, an [InvalidError] or [ErrNotSent] (nothing
// was sent), a [CanceledError] that a [Settler] decides, a [RefusedError], any other [CanceledError] (a condition did not
// hold), a [ContentionError] (busy or throttled until the budget was spent; nothing was written), or an
// [AmbiguousError] (repeat the command).
//
// Cost: for every item 2 write units for each KiB begun, and the ordinary units of the index entries that change. The
// receipt has what DynamoDB reported. Cancelled attempts cost about the same and report nothing.
func (c *Committer) Commit(ctx context.Context, parts ...Part) (receipt Receipt, err error) {
	ctx, op := c.watch.Begin(ctx, "commit")
	defer op.End(&err)
	watch.Parts(ctx, op, func() []string { return labels(parts) })
	run := &run{committer: c, parts: parts, mark: c.config.NewMark()}
	receipt, err = run.commit(ctx)
	if receipt.Recovered {
		watch.Outcome(ctx, observe.Recovered)
	}
	return receipt, err
}
