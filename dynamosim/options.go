package dynamosim

import (
	"cmp"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
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
	// Now is the database's clock. It ends the window of request tokens and dates tables. Default: time.Now.
	Now func() time.Time
	// Region and Account appear in resource names and in the client's configuration. Default: "us-east-1" and
	// "000000000000".
	Region, Account string
	// Seed orders what DynamoDB leaves unordered: partitions, and index entries whose keys are equal. A test that passes
	// with one seed and fails with another relies on an order it has no right to.
	Seed uint64
	// TokenPolicy is how request tokens are treated. Default: HonorTokens.
	TokenPolicy TokenPolicy
	// CanceledKeepsToken makes a cancelled transaction occupy its token: a repeat within ten minutes gets the same
	// cancellation again. DynamoDB does not document whether it does, so test with both.
	CanceledKeepsToken bool
	// Wording selects message texts. Default: the newest.
	Wording Wording
	// Streams is how tables with a stream record what happens.
	Streams StreamOptions
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
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
		Streams:            o.Streams.engine(),
	}
}
