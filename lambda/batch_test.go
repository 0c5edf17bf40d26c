package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/lambda"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// fails is a handle function by the text of the message: a capital letter fails.
func fails(tried *string) func(text string) error {
	return func(text string) error {
		*tried += text
		if strings.ToUpper(text) == text {
			return errClosed
		}
		return nil
	}
}

func TestAQueueGetsEveryFailureAndAFIFOQueueKeepsItsGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arn, batch, again, tried string }{
		{standardARN, "", "", ""},
		{standardARN, "abc", "", "abc"},
		{standardARN, "aBcAbB", "1 3 5", "aBcAbB"}, // a standard queue may have groups, too: they are no order
		{fifoARN, "abcabc", "", "abcabc"},
		{fifoARN, "aBcbAa", "1 3 4 5", "aBcA"},
	} {
		tried := ""
		handle := fails(&tried)
		handler := lambda.SQS(lambda.Config{DeadLetters: (&letters{}).put}, func(_ context.Context, m events.SQSMessage) error { return handle(m.Body) })
		var e events.SQSEvent
		for i, letter := range c.batch {
			e.Records = append(e.Records, sqsMessage(c.arn, fmt.Sprint(i), strings.ToLower(string(letter)), string(letter), 1))
		}
		again, err := call(t, t.Context(), handler, e)
		if got := strings.Join(again, " "); err != nil || got != c.again || tried != c.tried {
			t.Errorf("%s %q: again %q, tried %q, %v", c.arn, c.batch, got, tried, err)
		}
	}
}

func TestAStreamStopsAtItsFirstFailureAndReportsIt(t *testing.T) {
	t.Parallel()
	for batch, want := range map[string][2]string{"": {"", ""}, "abc": {"", "abc"}, "aBcA": {"49541001", "aB"}, "A": {"49541000", "A"}} {
		tried := ""
		handle := fails(&tried)
		handler := lambda.Kinesis(lambda.Config{DeadLetters: (&letters{}).put}, func(_ context.Context, r events.KinesisEventRecord) error {
			return handle(string(r.Kinesis.Data))
		})
		var e events.KinesisEvent
		for i, letter := range batch {
			e.Records = append(e.Records, kinesisRecord(i, strings.ToLower(string(letter)), string(letter)))
		}
		again, err := call(t, t.Context(), handler, e)
		if got := strings.Join(again, " "); err != nil || got != want[0] || tried != want[1] {
			t.Errorf("%q: again %q, tried %q, %v", batch, got, tried, err)
		}
	}
}

// away is an error as the SDK returns it.
func away(code string) error {
	return &smithy.OperationError{ServiceID: "SNS", OperationName: "Publish", Err: &smithy.GenericAPIError{Code: code}}
}

// What becomes of a message that fails: it depends on what the error says of it, and on how often it was received.
func TestPoisonIsADeadLetterAndTroubleIsNot(t *testing.T) {
	t.Parallel()
	mismatch := &inbox.MismatchError{Consumer: "portfolio", EventID: "e-1"}
	stale := fmt.Errorf("place: %w", shardmap.ErrStale)
	for _, c := range []struct {
		name     string
		err      error
		receives int
		buried   bool
	}{
		{"a plain error, early", errClosed, 2, false},
		{"a plain error, at the bound", errClosed, 3, true},
		{"a plain error, late", errClosed, 30, true},
		{"permanent", lambda.Permanent(errClosed), 1, true},
		{"permanent, wrapped", fmt.Errorf("decode: %w", lambda.Permanent(errClosed)), 1, true},
		{"another event under this ID", fmt.Errorf("process: %w", mismatch), 1, true},
		{"an event that breaks a rule", &inbox.InvalidError{Field: "ID"}, 1, true},
		{"a configuration that breaks a rule", &inbox.InvalidError{Field: "Config.Consumer"}, 30, false},
		{"temporary, as the caller says", fmt.Errorf("ask: %w", lambda.Temporary(errClosed)), 30, false},
		{"a throttle of another service", away("ThrottlingException"), 30, false},
		{"a refusal of another service", away("AccessDeniedException"), 30, true},
		{"a connection that broke", &smithyhttp.RequestSendError{Err: io.ErrUnexpectedEOF}, 30, false},
		{"nobody knows", &txn.AmbiguousError{}, 30, false},
		{"items are busy", &txn.ContentionError{}, 30, false},
		{"nothing was sent", txn.ErrNotSent, 30, false},
		{"a receipt could not be read", inbox.ErrRead, 30, false},
		{"time is up", context.DeadlineExceeded, 30, false},
		{"a map that is too old", stale, 30, false},
	} {
		sink := &letters{}
		var seen []lambda.Observation
		handler := lambda.SQS(lambda.Config{
			DeadLetters: sink.put, MaxReceives: 3, Now: func() time.Time { return time.Unix(1800000000, 0) },
			Observer: func(_ context.Context, o lambda.Observation) { seen = append(seen, o) },
		}, func(context.Context, events.SQSMessage) error { return c.err })
		message := sqsMessage(fifoARN, "m-1", "g-1", secret, c.receives)
		again, _ := call(t, t.Context(), handler, events.SQSEvent{Records: []events.SQSMessage{message}})
		letter, buried := sink.all[fifoARN+" m-1"]
		if buried != c.buried || buried == (len(again) == 1) || len(seen) != 1 || !errors.Is(seen[0].Err, c.err) {
			t.Errorf("%s: buried %v, again %v, observed %+v", c.name, buried, again, seen)
		}
		if !buried {
			continue
		}
		var whole events.SQSMessage
		if err := json.Unmarshal(letter.Message, &whole); err != nil || !reflect.DeepEqual(whole, message) {
			t.Errorf("%s: the letter's message: %+v, %v", c.name, whole, err)
		}
		if letter.Group != "g-1" || letter.Receives != c.receives || letter.Reason != c.err.Error() || letter.At.Unix() != 1800000000 || seen[0].Outcome != lambda.Buried {
			t.Errorf("%s: %+v, %+v", c.name, letter, seen)
		}
	}
}

// Kinesis does not count, so the handler does: poison blocks its shard for a bounded number of deliveries.
func TestPoisonOfAStreamIsADeadLetterAfterSoManyDeliveries(t *testing.T) {
	t.Parallel()
	sink := &letters{}
	var handle error
	handler := lambda.Kinesis(lambda.Config{DeadLetters: sink.put, MaxReceives: 3}, func(_ context.Context, r events.KinesisEventRecord) error {
		if string(r.Kinesis.Data) == "poison" {
			return handle
		}
		return nil
	})
	e := events.KinesisEvent{Records: []events.KinesisEventRecord{kinesisRecord(0, "a", "good"), kinesisRecord(1, "a", "poison"), kinesisRecord(2, "a", "good")}}
	deliver := func(err error) string {
		handle = err
		again, callErr := call(t, t.Context(), handler, e)
		if callErr != nil {
			t.Fatal(callErr)
		}
		return strings.Join(again, " ")
	}
	for n, c := range []struct {
		err   error
		again string
	}{
		{errClosed, "49541001"}, {errClosed, "49541001"}, {nil, ""}, // once it was handled, it counts anew
		{errClosed, "49541001"}, {&txn.ContentionError{}, "49541001"}, {errClosed, "49541001"}, {&txn.AmbiguousError{}, "49541001"}, {errClosed, ""},
		{errClosed, "49541001"}, // a letter is handled, too
	} {
		if again := deliver(c.err); again != c.again {
			t.Errorf("delivery %d: again %q, want %q", n+1, again, c.again)
		}
	}
	if letter := sink.all[kinesisARN+" 49541001"]; letter.Receives != 3 || letter.Group != "a" {
		t.Errorf("%+v", letter)
	}
}

// Only a letter that is stored makes a message count as handled.
func TestAMessageWhoseLetterIsNotStoredIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(context.Context, lambda.DeadLetter) error{
		"fails":  func(context.Context, lambda.DeadLetter) error { return errSink },
		"panics": func(context.Context, lambda.DeadLetter) error { panic(secret) },
	} {
		var seen []lambda.Observation
		handler := lambda.SQS(lambda.Config{DeadLetters: put, Observer: func(_ context.Context, o lambda.Observation) { seen = append(seen, o) }},
			func(context.Context, events.SQSMessage) error { return lambda.Permanent(errClosed) })
		again, err := call(t, t.Context(), handler, events.SQSEvent{Records: []events.SQSMessage{sqsMessage(fifoARN, "m-1", "a", secret, 1), sqsMessage(fifoARN, "m-2", "a", secret, 1)}})
		if err != nil || strings.Join(again, " ") != "m-1 m-2" || len(seen) != 2 || seen[0].Outcome != lambda.Failed || seen[1].Outcome != lambda.HeldBack {
			t.Fatalf("%s: again %v, %v, %+v", name, again, err, seen)
		}
		if err := seen[0].Err; !errors.Is(err, lambda.ErrDeadLetter) || !errors.Is(err, errClosed) || strings.Contains(err.Error(), secret) ||
			name == "fails" && !errors.Is(err, errSink) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A panic fails its message and no other, and its error does not repeat what it says.
func TestAPanicIsAFailureOfItsMessage(t *testing.T) {
	t.Parallel()
	sink := &letters{}
	var seen []lambda.Observation
	handler := lambda.SQS(lambda.Config{DeadLetters: sink.put, MaxReceives: 2, Observer: func(_ context.Context, o lambda.Observation) { seen = append(seen, o) }},
		func(_ context.Context, m events.SQSMessage) error {
			if m.MessageId == "m-1" {
				panic(m.Body)
			}
			return nil
		})
	batch := func(receives int) []string {
		again, _ := call(t, t.Context(), handler, events.SQSEvent{Records: []events.SQSMessage{
			sqsMessage(standardARN, "m-1", "", secret, receives), sqsMessage(standardARN, "m-2", "", secret, receives),
		}})
		return again
	}
	if again := batch(1); strings.Join(again, " ") != "m-1" {
		t.Errorf("again %v", again)
	}
	if again := batch(2); len(again) != 0 || !sink.has(standardARN, "m-1") || sink.has(standardARN, "m-2") {
		t.Errorf("again %v, %v", again, sink.all)
	}
	var panicked *lambda.PanicError
	if !errors.As(errors.Join(seen[1].Err, seen[0].Err), &panicked) || panicked.Value != secret || !strings.Contains(string(panicked.Stack), "batch_test.go") ||
		strings.Contains(panicked.Error(), secret) {
		t.Errorf("%+v", seen)
	}
}

// A handler stops before the function's timeout, and what it has not handled is delivered again.
func TestAHandlerStopsBeforeItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		sink := &letters{}
		tried := 0
		handler := lambda.SQS(lambda.Config{DeadLetters: sink.put, MaxReceives: 1}, func(ctx context.Context, _ events.SQSMessage) error {
			tried++
			select {
			case <-time.After(time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		var e events.SQSEvent
		for i := range 10 {
			e.Records = append(e.Records, sqsMessage(standardARN, fmt.Sprint(i), "", "", 9))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		again, err := call(t, ctx, handler, e)
		if err != nil || strings.Join(again, " ") != "2 3 4 5 6 7 8 9" || tried != 3 || len(sink.all) != 0 {
			t.Errorf("again %v, %v, %d tried, %d letters", again, err, tried, len(sink.all))
		}
		if took := time.Since(began); took != 2500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if _, err := call(t, ctx, handler, e); !errors.Is(err, lambda.ErrInvalid) || !strings.Contains(err.Error(), "Config.Margin") {
			t.Errorf("without time: %v", err)
		}
	})
}

func TestAWrongConfigurationRefusesEveryBatch(t *testing.T) {
	t.Parallel()
	good := lambda.Config{DeadLetters: (&letters{}).put}
	for field, change := range map[string]func(*lambda.Config){
		"DeadLetters": func(c *lambda.Config) { c.DeadLetters = nil },
		"MaxReceives": func(c *lambda.Config) { c.MaxReceives = -1 },
		"Margin":      func(c *lambda.Config) { c.Margin = -1 },
	} {
		config := good
		change(&config)
		tried := false
		handler := lambda.SQS(config, func(context.Context, events.SQSMessage) error { tried = true; return nil })
		_, err := call(t, t.Context(), handler, events.SQSEvent{Records: []events.SQSMessage{sqsMessage(standardARN, "m", "", "", 1)}})
		var invalid *lambda.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "Config."+field || tried {
			t.Errorf("%s: %v, tried %v", field, err, tried)
		}
	}
	handler := lambda.SQS(good, func(context.Context, events.SQSMessage) error { return errClosed })
	if _, err := call(t, t.Context(), handler, events.SQSEvent{Records: []events.SQSMessage{sqsMessage(standardARN, "", "", "", 1)}}); !errors.Is(err, lambda.ErrInvalid) || !errors.Is(err, errClosed) {
		t.Errorf("a failed message without an identifier: %v", err)
	}
	if lambda.Permanent(nil) != nil || lambda.Temporary(nil) != nil {
		t.Error("a mark makes an error of nil")
	}
}

func TestALongReasonIsCutAtACharacter(t *testing.T) {
	t.Parallel()
	sink := &letters{}
	handler := lambda.SQS(lambda.Config{DeadLetters: sink.put}, func(context.Context, events.SQSMessage) error {
		return lambda.Permanent(errors.New(strings.Repeat("€", 1000)))
	})
	call(t, t.Context(), handler, events.SQSEvent{Records: []events.SQSMessage{sqsMessage(standardARN, "m-1", "", "", 1)}})
	reason := sink.all[standardARN+" m-1"].Reason
	if len(reason) > lambda.MaxReasonBytes || len(reason) < lambda.MaxReasonBytes-3 || !strings.HasSuffix(reason, "€") {
		t.Errorf("%d bytes: %q", len(reason), reason)
	}
}
