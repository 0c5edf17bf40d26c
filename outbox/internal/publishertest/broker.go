// Package publishertest holds the publishers of the brokers to one contract. Each publisher's test says how its broker
// reads and writes its protocol; the real SDK client speaks it to a broker in this process, which does what a test decides.
// Only tests import this package.
package publishertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/dynafin/dynafin/outbox"
)

// Sent is one entry of a call, as the broker reads it.
type Sent struct {
	// Name is the entry's name in its call, if the protocol has such.
	Name string
	Body []byte
	// Group is the message group, or the partition key, and Deduplication the deduplication ID.
	Group, Deduplication string
	Attributes           map[string]string
	// Bytes is its size as the broker counts.
	Bytes int
}

// Event is the event in the body.
func (s Sent) Event() outbox.Event {
	e, err := outbox.ParseEnvelope(s.Body)
	if err != nil {
		return outbox.Event{Payload: s.Body}
	}
	return e
}

// Outcome is what the broker says of an entry: an ID, or a code.
type Outcome struct {
	ID, Code string
	// SenderFault is told by those protocols that know it.
	SenderFault bool
}

// Protocol is what is special to a broker.
type Protocol struct {
	// New makes a publisher over the real SDK client, which talks to this. Ordered asks for order, if it can be asked for.
	New func(client aws.HTTPClient, ordered bool) (outbox.Publisher, error)
	// Read reads the entries of a call.
	Read func(body []byte) ([]Sent, error)
	// Write answers a call.
	Write func(sent []Sent, outcomes []Outcome) string
	// Fault refuses a whole call.
	Fault func(code, message string) (status int, contentType, body string)
	// Ack is what the publisher is expected to report for an outcome with this ID.
	Ack func(id string, ordered bool) string
	// Malformed are answers that no broker should give to a call of two entries, and which of the two count as published.
	Malformed map[string]Malformed

	Entries    int // of a call
	EntryBytes int // of an entry
	Ordered    bool
	// Unfit refuses an entry for ever, UnfitCall a call for what an entry holds, and Later for a time.
	Unfit, Later     Outcome
	UnfitCall, Never string // codes of calls: about the content; about rights
}

// Malformed is an answer that no broker should give.
type Malformed struct {
	Answer    func(sent []Sent) string
	Published [2]bool
}

// Reaction is what a broker does with a call. The zero value takes every entry.
type Reaction struct {
	Outcomes []Outcome
	Fault    string // refuse the call with this code
	Raw      string // answer with this
	Lose     bool   // take the entries, lose the answer
}

// Broker is a broker in this process: an HTTP client that answers.
type Broker struct {
	Protocol
	// React decides about a call, from 0. Default: take everything.
	React func(call int, sent []Sent) Reaction

	mu    sync.Mutex
	calls [][]Sent
	taken []Sent
}

var errLost = errors.New("the connection was reset")

// Do answers a request.
func (b *Broker) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	sent, err := b.Read(body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var reaction Reaction
	if b.React != nil {
		reaction = b.React(len(b.calls), sent)
	}
	b.calls = append(b.calls, sent)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if reaction.Fault != "" {
		return respond(b.Fault(reaction.Fault, string(body))) // brokers quote what they do not like
	}
	if reaction.Outcomes == nil {
		for _, s := range sent {
			reaction.Outcomes = append(reaction.Outcomes, Outcome{ID: "id-" + s.Event().ID})
		}
	}
	for i, outcome := range reaction.Outcomes {
		if outcome.Code == "" && reaction.Raw == "" {
			b.taken = append(b.taken, sent[i])
		}
	}
	switch {
	case reaction.Lose:
		return nil, errLost
	case reaction.Raw != "":
		return respond(http.StatusOK, contentType(req), reaction.Raw)
	default:
		return respond(http.StatusOK, contentType(req), b.Write(sent, reaction.Outcomes))
	}
}

func contentType(req *http.Request) string {
	if kind := req.Header.Get("Content-Type"); kind != "application/x-www-form-urlencoded" {
		return kind
	}
	return "text/xml"
}

func respond(status int, contentType, body string) (*http.Response, error) {
	header := http.Header{"Content-Type": {contentType}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body))}, nil
}

// Calls returns the calls that came.
func (b *Broker) Calls() [][]Sent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([][]Sent(nil), b.calls...)
}

// Taken returns the entries that the broker took, in order.
func (b *Broker) Taken() []Sent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Sent(nil), b.taken...)
}

// deliveries counts the copies of each event.
func (b *Broker) deliveries() map[string]int {
	copies := map[string]int{}
	for _, s := range b.Taken() {
		copies[s.Event().ID]++
	}
	return copies
}

// open returns a broker that reacts as told, and its publisher.
func (p Protocol) open(t *testing.T, ordered bool, react func(call int, sent []Sent) Reaction) (*Broker, outbox.Publisher) {
	t.Helper()
	b := &Broker{Protocol: p, React: react}
	publisher, err := p.New(b, ordered)
	if err != nil {
		t.Fatal(err)
	}
	return b, publisher
}

// Credentials are those of an SDK client in a test.
var Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
})
