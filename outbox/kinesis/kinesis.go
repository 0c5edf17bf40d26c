package kinesis

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/batching"
)

// Limits of the service. Both sizes count the partition keys.
const (
	MaxEntries     = 500      // of a call
	MaxBytes       = 10 << 20 // of a call
	MaxRecordBytes = 10 << 20 // of a record, if the stream is set so
)

// DefaultMaxRecordBytes is what a stream takes that was not set otherwise.
const DefaultMaxRecordBytes = 1 << 20

// Client is the call that sends records. *kinesis.Client of the AWS SDK satisfies it.
type Client interface {
	// PutRecords sends a batch of records.
	PutRecords(ctx context.Context, in *sdk.PutRecordsInput, opts ...func(*sdk.Options)) (*sdk.PutRecordsOutput, error)
}

// Config says where events go and in which form.
type Config struct {
	// Stream is the name or the ARN of the stream. Required.
	Stream string
	// MaxRecordBytes is the stream's own limit for a record. Default: DefaultMaxRecordBytes.
	MaxRecordBytes int
	// Ordered sends the events of an aggregate one a call, and none after one that failed. Without it a record that is
	// throttled is overtaken by later ones of its aggregate.
	Ordered bool
	// Data makes the data of a record, in which consumers find the event's ID. An error of it parks the event. Default:
	// [outbox.Event.Envelope].
	Data func(outbox.Event) ([]byte, error)
}

var streamName = regexp.MustCompile(`^(arn:[^ ]{1,1000}:stream/)?[a-zA-Z0-9_.-]{1,128}$`)

func (c Config) validate() error {
	bad := func(field, reason string) error {
		return &outbox.InvalidError{Field: "kinesis.Config." + field, Reason: reason}
	}
	switch {
	case !streamName.MatchString(c.Stream):
		return bad("Stream", "is neither the name nor the ARN of a stream")
	case c.MaxRecordBytes < 1 || c.MaxRecordBytes > MaxRecordBytes:
		return bad("MaxRecordBytes", fmt.Sprintf("is not 1 to %d", MaxRecordBytes))
	}
	return nil
}

// Publisher sends events to one stream. It is safe for concurrent use.
type Publisher struct {
	client Client
	config Config
	broker batching.Broker
}

var _ outbox.Publisher = (*Publisher)(nil)

// New returns a publisher. The error is an [outbox.InvalidError]: it comes at once, because a relay would park one event
// after the other for a mistake in the configuration.
func New(client Client, config Config) (*Publisher, error) {
	config.MaxRecordBytes = cmp.Or(config.MaxRecordBytes, DefaultMaxRecordBytes)
	if config.Data == nil {
		config.Data = batching.Envelope
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Publisher{client: client, config: config, broker: batching.Broker{
		Name: "Kinesis", Entries: MaxEntries, Bytes: MaxBytes, EntryBytes: config.MaxRecordBytes, Ordered: config.Ordered, Unfit: unfitCall,
	}}, nil
}

// unfitCall are the codes of a call that was refused for what a record holds: one that is larger than the stream takes.
func unfitCall(code string) bool {
	return slices.Contains([]string{"InvalidArgumentException", "ValidationException"}, code)
}

// Publish sends the batch, each record with the aggregate as its partition key. The acknowledgement is its shard and
// sequence number, "shardId-000000000000:49590338271490256608559692538361571095921575989136588898".
func (p *Publisher) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	return batching.Publish(ctx, p.broker, batch, p.encode, p.put)
}

func (p *Publisher) encode(e outbox.Event) (types.PutRecordsRequestEntry, int, error) {
	data, err := p.config.Data(e)
	if err != nil {
		return types.PutRecordsRequestEntry{}, 0, err
	}
	if data == nil {
		data = []byte{} // the member is required
	}
	key := e.AggregateKey()
	return types.PutRecordsRequestEntry{Data: data, PartitionKey: &key}, len(data) + len(key), nil
}

func (p *Publisher) put(ctx context.Context, records []types.PutRecordsRequestEntry) ([]batching.Answer, error) {
	in := &sdk.PutRecordsInput{Records: records}
	if strings.HasPrefix(p.config.Stream, "arn:") {
		in.StreamARN = &p.config.Stream
	} else {
		in.StreamName = &p.config.Stream
	}
	out, err := p.client.PutRecords(ctx, in)
	if err != nil || out == nil {
		return nil, err
	}
	answers := make([]batching.Answer, len(out.Records))
	for i, record := range out.Records {
		answers[i].Code = aws.ToString(record.ErrorCode) // of the codes that there are, all may pass
		if number := aws.ToString(record.SequenceNumber); number != "" {
			answers[i].Ack = aws.ToString(record.ShardId) + ":" + number
		}
	}
	return answers, nil
}
