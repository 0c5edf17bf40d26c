package sns

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/batching"
)

// Limits of the service.
const (
	MaxEntries = 10      // of a call
	MaxBytes   = 1 << 20 // of a call and of a message with its attributes, if the topic is set so
)

// DefaultMaxBytes is what a topic takes that was not set otherwise.
const DefaultMaxBytes = 256 * 1024

// Client is the call that sends messages. *sns.Client of the AWS SDK satisfies it.
type Client interface {
	// PublishBatch sends a batch of messages.
	PublishBatch(ctx context.Context, in *sdk.PublishBatchInput, opts ...func(*sdk.Options)) (*sdk.PublishBatchOutput, error)
}

// Config says where events go and in which form.
type Config struct {
	// TopicARN is the topic. Required. Its name ends in ".fifo" if it is a FIFO topic, and events are sent in order then.
	TopicARN string
	// MaxBytes is the topic's MaximumMessageSize. Default: DefaultMaxBytes.
	MaxBytes int
	// Body makes the text of a message. An error of it parks the event. Default: [outbox.Event.Envelope].
	Body func(outbox.Event) ([]byte, error)
}

var topicARN = regexp.MustCompile(`^arn:[^: ]+:sns:[^: ]*:[^: ]*:[a-zA-Z0-9_-]{1,256}(\.fifo)?$`)

func (c Config) validate() error {
	bad := func(field, reason string) error {
		return &outbox.InvalidError{Field: "sns.Config." + field, Reason: reason}
	}
	switch {
	case !topicARN.MatchString(c.TopicARN):
		return bad("TopicARN", "is not the ARN of a topic")
	case c.MaxBytes < 1 || c.MaxBytes > MaxBytes:
		return bad("MaxBytes", fmt.Sprintf("is not 1 to %d", MaxBytes))
	}
	return nil
}

// Publisher sends events to one topic. It is safe for concurrent use.
type Publisher struct {
	client Client
	config Config
	broker batching.Broker
}

var _ outbox.Publisher = (*Publisher)(nil)

// New returns a publisher. The error is an [outbox.InvalidError]: it comes at once, because a relay would park one event
// after the other for a mistake in the configuration.
func New(client Client, config Config) (*Publisher, error) {
	config.MaxBytes = cmp.Or(config.MaxBytes, DefaultMaxBytes)
	if config.Body == nil {
		config.Body = batching.Envelope
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Publisher{client: client, config: config, broker: batching.Broker{
		Name: "SNS", Entries: MaxEntries, Bytes: config.MaxBytes, EntryBytes: config.MaxBytes,
		Ordered: strings.HasSuffix(config.TopicARN, ".fifo"), Unfit: unfitCall,
	}}, nil
}

// unfitCall are the codes of a call that was refused for what an entry holds.
func unfitCall(code string) bool {
	return slices.Contains([]string{"BatchRequestTooLong", "InvalidParameter", "ParameterValueInvalid", "ValidationException"}, code)
}

// Publish sends the batch. The acknowledgement is the message ID; of a FIFO topic "messageId:sequenceNumber".
func (p *Publisher) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	return batching.Publish(ctx, p.broker, batch, p.encode, p.put)
}

func (p *Publisher) encode(e outbox.Event) (types.PublishBatchRequestEntry, int, error) {
	body, err := p.config.Body(e)
	if err != nil {
		return types.PublishBatchRequestEntry{}, 0, err
	}
	if len(body) == 0 || !utf8.Valid(body) {
		return types.PublishBatchRequestEntry{}, 0, batching.Unfit("its body is empty, or no UTF-8 text")
	}
	entry := types.PublishBatchRequestEntry{Message: aws.String(string(body)), MessageAttributes: map[string]types.MessageAttributeValue{}}
	size := len(body)
	for name, value := range e.Attributes() {
		kind := batching.AttributeType(name)
		entry.MessageAttributes[name] = types.MessageAttributeValue{DataType: &kind, StringValue: &value}
		size += len(name) + len(kind) + len(value)
	}
	if p.broker.Ordered {
		entry.MessageGroupId = aws.String(e.AggregateKey())
		entry.MessageDeduplicationId = aws.String(batching.DeduplicationID(e.ID))
	}
	return entry, size, nil
}

func (p *Publisher) put(ctx context.Context, entries []types.PublishBatchRequestEntry) ([]batching.Answer, error) {
	for i := range entries {
		entries[i].Id = aws.String(batching.EntryID(i))
	}
	out, err := p.client.PublishBatch(ctx, &sdk.PublishBatchInput{TopicArn: &p.config.TopicARN, PublishBatchRequestEntries: entries})
	if err != nil || out == nil {
		return nil, err
	}
	answers := make(batching.ByID, len(entries))
	for _, taken := range out.Successful {
		answers.Taken(taken.Id, taken.MessageId, taken.SequenceNumber)
	}
	for _, refused := range out.Failed {
		answers.Refused(refused.Id, refused.Code, refused.SenderFault)
	}
	return answers, nil
}
