package idempotency_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// meter adds up the write units of base table and index.
type meter struct {
	*dynamodb.Client
	base, index float64
}

func (m *meter) note(used *types.ConsumedCapacity) {
	if used == nil {
		return
	}
	m.base += *used.Table.CapacityUnits
	for _, index := range used.GlobalSecondaryIndexes {
		m.index += *index.CapacityUnits
	}
}

func (m *meter) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.Client.PutItem(ctx, &asked, opts...)
	if err == nil {
		m.note(out.ConsumedCapacity)
	}
	return out, err
}

func (m *meter) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.Client.UpdateItem(ctx, &asked, opts...)
	if err == nil {
		m.note(out.ConsumedCapacity)
	}
	return out, err
}

func (m *meter) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	out, err := m.Client.TransactWriteItems(ctx, &asked, opts...)
	if err == nil {
		for i := range out.ConsumedCapacity {
			m.note(&out.ConsumedCapacity[i])
		}
	}
	return out, err
}

// costs runs a call and says what it cost.
func (m *meter) costs(t *testing.T, what string, base, index float64, err error) {
	t.Helper()
	if err != nil || m.base != base || m.index != index {
		t.Errorf("%s costs %v and %v of the index, want %v and %v; error %v", what, m.base, m.index, base, index, err)
	}
	m.base, m.index = 0, 0
}

// Begin 1, Complete within its transaction 2, repair 1 and its insert 1 (AMP13), at the chapter's sizes.
func TestStepsCostWhatTheChapterPlans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode                           idempotency.Mode
		watch                          bool
		begin, renew, complete, repair float64 // of the index
	}{
		{idempotency.Transactional, false, 0, 0, 0, 1},
		{idempotency.Transactional, true, 1, 2, 1, 0},
		{idempotency.External, false, 1, 2, 1, 0},
	} {
		s, time := newStore(t, stores.Options{}), newClock()
		m := &meter{Client: s.client}
		requests := s.keeper(idempotency.Config{Now: time.now, WatchTransactional: c.watch, Owner: "orders-api-3", RecordBytesMax: 1024})
		ctx := t.Context()
		claim, err := requests.Begin(ctx, m, order("10"), c.mode)
		m.costs(t, "begin", 1, c.begin, err)
		_, err = claim.Renew(ctx, m, 60e9)
		m.costs(t, "renew", 1, c.renew, err)
		_, err = txn.Commit(ctx, m, claim.Complete(accepted("ord-1")))
		m.costs(t, "complete", 2, c.complete, err)

		other := order("10")
		other.Key = "another"
		claim, err = requests.Begin(ctx, m, other, c.mode)
		m.costs(t, "begin", 1, c.begin, err)
		err = claim.Repair(ctx, m, idempotency.Evidence{Reason: "no answer"})
		m.costs(t, "repair", 1, c.repair, err)

		third := order("10")
		third.Key = "third"
		_, err = requests.Begin(ctx, m, third, c.mode)
		m.costs(t, "begin", 1, c.begin, err)
		time.advance(3600e9)
		_, err = requests.Begin(ctx, m, third, c.mode)
		if c.mode == idempotency.External {
			m.costs(t, "expire", 1, 0, nil)
		} else {
			m.costs(t, "take over", 1, 2*c.begin, err)
		}
	}
}

// AMP05: a request and a name in one transaction are 4 units, whether the request was begun or not.
func TestARequestAndANameCostFour(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	m := &meter{Client: s.client}
	requests := s.keeper(idempotency.Config{Now: at(noon), RecordBytesMax: 1024})
	names := sentinel.New(sentinel.Config{Table: s.orders})
	name := func(id string) txn.Part {
		return names.Reserve(sentinel.Claim{Tenant: "acme", Kind: sentinel.ClientOrder, Name: id, Owner: "ord-1", Command: "key-1"})
	}
	_, err := txn.Commit(t.Context(), m, requests.Once(order("10"), accepted("ord-1")), name("C-1"))
	m.costs(t, "Once", 4, 0, err)
	other := order("10")
	other.Key = "another"
	claim, err := requests.Begin(t.Context(), m, other, idempotency.Transactional)
	m.costs(t, "Begin", 1, 0, err)
	_, err = txn.Commit(t.Context(), m, claim.Complete(accepted("ord-2")), name("C-2"))
	m.costs(t, "Complete", 4, 0, err)
}

// The whole queue: what a worker and an operator pay for one request.
func TestRepairCostsWhatIsDocumented(t *testing.T) {
	t.Parallel()
	s, now := newStore(t, stores.Options{}), newClock()
	m := &meter{Client: s.client}
	requests := s.keeper(idempotency.Config{Now: now.now})
	finding := idempotency.Ambiguous("no answer")
	worker := idempotency.NewRepairWorker(requests, m, idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
		return finding, nil
	}), idempotency.RepairConfig{Tenants: idempotency.Tenants(order("10").Tenant), ProbesMax: 2})
	round := func(after time.Duration) error {
		now.advance(after)
		_, err := worker.Once(t.Context())
		return err
	}
	note := func() idempotency.Audit {
		return idempotency.Audit{By: "ann", Reason: "the bank says so", At: now.now()}
	}
	_, err := requests.Begin(t.Context(), m, order("10"), idempotency.External)
	m.costs(t, "begin", 1, 1, err)
	m.costs(t, "expire, probe and postpone", 3, 0+2+2, round(time.Hour))
	m.costs(t, "probe and escalate", 2, 2+2, round(time.Hour))
	_, err = txn.Commit(t.Context(), m, requests.Requeue(get(t, s, requests), now.now(), note()))
	m.costs(t, "requeue", 4, 2, err)
	finding = idempotency.AbsentForGood()
	m.costs(t, "probe and allow", 2, 2+2, round(time.Hour))
	_, err = requests.Begin(t.Context(), m, order("10"), idempotency.External)
	m.costs(t, "resume", 1, 2, err)
	finding = idempotency.Found(accepted("ord-1"))
	m.costs(t, "expire, probe and find", 1+1+2, 0+2+1, round(time.Hour))
}

// TestGoldenItemsOfTheLifeCycle holds the stored shapes: names and encodings are a public format.
func TestGoldenItemsOfTheLifeCycle(t *testing.T) {
	t.Parallel()
	s := newShop(t, idempotency.Config{Owner: "orders-api-3"}, idempotency.RepairConfig{ProbesMax: 1})
	shape := func(name string, marks ...string) { golden.Item(t, name, s.record(t, order("10")), marks...) }
	claim := mustBegin(t, s.store, s.requests, idempotency.External)
	shape("begun-external")
	if err := claim.Repair(t.Context(), s.client, idempotency.Evidence{Reason: "504", Details: map[string]string{"paymentId": "pay-1"}}); err != nil {
		t.Fatal(err)
	}
	shape("repair-required")
	s.later(time.Hour)
	shape("escalated")
	note := idempotency.Audit{By: "ann", Reason: "the bank says so", At: s.time.now()}
	if _, err := s.commit(t.Context(), 1, s.requests.Free(s.state(), note)); err != nil {
		t.Fatal(err)
	}
	shape("released", "txnUpdate")
	query, key := "PK = :pk AND begins_with(SK, :notes)", s.record(t, order("10"))["PK"]
	out, err := s.client.Query(t.Context(), &dynamodb.QueryInput{TableName: &s.store.requests.Name, KeyConditionExpression: &query,
		ExpressionAttributeValues: txn.Item{":pk": key, ":notes": text("AUDIT#")}})
	if err != nil || len(out.Items) != 1 {
		t.Fatal(out, err)
	}
	golden.Item(t, "note", out.Items[0], "txnMark")
	claim = mustBegin(t, s.store, s.requests, idempotency.Transactional)
	shape("begun-transactional", "txnUpdate")
	if _, err := s.commit(t.Context(), 1, claim.Complete(accepted("ord-1"))); err != nil {
		t.Fatal(err)
	}
	shape("completed", "txnUpdate")
}
