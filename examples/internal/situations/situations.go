package situations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// situation is a story with a title and what to learn from it.
type situation struct {
	title, text string
	play        func(ctx context.Context, s *scene)
}

var (
	noon   = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	orders = txn.Table{Name: "Orders"}
)

func (s *scene) requests(p *process) *idempotency.Requests {
	tokens := 0
	return idempotency.New(idempotency.Config{Table: orders, Now: s.clock, Lease: 30 * time.Second, Txn: p.commits(),
		NewID: func() string { tokens++; return fmt.Sprint(p.name, tokens) }})
}

func (s *scene) events() *outbox.Outbox {
	return outbox.New(outbox.Config{Service: "shop", Table: orders, Now: s.clock})
}

func request(key, item string) idempotency.Request {
	return idempotency.Request{Tenant: "acme", Key: key, Operation: "order", SchemaVersion: 1, Command: idempotency.NewFields().String("item", item)}
}

func created() outbox.Event {
	e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: "1", AggregateVersion: 1, Type: "OrderCreated", SchemaVersion: 1, OccurredAt: noon}
	e.ID = e.StableID()
	return e
}

// order is a handler whose whole effect is one transaction.
func order(ctx context.Context, p *process, client, item string) {
	p.asks(client, p.name, "key-1: a "+item)
	_, err := txn.New(p.client(), p.commits()).Commit(ctx,
		p.requests(p).Once(request("key-1", item), idempotency.Result{Code: "201", Body: []byte("order 1")}),
		txn.Put(orders, orders.Key("ORDER#1", "ORDER"), txn.IfAbsent()),
		p.events().Create(created()),
	)
	var mismatch *idempotency.MismatchError
	replay, replayed := idempotency.Replayed(err)
	switch {
	case replayed:
		p.answers(p.name, client, string(replay.Result.Body)+", as it was stored")
	case errors.As(err, &mismatch):
		p.answers(p.name, client, "refused: the key belongs to another command")
	case err == nil:
		p.answers(p.name, client, "order 1")
	case !p.dies:
		p.must(err)
	}
}

// claimed is a handler that claims its request first, and commits order and answer when they are ready: when the first function returns.
func claimed(ctx context.Context, p *process, client string, work func()) {
	p.asks(client, p.name, "key-1: a lamp")
	claim, err := p.requests(p).Begin(ctx, p.client(), request("key-1", "lamp"), idempotency.Transactional)
	if err != nil {
		p.must(err)
		return
	}
	work()
	_, err = txn.New(p.client(), p.commits()).Commit(ctx,
		claim.Complete(idempotency.Result{Code: "201", Body: []byte("order 1 by the " + p.name)}),
		txn.Put(orders, orders.Key("ORDER#1 by the "+p.name, "ORDER"), txn.IfAbsent()),
	)
	if replay, ok := idempotency.Replayed(err); ok {
		p.answers(p.name, client, string(replay.Result.Body)+", as it was stored")
		return
	}
	p.must(err)
	p.answers(p.name, client, "order 1 by the "+p.name)
}

// pay is a handler whose effect is with somebody else.
func pay(ctx context.Context, p *process, client, provider string) {
	p.asks(client, p.name, "key-1: pay")
	answer, err := p.requests(p).Do(ctx, p.client(), request("key-1", "payment"), idempotency.Work{
		Mode: idempotency.External,
		Run: func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
			p.asks(p.name, provider, "charge, attempt 1 of key-1")
			if p.diesBehindPaying {
				p.says(provider, "--x", p.name, "charged, and the answer is lost")
				p.die()
				return idempotency.Result{}, nil, errLost
			}
			p.answers(provider, p.name, "charged")
			return idempotency.Result{Code: "201", Body: []byte("paid")}, nil, nil
		},
	})
	var repair *idempotency.RepairRequiredError
	var busy *idempotency.InProgressError
	switch {
	case errors.As(err, &repair):
		p.answers(p.name, client, "nobody knows yet, come again")
	case errors.As(err, &busy):
		p.answers(p.name, client, "in progress, come again")
	case err == nil:
		p.answers(p.name, client, strings.TrimSuffix(string(answer.Result.Body)+", "+map[bool]string{true: "as it was stored"}[answer.Replayed], ", "))
	case !p.dies:
		p.must(err)
	}
}

// Publish makes a process the publisher of its relay.
func (p *process) Publish(_ context.Context, batch []outbox.Message) []outbox.Result {
	results := make([]outbox.Result, len(batch))
	for i := range batch {
		p.asks(p.name, "broker", "the event")
		p.answers("broker", p.name, "acknowledged")
		results[i].Ack = "ack"
	}
	return results
}

// relay makes one round.
func relay(ctx context.Context, p *process) {
	if p.dies {
		var end func()
		ctx, end = context.WithCancel(ctx)
		defer end()
		p.end = end
	}
	_, err := outbox.NewRelay(p.events(), p.client(), p, outbox.RelayConfig{Now: p.clock, NewID: func() string { return "claim of " + p.name }}).Once(ctx)
	if !p.dies {
		p.must(err)
	}
}

// prober asks the provider what became of a payment.
type prober struct {
	*process
	provider string
}

// Probe implements idempotency.Prober.
func (p prober) Probe(_ context.Context, r idempotency.Record) (idempotency.Finding, error) {
	p.asks(p.name, p.provider, fmt.Sprintf("what became of attempt %d of %s?", r.Attempt, r.Key))
	p.answers(p.provider, p.name, "charged")
	return idempotency.Found(idempotency.Result{Code: "201", Body: []byte("paid")}), nil
}

func repair(ctx context.Context, p *process, provider string) {
	_, err := idempotency.NewRepairWorker(p.requests(p), p.client(), prober{p, provider}, idempotency.RepairConfig{
		Tenants: idempotency.Tenants("acme"),
	}).Once(ctx)
	p.must(err)
}

// play runs a situation.
func play(ctx context.Context, of situation) (string, error) {
	s := &scene{now: noon}
	s.db = dynamosim.Open(dynamosim.Options{Now: s.clock, TokenPolicy: dynamosim.IgnoreTokens}) // no help from request tokens
	indexes := idempotency.New(idempotency.Config{Table: orders})
	if err := s.db.CreateTable(orders.Name, s.events().Index(), indexes.Index()); err != nil {
		return "", err
	}
	of.play(ctx, s)
	return s.diagram(), errors.Join(s.faults...)
}
