package lambda

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Defaults of a [Config].
const (
	// DefaultMaxReceives is how often a message may fail before it is a dead letter.
	DefaultMaxReceives = 5
	// DefaultMargin is how long before the function's timeout a handler stops.
	DefaultMargin = 500 * time.Millisecond
)

// MaxReasonBytes is how much a dead letter keeps of its reason.
const MaxReasonBytes = 512

// Config says how a handler treats its messages. DeadLetters is required.
type Config struct {
	// DeadLetters stores a message that cannot be processed, with its reason. Only when it returns nil does the message count
	// as handled; after an error it is delivered again. It may be asked twice for one message, so it should store it under
	// [DeadLetter.Source] and [DeadLetter.ID]. Required.
	DeadLetters func(ctx context.Context, letter DeadLetter) error
	// MaxReceives is how often a message may fail: if its handling fails once it was received that often, it becomes a dead
	// letter. Failures that tell nothing about the message do not make it one; see the package comment. The queue's own
	// maxReceiveCount should be larger, so that letters come with their reasons. Default: [DefaultMaxReceives].
	MaxReceives int
	// Margin is how long before the function's timeout the handler stops, so that Lambda gets its answer: time for nothing
	// but that. Handle functions must heed their context. Default: [DefaultMargin].
	Margin time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Observer, if set, is told how each message of a batch ended.
	Observer func(ctx context.Context, o Observation)
}

func (c Config) withDefaults() Config {
	c.MaxReceives = cmp.Or(c.MaxReceives, DefaultMaxReceives)
	c.Margin = cmp.Or(c.Margin, DefaultMargin)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func (c Config) validate() error {
	var faults []error
	rule := func(holds bool, field, reason string) {
		if !holds {
			faults = append(faults, &InvalidError{Field: "Config." + field, Reason: reason})
		}
	}
	rule(c.DeadLetters != nil, "DeadLetters", "is missing: a message that cannot be processed would have nowhere to go")
	rule(c.MaxReceives >= 1, "MaxReceives", "is below 1")
	rule(c.Margin > 0, "Margin", "is negative")
	return errors.Join(faults...)
}

// DeadLetter is a message that cannot be processed.
type DeadLetter struct {
	// Source is the ARN of the queue or stream, and ID what identifies the message there: the message ID, or the sequence
	// number.
	Source, ID string
	// Group is the message group of a FIFO queue, or the partition key of a Kinesis record.
	Group string
	// Receives is how often the message was received, this time included, as far as the handler knows.
	Receives int
	// Reason is the text of the last error, up to MaxReasonBytes.
	Reason string
	// At is when it was given up.
	At time.Time
	// Message is the whole message as Lambda delivered it: the JSON of an events.SQSMessage, events.KinesisEventRecord or
	// events.DynamoDBEventRecord, for whoever sends it again.
	Message json.RawMessage
}

// Outcome is how a message of a batch ended.
type Outcome string

// The outcomes of a message.
const (
	// Done: it was handled.
	Done Outcome = "done"
	// Failed: it is delivered again, because its handling failed or the time was up.
	Failed Outcome = "failed"
	// HeldBack: it is delivered again, because one before it failed and their order matters.
	HeldBack Outcome = "held back"
	// Buried: it is a dead letter.
	Buried Outcome = "buried"
)

// Observation is what an Observer learns of one message.
type Observation struct {
	// Source and ID say which message; see [DeadLetter].
	Source, ID string
	// Receives is how often it was received, as far as the handler knows.
	Receives int
	// Outcome is how it ended.
	Outcome Outcome
	// Err is why, unless it is done.
	Err error
}
