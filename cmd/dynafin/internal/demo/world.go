package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/cenkalti/backoff/v4"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// opening is when the demo's day begins.
var opening = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

const tenant = "acme"

// customers is how many accounts buy.
const customers = 8

// odds are the faults of the network, each in thousandths of the requests that may change something.
var odds = []struct {
	fate dynamosim.Fate
	part int
}{
	{dynamosim.LoseRequest, 30}, {dynamosim.LoseAnswer, 40}, {dynamosim.Throttle, 20}, {dynamosim.Conflict, 30}, {dynamosim.InternalErrorAfter, 15},
}

// world is the simulator, its clock, its network, and the library on it.
type world struct {
	db     *dynamosim.DB
	client *dynamodb.Client // through the bad network
	plain  *dynamodb.Client // what checks read through
	deploy *deployment.Deployment

	requests  *idempotency.Requests
	names     *sentinel.Names
	books     *ledger.Ledger
	events    *outbox.Outbox
	received  *inbox.Inbox
	positions *projection.Namespace
	committer *txn.Committer // through the bad network
	quiet     *txn.Committer

	// The relay has goroutines of its own.
	mu     sync.Mutex
	now    time.Time
	chance *rand.Rand
	ids    int
	faults map[dynamosim.Fate]int
	dying  bool // the process loses everything that it sends
}

// The deployment that --save writes beside the database.
func newDeployment() *deployment.Deployment {
	d := &deployment.Deployment{
		Name: "demo", HomeRegion: "us-east-1", Tenants: []string{tenant},
		Requests:    &deployment.Requests{Place: deployment.Place{Table: "Idempotency"}},
		Names:       &deployment.Names{Place: deployment.Place{Table: "Orders"}, Kinds: []string{sentinel.ClientOrder}},
		Outbox:      []deployment.Outbox{{Service: "orders", Place: deployment.Place{Table: "Orders"}}},
		Inbox:       []deployment.Inbox{{Consumer: "portfolio", Place: deployment.Place{Table: "Portfolio"}}},
		Ledger:      &deployment.Ledger{Place: deployment.Place{Table: "Books"}, Accounts: []string{"bank", "venue"}},
		Projections: []deployment.Projection{{Name: "positions", Place: deployment.Place{Table: "Portfolio"}}},
		Audit:       &deployment.Audit{Place: deployment.Place{Table: "Operator"}},
	}
	for i := range customers {
		d.Ledger.Accounts = append(d.Ledger.Accounts, customer(i))
	}
	return d
}

func customer(i int) string { return fmt.Sprintf("customer-%d", i+1) }

func newWorld(seed uint64) (*world, error) {
	w := &world{now: opening, chance: rand.New(rand.NewPCG(seed, 7)), faults: map[dynamosim.Fate]int{}, deploy: newDeployment()}
	w.deploy.Now = w.Now
	w.db = dynamosim.Open(dynamosim.Options{Now: w.Now, Seed: seed})
	w.plain = w.db.Client()
	w.client = w.db.Client(func(o *dynamodb.Options) {
		o.Retryer, o.HTTPClient = aws.NopRetryer{}, &network{w: w, seed: seed, seen: map[string]int{}}
	})
	pace := txn.Config{
		Now: w.Now, NewMark: func() string { return w.id("mark") }, Jitter: func(time.Duration) time.Duration { return 0 },
		NewTimer: func() backoff.Timer { return new(instant) },
	}
	w.committer, w.quiet = txn.New(w.client, pace), txn.New(w.plain, pace)
	w.requests = idempotency.New(idempotency.Config{Table: w.deploy.Requests.At(), Now: w.Now, NewID: func() string { return w.id("claim") }})
	w.names = sentinel.New(sentinel.Config{Table: w.deploy.Names.At(), Now: w.Now})
	w.books = ledger.New(ledger.Config{Table: w.deploy.Ledger.At(), Now: w.Now})
	w.events = outbox.New(outbox.Config{Service: "orders", Table: w.deploy.Outbox[0].At()})
	w.received = inbox.New(inbox.Config{Consumer: "portfolio", Table: w.deploy.Inbox[0].At(), Now: w.Now})
	w.positions = projection.New(w.plain, projection.Config{Name: "positions", Table: w.deploy.Projections[0].At(), Now: w.Now, Txn: pace}).Namespace(1)
	return w, w.createTables()
}

func (w *world) createTables() error {
	s, err := w.deploy.Schema()
	if err != nil {
		return err
	}
	creations, err := s.Create()
	if err != nil {
		return err
	}
	for _, c := range creations {
		if _, err := w.plain.CreateTable(context.Background(), c.CreateTable); err != nil {
			return err
		}
		if c.TimeToLive != nil {
			if _, err := w.plain.UpdateTimeToLive(context.Background(), c.TimeToLive); err != nil {
				return err
			}
		}
	}
	return nil
}

// instant is a timer that is over at once: waits between attempts take no time here.
type instant struct{ c chan time.Time }

func (t *instant) Start(time.Duration) {
	t.c = make(chan time.Time, 1)
	t.c <- time.Time{}
}
func (t *instant) Stop()               {}
func (t *instant) C() <-chan time.Time { return t.c }

// Now is the clock of everything.
func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) id(kind string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("%s-%06d", kind, w.ids)
}

// draw returns a number below n.
func (w *world) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.chance.IntN(n)
}
