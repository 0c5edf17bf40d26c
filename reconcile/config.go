package reconcile

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

const (
	// DefaultTable is the table of a Config that names none.
	DefaultTable = "Reconciliation"
	// DefaultIndex is the sparse index of the breaks that are not resolved (IDX15).
	DefaultIndex = "GSI1"
	// DefaultLease is how long a run may be silent before another may take its batch over.
	DefaultLease = 15 * time.Minute
	// DefaultWriters is how many breaks are written at the same time.
	DefaultWriters = 16
)

// Client are the calls that batches and breaks make. *dynamodb.Client satisfies it.
type Client interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	txn.Client
}

// Config says where batches and breaks live. The zero value works.
type Config struct {
	// Table holds batches and breaks. Default: "Reconciliation" with the key attributes "PK" and "SK".
	Table txn.Table
	// Index names the sparse index, IndexPK and IndexSK its key attributes. Defaults: "GSI1", "duePk", "dueSk".
	Index, IndexPK, IndexSK string
	// Map places breaks on the shards of the due queue, by their IDs. Default: 13 shards.
	Map shardmap.Map
	// Lease is how long a run may be silent before another may take its batch over. Default: [DefaultLease].
	Lease time.Duration
	// Writers is how many breaks are written at the same time. Default: [DefaultWriters].
	Writers int
	// Currencies are those of amounts besides ISO 4217.
	Currencies money.Registry
	// Txn configures the transactions. Its Observer is by default the one below.
	Txn txn.Config
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Observer, if set, is told of every operation, and by [Reconciler.Queue] how many breaks wait. A Run reports once, when it
	// has ended.
	Observer observe.Observer
}

// WithDefaults returns the configuration with its empty fields filled in.
func (c Config) WithDefaults() Config {
	c.Table = c.Table.WithDefaults(DefaultTable)
	c.Index, c.IndexPK, c.IndexSK = cmp.Or(c.Index, DefaultIndex), cmp.Or(c.IndexPK, "duePk"), cmp.Or(c.IndexSK, "dueSk")
	if c.Map == (shardmap.Map{}) {
		c.Map = shardmap.Default13()
	}
	c.Lease, c.Writers = cmp.Or(c.Lease, DefaultLease), cmp.Or(c.Writers, DefaultWriters)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Txn.Observer == nil {
		c.Txn.Observer = c.Observer
	}
	return c
}

// Validate reports the first field that breaks its rule as an [InvalidError]; defaults are filled in before. Every call
// reports the same.
func (c Config) Validate() error {
	c = c.WithDefaults()
	if err := c.Map.Validate(); err != nil {
		return &InvalidError{Field: "Config.Map", Reason: err.Error()}
	}
	switch {
	case c.Lease < time.Second || c.Lease > 24*time.Hour:
		return &InvalidError{Field: "Config.Lease", Reason: "is not from a second to a day"}
	case c.Writers < 1 || c.Writers > 1000:
		return &InvalidError{Field: "Config.Writers", Reason: "is not from 1 to 1,000"}
	}
	return nil
}

// Reconciler keeps batches and breaks in a table. It is safe for concurrent use.
type Reconciler struct {
	client    Client
	config    Config
	committer *txn.Committer
	reader    *fanout.Reader
	watch     watch.Watch
	err       error
}

// New returns a Reconciler. A configuration that breaks a rule (see [Config.Validate]) is reported by each call.
func New(client Client, config Config) *Reconciler {
	r := &Reconciler{client: client, config: config.WithDefaults(), err: config.Validate()}
	r.watch = watch.New("reconcile", "", r.config.Observer, r.config.Now)
	r.committer = txn.New(client, r.config.Txn)
	r.reader = fanout.New(client, fanout.Config{})
	return r
}

// Index describes the sparse index, for CreateTable.
func (r *Reconciler) Index() types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{
		IndexName: &r.config.Index,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: &r.config.IndexPK, KeyType: types.KeyTypeHash}, {AttributeName: &r.config.IndexSK, KeyType: types.KeyTypeRange},
		},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: projected},
	}
}

// IndexAttributes defines the key attributes of the index, for CreateTable.
func (r *Reconciler) IndexAttributes() []types.AttributeDefinition {
	return []types.AttributeDefinition{
		{AttributeName: &r.config.IndexPK, AttributeType: types.ScalarAttributeTypeS},
		{AttributeName: &r.config.IndexSK, AttributeType: types.ScalarAttributeTypeS},
	}
}
