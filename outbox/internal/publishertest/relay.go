package publishertest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// Desk is an outbox in an embedded store, with events of orders, and a clock.
type Desk struct {
	Client *dynamodb.Client
	Events *outbox.Outbox
	IDs    []string
	now    time.Time
}

// NewDesk returns an outbox that holds the first versions of some orders.
func NewDesk(t *testing.T, config outbox.Config, orders, versions int) *Desk {
	t.Helper()
	config.Service, config.Table = "orders", txn.Table{Name: "Orders"}
	db := dynamosim.New(t)
	d := &Desk{Client: db.Client(), Events: outbox.New(config), now: day}
	if err := db.CreateTable("Orders", d.Events.Index()); err != nil {
		t.Fatal(err)
	}
	for order := range orders {
		for version := range versions {
			e := event(fmt.Sprint("order-", order), version+1, fmt.Sprintf(`{"fill":"%d"}`, version))
			if _, err := txn.Commit(t.Context(), d.Client, d.Events.Create(e)); err != nil {
				t.Fatal(err)
			}
			d.IDs = append(d.IDs, e.ID)
		}
	}
	return d
}

// Relay returns a relay that never waits, on the clock of the desk.
func (d *Desk) Relay(publisher outbox.Publisher) *outbox.Relay {
	claims := 0
	return outbox.NewRelay(d.Events, d.Client, publisher, outbox.RelayConfig{
		Now:     func() time.Time { return d.now },
		NewID:   func() string { claims++; return fmt.Sprint("claim-", claims) },
		Jitter:  func(time.Duration) time.Duration { return 0 },
		Sleep:   func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() },
		Batches: 1,
	})
}

// Rounds lets a relay pass over the shards this often, with time between for everything to be due again, and returns what
// it did.
func (d *Desk) Rounds(t *testing.T, relay *outbox.Relay, n int) (all []outbox.Round) {
	t.Helper()
	for range n {
		round, err := relay.Once(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, round)
		d.now = d.now.Add(time.Hour)
	}
	return all
}

// Record reads an event.
func (d *Desk) Record(t *testing.T, id string) outbox.Record {
	t.Helper()
	record, err := d.Events.Get(t.Context(), d.Client, id)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// testRelay: a broker whose first calls go wrong in every way still gets every event, in order if there is order.
func testRelay(t *testing.T, p Protocol) {
	const orders, versions = 30, 3
	for _, ordered := range []bool{false, true} {
		b, publisher := p.open(t, ordered && p.Ordered, func(call int, sent []Sent) Reaction {
			switch call {
			case 0:
				return Reaction{Lose: true}
			case 1:
				return Reaction{Fault: p.Later.Code}
			case 2:
				outcomes := make([]Outcome, len(sent))
				for i, s := range sent {
					if outcomes[i] = p.Later; i%2 == 0 {
						outcomes[i] = Outcome{ID: "id-" + s.Event().ID}
					}
				}
				return Reaction{Outcomes: outcomes}
			}
			return Reaction{}
		})
		desk := NewDesk(t, outbox.Config{Ordered: ordered}, orders, versions)
		desk.Rounds(t, desk.Relay(publisher), 2+2*versions)
		copies := b.deliveries()
		for _, id := range desk.IDs {
			record := desk.Record(t, id)
			if record.State != outbox.Completed || copies[id] == 0 {
				t.Errorf("event %s is %s and was delivered %d times: %s", id, record.State, copies[id], record.Failure)
			}
			if want := p.Ack("id-"+id, ordered && p.Ordered); record.Ack != want {
				t.Errorf("event %s has the acknowledgement %q, want %q", id, record.Ack, want)
			}
		}
		if repeats := len(b.Taken()) - len(desk.IDs); repeats < 1 || repeats > p.Entries {
			t.Errorf("%d repeats; a lost answer of one call makes 1 to %d", repeats, p.Entries)
		}
		if ordered {
			checkOrder(t, b)
		}
	}
}

// testRelayParks: an event that fits into the store and into no call is parked after one attempt, with the reason, and one
// that fails for a passing reason for ever is parked after all of them. Others are published.
func testRelayParks(t *testing.T, p Protocol) {
	failing := event("order-0", 1, "").ID
	_, publisher := p.open(t, false, func(_ int, sent []Sent) Reaction {
		outcomes := make([]Outcome, len(sent))
		for i, s := range sent {
			if outcomes[i] = (Outcome{ID: "id-" + s.Event().ID}); s.Event().ID == failing {
				outcomes[i] = p.Later
			}
		}
		return Reaction{Outcomes: outcomes}
	})
	desk := NewDesk(t, outbox.Config{Compress: true}, 3, 1)
	large := event("large", 1, `"`+strings.Repeat("x", outbox.MaxPayloadBytes-2)+`"`)
	if _, err := txn.Commit(t.Context(), desk.Client, desk.Events.Create(large)); err != nil {
		t.Fatal(err)
	}
	const maxAttempts = 10 // by default
	rounds := desk.Rounds(t, desk.Relay(publisher), maxAttempts)
	if first, last := rounds[0], rounds[maxAttempts-1]; first.Completed != 2 || first.Parked != 1 || first.Retried != 1 || last.Parked != 1 {
		t.Errorf("the first round: %+v, the last: %+v", first, last)
	}
	for id, want := range map[string]struct {
		attempts int64
		reason   string
	}{large.ID: {1, "bytes, of at most"}, failing: {maxAttempts, p.Later.Code}} {
		record := desk.Record(t, id)
		if record.State != outbox.Parked || record.Attempt != want.attempts || !strings.Contains(record.Failure, want.reason) {
			t.Errorf("event %s is %s after %d attempts: %s", id, record.State, record.Attempt, record.Failure)
		}
	}
}

// checkOrder: the first copy of a version comes after that of the version before.
func checkOrder(t *testing.T, b *Broker) {
	t.Helper()
	last := map[string]int64{}
	for _, s := range b.Taken() {
		e := s.Event()
		switch {
		case e.AggregateVersion == last[e.AggregateID]+1:
			last[e.AggregateID]++
		case e.AggregateVersion > last[e.AggregateID]:
			t.Errorf("version %d of %s comes after version %d", e.AggregateVersion, e.AggregateID, last[e.AggregateID])
		}
	}
}

func testRelayPartialFailure(t *testing.T, p Protocol) {
	failing := event("order-3", 1, "").ID
	b, publisher := p.open(t, false, func(call int, sent []Sent) Reaction {
		outcomes := make([]Outcome, len(sent))
		for i, s := range sent {
			if outcomes[i] = (Outcome{ID: "id-" + s.Event().ID}); call == 0 && s.Event().ID == failing {
				outcomes[i] = p.Later
			}
		}
		return Reaction{Outcomes: outcomes}
	})
	const orders = 5
	desk := NewDesk(t, outbox.Config{}, orders, 1)
	relay := desk.Relay(publisher)
	if round := desk.Rounds(t, relay, 1)[0]; round.Completed != orders-1 || round.Retried != 1 {
		t.Fatalf("the first round: %+v", round)
	}
	if record := desk.Record(t, failing); record.State != outbox.Ready || record.Failure == "" {
		t.Errorf("the one that failed is %s, because %q", record.State, record.Failure)
	}
	if round := desk.Rounds(t, relay, 1)[0]; round.Completed != 1 {
		t.Fatalf("the second round: %+v", round)
	}
	calls := b.Calls()
	if last := calls[len(calls)-1]; len(calls) != 2 || len(last) != 1 || last[0].Event().ID != failing {
		t.Errorf("there were %d calls, the last with %d entries", len(calls), len(last))
	}
	for id, copies := range b.deliveries() {
		if copies != 1 {
			t.Errorf("event %s was delivered %d times", id, copies)
		}
	}
}
