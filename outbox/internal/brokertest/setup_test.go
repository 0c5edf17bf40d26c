// Package brokertest relays events through the publishers to a server that nobody here wrote: kumo, an emulator of AWS
// services, in this process. It is a module of its own, because the emulator needs what no importer of the library should.
//
// What the emulator cannot do is tested in the publishers' own packages, against answers written by hand: it has no
// PublishBatch of SNS, and it never refuses one entry of a batch for a reason that passes.
package brokertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/sivchari/kumo"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/publishertest"
)

const region = "us-east-1"

// emulator is a server as one test sees it. All servers of a process share a store, so each test has names of its own.
type emulator struct {
	url, name string
	wires     *wires
}

var started atomic.Int64

func start(t *testing.T) *emulator {
	t.Helper()
	server := kumo.NewServer()
	t.Cleanup(server.Close)
	return &emulator{url: server.URL, name: fmt.Sprint("orders-", started.Add(1)), wires: &wires{}}
}

// wires are an HTTP client that loses the answers to some calls after the server has done what they ask.
type wires struct {
	mu    sync.Mutex
	lose  func(call int) bool
	calls int
	lost  int
}

var errLost = errors.New("the connection was reset")

func (w *wires) Do(req *http.Request) (*http.Response, error) {
	answer, err := http.DefaultClient.Do(req)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lose == nil || err != nil {
		return answer, err
	}
	call := w.calls
	w.calls++
	if !w.lose(call) {
		return answer, nil
	}
	w.lost++
	return nil, errors.Join(errLost, answer.Body.Close())
}

// losing makes the wires lose answers from now on, and returns what makes them whole again.
func (w *wires) losing(lose func(call int) bool) (whole func()) {
	set := func(lose func(int) bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lose = lose
	}
	set(lose)
	return func() { set(nil) }
}

// everyOther loses the first answer of each two.
func everyOther(call int) bool { return call%2 == 0 }

const orders, versions = 12, 3

// relayAll relays events in order, over wires that lose answers, until all are completed.
func relayAll(t *testing.T, e *emulator, publisher outbox.Publisher) *publishertest.Desk {
	t.Helper()
	desk := publishertest.NewDesk(t, outbox.Config{Ordered: true}, orders, versions)
	whole := e.wires.losing(everyOther)
	desk.Rounds(t, desk.Relay(publisher), 4*versions)
	whole()
	if e.wires.lost == 0 {
		t.Error("no answer was lost, so nothing was shown")
	}
	return desk
}

// check compares the copies that arrived, in their order, with the events of the desk: none is missing, the first copies of
// an aggregate are in order, and every record's acknowledgement begins as one that the server gave.
func check(t *testing.T, desk *publishertest.Desk, arrived []outbox.Event, acks map[string][]string) (repeats int) {
	t.Helper()
	copies, last := map[string]int{}, map[string]int64{}
	for _, e := range arrived {
		if copies[e.ID]++; copies[e.ID] > 1 {
			repeats++
			continue
		}
		if e.AggregateVersion != last[e.AggregateID]+1 {
			t.Errorf("version %d of %s arrives after %d", e.AggregateVersion, e.AggregateID, last[e.AggregateID])
		}
		last[e.AggregateID] = e.AggregateVersion
	}
	for _, id := range desk.IDs {
		record := desk.Record(t, id)
		known := false
		for _, ack := range acks[id] {
			known = known || strings.HasPrefix(record.Ack, ack)
		}
		if record.State != outbox.Completed || copies[id] == 0 || !known {
			t.Errorf("event %s is %s, arrived %d times; the record says %q, the server %q", id, record.State, copies[id], record.Ack, acks[id])
		}
	}
	return repeats
}

// parsed is the event in a body.
func parsed(t *testing.T, body []byte) outbox.Event {
	t.Helper()
	e, err := outbox.ParseEnvelope(body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return e
}

var credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
})
