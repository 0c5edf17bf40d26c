package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/txn"
)

// store is a fresh table of requests and one of orders, behind the real client, with a fate for each request.
type store struct {
	client           *dynamodb.Client
	requests, orders txn.Table
	fate             func(dynamosim.Call) dynamosim.Fate // nil: everything is delivered
	calls            atomic.Int64
}

func newStore(t stores.TB, options stores.Options) *store {
	t.Helper()
	opened := stores.Open(t, options)
	s := &store{
		requests: txn.Table{Name: opened.Table(t, requestTable(idempotency.TableName))},
		orders:   txn.Table{Name: opened.Table(t, newTable("Orders"))},
	}
	s.client = opened.Faulty(func(call dynamosim.Call) dynamosim.Fate {
		s.calls.Add(1)
		if s.fate == nil {
			return dynamosim.Deliver
		}
		return s.fate(call)
	})
	return s
}

// keeper returns the requests of a configuration, in this store's table.
func (s *store) keeper(config idempotency.Config) *idempotency.Requests {
	config.Table = s.requests
	return idempotency.New(config)
}

// newTable is a table as the package asks for, without what only operators need.
func newTable(name string) *dynamodb.CreateTableInput { return stores.Keyed(name, nil) }

// requestTable is a table of requests with the index of those in need of repair.
func requestTable(name string) *dynamodb.CreateTableInput {
	requests, table := idempotency.New(idempotency.Config{}), newTable(name)
	table.AttributeDefinitions = append(table.AttributeDefinitions, requests.IndexAttributes()...)
	table.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{requests.Index()}
	return table
}

// commit commits parts without waiting between attempts.
func (s *store) commit(ctx context.Context, attempts int, parts ...txn.Part) (txn.Receipt, error) {
	committer := txn.New(s.client, txn.Config{
		MaxAttempts: attempts,
		Jitter:      func(time.Duration) time.Duration { return 0 },
	})
	return committer.Commit(ctx, parts...)
}

// order is the effect of an accepted order.
func (s *store) order(id string) txn.Part {
	return txn.Put(s.orders, s.orders.Key("ORDER#"+id, "META"), txn.IfAbsent())
}

// effects counts the orders.
func (s *store) effects(t stores.TB) int {
	t.Helper()
	found := 0
	for i := range 64 {
		out, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &s.orders.Name,
			Key: s.orders.Key(fmt.Sprintf("ORDER#ord-%d", i), "META"), ConsistentRead: aws.Bool(true)})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Item) > 0 {
			found++
		}
	}
	return found
}

// record returns the record of a request as it is stored.
func (s *store) record(t stores.TB, r idempotency.Request) txn.Item {
	t.Helper()
	key, err := keys.Request(r.Tenant, r.Key)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &s.requests.Name,
		Key: s.requests.Key(key.PK, key.SK), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// TestManyRequestsWithOneKeyHaveOneEffectAndOneResult lets concurrent workers send one command over a bad network.
func TestManyRequestsWithOneKeyHaveOneEffectAndOneResult(t *testing.T) {
	t.Parallel()
	const workers = 16
	s := newStore(t, stores.Options{Tokens: dynamosim.IgnoreTokens})
	fates := []dynamosim.Fate{dynamosim.Conflict, dynamosim.LoseAnswer, dynamosim.Deliver, dynamosim.InProgress, dynamosim.LoseRequest}
	s.fate = func(call dynamosim.Call) dynamosim.Fate { return fates[call.Sequence%len(fates)] }
	requests := s.keeper(idempotency.Config{})
	results := make([]idempotency.Result, workers)
	errs := make([]error, workers)
	var wins atomic.Int64
	var wait sync.WaitGroup
	for i := range workers {
		wait.Go(func() {
			id := fmt.Sprintf("ord-%d", i) // every worker would create an order of its own
			results[i] = accepted(id)
			_, err := s.commit(t.Context(), 100, requests.Once(order("10"), results[i]), s.order(id))
			if replay, ok := idempotency.Replayed(err); ok {
				results[i], err = replay.Result, nil
			} else if err == nil {
				wins.Add(1)
			}
			errs[i] = err
		})
	}
	wait.Wait()
	s.fate = nil
	for i := range workers {
		if errs[i] != nil || !reflect.DeepEqual(results[i], results[0]) {
			t.Errorf("worker %d got %+v, %v; worker 0 got %+v", i, results[i], errs[i], results[0])
		}
	}
	if n := s.effects(t); n != 1 || wins.Load() != 1 {
		t.Errorf("%d orders and %d winners", n, wins.Load())
	}
}

func TestMismatchLeavesTheFirstRecordByteIdentical(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	requests := s.keeper(idempotency.Config{})
	if _, err := s.commit(t.Context(), 1, requests.Once(order("10"), accepted("ord-1")), s.order("ord-1")); err != nil {
		t.Fatal(err)
	}
	before := wire(t, s.record(t, order("10")))
	cancel := order("10")
	cancel.Operation = "order.cancel"
	for name, other := range map[string]idempotency.Request{"command": order("11"), "operation": cancel} {
		_, err := s.commit(t.Context(), 5, requests.Once(other, accepted("ord-2")), s.order("ord-2"))
		var mismatch *idempotency.MismatchError
		if !errors.As(err, &mismatch) || !errors.Is(err, txn.ErrCanceled) || mismatch.StoredOperation != "order.accept" {
			t.Errorf("another %s: %v", name, err)
		}
		if _, err := requests.Lookup(t.Context(), s.client, other); !errors.Is(err, idempotency.ErrMismatch) {
			t.Errorf("looking up another %s: %v", name, err)
		}
	}
	if after := wire(t, s.record(t, order("10"))); after != before || s.effects(t) != 1 {
		t.Errorf("%d orders; the record was\n%s\nand is\n%s", s.effects(t), before, after)
	}
}

// TestLostAnswersEndAsSuccess loses the first answer, and the first request, under every policy for request tokens.
func TestLostAnswersEndAsSuccess(t *testing.T) {
	t.Parallel()
	for _, policy := range []dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat} {
		for _, fate := range []dynamosim.Fate{dynamosim.LoseAnswer, dynamosim.LoseRequest, dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter, dynamosim.Conflict, dynamosim.InProgress, dynamosim.Throttle} {
			s := newStore(t, stores.Options{Tokens: policy})
			s.fate = first(fate)
			requests := s.keeper(idempotency.Config{})
			commit := func() error {
				_, err := s.commit(t.Context(), 5, requests.Once(order("10"), accepted("ord-1")), s.order("ord-1"))
				return err
			}
			if err := commit(); err != nil || s.effects(t) != 1 {
				t.Errorf("token policy %v, %v: %v with %d orders", policy, fate, err, s.effects(t))
			}
			replay, ok := idempotency.Replayed(commit())
			if !ok || !reflect.DeepEqual(replay.Result, accepted("ord-1")) || s.effects(t) != 1 {
				t.Errorf("token policy %v, %v: replay %+v", policy, fate, replay)
			}
		}
	}
}

// first gives the first transaction its fate and delivers everything else.
func first(fate dynamosim.Fate) func(dynamosim.Call) dynamosim.Fate {
	var sent atomic.Bool
	return func(call dynamosim.Call) dynamosim.Fate {
		if call.Operation == "TransactWriteItems" && sent.CompareAndSwap(false, true) {
			return fate
		}
		return dynamosim.Deliver
	}
}

func TestAnAmbiguousOutcomeIsFoundByTheNextAttemptAndByLookup(t *testing.T) {
	t.Parallel()
	for fate, applied := range map[dynamosim.Fate]bool{dynamosim.LoseAnswer: true, dynamosim.LoseRequest: false} {
		s := newStore(t, stores.Options{})
		s.fate = first(fate)
		requests := s.keeper(idempotency.Config{})
		once := requests.Once(order("10"), accepted("ord-1"))
		if _, err := s.commit(t.Context(), 1, once, s.order("ord-1")); !errors.Is(err, txn.ErrAmbiguous) {
			t.Fatalf("%v: %v", fate, err)
		}
		found, err := requests.Lookup(t.Context(), s.client, order("10"))
		if applied && (err != nil || !reflect.DeepEqual(found, accepted("ord-1"))) || !applied && !errors.Is(err, idempotency.ErrNotFound) {
			t.Errorf("%v: found %+v, %v", fate, found, err)
		}
		_, err = s.commit(t.Context(), 1, once, s.order("ord-1"))
		if _, replayed := idempotency.Replayed(err); replayed != applied || !replayed && err != nil || s.effects(t) != 1 {
			t.Errorf("%v: the next attempt: %v, %d orders", fate, err, s.effects(t))
		}
	}
}

// TestAReplayOutranksTheOtherPartsReasons repeats a command whose other part must fail too: it lost against itself.
func TestAReplayOutranksTheOtherPartsReasons(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	requests := s.keeper(idempotency.Config{})
	parts := []txn.Part{s.order("ord-1"), requests.Once(order("10"), accepted("ord-1"))}
	if _, err := s.commit(t.Context(), 1, parts...); err != nil {
		t.Fatal(err)
	}
	_, err := s.commit(t.Context(), 1, parts...)
	var taken *txn.ConditionError
	if _, ok := idempotency.Replayed(err); !ok || errors.As(err, &taken) {
		t.Errorf("the repeat: %v", err)
	}
	// The account, from which the order took something, was closed since: DynamoDB refuses the update as such.
	account := s.orders.Key("ACCT#A-1", "META")
	gone := txn.Update(s.orders, account, expression.Set(expression.Name("n"), expression.Name("n").Minus(expression.Value(1))))
	if _, err = s.commit(t.Context(), 1, gone, parts[1]); !errors.Is(err, idempotency.ErrReplayed) || errors.Is(err, txn.ErrRefused) {
		t.Errorf("the repeat after the account was closed: %v", err)
	}
}

func TestARejectionReplaysEvenIfTheCommandWouldPassNow(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	requests := s.keeper(idempotency.Config{})
	rejected := idempotency.Result{Kind: idempotency.Rejected, Code: "INSUFFICIENT_FUNDS"}
	if _, err := s.commit(t.Context(), 1, requests.Once(order("10"), rejected)); err != nil {
		t.Fatal(err)
	}
	_, err := s.commit(t.Context(), 1, requests.Once(order("10"), accepted("ord-1")), s.order("ord-1"))
	if replay, ok := idempotency.Replayed(err); !ok || !reflect.DeepEqual(replay.Result, rejected) || s.effects(t) != 0 {
		t.Errorf("the repeat: %v with %d orders", err, s.effects(t))
	}
}

// TestResultsReplayAsThemselves replays what a careless implementation takes for no result.
func TestResultsReplayAsThemselves(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	requests := s.keeper(idempotency.Config{})
	for i, result := range []idempotency.Result{
		{}, {Body: []byte{}}, {Body: []byte("null")}, {Body: []byte("0")}, {Body: []byte("false")}, {Body: []byte{0}}, {Body: []byte{0xff, 0xfe}},
		{Effect: map[string]string{}}, {Effect: map[string]string{"a": ""}}, {Code: "0"}, {Kind: idempotency.Rejected},
		{Kind: idempotency.Rejected, Code: "X", Body: []byte{}, Effect: map[string]string{"a": "b"}},
	} {
		r := order("10")
		r.Key = fmt.Sprintf("key-%d", i)
		if _, err := s.commit(t.Context(), 1, requests.Once(r, result)); err != nil {
			t.Fatal(err)
		}
		_, err := s.commit(t.Context(), 1, requests.Once(r, accepted("other")))
		if replay, ok := idempotency.Replayed(err); !ok || !reflect.DeepEqual(replay.Result, result) {
			t.Errorf("%+v replays as %v, %+v", result, err, replay)
		}
	}
}

// TestARecordPastItsExpiryCounts stands a second before, at and after expiresAt: TTL is late, and never a decision.
func TestARecordPastItsExpiryCounts(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	now := noon
	requests := s.keeper(idempotency.Config{Now: func() time.Time { return now }})
	if _, err := s.commit(t.Context(), 1, requests.Once(order("10"), accepted("ord-1"))); err != nil {
		t.Fatal(err)
	}
	before := wire(t, s.record(t, order("10")))
	for _, offset := range []time.Duration{-time.Second, 0, time.Second} {
		now = noon.Add(idempotency.RetentionDefault + offset)
		_, err := s.commit(t.Context(), 1, requests.Once(order("10"), accepted("ord-2")))
		if replay, ok := idempotency.Replayed(err); !ok || !reflect.DeepEqual(replay.Result, accepted("ord-1")) {
			t.Errorf("%v from expiry: %v", offset, err)
		}
		if _, err = s.commit(t.Context(), 1, requests.Once(order("11"), accepted("ord-2"))); !errors.Is(err, idempotency.ErrMismatch) {
			t.Errorf("%v from expiry, other command: %v", offset, err)
		}
	}
	if after := wire(t, s.record(t, order("10"))); after != before {
		t.Errorf("the record was\n%s\nand is\n%s", before, after)
	}
}

// TestCost holds the figures of the package documentation and of AMP05: request and sentinel, 4 units.
func TestCost(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	requests := s.keeper(idempotency.Config{})
	sized := func(key string, bytes int) txn.Part {
		r := order("10")
		r.Key = key
		limited := s.keeper(idempotency.Config{RecordBytesMax: bytes})
		var tooLarge *idempotency.TooLargeError
		if !errors.As(limited.Once(r, idempotency.Result{Body: make([]byte, bytes)}).Err(), &tooLarge) {
			t.Fatal("a body of the record's size fits")
		}
		return limited.Once(r, idempotency.Result{Body: make([]byte, 2*bytes-tooLarge.Bytes)})
	}
	// A default mark has 22 bytes, and the limit reserves 36.
	const spare = 14
	for name, c := range map[string]struct {
		parts []txn.Part
		want  int
	}{
		"planned size":         {[]txn.Part{requests.Once(order("10"), accepted("ord-1"))}, 2},
		"within one KiB":       {[]txn.Part{sized("a", 1024)}, 2},
		"exactly one KiB":      {[]txn.Part{sized("b", 1024+spare)}, 2},
		"one byte more":        {[]txn.Part{sized("c", 1024+spare+1)}, 4},
		"the largest record":   {[]txn.Part{sized("d", capacity.MaxItemBytes)}, 800},
		"AMP05, with sentinel": {[]txn.Part{requests.Once(idempotency.Request{Tenant: "t", Key: "e", Operation: "o", Command: fields()}, accepted("ord-2")), s.order("ord-2")}, 4},
	} {
		receipt, err := s.commit(t.Context(), 1, c.parts...)
		if err != nil || receipt.Base() != 2*capacity.Units(c.want) || receipt.Index() != 0 {
			t.Errorf("%s: %v base and %v index units, %v; want %d and 0", name, receipt.Base(), receipt.Index(), err, c.want)
		}
	}
	s.calls.Store(0)
	if _, err := s.commit(t.Context(), 5, requests.Once(order("10"), accepted("ord-1"))); !errors.Is(err, idempotency.ErrReplayed) || s.calls.Load() != 1 {
		t.Errorf("a replay took %d requests: %v", s.calls.Load(), err)
	}
	out, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &s.requests.Name, ConsistentRead: aws.Bool(true),
		Key: s.requests.Key("TEN#acme-brokers#REQ#"+order("10").Key, "REQUEST"), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	if err != nil || aws.ToFloat64(out.ConsumedCapacity.CapacityUnits) != 1 {
		t.Errorf("the read that Lookup makes: %+v, %v", out, err)
	}
}
