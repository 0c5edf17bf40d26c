package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// process is one life of the service. It dies behind a step: the step takes effect, and nobody hears of it.
type process struct {
	name      string
	now       time.Time
	client    *dynamodb.Client
	committer *txn.Committer
	requests  *idempotency.Requests
	bus       *[]string // what the warehouse has heard

	next       string   // what the next write is, for the table
	did        []string // its steps so far
	diesBehind int      // that many steps; 0 is never
	end        func()   // ends the relay with the process
	ids        int
}

var errDied = errors.New("the process has died")

func newProcess(db *dynamosim.DB, bus *[]string, name string, now time.Time, diesBehind int) *process {
	p := &process{name: name, now: now, bus: bus, diesBehind: diesBehind, end: func() {}}
	p.client = db.Client(func(o *dynamodb.Options) {
		o.RetryMaxAttempts = 1 // a dead process repeats nothing
		o.HTTPClient = dynamosim.Faulty(db, p.fate)
	})
	p.committer = txn.New(p.client, txn.Config{MaxAttempts: 1})
	p.requests = idempotency.New(idempotency.Config{Table: orders, Now: p.clock})
	return p
}

func (p *process) clock() time.Time { return p.now }

func (p *process) newID() string {
	p.ids++
	return fmt.Sprintf("order-%s%d", p.name, p.ids)
}

func (p *process) dead() bool { return p.diesBehind > 0 && len(p.did) >= p.diesBehind }

// step notes what was done, and says whether the process is dead now.
func (p *process) step(what string) (died bool) {
	p.did = append(p.did, what)
	if p.dead() {
		p.end()
	}
	return p.dead()
}

// fate lets every request through until the process dies; the answer of its last one does not reach it.
func (p *process) fate(call dynamosim.Call) dynamosim.Fate {
	switch {
	case p.dead():
		return dynamosim.LoseRequest
	case call.Operation == "GetItem" || call.Operation == "Query" || call.Operation == "Scan":
		return dynamosim.Deliver
	}
	if p.step(p.what(call.Operation)) {
		return dynamosim.LoseAnswer
	}
	return dynamosim.Deliver
}

// what names a write for the table.
func (p *process) what(operation string) string {
	switch {
	case operation == "TransactWriteItems":
		return "the transaction"
	case operation == "DeleteItem":
		return "journal dropped"
	case operation == "UpdateItem" && slices.Contains(p.did, "publishing"):
		return "completion"
	case operation == "UpdateItem":
		return "claim"
	}
	return p.next
}

// put stores a small item.
func (p *process) put(ctx context.Context, key string) error {
	p.next = name(key)
	_, err := p.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &orders.Name, Item: orders.Key(key, "ITEM")})
	return err
}

// putNew stores a small item unless it is there.
func (p *process) putNew(ctx context.Context, key string) (isNew bool, err error) {
	p.next = name(key)
	_, err = p.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &orders.Name, Item: orders.Key(key, "ITEM"),
		ConditionExpression: aws.String("attribute_not_exists(PK)")})
	var there *types.ConditionalCheckFailedException
	if errors.As(err, &there) {
		return false, nil
	}
	return true, err
}

func name(key string) string {
	kind, _, _ := strings.Cut(key, "#")
	return "the " + strings.ToLower(kind)
}

// has says whether an item is there.
func (p *process) has(ctx context.Context, key string) (bool, error) {
	found, err := p.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &orders.Name, Key: orders.Key(key, "ITEM"), ConsistentRead: aws.Bool(true)})
	return err == nil && found.Item != nil, err
}

// publish tells the warehouse.
func (p *process) publish(id string) error {
	if p.dead() {
		return errDied
	}
	*p.bus = append(*p.bus, id)
	if p.step("publishing") {
		return errDied
	}
	return nil
}

// Publish makes a process the publisher of its relay.
func (p *process) Publish(_ context.Context, batch []outbox.Message) []outbox.Result {
	results := make([]outbox.Result, len(batch))
	for i, m := range batch {
		results[i].Err = p.publish(m.Event.AggregateID)
	}
	return results
}

// relay makes one round of the outbox. In production Run goes on until its context ends, in any number of processes.
func (p *process) relay(ctx context.Context) error {
	p.next = "journal"
	relay := outbox.NewRelay(events, p.client, p, outbox.RelayConfig{
		Now: p.clock, NewID: func() string { return "claim-" + p.name },
	})
	ctx, p.end = context.WithCancel(ctx)
	defer p.end()
	_, err := relay.Once(ctx)
	return err
}
