package publishertest

import (
	"strings"
	"testing"
)

// Fuzz answers a call of two entries with anything: nothing makes the client or the publisher panic, each message has a
// result, and nothing of an answer but an acknowledgement and a code is repeated.
func Fuzz(f *testing.F, p Protocol) {
	messages := batch(2)
	sent := []Sent{{Name: "0", Body: messages[0].Event.Envelope()}, {Name: "1", Body: messages[1].Event.Envelope()}}
	f.Add(p.Write(sent, []Outcome{{ID: "a"}, p.Later}))
	for _, malformed := range p.Malformed {
		f.Add(malformed.Answer(sent))
	}
	for _, raw := range unreadable("SECRET PAYLOAD") {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		publisher, err := p.New(&Broker{Protocol: p, React: func(int, []Sent) Reaction { return Reaction{Raw: raw} }}, false)
		if err != nil {
			t.Fatal(err)
		}
		results := publisher.Publish(t.Context(), messages)
		if len(results) != len(messages) {
			t.Fatalf("%d results", len(results))
		}
		for _, r := range results {
			if (r.Err == nil) == (r.Ack == "") || r.Final && r.Err == nil {
				t.Errorf("the result %+v is both or neither", r)
			}
			if r.Err != nil && strings.Contains(r.Err.Error(), "SECRET PAYLOAD") {
				t.Errorf("the error repeats the answer: %v", r.Err)
			}
		}
	})
}
