package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// RelayFigure is what it costs to find and publish one round of new events, with so many published ones in the table.
// Units are in halves, times in microseconds.
type RelayFigure struct {
	History, Round int
	Relay, Poll    RoundCost
}

// RoundCost is for a whole round.
type RoundCost struct{ Requests, Reads, Writes, Microseconds int }

// payload makes an event of 1.6 KiB, as the reference plans it.
var payload = make([]byte, 1000)

// measureRelays publishes a round of events with both, in turns, and the fastest turn of each counts.
func measureRelays(ctx context.Context, history, round, turns int) (RelayFigure, error) {
	f := RelayFigure{History: history, Round: round}
	for turn := range turns {
		relay, err := relayRound(ctx, history, round)
		if err != nil {
			return f, fmt.Errorf("relay: %w", err)
		}
		poll, err := pollRound(ctx, history, round)
		if err != nil {
			return f, fmt.Errorf("poll: %w", err)
		}
		if turn > 0 {
			relay.Microseconds, poll.Microseconds = min(relay.Microseconds, f.Relay.Microseconds), min(poll.Microseconds, f.Poll.Microseconds)
		}
		f.Relay, f.Poll = relay, poll
	}
	return f, nil
}

// relayRound is outbox.Relay on the sparse index.
func relayRound(ctx context.Context, history, round int) (c RoundCost, err error) {
	m, err := newMeter()
	if err != nil {
		return c, err
	}
	defer m.close()
	client := m.db.Client()
	events := outbox.New(outbox.Config{Service: "orders"})
	if err := m.db.CreateTable("Outbox", events.Index()); err != nil {
		return c, err
	}
	committer, bus := txn.New(client, txn.Config{}), &outbox.Memory{}
	create := func(from, n int) error {
		for i := from; i < from+n; i++ {
			id := fmt.Sprintf("event-%06d", i)
			if _, err := committer.Commit(ctx, events.Create(outbox.Event{ID: id, Tenant: "acme", AggregateType: "Order", AggregateID: id, AggregateVersion: 1,
				Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: time.Now().Add(-time.Minute), Payload: payload})); err != nil {
				return err
			}
		}
		return nil
	}
	publish := func(relay *outbox.Relay, n int) error {
		for n > 0 {
			done, err := relay.Once(ctx)
			if err != nil {
				return err
			}
			n -= done.Completed
		}
		return nil
	}
	if err := create(0, history); err != nil {
		return c, err
	}
	if err := publish(outbox.NewRelay(events, client, bus, outbox.RelayConfig{}), history); err != nil {
		return c, err
	}
	if err := create(history, round); err != nil {
		return c, err
	}
	return m.round(func() error { return publish(outbox.NewRelay(events, client, bus, outbox.RelayConfig{}), round) })
}

// round says what a round cost.
func (m *meter) round(publish func() error) (c RoundCost, err error) {
	before, started := m.bill(), time.Now()
	err = publish()
	took, b := time.Since(started), m.bill().minus(before)
	return RoundCost{Requests: b.requests, Reads: int(b.reads) + m.scanned, Writes: int(b.writes), Microseconds: int(took.Microseconds())}, err
}

// pollRound is the outbox that many services begin with: a table with a status, a scan with a filter for what is pending, and
// an update for what is done. It publishes twice if two of them run.
func pollRound(ctx context.Context, history, round int) (c RoundCost, err error) {
	m, err := newMeter()
	if err != nil {
		return c, err
	}
	defer m.close()
	client := m.db.Client()
	if _, err := client.CreateTable(ctx, keyed("Events")); err != nil {
		return c, err
	}
	create := func(from, n int, status string) error {
		for i := from; i < from+n; i++ {
			if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Events"), Item: map[string]types.AttributeValue{
				"PK": text(fmt.Sprintf("event-%06d", i)), "SK": text("EVENT"), "status": text(status), "type": text("OrderAccepted"),
				"payload": &types.AttributeValueMemberB{Value: append(payload, make([]byte, 500)...)}}}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := create(0, history, "SENT"); err != nil {
		return c, err
	}
	if err := create(history, round, "PENDING"); err != nil {
		return c, err
	}
	return m.round(func() error { return m.poll(ctx, client) })
}

func (m *meter) poll(ctx context.Context, client *dynamodb.Client) error {
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String("Events"), FilterExpression: aws.String("#s = :p"),
		ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: map[string]types.AttributeValue{":p": text("PENDING")},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		m.scanned += int(2 * aws.ToFloat64(page.ConsumedCapacity.CapacityUnits))
		for _, item := range page.Items { // given to the broker; then
			if _, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String("Events"),
				Key: map[string]types.AttributeValue{"PK": item["PK"], "SK": item["SK"]}, UpdateExpression: aws.String("SET #s = :s"),
				ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: map[string]types.AttributeValue{":s": text("SENT")}}); err != nil {
				return err
			}
		}
	}
	return nil
}
