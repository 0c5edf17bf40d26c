package lanes

import (
	"context"
	"errors"
	"time"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/loadtest"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// placed finds identifiers for shards. With loadtest.InTurn every shard gets the same number of them, which is what the
// formula for the number of shards assumes; how far the hash is from that is another question.
type placed struct {
	places shardmap.Map
	ids    map[int][]string // of operations, by number: an attempt that comes again has the one it had
	next   int
	byOp   map[int]string
}

func newPlaced(places shardmap.Map) *placed {
	return &placed{places: places, ids: map[int][]string{}, byOp: map[int]string{}}
}

// id is the identifier of an operation, on the shard of its key.
func (p *placed) id(op loadtest.Op) (string, error) {
	if id, ok := p.byOp[op.N]; ok {
		return id, nil
	}
	for len(p.ids[op.Key]) == 0 {
		p.next++
		id := name("event", p.next)
		at, err := p.places.Place(id)
		if err != nil {
			return "", err
		}
		p.ids[at.Shard] = append(p.ids[at.Shard], id)
	}
	id := p.ids[op.Key][0]
	p.ids[op.Key] = p.ids[op.Key][1:]
	p.byOp[op.N] = id
	return id, nil
}

// naming says how the operations of a sharded lane get their identifiers.
type naming func(places shardmap.Map) func(op loadtest.Op) (string, error)

// Even names them so that keys are shards: with loadtest.InTurn each shard gets the same number.
func Even(places shardmap.Map) func(op loadtest.Op) (string, error) { return newPlaced(places).id }

// Hashed leaves it to the hash.
func Hashed(shardmap.Map) func(op loadtest.Op) (string, error) {
	return func(op loadtest.Op) (string, error) { return name("event", op.N), nil }
}

// receipts is AP09 from the side of the receipts: each event with a state of its own, so that only the inbox is a lane.
func receipts(shards int, named naming) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		places := shardmap.Fixed(shards)
		received, id := inbox.New(inbox.Config{Consumer: "portfolio", Now: s.Now, Maps: []shardmap.Map{places}}), named(places)
		committer, table := txn.New(s.Client, s.Txn), txn.Table{Name: "Portfolio"}
		return func(ctx context.Context, op loadtest.Op) error {
			event, err := id(op)
			if err != nil {
				return err
			}
			_, err = received.Process(ctx, committer, inbox.Event{ID: event, Type: "OrderFilled"}, nil, txn.Put(table, table.WithDefaults("").Key(event, "STATE")))
			return err
		}, errors.Join(s.DB.CreateTable(inbox.DefaultTable), s.DB.CreateTable(table.Name))
	}
}

// checkpoints is AP13: the first version of a source each.
func checkpoints(shards int, named naming) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		places := shardmap.Fixed(shards)
		id := named(places)
		view := projection.New(s.Client, projection.Config{Name: "portfolio", Map: places, Txn: s.Txn, Now: s.Now}).Namespace(1)
		return func(ctx context.Context, op loadtest.Op) error {
			source, err := id(op)
			if err != nil {
				return err
			}
			_, err = view.Apply(ctx, projection.Event{Source: source, Version: 1, OccurredAt: noon})
			return err
		}, s.DB.CreateTable(projection.DefaultTable)
	}
}

// Of each 5,000 events the plan has 100 that need another attempt and 20 that are put off.
const (
	retriedOf = 50
	movedOf   = 250
)

// events is AP16: the whole way of an event through the outbox, with a relay.
func events(shards int, named naming) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		places := shardmap.Fixed(shards)
		box, id := outbox.New(outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}, Map: places}), named(places)
		committer := txn.New(s.Client, s.Txn)
		refused := map[string]bool{}
		bus := &outbox.Memory{Refuse: func(m outbox.Message) outbox.Result {
			if refused[m.Event.ID] && m.Attempt == 1 {
				return outbox.Result{Err: errors.New("not now")}
			}
			return outbox.Result{}
		}}
		token := 0
		relay := outbox.NewRelay(box, s.Client, bus, outbox.RelayConfig{Now: s.Now, Sleep: atOnce, Concurrency: 1, Batches: 1, RetryMin: 200 * time.Millisecond,
			NewID:  func() string { token++; return name("claim", token) },
			Jitter: func(limit time.Duration) time.Duration { return limit / 2 }})
		s.Every(20*time.Millisecond, func(ctx context.Context) error {
			for {
				round, err := relay.Once(ctx)
				if err != nil || !round.More {
					return err
				}
			}
		})
		return func(ctx context.Context, op loadtest.Op) error {
			event, err := id(op)
			if err != nil {
				return err
			}
			_, err = committer.Commit(ctx, box.Create(outbox.Event{ID: event, Tenant: tenant, AggregateType: "Order", AggregateID: event, AggregateVersion: 1,
				Type: "OrderAccepted", SchemaVersion: 1, OccurredAt: noon, Payload: []byte(padding(1000))}))
			if op.N%retriedOf == 1 {
				refused[event] = true
			}
			if err != nil || op.N%movedOf != 0 {
				return err
			}
			record, err := box.Get(ctx, s.Client, event)
			if err != nil {
				return err
			}
			return box.Reschedule(ctx, s.Client, record, s.Now().Add(100*time.Millisecond))
		}, s.DB.CreateTable("Orders", box.Index())
	}
}

// atOnce is how a relay waits in a round that takes no time: what was throttled is tried again at once, and then by the
// next round; a lease needs no renewal, and whoever would renew it waits for the end of the batch.
func atOnce(ctx context.Context, d time.Duration) error {
	if d >= time.Second {
		<-ctx.Done()
	}
	return ctx.Err()
}
