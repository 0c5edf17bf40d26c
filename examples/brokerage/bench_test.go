package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// BenchmarkCommitAgainstHand compares, in one run and turn by turn, committing the four parts of an order with sending the
// same TransactWriteItems written by hand on the SDK, each to an embedded database of its own. The ratios are the
// figures to look at: they say what txn's checks, marks and receipt cost.
func BenchmarkCommitAgainstHand(b *testing.B) {
	ours, byHand := newBench(b), newBench(b)
	var commit, hand time.Duration
	for i := range b.N {
		parts, writes := ours.parts(b, i), byHand.writes(b, i)
		started := time.Now()
		byHand.send(b, writes)
		between := time.Now()
		ours.commit(b, parts)
		commit += time.Since(between)
		hand += between.Sub(started)
	}
	handAllocs := allocations(func(i int) any { return byHand.writes(b, i) }, func(w any) { byHand.send(b, w.([]types.TransactWriteItem)) }, b.N)
	ourAllocs := allocations(func(i int) any { return ours.parts(b, i) }, func(p any) { ours.commit(b, p.([]txn.Part)) }, b.N)
	b.ReportMetric(commit.Seconds()/hand.Seconds(), "time/hand")
	b.ReportMetric(ourAllocs/handAllocs, "allocs/hand")
	b.ReportMetric(float64(commit.Microseconds())/float64(b.N), "µs/commit")
	b.ReportMetric(0, "ns/op") // the loop's own time says nothing
}

// allocations counts those of one call, on prepared input.
func allocations(prepare func(int) any, call func(any), from int) float64 {
	const runs = 50
	inputs := make([]any, 0, runs+1)
	for i := range runs + 1 { // AllocsPerRun calls once more, to warm up
		inputs = append(inputs, prepare(from+i))
	}
	next := 0
	return testing.AllocsPerRun(runs, func() { call(inputs[next]); next++ })
}

// TestCommitAllocatesLittleMoreThanTheSDKAlone: what Commit adds stays within a quarter of what the SDK needs for the same
// request by hand.
func TestCommitAllocatesLittleMoreThanTheSDKAlone(t *testing.T) {
	ours, byHand := newBench(t), newBench(t)
	hand := allocations(func(i int) any { return byHand.writes(t, i) }, func(w any) { byHand.send(t, w.([]types.TransactWriteItem)) }, 0)
	commit := allocations(func(i int) any { return ours.parts(t, i) }, func(p any) { ours.commit(t, p.([]txn.Part)) }, 0)
	if commit > 1.25*hand {
		t.Errorf("Commit makes %.0f allocations, the SDK alone %.0f: more than a quarter above", commit, hand)
	}
}

// bench is a service with an order to vary.
type bench struct {
	service *service
	order   order
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	hours := newClock(ordersComeIn, 100)
	client, pace := connect(newWire(1, 0), hours, options{})
	s := newService(client, pace, newBooks(client, pace, testMarket(tb), hours))
	if err := createTables(context.Background(), s.client, tables()); err != nil {
		tb.Fatal(err)
	}
	return &bench{service: s, order: testOrder(tb)}
}

// parts are those of service.submit, for the i-th order.
func (b *bench) parts(tb testing.TB, i int) []txn.Part {
	o := b.order
	o.RequestKey, o.ClientOrderID = fmt.Sprint(o.RequestKey, i), fmt.Sprint(o.ClientOrderID, i)
	item, err := orderItem(o, o.At)
	if err != nil {
		tb.Fatal(err)
	}
	event, err := acceptedEvent(o, o.At)
	if err != nil {
		tb.Fatal(err)
	}
	claim := sentinel.Claim{Tenant: o.Tenant, Kind: sentinel.ClientOrder, Name: o.ClientOrderID, Owner: o.id(), Command: o.RequestKey}
	return []txn.Part{
		b.service.requests.Once(o.request(), o.result(accepted, "bench")),
		b.service.names.Reserve(claim),
		txn.Put(ordersTable, item, txn.IfAbsent()),
		b.service.events.Create(event),
	}
}

func (b *bench) commit(tb testing.TB, parts []txn.Part) {
	if _, err := b.service.committer.Commit(context.Background(), parts...); err != nil {
		tb.Fatal(err)
	}
}

// writes are what the i-th order's parts send, as a program without this library would have written them down.
func (b *bench) writes(tb testing.TB, i int) []types.TransactWriteItem {
	var sent recorder
	if _, err := txn.Commit(context.Background(), &sent, b.parts(tb, i)...); err != nil {
		tb.Fatal(err)
	}
	return sent.writes
}

func (b *bench) send(tb testing.TB, writes []types.TransactWriteItem) {
	_, err := b.service.client.TransactWriteItems(context.Background(), &dynamodb.TransactWriteItemsInput{
		TransactItems: writes, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// recorder is a client that keeps what it is given and says that all is well.
type recorder struct{ writes []types.TransactWriteItem }

func (r *recorder) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	r.writes = in.TransactItems
	return &dynamodb.TransactWriteItemsOutput{}, nil
}
