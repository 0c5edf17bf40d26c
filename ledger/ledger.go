package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// Defaults of a [Config].
const (
	DefaultTable     = "Ledger"
	DefaultDueIndex  = "DUE"
	DefaultHeldIndex = "HELD"
	// DefaultBucketPostings and DefaultBucketKiB limit one bucket of an account's month, DefaultMonthlyCap the month.
	DefaultBucketPostings = 250_000
	DefaultBucketKiB      = 150_000
	DefaultMonthlyCap     = 2_000_000
)

// Limits that no configuration changes.
const (
	// MaxDigits is how many digits of minor units an amount, a minimum and a balance have at most.
	MaxDigits = 37
	// MaxOpenMonths is how many months with postings an account may have open in one asset.
	MaxOpenMonths = 120
	// MaxBuckets is how many buckets a month may have: their number has two digits in a key.
	MaxBuckets = 100
	// MaxLanes and MaxStripes are how far an account can be spread; all stripes of an asset are opened in one transaction.
	MaxLanes   = 1000
	MaxStripes = 96
	// MaxLinks is how many transactions may reverse or correct one.
	MaxLinks = 100
	// maxMonthlyCap keeps the sum of a month's 96-bit digests within DynamoDB's 38 digits.
	maxMonthlyCap = 100_000_000
)

// Config says where a ledger lives and how large its buckets are. The zero value works.
type Config struct {
	// Table holds all records; it may be shared with other records. Default: "Ledger" with the key attributes "PK" and "SK".
	Table txn.Table
	// DueIndex and HeldIndex are the names of the sparse indexes of open reservations: by expiry over all accounts, and
	// by account. Defaults: "DUE" and "HELD".
	DueIndex, HeldIndex string
	// DueMap places reservations on the shards of the due index. Default: [shardmap.Default13]. It must not be edited
	// while reservations that it placed are open.
	DueMap shardmap.Map
	// BucketPostings and BucketKiB say when a bucket of an account's month is full, whichever comes first.
	// Defaults: 250,000 and 150,000.
	BucketPostings, BucketKiB int
	// MonthlyCap is how many postings a month of an account takes; the next one is refused. A multiple of
	// BucketPostings, of at most [MaxBuckets] buckets. Default: 2,000,000.
	MonthlyCap int
	// Secrets sign the cursors of statements, the first of them; all are accepted. See fanout.Config. Default: none.
	Secrets [][]byte
	// Now is the clock: it dates what is recorded, and judges reservations that expire. Default: time.Now.
	Now func() time.Time
	// Observer, if set, is told of every Commit and every read, and of a Batcher every Post, whose requests are those of the
	// rounds that it takes part in, and every round, with how many transactions wait.
	Observer observe.Observer
}

// WithDefaults returns the configuration with its empty fields filled in.
func (c Config) WithDefaults() Config {
	c.Table = c.Table.WithDefaults(DefaultTable)
	c.DueIndex = cmp.Or(c.DueIndex, DefaultDueIndex)
	c.HeldIndex = cmp.Or(c.HeldIndex, DefaultHeldIndex)
	if c.DueMap == (shardmap.Map{}) {
		c.DueMap = shardmap.Default13()
	}
	c.BucketPostings = cmp.Or(c.BucketPostings, DefaultBucketPostings)
	c.BucketKiB = cmp.Or(c.BucketKiB, DefaultBucketKiB)
	c.MonthlyCap = cmp.Or(c.MonthlyCap, DefaultMonthlyCap)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Validate reports every field that breaks its rule, each as an [*InvalidError]; defaults are filled in before.
func (c Config) Validate() error {
	c = c.WithDefaults()
	var faults []error
	rule := func(holds bool, field, reason string, args ...any) {
		if !holds {
			faults = append(faults, &InvalidError{What: "config", Field: field, Reason: fmt.Sprintf(reason, args...)})
		}
	}
	rule(c.Table.HasSortKey(), "Table", "has no sort key")
	rule(c.Table.PK != c.Table.SK, "Table", "gives both key attributes one name")
	for _, name := range []string{c.Table.PK, c.Table.SK} {
		rule(!slices.Contains(attributes, name) && !isMonthAttr(name), "Table", "has a key attribute %q, a name that the records use otherwise", name)
	}
	rule(c.DueIndex != c.HeldIndex, "HeldIndex", "has the name of the due index")
	rule(c.DueMap.Validate() == nil, "DueMap", "is not a valid map")
	rule(c.BucketPostings >= 1, "BucketPostings", "is %d, at least 1 is needed", c.BucketPostings)
	rule(c.BucketKiB >= 1 && c.BucketKiB <= 1<<30, "BucketKiB", "is %d, outside 1 to 2^30", c.BucketKiB)
	rule(c.MonthlyCap >= 1 && c.MonthlyCap <= maxMonthlyCap, "MonthlyCap", "is %d, outside 1 to %d", c.MonthlyCap, maxMonthlyCap)
	if c.BucketPostings >= 1 {
		rule(c.MonthlyCap%c.BucketPostings == 0 && c.MonthlyCap/c.BucketPostings <= MaxBuckets,
			"MonthlyCap", "is %d, which is not 1 to %d buckets of %d", c.MonthlyCap, MaxBuckets, c.BucketPostings)
	}
	return errors.Join(faults...)
}

// Ledger makes the parts of transactions that open accounts, post, reserve and close periods, and reads what is stored.
// It is safe for concurrent use. It remembers which bucket is current where that is not the first one, at most
// [maxHints] of them; forgetting costs an attempt and nothing else.
type Ledger struct {
	config Config
	err    error
	watch  watch.Watch
	hints  hints
	absent map[string]string // the names of the condition ifAbsent
}

// New returns the ledger of one table. A configuration that breaks a rule (see [Config.Validate]) is reported by each
// use.
func New(config Config) *Ledger {
	config = config.WithDefaults()
	return &Ledger{config: config, err: config.Validate(), absent: map[string]string{"#pk": config.Table.PK},
		watch: watch.New("ledger", "", config.Observer, config.Now)}
}

// unusable says why a ledger cannot be used, if so.
func (l *Ledger) unusable() error {
	if l.config.Now == nil {
		return &InvalidError{What: "config", Field: "Ledger", Reason: "was not made by New"}
	}
	return l.err
}

// buckets is how many buckets a month has.
func (l *Ledger) buckets() int { return l.config.MonthlyCap / l.config.BucketPostings }

// slots is how many slots of a bucket a posting of this many bytes takes. A slot is the room that a bucket has for one
// posting when both of its limits are reached together, so counting slots keeps both.
func (l *Ledger) slots(bytes int) int64 {
	room := int64(l.config.BucketKiB) * 1024
	return max(1, (int64(bytes)*int64(l.config.BucketPostings)+room-1)/room)
}

// Shards returns how many shards the due index has. Sweep them all: 0 to Shards()-1.
func (l *Ledger) Shards() int { return l.config.DueMap.Shards }

// Indexes returns the definitions of the two sparse indexes, for CreateTable or UpdateTable. They hold open reservations
// only, and of these what a sweeper or a reader needs to choose one.
func (l *Ledger) Indexes() []types.GlobalSecondaryIndex {
	index := func(name, pk, sk string) types.GlobalSecondaryIndex {
		return types.GlobalSecondaryIndex{
			IndexName: aws.String(name),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String(sk), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{
				ProjectionType:   types.ProjectionTypeInclude,
				NonKeyAttributes: slices.Clone(projected),
			},
		}
	}
	return []types.GlobalSecondaryIndex{index(l.config.DueIndex, attrDuePK, attrDueSK), index(l.config.HeldIndex, attrHeldPK, attrHeldSK)}
}

// IndexAttributes returns the definitions of the indexes' key attributes, for CreateTable or UpdateTable.
func (l *Ledger) IndexAttributes() []types.AttributeDefinition {
	var all []types.AttributeDefinition
	for _, name := range []string{attrDuePK, attrDueSK, attrHeldPK, attrHeldSK} {
		all = append(all, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	return all
}
