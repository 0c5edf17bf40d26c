package outbox

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// Defaults of a Config.
const (
	DefaultTable   = "Outbox"
	DefaultIndex   = "GSI3"
	DefaultIndexPK = "readyPk"
	DefaultIndexSK = "readySk"
)

// Config says whose outbox it is and where it lives. Service is required; everything else has a default.
type Config struct {
	// Service names the producer whose events these are, for example "orders". Required. It is part of every index
	// key, so several services may share a table and an index.
	Service string
	// Table holds the events; it is the table of the facts they report, or any other of the same account and
	// Region. Default: "Outbox" with the key attributes "PK" and "SK".
	Table txn.Table
	// Index is the name of the sparse index of READY events, and IndexPK and IndexSK those of its key attributes.
	// Defaults: "GSI3", "readyPk", "readySk".
	Index, IndexPK, IndexSK string
	// Map places events on the shards of the index. Default: [shardmap.Default13]. It must not be edited while
	// events that it placed are READY.
	Map shardmap.Map
}

func (c Config) withDefaults() Config {
	c.Table = c.Table.WithDefaults(DefaultTable)
	c.Index = cmp.Or(c.Index, DefaultIndex)
	c.IndexPK = cmp.Or(c.IndexPK, DefaultIndexPK)
	c.IndexSK = cmp.Or(c.IndexSK, DefaultIndexSK)
	if c.Map == (shardmap.Map{}) {
		c.Map = shardmap.Default13()
	}
	return c
}

func (c Config) validate() error {
	if _, err := keys.OutboxReadyPartition(c.Service, 0); err != nil {
		return &InvalidError{Field: "Config.Service", Reason: keyReason(err)}
	}
	if err := c.Map.Validate(); err != nil {
		return &InvalidError{Field: "Config.Map", Reason: "is not a valid map", Err: err}
	}
	used := slices.Clone(attributes)
	for _, key := range []struct{ field, name string }{
		{"Config.Table", c.Table.PK}, {"Config.Table", c.Table.SK}, {"Config.IndexPK", c.IndexPK}, {"Config.IndexSK", c.IndexSK},
	} {
		if slices.Contains(used, key.name) {
			return &InvalidError{Field: key.field, Reason: fmt.Sprintf("has a key attribute %q, a name that the record uses otherwise", key.name)}
		}
		used = append(used, key.name)
	}
	return nil
}

// Outbox creates and reads events. It is safe for concurrent use.
type Outbox struct {
	config Config
	err    error
}

// New returns the outbox of one service. What is wrong with the configuration is reported by every use of the Outbox,
// as an [InvalidError].
func New(config Config) *Outbox {
	config = config.withDefaults()
	return &Outbox{config: config, err: config.validate()}
}

// Shards returns how many shards the READY index has. Read them all: 0 to Shards()-1.
func (o *Outbox) Shards() int { return o.config.Map.Shards }

// Index returns the definition of the READY index, for CreateTable or UpdateTable. It projects what a relay needs to
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
