package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/ambient"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
)

// QueryClient is the call that lists. *dynamodb.Client satisfies it.
type QueryClient interface {
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// JournalClient are the calls that write claim journals. *dynamodb.Client satisfies it.
type JournalClient interface {
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// RelayClient are the calls that a relay makes. *dynamodb.Client satisfies it.
type RelayClient interface {
	Client
	UpdateClient
	JournalClient
}

// RelayConfig sets how a [Relay] works. The zero value is ready for production. Relays of one service should agree on
// Lease, MaxAttempts and Retention; nothing is lost if they do not.
type RelayConfig struct {
	// Owner names the relay in records and journals, for people: a host, a pod. It need not be unique. Up to 64 bytes.
	// Default: "relay".
	Owner string
	// Batch is how many events are claimed under one journal and given to the Publisher at once, 1 to 100. A batch is
	// smaller if the journal would need more than one write unit: 25 IDs of 32 bytes fit. Default: 25.
	Batch int
	// Batches is how many batches a round has in progress at the same time. Default: 8.
	Batches int
	// Concurrency is how many requests to DynamoDB are on their way at the same time. Default: 32.
	Concurrency int
	// Lease is how long a batch belongs to its relay. An event of a relay that died is found at most Recover later. It
	// should be much longer than clocks differ: a relay whose clock is ahead takes events over early and publishes them a
	// second time, nothing worse. Default: 30 s.
	Lease time.Duration
	// Renewals is how often a lease is renewed for a broker that is slow, every third of a Lease; then the context of Publish
	// is cancelled, and a third later its answer is not waited for any more. Default: 10.
	Renewals int
	// Recover is how often journals with ended leases are looked for. Default: half a Lease.
	Recover time.Duration
	// PollMin and PollMax bound the wait before the shards are read again: after a round without events it doubles. A
	// round that found more than it took is followed by the next one at once. Defaults: 50 ms and 5 s.
	PollMin, PollMax time.Duration
	// Grace is for how long polls leave an event that is due to [Relay.HandleStream], so that they do not compete for it; they
	// take what is due for longer. Default: 0; a few seconds where a stream is handled.
	Grace time.Duration
	// MaxAttempts is after how many attempts an event is parked. Default: 10.
	MaxAttempts int
	// RetryMin and RetryMax bound the wait before the next attempt: RetryMin doubled with each attempt, at most RetryMax,
	// of which the upper half is drawn. Defaults: 1 s and 5 min.
	RetryMin, RetryMax time.Duration
	// Hold is how long an event of an ordered outbox is put off if the one before it is parked and others queue up behind it.
	// Default: 1 min.
	Hold time.Duration
	// Retention is how long a COMPLETED record stays before the table's time to live may delete it: longer than the longest
	// outage and replay. Negative: for ever. Default: 30 days; at least an hour.
	Retention time.Duration
	// Drain bounds how long Run and HandleStream go on after their context has ended. At half of it publishing is cancelled, and the rest is
	// for giving events back. Default: 10 s.
	Drain time.Duration

	// Heed says that operators can pause the relay: before each round it reads whether [Outbox.Pause] was called, for 1 read unit, and
	// claims nothing while it was. A switch that cannot be read stops nothing. Default: the relay does not ask.
	Heed bool
	// Maps gives the shard map of a lane that is stored, for example a [shardmap.Loader]: every round asks for it, and reads
	// the shards of all its versions. Without a map that may be used now nothing is listed, and the Observer is told.
	// Default: the map of the Outbox.
	Maps shardmap.Source

	// Now tells the time. Default: time.Now.
	Now func() time.Time
	// NewID makes the token of a claim: unique, up to 36 bytes. Default: 128 random bits.
	NewID func() string
	// Jitter draws a wait evenly from zero to limit. Default: a cryptographic source.
	Jitter func(limit time.Duration) time.Duration
	// Sleep waits, for no longer than the context. Default: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Observer is told of every step and every fault: claim, renew, complete, retry, park, recover, giveup, fence and
	// reschedule of one event; map, switch, list, look, predecessor, journal, journal.drop and journal.list of what a relay asks for;
	// stream of records that cannot be read. After each pass it is told the backlog, at least, its oldest age, and how far
	// the index was seen to lag; after each look for ended leases how many events are stuck. Default: that of the Outbox.
	Observer observe.Observer
}

func (c RelayConfig) withDefaults() RelayConfig {
	c.Owner = cmp.Or(c.Owner, "relay")
	c.Batch, c.Batches, c.Concurrency = cmp.Or(c.Batch, 25), cmp.Or(c.Batches, 8), cmp.Or(c.Concurrency, 32)
	c.Lease, c.Renewals = cmp.Or(c.Lease, 30*time.Second), cmp.Or(c.Renewals, 10)
	c.Recover = cmp.Or(c.Recover, c.Lease/2)
	c.PollMin, c.PollMax = cmp.Or(c.PollMin, 50*time.Millisecond), cmp.Or(c.PollMax, 5*time.Second)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 10)
	c.RetryMin, c.RetryMax = cmp.Or(c.RetryMin, time.Second), cmp.Or(c.RetryMax, 5*time.Minute)
	c.Hold = cmp.Or(c.Hold, time.Minute)
	c.Retention = cmp.Or(c.Retention, 30*24*time.Hour)
	c.Drain = cmp.Or(c.Drain, 10*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = ambient.ID
	}
	if c.Jitter == nil {
		c.Jitter = ambient.Wait
	}
	if c.Sleep == nil {
		c.Sleep = ambient.Sleep
	}
	return c
}

// validate returns everything that is wrong with the configuration.
func (c RelayConfig) validate() error {
	var all []error
	for _, limit := range []struct {
		field       string
		value       time.Duration
		least, most time.Duration
	}{
		{"Batch", time.Duration(c.Batch), 1, 100}, {"Batches", time.Duration(c.Batches), 1, 1000},
		{"Concurrency", time.Duration(c.Concurrency), 1, 10_000}, {"MaxAttempts", time.Duration(c.MaxAttempts), 1, 1_000_000},
		{"Renewals", time.Duration(c.Renewals), 0, 1_000_000},
		{"Lease", c.Lease, time.Second, 24 * time.Hour}, {"Recover", c.Recover, 1, c.Lease},
		{"PollMin", c.PollMin, time.Millisecond, c.PollMax}, {"PollMax", c.PollMax, c.PollMin, time.Hour},
		{"RetryMin", c.RetryMin, time.Millisecond, c.RetryMax}, {"RetryMax", c.RetryMax, c.RetryMin, 7 * 24 * time.Hour},
		{"Hold", c.Hold, time.Millisecond, 24 * time.Hour}, {"Drain", c.Drain, time.Millisecond, time.Hour},
		{"Grace", c.Grace, 0, time.Hour},
	} {
		if limit.value < limit.least || limit.value > limit.most {
			all = append(all, &InvalidError{Field: "RelayConfig." + limit.field, Reason: "is out of range"})
		}
	}
	if c.Retention >= 0 && (c.Retention < time.Hour || c.Retention > 100*365*24*time.Hour) {
		all = append(all, &InvalidError{Field: "RelayConfig.Retention", Reason: "is neither negative nor from an hour to a century"})
	}
	if _, err := keys.OutboxClaims("s", time.Unix(0, 0), c.Owner); err != nil || len(c.Owner) > 64 {
		all = append(all, &InvalidError{Field: "RelayConfig.Owner", Reason: fmt.Sprintf("%.80q is not UTF-8 of 1 to 64 bytes", c.Owner)})
	}
	return errors.Join(all...)
}
