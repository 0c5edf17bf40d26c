package dynamosim

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

// DefaultShardLife is how long a shard of a stream stays open where [StreamOptions] do not say otherwise. DynamoDB does
// not document a figure; this is what its users observe.
const DefaultShardLife = 4 * time.Hour

// StreamOptions are what DynamoDB leaves open about streams. A consumer must be right under each setting: it reads
// parents before children, asks for new shards, and expects order between the changes of one item and no other.
//
// A stream keeps what it recorded for 24 hours by the database's clock, and with it the memory.
type StreamOptions struct {
	// Shards is how many open shards a new stream has, up to 64. Default: 1.
	Shards int
	// ShardLife is the age at which a shard is closed and followed by a child, as soon as anybody writes or reads. Less
	// than 0: never. Default: [DefaultShardLife].
	ShardLife time.Duration
	// SplitAfter is the number of records after which a shard is closed and its keys are divided between two children,
	// or given to one while 64 are open. Default: 0, never.
	SplitAfter int
	// Delay is how long it may take until a record can be read. How long each one takes is drawn from [Options].Seed.
	// Default: 0, records can be read at once.
	Delay time.Duration
	// Interleave keeps only the order that is promised, that between the records of one item. The records of a
	// transaction then come apart: in another order, and with up to 16 other writes between them. Chance is
	// [Options].Seed. Default: records are in the order of the writes.
	Interleave bool
}

func (o StreamOptions) engine() engine.StreamConfig {
	switch {
	case o.ShardLife == 0:
		o.ShardLife = DefaultShardLife
	case o.ShardLife < 0:
		o.ShardLife = 0
	}
	return engine.StreamConfig(o)
}

// StreamsClient returns the AWS SDK's own client for the streams of this database's tables, connected without a socket
// as [DB.Client] is.
func (db *DB) StreamsClient(optFns ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region:       db.region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.CredentialsProviderFunc(credentials),
		HTTPClient:   db,
	}, optFns...)
}
