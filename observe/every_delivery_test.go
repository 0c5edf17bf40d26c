package observe_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func TestEveryOperationOfNamesReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.table(sentinel.DefaultTable)
	names := sentinel.New(sentinel.Config{Observer: d, Now: d.clock})
	claim := sentinel.Claim{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "c-1", Owner: "order-1", Command: "key-1"}
	lookup := func() error {
		_, err := names.Lookup(t.Context(), d.client, "acme", sentinel.ClientOrder, "c-1")
		return err
	}
	d.once("AP17.lookup", observe.NotFound, lookup)
	commits := txn.New(d.client, txn.Config{Observer: d, Now: d.clock})
	d.once("AP17.commit", observe.OK, func() error { _, err := commits.Commit(t.Context(), names.Reserve(claim)); return err })
	claim.Owner, claim.Command = "order-2", "key-2"
	d.once("AP17.commit", observe.Rejected, func() error { _, err := commits.Commit(t.Context(), names.Reserve(claim)); return err })
	d.once("AP17.lookup", observe.OK, lookup)
}

func TestEveryOperationOfAnInboxReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.table(inbox.DefaultTable)
	received := inbox.New(inbox.Config{Consumer: "portfolio", Observer: d, Now: d.clock})
	commits := txn.New(d.client, txn.Config{Observer: d, Now: d.clock})
	process := func(payload string) func() error {
		return func() error {
			_, err := received.Process(t.Context(), commits, inbox.Event{ID: "e-1", Payload: []byte(payload)}, nil)
			return err
		}
	}
	lookup := func() error {
		_, err := received.Lookup(t.Context(), d.client, inbox.Event{ID: "e-1", Payload: []byte("a")})
		return err
	}
	d.once("AP09.lookup", observe.NotFound, lookup)
	d.once("AP09.process", observe.OK, process("a"))
	d.once("AP09.process", observe.Replayed, process("a"))
	d.once("AP09.process", observe.Rejected, process("b"))
	d.once("AP09.lookup", observe.OK, lookup)
	d.once("AP09.get", observe.OK, func() error { _, err := received.Get(t.Context(), d.client, "e-1"); return err })
}

func TestEveryOperationOnRequestsReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	requests := idempotency.New(idempotency.Config{Observer: d, Now: d.clock})
	d.table(idempotency.TableName, requests.Index())
	ctx := t.Context()
	request := func(key string) idempotency.Request {
		return idempotency.Request{Tenant: "acme", Key: key, Operation: "pay", Command: idempotency.NewFields().String("to", "ann")}
	}
	var claim *idempotency.Claim
	begin := func(key string, mode idempotency.Mode) func() error {
		return func() error {
			begun, err := requests.Begin(ctx, d.client, request(key), mode)
			if err == nil {
				claim = begun
			}
			return err
		}
	}
	done := idempotency.Result{Kind: idempotency.Accepted, Code: "201"}
	work := idempotency.Work{Mode: idempotency.Transactional, Run: func(ctx context.Context, _ *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		_, err := d.db.Client().GetItem(ctx, get(idempotency.TableName, "of the caller"))
		return done, nil, err
	}}
	do := func(work idempotency.Work) func() error {
		return func() error { _, err := requests.Do(ctx, d.client, request("do"), work); return err }
	}
	d.once("AP08.begin", observe.OK, begin("1", idempotency.Transactional))
	d.once("AP08.begin", observe.Stale, begin("1", idempotency.Transactional))
	d.once("AP08.renew", observe.OK, func() error { _, err := claim.Renew(ctx, d.client, time.Hour); return err })
	d.once("AP08.release", observe.OK, func() error { return claim.Release(ctx, d.client, "no need") })
	d.once("AP08.begin", observe.OK, begin("1", idempotency.Transactional))
	d.once("AP08.run", observe.OK, func() error { _, err := claim.Run(ctx, d.client, work); return err })
	d.once("AP08.begin", observe.Replayed, begin("1", idempotency.Transactional))
	failing := work
	failing.Run = func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		return done, nil, errors.New("out of order")
	}
	d.once("AP08.do", observe.Failed, do(failing))
	d.once("AP08.do", observe.OK, do(work))
	d.once("AP08.do", observe.Replayed, do(work))
	d.once("AP08.lookup", observe.OK, func() error { _, err := requests.Lookup(ctx, d.client, request("do")); return err })
	d.once("AP08.get", observe.NotFound, func() error { _, err := requests.Get(ctx, d.client, "acme", "nobody"); return err })
	d.once("AP18.audits", observe.OK, func() error { _, err := requests.Audits(ctx, d.client, "acme", "1"); return err })

	d.once("AP08.begin", observe.OK, begin("2", idempotency.External))
	d.once("AP18.repair", observe.OK, func() error { return claim.Repair(ctx, d.client, idempotency.Evidence{Reason: "no answer"}) })
	d.now = d.now.Add(time.Hour)
	queue := func() error { _, err := requests.Queue(ctx, d.client, d.now, "acme"); return err }
	d.once("AP18.queue", observe.OK, queue)
	if d.measured["idempotency repairs.due"] != 1 || d.measured["idempotency escalations"] != 0 {
		t.Errorf("measured %v", d.measured)
	}
	prober := idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
		return idempotency.Ambiguous("not known"), nil
	})
	worker := idempotency.NewRepairWorker(requests, d.client, prober, idempotency.RepairConfig{Tenants: idempotency.Tenants("acme"), ProbesMax: 1})
	round := d.sums(func() { _, _ = worker.Once(ctx) })
	for i, want := range []string{"AP18.read", "AP18.probe", "AP18.escalate", "AP18.due"} {
		if len(round) != 4 || round[i].Label() != want || round[i].Outcome != observe.OK {
			t.Fatalf("a round of repair told %v", round)
		}
	}
	d.once("AP18.escalated", observe.OK, func() error { return drained(requests.Escalated(ctx, d.client, "acme")) })
	d.once("AP18.due", observe.OK, func() error { return drained(requests.Due(ctx, d.client, "acme", d.now)) })
	d.once("AP18.queue", observe.OK, queue)
	if d.measured["idempotency repairs.due"] != 0 || d.measured["idempotency escalations"] != 1 {
		t.Errorf("measured %v", d.measured)
	}
}

// A panic of the work is no success.
func TestWorkThatPanicsHasFailed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	requests := idempotency.New(idempotency.Config{Observer: d, Now: d.clock})
	d.table(idempotency.TableName, requests.Index())
	d.once("AP08.do", observe.Failed, func() error {
		defer func() { _ = recover() }()
		_, _ = requests.Do(t.Context(), d.client, idempotency.Request{Tenant: "acme", Key: "1", Operation: "pay", Command: idempotency.NewFields()},
			idempotency.Work{Mode: idempotency.Transactional, Run: func(context.Context, *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
				panic("out of order")
			}})
		return nil
	})
}

type publisher func(context.Context, []outbox.Message) []outbox.Result

func (p publisher) Publish(ctx context.Context, all []outbox.Message) []outbox.Result {
	return p(ctx, all)
}

// noMap is a shard map that cannot be had.
type noMap struct{}

func (noMap) Versions(context.Context) (shardmap.Versions, error) {
	return shardmap.Versions{}, errors.New("no map")
}

func TestEveryOperationOfAnOutboxReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := t.Context()
	events := outbox.New(outbox.Config{Service: "orders", Observer: d, Now: d.clock, Ordered: true})
	d.table(outbox.DefaultTable, events.Index())
	var ids []string
	event := func(order string, version int64) outbox.Event {
		e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: order, AggregateVersion: version, Type: "Filled",
			SchemaVersion: 1, OccurredAt: d.now}
		e.ID = e.OrderedID()
		ids = append(ids, e.ID)
		return e
	}
	d.commit(events.Create(event("order-1", 1)), events.Create(event("order-2", 1)))
	get := func(id string) func() error {
		return func() error { _, err := events.Get(ctx, d.client, id); return err }
	}
	d.once("AP16.get", observe.OK, get(ids[0]))
	d.once("AP16.get", observe.NotFound, get("nobody"))
	d.once("AP16.lag", observe.OK, func() error { _, err := events.Lag(ctx, d.client, d.now.Add(time.Minute)); return err })
	if d.measured["outbox oldest.age"] != int64(time.Minute) {
		t.Errorf("measured %v", d.measured)
	}
	d.once("AP16.ready", observe.OK, func() error { return drained(events.Ready(ctx, d.client, 0, d.now, 0)) })
	d.once("AP16.audits", observe.OK, func() error { _, err := events.Audits(ctx, d.client, ids[0]); return err })
	d.once("AP16.switch", observe.OK, func() error { _, err := events.Switch(ctx, d.client); return err })
	record, err := events.Get(ctx, d.client, ids[1])
	if err != nil {
		t.Fatal(err)
	}
	move := func() error { return events.Reschedule(ctx, d.client, record, d.now) }
	d.once("AP16.reschedule", observe.OK, move)
	d.once("AP16.reschedule", observe.OK, move) // it recognises itself
	record.Version -= 1
	d.once("AP16.reschedule", observe.Stale, move)

	refuse := publisher(func(_ context.Context, all []outbox.Message) []outbox.Result {
		results := make([]outbox.Result, len(all))
		for i, m := range all {
			if m.Event.AggregateID == "order-2" {
				results[i] = outbox.Result{Err: errors.New("too large"), Final: true}
			}
		}
		return results
	})
	relay := outbox.NewRelay(events, d.client, refuse, outbox.RelayConfig{Now: d.clock, Heed: true})
	told := map[string]int{}
	for _, e := range d.sums(func() { _, err = relay.Once(ctx) }) {
		told[e.Label()+" "+string(e.Outcome)]++
	}
	if err != nil || told["AP16.claim ok"] != 2 || told["AP16.complete ok"] != 1 || told["AP16.park ok"] != 1 || told["AP16.list ok"] != events.Shards() {
		t.Errorf("a pass told %v, %v", told, err)
	}
	if d.measured["outbox backlog"] != 2 || d.measured["outbox stuck"] != 0 {
		t.Errorf("measured %v", d.measured)
	}
	d.once("AP16.parked", observe.OK, func() error { return drained(events.Parked(ctx, d.client)) })
	if d.measured["outbox parked"] != 1 {
		t.Errorf("measured %v", d.measured)
	}
	d.once("AP16.parked.entries", observe.OK, func() error { return drained(events.ParkedEntries(ctx, d.client)) })
	d.once("AP16.stuck", observe.OK, func() error { return drained(events.Stuck(ctx, d.client, d.now)) })

	d.commit(events.Create(event("order-2", 2)), events.Create(event("order-3", 1)))
	d.recovers(events, relay)
	d.sums(func() {
		_, _ = outbox.NewRelay(events, d.client, refuse, outbox.RelayConfig{Now: d.clock, Maps: noMap{}}).Once(ctx)
	})
	d.saw("outbox", "AP16.recover", "AP16.look", "AP16.journal", "AP16.journal.list", "AP16.journal.drop", "AP16.predecessor", "AP16.map",
		"AP16.list", "AP16.reschedule", "AP16.switch")
}

// recovers lets a relay die with a batch that another one finds. A version that waits for the one before, which is parked, is
// put off.
func (d *desk) recovers(events *outbox.Outbox, relay *outbox.Relay) {
	d.Helper()
	ctx, die := context.WithCancel(d.Context())
	dead := publisher(func(context.Context, []outbox.Message) []outbox.Result { die(); return nil })
	d.sums(func() { _, _ = outbox.NewRelay(events, d.client, dead, outbox.RelayConfig{Now: d.clock}).Once(ctx) })
	d.now = d.now.Add(time.Hour)
	var err error
	d.sums(func() { _, err = relay.Once(d.Context()) })
	if err != nil || d.measured["outbox stuck"] != 1 {
		d.Errorf("measured %v, %v", d.measured, err)
	}
	calm := outbox.NewRelay(events, d.client, dead, outbox.RelayConfig{Now: d.clock})
	d.once("AP16.stream", observe.OK, func() error { _, err := calm.HandleStream(d.Context(), nil); return err })
}
