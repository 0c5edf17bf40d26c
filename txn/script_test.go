package txn_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/cenkalti/backoff/v4"

	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// script is a Client that gives prepared answers, one an attempt, and keeps what it was sent. It stands in for the answers
// that no engine gives on demand; what engines do give is tested on the simulator.
type script struct {
	t       *testing.T
	answers []answer
	sent    []*dynamodb.TransactWriteItemsInput
}

type answer func(in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error)

func (s *script) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	var o dynamodb.Options
	for _, opt := range opts {
		opt(&o)
	}
	if o.Retryer == nil || o.Retryer.MaxAttempts() != 1 {
		s.t.Error("the SDK's own retries are on")
	}
	s.sent = append(s.sent, in)
	if len(s.answers) == 0 {
		s.t.Fatal("more attempts than the script has answers")
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	return next(in)
}

func ok(*dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

func fails(err error) answer {
	return func(*dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) { return nil, err }
}

// lost is an answer that never came.
func lost(in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
	return nil, &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "TransactWriteItems",
		Err: &smithyhttp.RequestSendError{Err: io.ErrUnexpectedEOF}}
}

func code(code string) answer {
	return fails(&smithy.GenericAPIError{Code: code, Message: "as scripted", Fault: smithy.FaultClient})
}

func status(status int) answer {
	return fails(&smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: "Whatever"},
	})
}

// cancels answers with one reason for each write, in order. A reason is a code, and may have an old item.
func cancels(reasons ...types.CancellationReason) answer {
	return fails(&types.TransactionCanceledException{Message: aws.String("cancelled"), CancellationReasons: reasons})
}

func reason(code string, old ...txn.Item) types.CancellationReason {
	r := types.CancellationReason{Code: aws.String(code)}
	if len(old) > 0 {
		r.Item = old[0]
	}
	return r
}

type (
	inputT  = dynamodb.TransactWriteItemsInput
	outputT = dynamodb.TransactWriteItemsOutput
)

var none, failed = reason("None"), "ConditionalCheckFailed"

// config makes Commits deterministic: marks count up, waits are full and recorded, the clock stands with the waits.
type clockwork struct {
	now   time.Time
	waits []time.Duration
	marks int
	seen  []observe.Event
}

func (c *clockwork) config() txn.Config {
	return txn.Config{
		NewMark:  func() string { c.marks++; return fmt.Sprintf("mark-%d", c.marks) },
		Jitter:   func(limit time.Duration) time.Duration { return limit },
		Now:      func() time.Time { return c.now },
		NewTimer: func() backoff.Timer { return &instant{clock: c, fired: make(chan time.Time, 1)} },
		Observer: observe.Func(func(_ context.Context, e observe.Event) { c.seen = append(c.seen, e) }),
	}
}

// instant is a timer that moves the clock instead of waiting.
type instant struct {
	clock *clockwork
	fired chan time.Time
}

func (i *instant) Start(d time.Duration) {
	i.clock.waits = append(i.clock.waits, d)
	i.clock.now = i.clock.now.Add(d)
	i.fired <- i.clock.now
}
func (i *instant) Stop()               {}
func (i *instant) C() <-chan time.Time { return i.fired }

var orders = txn.Table{Name: "Orders"}

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func n(digits string) types.AttributeValue { return &types.AttributeValueMemberN{Value: digits} }

func item(pk string, more ...string) txn.Item {
	it := txn.Item{"PK": s(pk), "SK": s("META")}
	for i := 0; i+1 < len(more); i += 2 {
		it[more[i]] = s(more[i+1])
	}
	return it
}

func commit(t *testing.T, parts []txn.Part, answers ...answer) (txn.Receipt, *script, *clockwork, error) {
	t.Helper()
	client := &script{t: t, answers: answers}
	clock := &clockwork{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	receipt, err := txn.New(client, clock.config()).Commit(t.Context(), parts...)
	if len(client.answers) > 0 {
		t.Errorf("%d scripted answers were not asked for", len(client.answers))
	}
	return receipt, client, clock, err
}
