// Command outbox shows the pattern: a shop places orders, each in one transaction with the event that reports it, and a
// relay publishes the events to a bus that loses an answer and knows one kind of order too few. It runs on the embedded
// engine and prints what happens.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "outbox:", err)
		os.Exit(1)
	}
}

// orders is the table of the orders and of their events.
var orders = txn.Table{Name: "Orders"}

// shop is the service, with its relay in the same process; in production it may be another one.
type shop struct {
	out    io.Writer
	now    time.Time
	client *dynamodb.Client
	events *outbox.Outbox
	relay  *outbox.Relay
}

// run is the program.
func run(ctx context.Context, out io.Writer) error {
	s := &shop{out: out, now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	s.events = outbox.New(outbox.Config{Service: "shop", Table: orders})
	db := dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable(orders.Name, s.events.Index()); err != nil {
		return err
	}
	s.client = db.Client() // in production: the *dynamodb.Client that you have
	broker := &bus{shop: s, schemas: map[string]bool{"OrderPlaced": true}, loseAnswerOf: "order-2"}
	s.relay = outbox.NewRelay(s.events, s.client, broker, outbox.RelayConfig{ // the zero value is ready for production
		Now: func() time.Time { return s.now }, Jitter: func(limit time.Duration) time.Duration { return limit }, // no chance here
	})

	for _, order := range []struct{ id, eventType string }{
		{"order-1", "OrderPlaced"}, {"order-2", "OrderPlaced"}, {"order-3", "GiftOrderPlaced"}, {"order-1", "OrderPlaced"},
	} {
		if err := s.place(ctx, order.id, order.eventType); err != nil {
			return err
		}
	}
	s.now = s.now.Add(5 * time.Second)
	if err := errors.Join(s.report(ctx), s.pass(ctx)); err != nil {
		return err
	}
	s.now = s.now.Add(5 * time.Second)
	if err := errors.Join(s.report(ctx), s.pass(ctx)); err != nil {
		return err
	}
	s.now = s.now.Add(30 * time.Minute)
	broker.schemas["GiftOrderPlaced"] = true
	if err := errors.Join(s.redrive(ctx), s.pass(ctx), s.report(ctx)); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe bus has %d messages about %d orders.\n", broker.messages, len(broker.heard))
	return nil
}

// place commits an order and its event: both or neither. The event's ID follows from the order, so a repeat means the
// same event.
func (s *shop) place(ctx context.Context, order, eventType string) error {
	placed := outbox.Event{
		Tenant: "acme", AggregateType: "Order", AggregateID: order, AggregateVersion: 1,
		Type: eventType, SchemaVersion: 1, OccurredAt: s.now, Payload: fmt.Appendf(nil, `{"order":%q}`, order),
	}
	placed.ID = placed.StableID()
	item := orders.Key(txn.JoinKey("TEN", "acme", "ORDER", order), "META")
	item["status"] = &types.AttributeValueMemberS{Value: "PLACED"}

	receipt, err := txn.Commit(ctx, s.client, txn.Put(orders, item, txn.IfAbsent()), s.events.Create(placed))
	var duplicate *outbox.DuplicateError
	switch {
	case errors.As(err, &duplicate) && duplicate.Same:
		s.say("shop", "%s again: it was placed before, nothing is written", order)
		return nil
	case err == nil:
		s.say("shop", "%s placed with its event: %d records, %s write units", order, receipt.Items, receipt.Total())
	}
	return err
}

// pass lets the relay do one round. A service calls Relay.Run, which does them until its context ends.
func (s *shop) pass(ctx context.Context) error {
	round, err := s.relay.Once(ctx)
	s.say("relay", "%d published, %d to be tried again, %d parked", round.Completed, round.Retried, round.Parked)
	return err
}

// report says what waits and what is parked: keyed queries of a sparse index, never a Scan.
func (s *shop) report(ctx context.Context) error {
	lag, err := s.events.Lag(ctx, s.client, s.now)
	var oldest time.Duration
	for _, shard := range lag {
		oldest = max(oldest, shard.Behind)
	}
	parked := 0
	for _, parkedErr := range s.events.Parked(ctx, s.client) {
		err = errors.Join(err, parkedErr)
		parked++
	}
	s.say("report", "events due on %d of %d shards, the oldest for %s; parked: %d", len(lag), s.events.Shards(), oldest.Round(time.Second), parked)
	return err
}

// redrive is what an operator does who has mended the cause: every parked event becomes ready again, on record.
func (s *shop) redrive(ctx context.Context) error {
	for parked, err := range s.events.Parked(ctx, s.client) {
		if err != nil {
			return err
		}
		s.say("operator", "%s is parked after attempt %d: %s", parked.Event.AggregateID, parked.Attempt, parked.Failure)
		note := outbox.Audit{By: "ann@acme", Reason: "schema registered, ticket 881", At: s.now}
		if _, err := txn.Commit(ctx, s.client, s.events.Redrive(parked, s.now, note)); err != nil {
			return err
		}
		s.say("operator", "%s redriven: %s", parked.Event.AggregateID, note.Reason)
	}
	return nil
}

func (s *shop) say(who, format string, args ...any) {
	fmt.Fprintf(s.out, "%s  %-9s %s\n", s.now.Format(time.TimeOnly), who, fmt.Sprintf(format, args...))
}

// bus is the broker, as a publisher of the relay. It knows a schema for each type of event that it takes.
type bus struct {
	shop         *shop
	schemas      map[string]bool
	loseAnswerOf string
	messages     int
	heard        map[string]bool
}

// Publish takes a batch and answers for each message alone.
func (b *bus) Publish(_ context.Context, batch []outbox.Message) (results []outbox.Result) {
	for _, m := range batch {
		order := m.Event.AggregateID
		if !b.schemas[m.Event.Type] {
			b.shop.say("bus", "refuses the event of %s", order)
			results = append(results, outbox.Result{Err: errors.New("no schema for " + m.Event.Type), Final: true}) // no repeat can help
			continue
		}
		if b.heard == nil {
			b.heard = map[string]bool{}
		}
		b.messages++
		b.heard[order] = true
		if order == b.loseAnswerOf {
			b.loseAnswerOf = ""
			b.shop.say("bus", "takes the event of %s; its answer is lost", order)
			results = append(results, outbox.Result{Err: errors.New("no answer")})
			continue
		}
		b.shop.say("bus", "takes the event of %s, attempt %d", order, m.Attempt)
		results = append(results, outbox.Result{Ack: fmt.Sprint("bus-", b.messages)})
	}
	return results
}
