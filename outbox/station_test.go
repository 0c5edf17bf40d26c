package outbox_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// station is an outbox with relays in virtual time: everything that a bubble of testing/synctest needs.
type station struct {
	tester
	db     *dynamosim.DB
	client *dynamodb.Client
	events *outbox.Outbox
	bus    *outbox.Memory
	began  time.Time

	mu   sync.Mutex
	seen map[string]int // observations by pattern and outcome

	probed int // bytes of a record, see recordBytes
}

// tester is a *testing.T, or a *rapid.T in a bubble.
type tester interface {
	dynamosim.TB
	Context() context.Context
	Error(args ...any)
	Log(args ...any)
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, config outbox.Config, opts dynamosim.Options, test func(s *station)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newStation(t, config, opts)) })
}

func newStation(t tester, config outbox.Config, opts dynamosim.Options) *station {
	t.Helper()
	config.Service, config.Table = "orders", txn.Table{Name: "Orders"}
	s := &station{tester: t, db: dynamosim.New(t, opts), events: outbox.New(config), bus: &outbox.Memory{}, began: time.Now(), seen: map[string]int{}}
	s.client = s.db.Client()
	if err := s.db.CreateTable("Orders", s.events.Index()); err != nil {
		t.Fatal(err)
	}
	return s
}

// relay returns a relay with patience for nothing: short polls, and what a test sets beside them.
func (s *station) relay(publisher outbox.Publisher, config outbox.RelayConfig, client outbox.RelayClient) *outbox.Relay {
	if client == nil {
		client = s.client
	}
	if publisher == nil {
		publisher = s.bus
	}
	config.Observer = observe.Func(func(_ context.Context, e observe.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[e.Label()+" "+string(e.Outcome)]++
	})
	return outbox.NewRelay(s.events, client, publisher, config)
}

// counted returns how often a step ended this way.
func (s *station) counted(pattern string, outcome observe.Outcome) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[pattern+" "+string(outcome)]
}

// create commits events of an aggregate's next versions and returns their IDs.
func (s *station) create(aggregate string, from, to int) (ids []string) {
	s.Helper()
	for version := from; version <= to; version++ {
		e := outbox.Event{
			Tenant: "acme", AggregateType: "Order", AggregateID: aggregate, AggregateVersion: int64(version),
			Type: "OrderFilled", SchemaVersion: 1, OccurredAt: time.Now(), Payload: []byte(`{"order":"` + aggregate + `"}`),
		}
		e.ID = e.OrderedID()
		if _, err := txn.Commit(s.Context(), s.client, s.events.Create(e)); err != nil {
			s.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// orders commits the first event of each of n orders.
func (s *station) orders(n int) (ids []string) {
	s.Helper()
	for i := range n {
		ids = append(ids, s.create(fmt.Sprint("order-", i), 1, 1)...)
	}
	return ids
}

func (s *station) get(id string) outbox.Record {
	s.Helper()
	record, err := s.events.Get(s.Context(), s.client, id)
	if err != nil {
		s.Fatal(err)
	}
	return record
}

// once runs one round.
func (s *station) once(r *outbox.Relay) outbox.Round {
	s.Helper()
	round, err := r.Once(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return round
}

// states counts events by state.
func (s *station) states(ids []string) map[outbox.State]int {
	s.Helper()
	counts := map[outbox.State]int{}
	for _, id := range ids {
		counts[s.get(id).State]++
	}
	return counts
}

// journals counts the claim journals that are stored.
func (s *station) journals() int {
	s.Helper()
	pk := "PK = :pk"
	out, err := s.client.Query(s.Context(), &dynamodb.QueryInput{
		TableName: aws.String("Orders"), KeyConditionExpression: &pk,
		ExpressionAttributeValues: txn.Item{":pk": &types.AttributeValueMemberS{Value: "SERVICE#orders#CLAIMS"}},
	})
	if err != nil {
		s.Fatal(err)
	}
	return len(out.Items)
}

// published counts the copies of each event that the bus accepted.
func (s *station) published() map[string]int {
	copies := map[string]int{}
	for _, m := range s.bus.Messages() {
		copies[m.Event.ID]++
	}
	return copies
}

// slow returns a client whose requests take a few milliseconds.
func (s *station) slow() *dynamodb.Client {
	return s.db.Client(func(o *dynamodb.Options) { o.HTTPClient = slowly{s.db} })
}

type slowly struct{ *dynamosim.DB }

func (d slowly) Do(req *http.Request) (*http.Response, error) {
	time.Sleep(5 * time.Millisecond)
	return d.DB.Do(req)
}

// damage changes the payload of an event behind the outbox's back.
func (s *station) damage(id string) {
	s.Helper()
	table := txn.Table{Name: "Orders"}.WithDefaults("Orders")
	_, err := s.client.UpdateItem(s.Context(), &dynamodb.UpdateItemInput{
		TableName: &table.Name, Key: table.Key("OUTBOX#"+id, "EVENT"), UpdateExpression: aws.String("SET payload = :p"),
		ExpressionAttributeValues: txn.Item{":p": &types.AttributeValueMemberB{Value: []byte("other")}},
	})
	if err != nil {
		s.Fatal(err)
	}
}

// now and sleep are those of the bubble.
func (s *station) now() time.Time        { return time.Now() }
func (s *station) sleep(d time.Duration) { time.Sleep(d) }
