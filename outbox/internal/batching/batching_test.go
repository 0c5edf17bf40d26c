package batching_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/batching"
)

// message is the version of an aggregate; its payload is its size.
func message(aggregate string, version, bytes int) outbox.Message {
	return outbox.Message{Event: outbox.Event{
		ID: fmt.Sprint(aggregate, "-", version), AggregateID: aggregate, AggregateVersion: int64(version), Payload: make([]byte, bytes),
	}}
}

func encode(e outbox.Event) (outbox.Event, int, error) { return e, len(e.Payload), nil }

// TestEveryMessageHasItsResultWithinTheLimits: whatever the sizes, the order and the answers, no call breaks a limit, each
// message that fits is sent once, in order where that is asked, and its result is what the broker said of it.
func TestEveryMessageHasItsResultWithinTheLimits(t *testing.T) {
	chance.Check(t, func(t *rapid.T, seen chance.Seen) {
		broker := batching.Broker{
			Name: "broker", Entries: rapid.IntRange(1, 5).Draw(t, "entries"), Bytes: rapid.IntRange(1, 30).Draw(t, "bytes"),
			EntryBytes: rapid.IntRange(1, 15).Draw(t, "entry bytes"), Ordered: rapid.Bool().Draw(t, "ordered"),
			Unfit: func(string) bool { return false },
		}
		var batch []outbox.Message
		versions := map[string]int{}
		for _, aggregate := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 20).Draw(t, "aggregates") {
			versions[aggregate]++
			batch = append(batch, message(aggregate, versions[aggregate], rapid.IntRange(0, 16).Draw(t, "size")))
		}
		batch = rapid.Permutation(batch).Draw(t, "batch")
		sent, last := map[string]batching.Answer{}, map[string]int64{}
		results := batching.Publish(context.Background(), broker, batch, encode, func(_ context.Context, entries []outbox.Event) ([]batching.Answer, error) {
			total := 0
			answers := make([]batching.Answer, len(entries))
			for i, e := range entries {
				total += len(e.Payload)
				if _, twice := sent[e.ID]; twice {
					t.Fatalf("%s is sent twice", e.ID)
				}
				if broker.Ordered && e.AggregateVersion != last[e.AggregateID]+1 {
					t.Fatalf("version %d of %s is sent after %d", e.AggregateVersion, e.AggregateID, last[e.AggregateID])
				}
				answers[i] = rapid.SampledFrom([]batching.Answer{{Ack: "ack"}, {Ack: "ack"}, {Ack: "ack"}, {Code: "Later"}, {Code: "Never", Final: true}, {}}).Draw(t, "answer")
				sent[e.ID] = answers[i]
				if answers[i].Ack != "" {
					last[e.AggregateID] = e.AggregateVersion
				} else {
					last[e.AggregateID] = -100 // nothing may follow
				}
			}
			if len(entries) == 0 || len(entries) > broker.Entries || total > broker.Bytes {
				t.Fatalf("a call has %d entries and %d bytes", len(entries), total)
			}
			if len(entries) == broker.Entries {
				seen["a full call"]++
			} else if total > broker.Bytes-16 {
				seen["a call that is short for its bytes"]++
			}
			return answers, nil
		})
		for i, m := range batch {
			answer, was := sent[m.Event.ID]
			never := len(m.Event.Payload) > min(broker.Bytes, broker.EntryBytes)
			switch r := results[i]; {
			case was && never, was && r.Ack != answer.Ack, was && (r.Err == nil) != (answer.Ack != ""), was && r.Final != answer.Final:
				t.Fatalf("%s has the answer %+v and the result %+v", m.Event.ID, answer, r)
			case !was && never && r.Final:
				seen["one that never fits"]++
			case !was && broker.Ordered && r.Err != nil && !r.Final:
				seen["one behind a failure"]++
			case !was:
				t.Fatalf("%s was not sent; its result is %+v", m.Event.ID, r)
			}
		}
	}, "a full call", "a call that is short for its bytes", "one that never fits", "one behind a failure")
}

func TestCallsAreAsFewAsTheLimitsAllow(t *testing.T) {
	broker := batching.Broker{Name: "broker", Entries: 3, Bytes: 10, EntryBytes: 10, Unfit: func(string) bool { return false }}
	var batch []outbox.Message
	for version, bytes := range []int{5, 5, 5, 5, 10, 0, 0, 0, 0, 1} {
		batch = append(batch, message("a", version+1, bytes))
	}
	var calls []int
	batching.Publish(t.Context(), broker, batch, encode, func(_ context.Context, entries []outbox.Event) ([]batching.Answer, error) {
		calls = append(calls, len(entries))
		return nil, nil
	})
	if want := []int{2, 2, 3, 3}; !slices.Equal(calls, want) {
		t.Errorf("the calls have %v entries, want %v", calls, want)
	}
}

func TestNothingIsSentOnceTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	broker := batching.Broker{Name: "broker", Entries: 1, Bytes: 10, EntryBytes: 10, Unfit: func(string) bool { return false }}
	calls := 0
	results := batching.Publish(ctx, broker, []outbox.Message{message("a", 1, 1), message("a", 2, 1)}, encode,
		func(context.Context, []outbox.Event) ([]batching.Answer, error) {
			calls++
			cancel() // and the client does not heed it
			return []batching.Answer{{Ack: "ack"}}, nil
		})
	if calls != 1 || results[0].Ack != "ack" || !errors.Is(results[1].Err, context.Canceled) {
		t.Errorf("after %d calls the results are %+v", calls, results)
	}
}

// codes is a call's error with a code, as the SDK makes it.
func codes(code string) error {
	return &smithy.OperationError{ServiceID: "S", OperationName: "Put", Err: &smithy.GenericAPIError{Code: code, Message: "SECRET"}}
}

func TestReasonsRepeatNothingOfAnAnswerButItsCode(t *testing.T) {
	large := &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 413}}, Err: errors.New("SECRET")}
	for _, c := range []struct {
		err    error
		reason string
		code   string
		final  bool
	}{
		{codes("Throttled"), "answered with Throttled", "Throttled", false},
		{codes("Unfit"), "answered with Unfit", "Unfit", true},
		{codes("SECRET words"), "answered with UnknownError", "UnknownError", false},
		{codes(strings.Repeat("S", 101)), "answered with UnknownError", "UnknownError", false},
		{codes(""), "answered with UnknownError", "UnknownError", false},
		{&smithy.DeserializationError{Err: errors.New("SECRET"), Snapshot: []byte("SECRET")}, "the answer cannot be read", "", false},
		{&smithyhttp.RequestSendError{Err: errors.New("connection refused")}, "connection refused", "", false},
		{fmt.Errorf("%w", context.DeadlineExceeded), "deadline exceeded", "", false},
		{fmt.Errorf("%w: %w", codes("X"), large), "answered with X", "X", true},
	} {
		broker := batching.Broker{Name: "broker", Entries: 10, Bytes: 10, EntryBytes: 10, Unfit: func(code string) bool { return code == "Unfit" }}
		result := batching.Publish(t.Context(), broker, []outbox.Message{message("a", 1, 0)}, encode,
			func(context.Context, []outbox.Event) ([]batching.Answer, error) { return nil, c.err })[0]
		var failed *outbox.PublishError
		if !errors.As(result.Err, &failed) || failed.Code != c.code || result.Final != c.final || failed.Final != c.final {
			t.Errorf("%v: %+v", c.err, failed)
			continue
		}
		if text := result.Err.Error(); !strings.Contains(text, c.reason) || strings.Contains(text, "SECRET") || !errors.Is(result.Err, c.err) {
			t.Errorf("%v: %s", c.err, text)
		}
	}
}

func TestFaultsOfTheSetUpAreNotThoseOfTheSender(t *testing.T) {
	for code, mendable := range map[string]bool{
		"AccessDenied": true, "AuthorizationError": true, "KMS.DisabledException": true, "KmsThrottled": true, "ThrottlingException": true,
		"RequestThrottled": true, "OverLimit": true, "QueueDoesNotExist": true, "AWS.SimpleQueueService.NonExistentQueue": true, "NotFound": true,
		"ExpiredToken": true, "SignatureDoesNotMatch": true, "InternalError": true, "ServiceUnavailable": true,
		"InvalidMessageContents": false, "InvalidParameterValue": false, "InvalidParameter": false, "MissingParameter": false,
	} {
		if batching.Mendable(code) != mendable {
			t.Errorf("%s is mendable: %v", code, !mendable)
		}
	}
}

func TestDeduplicationIDs(t *testing.T) {
	for _, id := range []string{"4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("~", 128), "!"} {
		if got := batching.DeduplicationID(id); got != id {
			t.Errorf("%q becomes %q", id, got)
		}
	}
	all := map[string]bool{}
	for _, id := range []string{"", " ", "ä", "a b", strings.Repeat("x", 129), strings.Repeat("x", 130)} {
		got := batching.DeduplicationID(id)
		if len(got) != 64 || all[got] {
			t.Errorf("%q becomes %q", id, got)
		}
		all[got] = true
	}
}
