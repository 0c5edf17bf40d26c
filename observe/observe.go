package observe

import (
	"context"
	"time"

	"github.com/dynafin/dynafin/capacity"
)

// Observer is told what the library does. It must be safe for concurrent use and return quickly.
type Observer interface {
	// Observe is called when an operation has ended, with the context of its caller.
	Observe(ctx context.Context, e Event)
	// Measure is called when the length of a queue became known.
	Measure(ctx context.Context, m Measurement)
}

// A Starter is an [Observer] that is also told when an operation begins, for example to open a span. Its context is that of
// all requests of the operation, and of the Observe that ends it.
type Starter interface {
	Observer
	// Start returns the context to go on with: ctx, or one that is derived from it.
	Start(ctx context.Context, op Operation) context.Context
}

// Operation says what is done. All of it is from code or configuration, so it takes few values.
type Operation struct {
	// Package is the package that does it, for example "outbox".
	Package string
	// Scope is whose it is by the configuration: the service of an outbox, the consumer of an inbox. Often empty.
	Scope string
	// Pattern is the access pattern, for example "AP16". A Commit has those of its parts, "AP08+AP16"; what serves no
	// single pattern has none.
	Pattern string
	// Name is the operation within the pattern, for example "claim" or "commit".
	Name string
}

// Label returns pattern and name, such as "AP16.claim", as the labels of parts are written.
func (o Operation) Label() string {
	if o.Pattern == "" {
		return o.Name
	}
	return o.Pattern + "." + o.Name
}

// Event is an operation that has ended.
type Event struct {
	Operation

	// Outcome is how it ended.
	Outcome Outcome
	// Err is the error that the caller gets. It may name a business key; see the package documentation.
	Err error
	// Duration is the whole time, waits included, by the clock of the package's Config.
	Duration time.Duration

	// Parts are the labels of the parts of its Commit, or of its last one, in order, for example "AP16.create".
	Parts []string
	// Tables are the tables that its requests named, in the order of their first use. Empty if nothing was sent.
	Tables []string
	// Calls are DynamoDB's names of its requests, each once, for example "TransactWriteItems".
	Calls []string

	// Requests is how many requests were made, repeats by the SDK not counted.
	Requests int
	// Attempts is how many requests were sent, all repeats counted.
	Attempts int
	// Throttles and Conflicts are how many attempts were throttled, or met another request on the same items.
	Throttles, Conflicts int
	// ReadUnits and WriteUnits are what DynamoDB reported, indexes included. Failed requests report nothing.
	ReadUnits, WriteUnits capacity.Units
}
