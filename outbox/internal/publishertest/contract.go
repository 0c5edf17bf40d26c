package publishertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/outbox"
)

// Run holds a publisher to the contract.
func Run(t *testing.T, p Protocol) {
	tests := map[string]func(*testing.T, Protocol){
		"a batch becomes calls that the broker takes":                   testSplit,
		"a message carries the whole event":                             testContent,
		"an entry of exactly the limit is sent, a larger one is parked": testLimit,
		"each entry has its own result":                                 testPartialFailure,
		"answers that no broker should give lose nothing":               testMalformed,
		"a call that fails is tried again":                              testFailedCall,
		"one entry that spoils a call does not spoil its neighbours":    testPoison,
		"what was sent before the context ended is published":           testCancelled,
		"an event that is there twice is sent twice":                    testTwice,
		"errors repeat no payload":                                      testSecrecy,
		"a relay publishes everything":                                  testRelay,
		"a relay parks at once what can never be sent":                  testRelayParks,
		"a relay resends only what failed":                              testRelayPartialFailure,
	}
	if p.Ordered {
		tests["an aggregate stops at its first failure"] = testOrder
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
}

var day = time.Date(2026, 11, 29, 14, 18, 0, 123456789, time.UTC)

// event is a version of an order.
func event(order string, version int, payload string) outbox.Event {
	e := outbox.Event{
		Tenant: "acme", AggregateType: "Order", AggregateID: order, AggregateVersion: int64(version),
		Type: "OrderFilled", SchemaVersion: 2, OccurredAt: day, CausationID: "req-1", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		Payload: []byte(payload),
	}
	e.ID = e.OrderedID()
	return e
}

// batch holds the first events of n orders.
func batch(n int) (all []outbox.Message) {
	for i := range n {
		all = append(all, outbox.Message{Event: event(fmt.Sprint("order-", i), 1, `{"quantity":"100"}`), Attempt: 1})
	}
	return all
}

// kinds are what became of messages: published, retried, parked, in short.
func kinds(results []outbox.Result) string {
	var all strings.Builder
	for _, r := range results {
		switch {
		case r.Err == nil && r.Ack != "":
			all.WriteByte('P')
		case r.Err != nil && !r.Final && errors.Is(r.Err, outbox.ErrUnpublished):
			all.WriteByte('r')
		case r.Err != nil && r.Final && errors.Is(r.Err, outbox.ErrRefused):
			all.WriteByte('x')
		default:
			all.WriteByte('?')
		}
	}
	return all.String()
}

func want(t *testing.T, results []outbox.Result, want string) {
	t.Helper()
	if got := kinds(results); got != want {
		t.Errorf("results are %s, want %s (P published, r again, x parked): %v", got, want, results)
	}
}

func testSplit(t *testing.T, p Protocol) {
	b, publisher := p.open(t, false, nil)
	n := 2*p.Entries + 5
	messages := batch(n)
	results := publisher.Publish(t.Context(), messages)
	want(t, results, strings.Repeat("P", n))
	for i, r := range results {
		if r.Ack != p.Ack("id-"+messages[i].Event.ID, false) {
			t.Fatalf("message %d has the acknowledgement %q", i, r.Ack)
		}
	}
	var sizes []int
	for _, call := range b.Calls() {
		sizes = append(sizes, len(call))
	}
	if !slices.Equal(sizes, []int{p.Entries, p.Entries, 5}) {
		t.Errorf("the calls have %v entries", sizes)
	}
	if empty := publisher.Publish(t.Context(), nil); len(empty) != 0 {
		t.Errorf("an empty batch has %d results", len(empty))
	}
}

func testContent(t *testing.T, p Protocol) {
	payloads := []string{"", `{"a":"<&>","b":1.50}`, `"text"`, "null", " {}", "\x00\x01\xff", "{\"a\":\"\uffff\"}", strings.Repeat("[", 10000) + strings.Repeat("]", 10000)}
	for _, ordered := range []bool{false, p.Ordered} {
		b, publisher := p.open(t, ordered, nil)
		var messages []outbox.Message
		for i, payload := range payloads {
			messages = append(messages, outbox.Message{Event: event(fmt.Sprint("order-", i), 1, payload)})
		}
		want(t, publisher.Publish(t.Context(), messages), strings.Repeat("P", len(payloads)))
		for i, sent := range b.Taken() {
			e, got := messages[i].Event, sent.Event()
			if !bytes.Equal(got.Payload, e.Payload) {
				t.Errorf("the payload %.40q arrives as %.40q", e.Payload, got.Payload)
			}
			e.Payload, got.Payload = nil, nil
			if fmt.Sprint(got) != fmt.Sprint(e) {
				t.Errorf("the event %v arrives as %v", e, got)
			}
			checkAround(t, e, sent, ordered)
		}
	}
}

// checkAround checks what stands around the body.
func checkAround(t *testing.T, e outbox.Event, sent Sent, ordered bool) {
	t.Helper()
	if ordered && sent.Group != e.AggregateKey() {
		t.Errorf("the group is %q", sent.Group)
	}
	if sent.Deduplication != "" && sent.Deduplication != e.ID {
		t.Errorf("the deduplication ID is %q", sent.Deduplication)
	}
	if sent.Attributes == nil {
		return // they are in the body alone
	}
	for name, value := range map[string]string{
		"eventId": e.ID, "eventType": "OrderFilled", "schemaVersion": "2", "tenant": "acme", "traceId": e.TraceID,
	} {
		if sent.Attributes[name] != value {
			t.Errorf("attribute %s is %q, want %q", name, sent.Attributes[name], value)
		}
	}
}

func testLimit(t *testing.T, p Protocol) {
	b, publisher := p.open(t, false, nil)
	probe := event("order-0", 1, `""`)
	publisher.Publish(t.Context(), []outbox.Message{{Event: probe}})
	room := p.EntryBytes - b.Taken()[0].Bytes
	of := func(n int) outbox.Message {
		return outbox.Message{Event: event("order-0", 1, `"`+strings.Repeat("x", n)+`"`)}
	}
	small := batch(2)
	results := publisher.Publish(t.Context(), []outbox.Message{small[0], of(room), of(room + 1), small[1]})
	want(t, results, "PPxP")
	taken := b.Taken()
	if largest := taken[2].Bytes; largest != p.EntryBytes {
		t.Errorf("the largest entry has %d bytes, the limit is %d", largest, p.EntryBytes)
	}
	if !strings.Contains(results[2].Err.Error(), fmt.Sprint(p.EntryBytes+1, " bytes")) {
		t.Errorf("the error does not say how large it is: %v", results[2].Err)
	}
}

func testPartialFailure(t *testing.T, p Protocol) {
	messages := batch(5)
	_, publisher := p.open(t, false, func(int, []Sent) Reaction {
		return Reaction{Outcomes: []Outcome{{ID: "a"}, p.Later, {ID: "c"}, p.Unfit, {Code: "NobodyKnowsThisCode"}}}
	})
	results := publisher.Publish(t.Context(), messages)
	expected := "PrPxr"
	if p.Unfit.Code == "" {
		expected = "PrP?r"
		results[3] = outbox.Result{}
	}
	want(t, results, expected)
	var failed *outbox.PublishError
	if !errors.As(results[1].Err, &failed) || failed.Code != p.Later.Code || failed.EventID != messages[1].Event.ID {
		t.Errorf("the error is %#v", results[1].Err)
	}
}

func testMalformed(t *testing.T, p Protocol) {
	for name, malformed := range p.Malformed {
		t.Run(name, func(t *testing.T) {
			_, publisher := p.open(t, false, func(_ int, sent []Sent) Reaction { return Reaction{Raw: malformed.Answer(sent)} })
			expected := ""
			for _, published := range malformed.Published {
				expected += map[bool]string{true: "P", false: "r"}[published]
			}
			want(t, publisher.Publish(t.Context(), batch(2)), expected)
		})
	}
}

func testFailedCall(t *testing.T, p Protocol) {
	for name, reaction := range map[string]Reaction{
		"throttled":         {Fault: p.Later.Code},
		"no rights":         {Fault: p.Never},
		"broken":            {Fault: "InternalFailure"},
		"lost answer":       {Lose: true},
		"unreadable answer": {Raw: "{<"},
	} {
		b, publisher := p.open(t, false, func(int, []Sent) Reaction { return reaction })
		want(t, publisher.Publish(t.Context(), batch(3)), "rrr")
		if n := len(b.Calls()); n != 1 {
			t.Errorf("%s: %d calls", name, n)
		}
	}
}

func testPoison(t *testing.T, p Protocol) {
	messages := batch(2 * p.Entries)
	poison := messages[p.Entries/2].Event.ID
	b, publisher := p.open(t, false, func(_ int, sent []Sent) Reaction {
		if slices.ContainsFunc(sent, func(s Sent) bool { return s.Event().ID == poison }) {
			return Reaction{Fault: p.UnfitCall}
		}
		return Reaction{}
	})
	expected := []byte(strings.Repeat("P", 2*p.Entries))
	expected[p.Entries/2] = 'x'
	want(t, publisher.Publish(t.Context(), messages), string(expected))
	if n := len(b.Taken()); n != 2*p.Entries-1 {
		t.Errorf("the broker took %d", n)
	}
}

func testCancelled(t *testing.T, p Protocol) {
	ctx, cancel := context.WithCancel(t.Context())
	b, publisher := p.open(t, false, func(call int, _ []Sent) Reaction {
		if call == 1 {
			cancel()
		}
		return Reaction{}
	})
	results := publisher.Publish(ctx, batch(4*p.Entries))
	want(t, results, strings.Repeat("P", p.Entries)+strings.Repeat("r", 3*p.Entries))
	if n := len(b.Calls()); n != 2 {
		t.Errorf("%d calls", n)
	}
	if !errors.Is(results[4*p.Entries-1].Err, context.Canceled) {
		t.Errorf("the last error is %v", results[4*p.Entries-1].Err)
	}
}

func testTwice(t *testing.T, p Protocol) {
	for _, ordered := range []bool{false, p.Ordered} {
		b, publisher := p.open(t, ordered, nil)
		message := batch(1)[0]
		want(t, publisher.Publish(t.Context(), []outbox.Message{message, message}), "PP")
		if taken := b.Taken(); len(taken) != 2 || taken[0].Event().ID != taken[1].Event().ID || !ordered && taken[0].Name != "" && taken[0].Name == taken[1].Name {
			t.Errorf("the broker took %+v", taken)
		}
	}
}

func testSecrecy(t *testing.T, p Protocol) {
	secret := "SECRET PAYLOAD"
	message := outbox.Message{Event: event("order-1", 1, `{"iban":"`+secret+`"}`)}
	reactions := []Reaction{
		{Fault: p.UnfitCall}, {Fault: p.Later.Code}, {Fault: secret}, {Outcomes: []Outcome{{Code: secret}}}, {Lose: true},
	}
	for _, raw := range unreadable(secret) {
		reactions = append(reactions, Reaction{Raw: raw})
	}
	if p.Unfit.Code != "" {
		reactions = append(reactions, Reaction{Outcomes: []Outcome{p.Unfit}})
	}
	for _, reaction := range reactions {
		_, publisher := p.open(t, false, func(int, []Sent) Reaction { return reaction })
		results := publisher.Publish(t.Context(), []outbox.Message{message})
		if results[0].Err == nil || strings.Contains(results[0].Err.Error(), "SECRET") {
			t.Errorf("after %+v the error is %v", reaction, results[0].Err)
		}
	}
}

// unreadable are answers that a parser complains about in their own words.
func unreadable(secret string) []string {
	return []string{
		secret, "{" + secret, `{"Entries":[{"EventId":{"SECRET":1}}]}`, `{"Records":"SECRET"}`, `{"Successful":["SECRET"]}`, `{"SECRET":\SECRET}`,
		"<SECRET></PAYLOAD>", "<SECRET>&SECRET;</SECRET>", "<PublishBatchResponse><PublishBatchResult><SECRET></PublishBatchResult>", "<?xml SECRET?><SECRET",
	}
}

func testOrder(t *testing.T, p Protocol) {
	failed := event("order-0", 2, "").ID
	b, publisher := p.open(t, true, func(_ int, sent []Sent) Reaction {
		var outcomes []Outcome
		for _, s := range sent {
			if e := s.Event(); e.ID == failed {
				outcomes = append(outcomes, p.Later)
			} else {
				outcomes = append(outcomes, Outcome{ID: "id-" + e.ID})
			}
		}
		return Reaction{Outcomes: outcomes}
	})
	var messages []outbox.Message
	for _, version := range []int{4, 3, 1, 2} { // batches are in the order of due time
		for _, order := range []string{"order-0", "order-1"} {
			messages = append(messages, outbox.Message{Event: event(order, version, "")})
		}
	}
	results := publisher.Publish(t.Context(), messages)
	want(t, results, "rPrPPPrP")
	if !strings.Contains(results[0].Err.Error(), "an earlier event of its aggregate") {
		t.Errorf("the one behind is answered with %v", results[0].Err)
	}
	last := map[string]int64{}
	for _, call := range b.Calls() {
		inCall := map[string]bool{}
		for _, s := range call {
			e := s.Event()
			if inCall[e.AggregateID] || e.AggregateVersion != last[e.AggregateID]+1 {
				t.Errorf("version %d of %s follows %d, or shares its call", e.AggregateVersion, e.AggregateID, last[e.AggregateID])
			}
			inCall[e.AggregateID], last[e.AggregateID] = true, e.AggregateVersion
		}
	}
	if n := len(b.Taken()); n != 5 {
		t.Errorf("the broker took %d", n)
	}
}
