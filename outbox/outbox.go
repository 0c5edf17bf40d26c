package outbox

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// Defaults of a Config.
const (
	DefaultTable   = "Outbox"
	DefaultIndex   = "GSI3"
	DefaultIndexPK = "readyPk"
	DefaultIndexSK = "readySk"
	DefaultTTL     = "expiresAt"
)

// Config says whose outbox it is and where it lives. Service is required; everything else has a default.
type Config struct {
	// Service names the producer whose events these are, for example "orders". Required. It is part of every index
	// key, so several services may share a table and an index.
	Service string
	// Table holds the events; it is the table of the facts they report, or any other of the same account and
	// Region. Default: "Outbox" with the key attributes "PK" and "SK".
	Table txn.Table
	// Index is the name of the sparse index of READY and PARKED events, and IndexPK and IndexSK those of its key attributes.
	// Defaults: "GSI3", "readyPk", "readySk".
	Index, IndexPK, IndexSK string
	// Map places events on the shards of the index. Default: [shardmap.Default13]. It must not be edited while
	// events that it placed are READY; see Draining. For a map that is stored and can change, see [Outbox.Under].
	Map shardmap.Map
	// Draining are maps that placed events before. Their shards are read, too, until none of their events is left.
	Draining []shardmap.Map
	// Ordered keeps the events of an aggregate in order: version n+1 is not published before version n is COMPLETED or
	// PASSED. An aggregate then has exactly one event for each version, from its first one on without a gap, with the ID of
	// [Event.OrderedID], and its versions are committed one after the other. Relays of the service must agree on it.
	Ordered bool
	// Compress stores payloads with DEFLATE where that makes them smaller. Records are read either way.
	Compress bool
	// TTL is the table's time-to-live attribute. Default: "expiresAt".
	TTL string
	// Observer, if set, is told of every read and change, and by [Outbox.Parked] how many events are parked.
	Observer observe.Observer
	// Now tells the time of observations; nothing is decided by it. Default: time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.Table = c.Table.WithDefaults(DefaultTable)
	c.Index = cmp.Or(c.Index, DefaultIndex)
	c.IndexPK = cmp.Or(c.IndexPK, DefaultIndexPK)
	c.IndexSK = cmp.Or(c.IndexSK, DefaultIndexSK)
	c.TTL = cmp.Or(c.TTL, DefaultTTL)
	if c.Map == (shardmap.Map{}) {
		c.Map = shardmap.Default13()
	}
	return c
}

func (c Config) validate() error {
	if _, err := keys.OutboxParkedPartition(c.Service, 0); err != nil { // the longest of its partitions
		return &InvalidError{Field: "Config.Service", Reason: keyReason(err)}
	}
	if err := c.Map.Validate(); err != nil {
		return &InvalidError{Field: "Config.Map", Reason: "is not a valid map", Err: err}
	}
	for _, draining := range c.Draining {
		if err := draining.Validate(); err != nil {
			return &InvalidError{Field: "Config.Draining", Reason: "has a map that is not valid", Err: err}
		}
	}
	used := slices.Clone(attributes)
	for _, key := range []struct{ field, name string }{
		{"Config.Table", c.Table.PK}, {"Config.Table", c.Table.SK}, {"Config.IndexPK", c.IndexPK}, {"Config.IndexSK", c.IndexSK},
		{"Config.TTL", c.TTL},
	} {
		if slices.Contains(used, key.name) {
			return &InvalidError{Field: key.field, Reason: fmt.Sprintf("is the attribute name %q, which the record uses otherwise", key.name)}
		}
		used = append(used, key.name)
	}
	return nil
}

// Outbox creates, reads and changes events. It is safe for concurrent use.
type Outbox struct {
	config   Config
	err      error
	versions *shardmap.Versions // nil: config.Map places events
	writers  *sync.Pool         // of *flate.Writer, each of which needs a megabyte
	watch    watch.Watch
}

// New returns the outbox of one service. What is wrong with the configuration is reported by every use of the Outbox,
// as an [InvalidError].
func New(config Config) *Outbox {
	config = config.withDefaults()
	return &Outbox{config: config, err: config.validate(), writers: new(sync.Pool),
		watch: watch.New("outbox", config.Service, config.Observer, config.Now)}
}

// Under returns this outbox with the shard map of a lane as it was just read, in place of [Config.Map]. Take a new one for
// every command, from a loader:
//
//	versions, err := loader.Versions(ctx)
//	_, err = txn.Commit(ctx, client, order, events.Under(versions).Create(accepted))
//
// The event's own OccurredAt chooses the version that places it, and no step moves it to another shard afterwards. An event
// whose version cannot be told for sure is not created: the error is a shardmap.ErrStale, and the same command may be
// repeated; or a shardmap.ErrRetired, if it occurred in a window that is retired. Listing needs a map that is not too old, and
// then visits every shard that an event can stand on. Relays take their maps from [RelayConfig].
func (o *Outbox) Under(v shardmap.Versions) *Outbox {
	under := *o
	under.versions = &v
	return &under
}

// listable says whether all shards are known.
func (o *Outbox) listable() error {
	if o.err != nil || o.versions == nil {
		return o.err
	}
	if _, err := o.versions.Live(); err != nil {
		return fmt.Errorf("outbox: list events of service %q: %w", o.config.Service, err)
	}
	return nil
}

// Shards returns how many shards the index has under the map and those that are draining. Read them all: 0 to Shards()-1.
// Under a stored map these are the shards of all its versions, because they share them: an event that a retired version
// placed is found as long as it is there.
func (o *Outbox) Shards() int {
	shards := o.config.Map.Shards
	if o.versions != nil {
		shards = 0
		for _, version := range o.versions.All() {
			if version.State != shardmap.Withdrawn {
				shards = max(shards, version.Shards)
			}
		}
	}
	for _, draining := range o.config.Draining {
		shards = max(shards, draining.Shards)
	}
	return shards
}

// Index returns the definition of the sparse index, for CreateTable or UpdateTable. It projects what a relay needs to
// choose and claim an event; the envelope is not part of it.
func (o *Outbox) Index() types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{
		IndexName: aws.String(o.config.Index),
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(o.config.IndexPK), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(o.config.IndexSK), KeyType: types.KeyTypeRange},
		},
		Projection: &types.Projection{
			ProjectionType:   types.ProjectionTypeInclude,
			NonKeyAttributes: slices.Clone(projected),
		},
	}
}

// IndexAttributes returns the definitions of the index's key attributes, for CreateTable or UpdateTable.
func (o *Outbox) IndexAttributes() []types.AttributeDefinition {
	return []types.AttributeDefinition{
		{AttributeName: aws.String(o.config.IndexPK), AttributeType: types.ScalarAttributeTypeS},
		{AttributeName: aws.String(o.config.IndexSK), AttributeType: types.ScalarAttributeTypeS},
	}
}
