package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// Relays in bad weather: producers commit the versions of a few aggregates, relays publish them to a broker that refuses,
// is slow, or takes a batch and loses the answer, and operators decide about what is parked. Relays crash after every
// request, stand still past their leases, and have clocks that are off; the index is up to 30 seconds behind.

const relayLease = 20 * time.Second

// street is one history.
type street struct {
	w       *invariant.World
	ordered bool
	events  *outbox.Outbox
	mu      sync.Mutex
	created []outbox.Event
	missing int // events that are yet to be committed
	over    int // how many of those created, from the first on, are over
	taken   []outbox.Event
	lease   map[string]time.Time // of each claim of each event
	version map[string]int64     // of each record
	steps   map[string]bool
	quiet   map[string]bool // relays that have ended
	busy    int             // how many batches the broker has
	lane    *lane           // nil: the shard map never changes
}

func newStreet(w *invariant.World, ordered bool, m shardmap.Map) *street {
	s := &street{w: w, ordered: ordered, lease: map[string]time.Time{}, version: map[string]int64{},
		steps: map[string]bool{}, quiet: map[string]bool{}}
	s.events = outbox.New(outbox.Config{Service: "orders", Map: m, Ordered: ordered})
	w.Table(outbox.DefaultTable, s.events.Index())
	return s
}

func publishOrders(ordered bool) func(w *invariant.World) {
	return func(w *invariant.World) {
		s := newStreet(w, ordered, shardmap.Fixed(1+w.Choose("more shards", 2)))
		for i := range 1 + w.Choose("more aggregates", 2) {
			s.produce(fmt.Sprint("order-", i), 1+w.Choose("more versions", 3))
		}
		w.Always("every event is found by its key, and no lease moves backward", s.found)
		for i := range 2 {
			s.relay(i)
		}
		s.operate()
		w.Run()
		w.Settle()
		w.Check("every event ends completed, passed or listed as parked", s.ended())
		w.Check("every completed event was published, an aggregate's in their order", s.told())
		for _, step := range []string{"recover", "fence", "park", "retry", "a late step is refused", "published twice", "a lost answer of the broker"} {
			w.Sometimes(step, s.steps[step])
		}
		if ordered {
			w.Sometimes("pass", s.steps["pass"])
			w.Sometimes("redrive", s.steps["redrive"])
		}
	}
}

// produce commits the versions of an aggregate one after the other, as often as it takes.
func (s *street) produce(aggregate string, versions int) {
	s.missing += versions
	next, occurred := 1, map[int]time.Time{} // when a command comes, its time is fixed, however often it is tried
	s.w.Worker("producer of "+aggregate, func(ctx context.Context, p *invariant.Process) error {
		maps := s.lane.maps(p)
		for ; next <= versions; next++ {
			if err := s.lane.pause(ctx, p, occurred, next); err != nil {
				return err
			}
			e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: aggregate, AggregateVersion: int64(next), Type: "OrderFilled",
				SchemaVersion: 1, OccurredAt: occurred[next], Payload: []byte("{}")}
			e.ID = e.OrderedID()
			events, err := s.lane.under(ctx, s.events, maps)
			if err != nil {
				return err
			}
			_, err = txn.New(p.Client(), p.Txn()).Commit(ctx, events.Create(e))
			if err != nil && !errors.Is(err, outbox.ErrDuplicate) {
				return err
			}
			s.mu.Lock()
			s.created, s.missing = append(s.created, e), s.missing-1
			s.mu.Unlock()
		}
		return nil
	})
}

// relay runs a relay until everything is done. No two relays' times fall on one instant.
func (s *street) relay(i int) {
	off := time.Duration(i+1) * 17 * time.Microsecond
	s.w.Worker(fmt.Sprint("relay-", i), func(ctx context.Context, p *invariant.Process) error {
		life := ctx
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		config := outbox.RelayConfig{
			Owner: p.Name(), Batch: 3, Batches: 1, Lease: relayLease + off, Recover: 5*time.Second + off, PollMin: time.Second + off, PollMax: 4*time.Second + off,
			MaxAttempts: 3, RetryMin: time.Second, RetryMax: 10 * time.Second, Hold: 5 * time.Second, Renewals: 2,
			Maps: s.lane.maps(p), Now: p.Now, NewID: p.NewID, Jitter: p.Jitter,
			Sleep: func(ctx context.Context, d time.Duration) error {
				if s.done() {
					cancel()
				}
				return p.Sleep(ctx, d)
			},
			Observer: observe.Func(func(_ context.Context, e observe.Event) { s.observe(e) }),
		}
		err := outbox.NewRelay(s.events, p.Client(), &broker{s, p, life}, config).Run(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.quiet[p.Name()] = life.Err() == nil
		return err
	})
}

// published says whether nothing can come from the broker any more: everything is done, and no relay stands still with a batch.
func (s *street) published() bool {
	if !s.done() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy == 0 && s.quiet["relay-0"] && s.quiet["relay-1"]
}

// hold counts the batches that the broker has.
func (s *street) hold(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy += n
}

func (s *street) observe(e observe.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Outcome == observe.OK:
		s.steps[e.Name] = true
	case e.Label() == "AP16.map":
		s.steps["no map"] = true
	case e.Outcome == observe.Stale && (e.Label() == "AP16.complete" || e.Label() == "AP16.retry"):
		s.steps["a late step is refused"] = true
	}
}

// broker is where the relay of one process publishes.
type broker struct {
	s    *street
	p    *invariant.Process
	life context.Context
}

func (b *broker) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	b.s.hold(1)
	defer b.s.hold(-1)
	results := make([]outbox.Result, len(batch))
	mood := b.p.Jitter(8)
	switch mood {
	case 1:
		_ = b.p.Sleep(ctx, 3*relayLease/2) // slower than a lease
	case 5:
		_ = b.p.Sleep(b.life, 5*relayLease) // and than all renewals: it does not heed its context
	}
	for i, m := range batch {
		switch {
		case mood == 2 || mood == 3 && i%2 == 1:
			results[i].Err = errors.New("the broker refused it")
			continue
		case mood == 4:
			results[i].Err = errors.New("the broker took it, the answer is lost")
		}
		b.s.take(b.p, m.Event, mood == 4)
	}
	return results
}

// take is the broker's side: what it took stays taken. An ordered event never comes before the one before it is done with.
func (s *street) take(p *invariant.Process, e outbox.Event, lost bool) {
	s.mu.Lock()
	s.steps["a lost answer of the broker"] = s.steps["a lost answer of the broker"] || lost
	s.steps["published twice"] = s.steps["published twice"] || slices.ContainsFunc(s.taken, func(t outbox.Event) bool { return t.ID == e.ID })
	s.taken = append(s.taken, e)
	s.mu.Unlock()
	if !s.ordered || e.AggregateVersion == 1 {
		return
	}
	before := e
	before.AggregateVersion--
	record, err := s.events.Get(context.Background(), s.w.Client(), before.OrderedID())
	if err != nil || !record.State.Final() {
		p.Fatalf("version %d of %s is published, the one before is %s, %v", e.AggregateVersion, e.AggregateID, record.State, err)
	}
}

// operate redrives or passes what is parked; where nothing waits for it, it may stay parked.
func (s *street) operate() {
	s.w.Worker("operator", func(ctx context.Context, p *invariant.Process) error {
		commits, maps := txn.New(p.Client(), p.Txn()), s.lane.maps(p)
		for s.ordered && !s.done() {
			events, err := s.lane.under(ctx, s.events, maps)
			if err != nil {
				return err
			}
			for record, err := range events.Parked(ctx, p.Client()) {
				if err != nil {
					return err
				}
				note := outbox.Audit{By: "ops", Reason: "looked at it", At: p.Now()}
				part, step := s.events.Redrive(record, p.Now(), note), "redrive"
				if p.Jitter(2) == 1 {
					part, step = s.events.Pass(record, note), "pass"
				}
				if _, err := commits.Commit(ctx, part); err != nil {
					return err
				}
				s.mu.Lock()
				s.steps[step] = true
				s.mu.Unlock()
			}
			if err := p.Sleep(ctx, 7*time.Second+time.Microsecond); err != nil {
				return err
			}
		}
		return nil
	})
}

// records reads every event that was committed.
func (s *street) records() []outbox.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var records []outbox.Record
	for _, e := range s.created {
		if record, err := s.events.Get(context.Background(), s.w.Client(), e.ID); err == nil {
			records = append(records, record)
		}
	}
	return records
}

// done says whether every event is published, passed, or parked where nobody decides about it. What is over stays over.
func (s *street) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; s.over < len(s.created); s.over++ {
		r, err := s.events.Get(context.Background(), s.w.Client(), s.created[s.over].ID)
		if err != nil || !r.State.Final() && (s.ordered || r.State != outbox.Parked) {
			return false
		}
	}
	return s.missing == 0
}

// found holds after every write: what is IN_FLIGHT stands in a journal that ends with its lease at the latest (O1);
// versions only rise, and leases of a claim only move forward (O7).
func (s *street) found() error {
	for _, r := range s.records() {
		id := r.Event.ID
		if err := s.lane.placed(s, r); err != nil {
			return err
		}
		if r.Version < s.version[id] || r.LeaseUntil.Before(s.lease[id+r.Claim]) && r.State == outbox.InFlight {
			return fmt.Errorf("event %s went from version %d to %d, its lease to %v", id, s.version[id], r.Version, r.LeaseUntil)
		}
		s.version[id] = r.Version
		if r.State != outbox.InFlight {
			continue
		}
		s.lease[id+r.Claim] = r.LeaseUntil
		named := false
		for stuck, err := range s.events.Stuck(context.Background(), s.w.Client(), r.LeaseUntil) {
			if err != nil {
				return err
			}
			named = named || stuck.Event.ID == id
		}
		if !named {
			return fmt.Errorf("event %s is IN_FLIGHT for %s, and no journal leads to it when its lease ends", id, r.Owner)
		}
	}
	return nil
}

func (s *street) ended() error {
	parked := map[string]bool{}
	s.w.Advance(time.Minute) // the index catches up
	events, err := s.lane.under(s.w.Context(), s.events, s.lane.look(s.w))
	if err != nil {
		return err
	}
	for record, err := range events.Parked(s.w.Context(), s.w.Client()) {
		if err != nil {
			return err
		}
		parked[record.Event.ID] = true
	}
	for _, r := range s.records() {
		if !r.State.Final() && (s.ordered || !parked[r.Event.ID]) {
			return fmt.Errorf("event %s is %s, listed as parked: %v", r.Event.ID, r.State, parked[r.Event.ID])
		}
		if r.State == outbox.Parked && r.Failure == "" {
			return fmt.Errorf("event %s is parked without a reason", r.Event.ID)
		}
	}
	return nil
}

func (s *street) told() error {
	first := map[string]int{} // place of the first copy of each event
	for i, e := range s.taken {
		if _, repeated := first[e.ID]; !repeated {
			first[e.ID] = i
		}
	}
	last := map[string]int{} // of each aggregate
	for _, r := range s.records() {
		at, published := first[r.Event.ID]
		if r.State == outbox.Completed && !published {
			return fmt.Errorf("event %s is COMPLETED and was never published", r.Event.ID)
		}
		if s.ordered && published {
			if before := last[r.Event.AggregateID]; at < before {
				return fmt.Errorf("version %d of %s came before the version before it", r.Event.AggregateVersion, r.Event.AggregateID)
			}
			if r.State == outbox.Completed { // a relay that stood still may bring a passed one late
				last[r.Event.AggregateID] = at
			}
		}
	}
	return nil
}

var badStreet = invariant.Config{IndexLag: 30 * time.Second, SkewMax: 5 * time.Second, Steps: 400, SettleSteps: 20_000, SettleTime: 4 * time.Hour}

func TestEveryEventIsPublishedOrParkedWhateverHappens(t *testing.T) {
	t.Parallel()
	invariant.Check(t, badStreet, publishOrders(false))
}

func TestOrderedAggregatesNeverGoBackwardWhateverHappens(t *testing.T) {
	t.Parallel()
	invariant.Check(t, badStreet, publishOrders(true))
}

func TestRelaysSurviveEachFaultAtEachRequest(t *testing.T) {
	t.Parallel()
	config := invariant.Config{SkewMax: -1, SettleSteps: 20_000, SettleTime: 4 * time.Hour}
	if runs := invariant.EachFault(t, config, publishOrders(true)); runs < 50 {
		t.Errorf("%d runs", runs)
	}
}
