package mend_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/mend"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC)

// bench is a table with an outbox, in virtual time.
type bench struct {
	*testing.T
	db     *dynamosim.DB
	client *dynamodb.Client
	orders txn.Table
	events *outbox.Outbox
	now    time.Time
	ids    int
	said   []string
}

func setup(t *testing.T) *bench {
	b := &bench{T: t, orders: txn.Table{Name: "Orders"}, now: day}
	b.db = dynamosim.New(t, dynamosim.Options{Now: func() time.Time { return b.now }})
	b.client = b.db.Client()
	b.events = outbox.New(outbox.Config{Service: "orders", Table: b.orders})
	if err := b.db.CreateTable("Orders", b.events.Index()); err != nil {
		t.Fatal(err)
	}
	return b
}

// faulty is a client whose requests meet the fate that choose says.
func (b *bench) faulty(choose func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	return b.db.Client(func(o *dynamodb.Options) {
		o.HTTPClient = dynamosim.Faulty(b.db, choose)
		o.RetryMaxAttempts = 1
	})
}

func (b *bench) outbox(client *dynamodb.Client) mend.Outbox {
	return mend.Outbox{Service: "orders", Events: b.events, Client: client, Now: func() time.Time { return b.now }}
}

// settings are those of a confirmed run by ann.
func (b *bench) settings(client change.Client) change.Settings {
	return change.Settings{
		Journal: change.Journal{Client: client, Table: b.orders}, Now: func() time.Time { return b.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			b.now = b.now.Add(d)
			return ctx.Err()
		},
		NewID: func() string { b.ids++; return "r" + strconv.Itoa(b.ids) },
		By:    "ann", Reason: "the bus is back, INC-881", Yes: true, MaxUnits: 1000,
		Say: func(format string, args ...any) { b.said = append(b.said, fmt.Sprintf(format, args...)) },
	}
}

// event is one that can be told from the others by its number.
func event(n int) outbox.Event {
	e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: "order-" + strconv.Itoa(n/3), AggregateVersion: int64(3 - n%3),
		Type: []string{"trades", "notices"}[n/3%2], SchemaVersion: 1, OccurredAt: day.Add(-time.Hour), Payload: []byte("{}")}
	e.ID = e.StableID()
	return e
}

// park stores n events that were given up, as relays leave them, without the work of publishing them in vain.
func (b *bench) park(n int) (ids []string) {
	b.Helper()
	var batch []types.WriteRequest
	for i := range n {
		e := event(i)
		item := b.parked(e, day.Add(-time.Hour+time.Duration(i)*time.Millisecond), "DFN-2104 publisher: 503 from bus")
		batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		if ids = append(ids, e.ID); len(batch) == 25 || i == n-1 {
			_, err := b.client.BatchWriteItem(b.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"Orders": batch}})
			if err != nil {
				b.Fatal(err)
			}
			batch = nil
		}
	}
	return ids
}

// parked is the record of an event after its last attempt.
func (b *bench) parked(e outbox.Event, at time.Time, failure string) txn.Item {
	b.Helper()
	item := b.put(b.events.Create(e))
	shard, err := strconv.Atoi(item["shard"].(*types.AttributeValueMemberN).Value)
	if err != nil {
		b.Fatal(err)
	}
	key, err := keys.OutboxParked("orders", shard, at, e.ID)
	if err != nil {
		b.Fatal(err)
	}
	written, _ := keys.Time(at)
	for name, value := range map[string]string{"state": "PARKED", "failure": failure, "failedAt": written, "lastClaim": "c1", "readyPk": key.PK, "readySk": key.SK} {
		item[name] = &types.AttributeValueMemberS{Value: value}
	}
	for name, value := range map[string]string{"version": "3", "attempt": "10"} {
		item[name] = &types.AttributeValueMemberN{Value: value}
	}
	return item
}

type catch struct{ item txn.Item }

func (c *catch) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.item = in.TransactItems[0].Put.Item
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

// put is the item that a part would store.
func (b *bench) put(part txn.Part) txn.Item {
	b.Helper()
	var c catch
	if _, err := txn.Commit(b.Context(), &c, part); err != nil {
		b.Fatal(err)
	}
	return c.item
}

// states counts events by state.
func (b *bench) states(ids []string) map[outbox.State]int {
	b.Helper()
	count := map[outbox.State]int{}
	for _, id := range ids {
		r, err := b.events.Get(b.Context(), b.client, id)
		if err != nil {
			b.Fatal(err)
		}
		count[r.State]++
	}
	return count
}

// snapshot is everything that is stored.
func (b *bench) snapshot() (items []txn.Item) {
	b.Helper()
	out, err := b.client.Scan(b.Context(), &dynamodb.ScanInput{TableName: aws.String("Orders"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		b.Fatal(err)
	}
	return out.Items
}

// entries are the audit items of a run.
func (b *bench) entries(run string) (list []change.Entry) {
	b.Helper()
	for e, err := range (change.Journal{Client: b.client, Table: b.orders}).Entries(b.Context(), run) {
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// recorder keeps what was asked for.
type recorder struct {
	next  aws.HTTPClient
	calls []string
}

func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	r.calls = append(r.calls, req.Header.Get("X-Amz-Target"))
	return r.next.Do(req)
}
