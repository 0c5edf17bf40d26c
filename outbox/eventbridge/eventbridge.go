package eventbridge

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/batching"
)

// Limits of the service.
const (
	MaxEntries         = 10        // of a call
	MaxBytes           = 1_047_500 // of a call: 1 MiB, less what the envelope adds before the event reaches a target
	MaxDetailTypeRunes = 128
)

// DefaultMaxBytes is what every Region takes.
const DefaultMaxBytes = 256 * 1024

// Client is the call that sends events. *eventbridge.Client of the AWS SDK satisfies it.
type Client interface {
	// PutEvents sends a batch of events.
	PutEvents(ctx context.Context, in *sdk.PutEventsInput, opts ...func(*sdk.Options)) (*sdk.PutEventsOutput, error)
}

// Config says where events go and in which form.
type Config struct {
	// Bus is the name or the ARN of the event bus. Default: "default".
	Bus string
	// Source names the producer in rules, for example "com.acme.orders". Required; "aws." is reserved.
	Source string
	// MaxBytes limits a call, and so an event, up to the constant of this name. Default: DefaultMaxBytes.
	MaxBytes int
	// Detail makes the detail of an event, a JSON object in which consumers find the event's ID. An error of it parks the
	// event. Default: [outbox.Event.Envelope].
	Detail func(outbox.Event) ([]byte, error)
}

var busName = regexp.MustCompile(`^(arn:[^ ]{1,1000}:event-bus/)?[.\-_A-Za-z0-9/]{1,256}$`)

func (c Config) validate() error {
	bad := func(field, reason string) error {
		return &outbox.InvalidError{Field: "eventbridge.Config." + field, Reason: reason}
	}
	switch {
	case !busName.MatchString(c.Bus):
		return bad("Bus", "is neither the name nor the ARN of an event bus")
	case c.Source == "" || utf8.RuneCountInString(c.Source) > 256 || !utf8.ValidString(c.Source):
		return bad("Source", "is not UTF-8 of 1 to 256 characters")
	case strings.HasPrefix(strings.ToLower(c.Source), "aws."):
		return bad("Source", "begins with aws., which is reserved")
	case c.MaxBytes < 1 || c.MaxBytes > MaxBytes:
		return bad("MaxBytes", fmt.Sprintf("is not 1 to %d", MaxBytes))
	}
	return nil
}

// Publisher sends events to one bus. It is safe for concurrent use.
type Publisher struct {
	client Client
	config Config
	broker batching.Broker
}

var _ outbox.Publisher = (*Publisher)(nil)

// New returns a publisher. The error is an [outbox.InvalidError]: it comes at once, because a relay would park one event
// after the other for a mistake in the configuration.
func New(client Client, config Config) (*Publisher, error) {
	config.Bus, config.MaxBytes = cmp.Or(config.Bus, "default"), cmp.Or(config.MaxBytes, DefaultMaxBytes)
	if config.Detail == nil {
		config.Detail = batching.Envelope
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Publisher{client: client, config: config, broker: batching.Broker{
		Name: "EventBridge", Entries: MaxEntries, Bytes: config.MaxBytes, EntryBytes: config.MaxBytes, Unfit: unfitCall,
	}}, nil
}

// unfitCall are the codes of a call that was refused for what an entry holds.
func unfitCall(code string) bool { return code == "ValidationException" }

// unfit are the codes of entries that no repeat can help.
var unfit = []string{"InvalidArgument", "MalformedDetail", "RedactionFailure"}

// Publish sends the batch, each event with the ID that the service gave it as the acknowledgement.
func (p *Publisher) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	return batching.Publish(ctx, p.broker, batch, p.encode, p.put)
}

func (p *Publisher) encode(e outbox.Event) (types.PutEventsRequestEntry, int, error) {
	var entry types.PutEventsRequestEntry
	detail, err := p.config.Detail(e)
	switch {
	case err != nil:
		return entry, 0, err
	case !utf8.Valid(detail) || len(detail) == 0:
		return entry, 0, batching.Unfit("its detail is not UTF-8 text")
	case e.Type == "" || utf8.RuneCountInString(e.Type) > MaxDetailTypeRunes:
		return entry, 0, batching.Unfit(fmt.Sprintf("its type has %d characters, of 1 to %d", utf8.RuneCountInString(e.Type), MaxDetailTypeRunes))
	}
	entry = types.PutEventsRequestEntry{
		EventBusName: &p.config.Bus, Source: &p.config.Source, DetailType: &e.Type, Detail: aws.String(string(detail)),
	}
	size := len(p.config.Source) + len(e.Type) + len(detail)
	if !e.OccurredAt.IsZero() {
		entry.Time = &e.OccurredAt
		size += timeBytes
	}
	return entry, size, nil
}

// timeBytes is what the service counts for the time of an entry.
const timeBytes = 14

func (p *Publisher) put(ctx context.Context, entries []types.PutEventsRequestEntry) ([]batching.Answer, error) {
	out, err := p.client.PutEvents(ctx, &sdk.PutEventsInput{Entries: entries})
	if err != nil || out == nil {
		return nil, err
	}
	answers := make([]batching.Answer, len(out.Entries))
	for i, entry := range out.Entries {
		code := aws.ToString(entry.ErrorCode)
		answers[i] = batching.Answer{Ack: aws.ToString(entry.EventId), Code: code, Final: slices.Contains(unfit, code)}
	}
	return answers, nil
}
