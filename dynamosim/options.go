package dynamosim

import (
	"cmp"
	"context"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
	"github.com/dynafin/dynafin/internal/ambient"
)

// TokenPolicy says what a database does with the ClientRequestToken of a transaction. Code that moves money must be
// right under each of them, because a token is a help for ten minutes and never a record.
type TokenPolicy int

const (
	// HonorTokens remembers a token for ten minutes after its transaction completed, as documented: a repeat succeeds
	// without effect, a repeat with other parameters is refused.
	HonorTokens TokenPolicy = iota
	// IgnoreTokens executes every request, as if each repeat came after the ten minutes.
	IgnoreTokens
	// MismatchOnRepeat refuses every repeat within ten minutes, as if its parameters had changed.
	MismatchOnRepeat
)

// Wording selects between message texts that DynamoDB has used. Errors are the same; only what they say differs.
type Wording int

const (
	// WordingAugust2026 begins the validation texts of PutItem, UpdateItem and DeleteItem with a count of errors.
	WordingAugust2026 Wording = iota
	// WordingMay2026 does not.
	WordingMay2026
)

// Options configure a database. The zero value works.
type Options struct {
	// Now is the database's clock: it dates tables, ends the window of request tokens, and moves everything below that
	// takes time. Default: time.Now.
	Now func() time.Time
	// Sleep waits until an answer is due, for no longer than the context. Default: a timer. Only a ServiceTime needs it.
	Sleep func(context.Context, time.Duration) error
	// Region and Account appear in resource names and in the client's configuration. Default: "us-east-1" and
	// "000000000000".
	Region, Account string
	// Seed orders what DynamoDB leaves unordered: partitions, index entries whose keys are equal, and what an index or an
	// eventually consistent read has heard of first. A test that passes with one seed and fails with another relies on an
	// order it has no right to.
	Seed uint64
	// TokenPolicy is how request tokens are treated. Default: HonorTokens.
	TokenPolicy TokenPolicy
	// CanceledKeepsToken makes a cancelled transaction occupy its token: a repeat within ten minutes gets the same
	// cancellation again. DynamoDB does not document whether it does, so test with both.
	CanceledKeepsToken bool
	// Wording selects message texts. Default: the newest.
	Wording Wording
	// ItemCollectionLimit bounds the bytes that a table with local indexes holds under one partition key, index entries
	// included. Default: 10 GB, as documented, which is too much to try.
	ItemCollectionLimit int
	// UpdateStep is how long each step of a change to a table takes on the clock Now. An index is created in two steps,
	// allocation, during which the table is UPDATING, and backfill; every other change takes one. Default: none, so that
	// a change is complete in its own request.
	UpdateStep time.Duration
	// SweepWithin makes the database delete expired items by itself, each with the first request after a moment of its
	// own, which the seed chooses up to this much after its expiry. Default: never, only [DB.SweepExpired] does.
	SweepWithin time.Duration
	// Streams is how tables with a stream record what happens.
	Streams StreamOptions
	// IndexLag is how far global indexes are behind their tables. Default: not at all.
	IndexLag IndexLag
	// Staleness bounds how old what an eventually consistent read shows may be: GetItem, BatchGetItem, Query and Scan of a
	// table or a local index without ConsistentRead see one moment within it. Default: they see the present.
	Staleness time.Duration
	// Heat limits and meters what one partition key value takes. Default: nil, no limit and no meter.
	Heat *Heat
	// ServiceTime is how long requests take, and so whether they can meet. Default: no time.
	ServiceTime ServiceTime
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = ambient.Sleep
	}
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
	return o
}

func (o Options) engine() engine.Config {
	return engine.Config{
		Region:             o.Region,
		Account:            o.Account,
		Seed:               o.Seed,
		Tokens:             engine.TokenPolicy(o.TokenPolicy),
		CanceledKeepsToken: o.CanceledKeepsToken,
		Wording:            engine.Wording(o.Wording),
		CollectionLimit:    o.ItemCollectionLimit,
		UpdateStep:         o.UpdateStep,
		SweepWithin:        o.SweepWithin,
		Streams:            o.Streams.engine(),
		Lag:                o.IndexLag.engine(),
		Staleness:          o.Staleness,
		Heat:               o.Heat.engine(),
		Service:            o.ServiceTime.engine(),
	}
}
