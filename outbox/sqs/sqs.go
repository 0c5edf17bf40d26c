package sqs

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/batching"
)

// Limits of the service.
const (
	MaxEntries = 10      // of a call
	MaxBytes   = 1 << 20 // of a call and of a message with its attributes
)

// Client is the call that sends messages. *sqs.Client of the AWS SDK satisfies it.
type Client interface {
	// SendMessageBatch sends a batch of messages.
	SendMessageBatch(ctx context.Context, in *sdk.SendMessageBatchInput, opts ...func(*sdk.Options)) (*sdk.SendMessageBatchOutput, error)
}

// Config says where events go and in which form.
type Config struct {
	// QueueURL is the queue. Required. It ends in ".fifo" if it is a FIFO queue, and events are sent in order then.
	QueueURL string
	// MaxBytes is the queue's MaximumMessageSize. Default: the constant of this name; a queue that is older than the
	// limit may take 262,144 only.
	MaxBytes int
	// Body makes the text of a message. An error of it parks the event. Default: [outbox.Event.Envelope].
	Body func(outbox.Event) ([]byte, error)
}

func (c Config) validate() error {
	bad := func(field, reason string) error {
		return &outbox.InvalidError{Field: "sqs.Config." + field, Reason: reason}
	}
	address, err := url.Parse(c.QueueURL)
	switch {
	case err != nil || address.Host == "" || strings.Trim(address.Path, "/") == "":
		return bad("QueueURL", "is not the URL of a queue")
	case c.MaxBytes < 1 || c.MaxBytes > MaxBytes:
		return bad("MaxBytes", fmt.Sprintf("is not 1 to %d", MaxBytes))
	}
	return nil
}

// Publisher sends events to one queue. It is safe for concurrent use.
type Publisher struct {
	client Client
	config Config
	broker batching.Broker
}

var _ outbox.Publisher = (*Publisher)(nil)

// New returns a publisher. The error is an [outbox.InvalidError]: it comes at once, because a relay would park one event
// after the other for a mistake in the configuration.
func New(client Client, config Config) (*Publisher, error) {
	config.MaxBytes = cmp.Or(config.MaxBytes, MaxBytes)
	if config.Body == nil {
		config.Body = batching.Envelope
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Publisher{client: client, config: config, broker: batching.Broker{
		Name: "SQS", Entries: MaxEntries, Bytes: config.MaxBytes, EntryBytes: config.MaxBytes,
		Ordered: strings.HasSuffix(config.QueueURL, ".fifo"), Unfit: unfitCall,
	}}, nil
}

// unfitCall are the codes of a call that was refused for what an entry holds.
func unfitCall(code string) bool {
	return slices.Contains([]string{
		"BatchRequestTooLong", "InvalidAttributeValue", "InvalidMessageContents", "InvalidParameterValue", "InvalidParameterValueException",
	}, code)
}

// Publish sends the batch. The acknowledgement is the message ID; of a FIFO queue "messageId:sequenceNumber".
func (p *Publisher) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	return batching.Publish(ctx, p.broker, batch, p.encode, p.put)
}

func (p *Publisher) encode(e outbox.Event) (types.SendMessageBatchRequestEntry, int, error) {
	body, err := p.config.Body(e)
	if err != nil {
		return types.SendMessageBatchRequestEntry{}, 0, err
	}
	if len(body) == 0 || !sendable(string(body)) {
		return types.SendMessageBatchRequestEntry{}, 0, batching.Unfit("its body is empty, or has characters that SQS does not take")
	}
	entry := types.SendMessageBatchRequestEntry{MessageBody: aws.String(string(body)), MessageAttributes: map[string]types.MessageAttributeValue{}}
	size := len(body)
	for name, value := range e.Attributes() {
		if !sendable(value) {
			return entry, 0, batching.Unfit("its " + name + " has characters that SQS does not take")
		}
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

// sendable says whether a text is UTF-8 of the characters of XML 1.0, the only ones that SQS takes.
func sendable(text string) bool {
	refused := func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
	}
	return utf8.ValidString(text) && strings.IndexFunc(text, refused) < 0
}

func (p *Publisher) put(ctx context.Context, entries []types.SendMessageBatchRequestEntry) ([]batching.Answer, error) {
	for i := range entries {
		entries[i].Id = aws.String(batching.EntryID(i))
	}
	var unchecked bool
	out, err := p.client.SendMessageBatch(ctx, &sdk.SendMessageBatchInput{QueueUrl: &p.config.QueueURL, Entries: entries}, func(o *sdk.Options) {
		// The client's check fails the whole call for one entry, and cannot bear an entry without an ID. Here each is
		// checked for itself.
		unchecked, o.DisableMessageChecksumValidation = o.DisableMessageChecksumValidation, true
	})
	if err != nil || out == nil {
		return nil, err
	}
	answers := make(batching.ByID, len(entries))
	for _, taken := range out.Successful {
		if unchecked || !garbled(entries, taken) {
			answers.Taken(taken.Id, taken.MessageId, taken.SequenceNumber)
		}
	}
	for _, refused := range out.Failed {
		answers.Refused(refused.Id, refused.Code, refused.SenderFault)
	}
	return answers, nil
}
