package loadtest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/loadtest"
	"github.com/dynafin/dynafin/txn"
)

// counters is a lane of counters, one item for each key: a write unit for each operation, or two in a transaction.
func counters(transactional bool) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		table := txn.Table{Name: "Counters"}
		committer := txn.New(s.Client, s.Txn)
		return func(ctx context.Context, op loadtest.Op) error {
			key := table.WithDefaults("").Key(fmt.Sprint("counter-", op.Key), "COUNT")
			if transactional {
				_, err := committer.Commit(ctx, txn.NewPart("count", txn.Write{Action: txn.ActionUpdate, Table: table, Key: key,
					Update: "ADD n :one", Values: one}))
				return err
			}
			_, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &table.Name, Key: key,
				UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: one})
			return err
		}, s.DB.CreateTable(table.Name)
	}
}

var one = map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}

func run(t testing.TB, lane loadtest.Lane, load loadtest.Load) *loadtest.Report {
	t.Helper()
	report, err := loadtest.Run(t.Context(), lane, load)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// small is a tenth of what a partition takes, so that a run of a tenth of the load means the same.
var small = dynamosim.Heat{WriteUnits: 100, ReadUnits: 300}

func TestAKeyBelowItsLimitHoldsWithoutAWaitAndOneAboveDoesNot(t *testing.T) {
	t.Parallel()
	below := run(t, counters(false), loadtest.Load{Rate: 100, Even: true, Heat: small, For: 5 * time.Second})
	if !below.Holds() || below.Answered != 500 || below.Throttled != 0 || below.Longest != 0 {
		t.Errorf("at the limit: %v", below)
	}
	if hottest := below.Hottest[0]; hottest.PerSecond != 100 || hottest.Peak != capacity.Whole(100) || hottest.Key != "counter-0" {
		t.Errorf("hottest: %+v", hottest)
	}
	above := run(t, counters(false), loadtest.Load{Rate: 110, Even: true, Heat: small, For: 5 * time.Second})
	if above.Holds() || above.Throttled == 0 || above.Offered != 550 || above.Answered > 500 || above.Waiting != above.Offered-above.Answered {
		t.Errorf("a tenth above it: %v", above)
	}
	if lost := 500 - above.Answered; lost > 25 {
		t.Errorf("%d of 500 units were not used although callers waited", lost)
	}
}

func TestLoadsAreWhatTheySay(t *testing.T) {
	t.Parallel()
	const n, rate, seconds = 20, 100, 5
	for _, keys := range []loadtest.Keys{loadtest.Uniform(n), loadtest.InTurn(n), loadtest.Zipf(n, 1), loadtest.Zipf(n, 0.5), loadtest.HotKey(n, 0.37), loadtest.HotKey(1, 1)} {
		for _, even := range []bool{false, true} {
			r := run(t, counters(false), loadtest.Load{Rate: rate, Keys: keys, Even: even, For: seconds * time.Second})
			// Five times the spread of a Poisson process, or nothing.
			if off, may := math.Abs(float64(r.Offered-rate*seconds)), 5*math.Sqrt(rate*seconds); off > may || even && off > 0 {
				t.Errorf("%s, even: %v: %d operations arrived", keys, even, r.Offered)
			}
			want := keys.Share() * float64(r.Offered)
			if off := math.Abs(r.Hottest[0].Total.Float64() - want); off > 5*math.Sqrt(want) {
				t.Errorf("%s: the hottest key got %s of %d", keys, r.Hottest[0].Total, r.Offered)
			}
		}
	}
}

func TestOneSeedIsOneHistory(t *testing.T) {
	t.Parallel()
	load := loadtest.Load{Rate: 150, Keys: loadtest.Zipf(5, 1), Heat: small, For: 3 * time.Second,
		Service: dynamosim.ServiceTime{Transaction: 5 * time.Millisecond}}
	first, again := run(t, counters(true), load), run(t, counters(true), load)
	load.Seed = 2
	other := run(t, counters(true), load)
	first.Load, again.Load, other.Load = loadtest.Load{}, loadtest.Load{}, loadtest.Load{}
	if !reflect.DeepEqual(first, again) {
		t.Errorf("%+v\n%+v", first, again)
	}
	if reflect.DeepEqual(first, other) {
		t.Error("another seed changes nothing")
	}
}

func TestConflictsBreakAHotItemBeforeHeatDoes(t *testing.T) {
	t.Parallel()
	load := loadtest.Load{Rate: 400, Even: true, For: time.Second} // of 500 that the key could take
	if cold := run(t, counters(true), load); !cold.Holds() || cold.Conflicts != 0 {
		t.Errorf("without time: %v", cold)
	}
	load.Service.Transaction = 5 * time.Millisecond // 200 a second, if they queued up
	met := run(t, counters(true), load)
	if met.Holds() || met.Conflicts == 0 || met.Achieved() > 200 || met.Throttled > 0 {
		t.Errorf("with time: %v", met)
	}
	load.Rate = 50
	if calm := run(t, counters(true), load); !calm.Holds() || calm.Median != 5*time.Millisecond {
		t.Errorf("a little with time: %v", calm)
	}
}

func TestTheBreakingShareIsThatOfTheFormula(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int]float64{400: 0.25, 99: 1} {
		b, err := loadtest.BreakingShare(t.Context(), counters(false), loadtest.Load{Rate: rate, Heat: small, For: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if want == 1 {
			if b.Breaks != 0 || b.Holds != 1 || b.String() != "one key may take all of it" {
				t.Errorf("%d a second: %v", rate, b)
			}
			continue
		}
		if math.Abs(b.Holds-want) > 0.04*want || b.Breaks-b.Holds > 0.0011 || !b.At.Holds() || b.Beyond.Holds() {
			t.Errorf("%d a second: %v", rate, b)
		}
	}
}

func TestTheBreakingRateIsThatOfTheFormula(t *testing.T) {
	t.Parallel()
	tiny := dynamosim.Heat{WriteUnits: 50}
	for _, test := range []struct {
		keys loadtest.Keys
		want float64
	}{{loadtest.HotKey(10, 0.5), 100}, {loadtest.InTurn(4), 200}} {
		holds, breaks, err := loadtest.BreakingRate(t.Context(), counters(false), loadtest.Load{Rate: 40, Keys: test.keys, Heat: tiny, For: 2 * time.Second})
		if err != nil || math.Abs(float64(holds)-test.want) > 0.06*test.want || breaks <= holds || breaks > holds+holds/50+1 {
			t.Errorf("%s: holds at %d, breaks at %d, want about %.0f; %v", test.keys, holds, breaks, test.want, err)
		}
	}
	idle := func(*loadtest.Stage) (loadtest.Do, error) {
		return func(context.Context, loadtest.Op) error { return nil }, nil
	}
	if holds, breaks, err := loadtest.BreakingRate(t.Context(), idle, loadtest.Load{Rate: 10, For: time.Second}); holds != 10<<9 || breaks != 0 || err != nil {
		t.Errorf("what costs nothing holds at %d, breaks at %d, %v", holds, breaks, err)
	}
	if _, _, err := loadtest.BreakingRate(t.Context(), idle, loadtest.Load{}); err == nil {
		t.Error("no rate to begin with is taken")
	}
}

func TestThereIsAlwaysAKey(t *testing.T) {
	t.Parallel()
	for _, keys := range []loadtest.Keys{loadtest.Uniform(0), loadtest.InTurn(-1), loadtest.Zipf(0, 1), loadtest.HotKey(0, 2), loadtest.HotKey(1, -1), {}} {
		if r := run(t, counters(false), loadtest.Load{Rate: 5, Even: true, Keys: keys, For: time.Second}); r.HotAnswered != 5 {
			t.Errorf("%s: %v", keys, r)
		}
	}
}

func TestChoresRunThroughoutAndMayBeThrottled(t *testing.T) {
	t.Parallel()
	rounds := 0
	lane := func(s *loadtest.Stage) (loadtest.Do, error) {
		do, err := counters(false)(s)
		s.Every(100*time.Millisecond, func(ctx context.Context) error {
			rounds++
			return do(ctx, loadtest.Op{Key: 0})
		})
		return do, err
	}
	r := run(t, lane, loadtest.Load{Rate: 10, Even: true, Heat: dynamosim.Heat{WriteUnits: 12}, For: 3 * time.Second})
	if rounds != 30 || r.Hottest[0].Total != capacity.Whole(36) {
		t.Errorf("%d rounds, %v", rounds, r)
	}
}

func TestAnErrorThatNothingExplainsEndsTheRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such table")
	lane := func(*loadtest.Stage) (loadtest.Do, error) {
		return func(_ context.Context, op loadtest.Op) error {
			if op.N == 7 {
				return broken
			}
			return nil
		}, nil
	}
	_, err := loadtest.Run(t.Context(), lane, loadtest.Load{Rate: 10})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "operation 7, attempt 1") {
		t.Errorf("%v", err)
	}
	_, err = loadtest.Run(t.Context(), func(*loadtest.Stage) (loadtest.Do, error) { return nil, broken }, loadtest.Load{Rate: 10})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = loadtest.Run(canceled, lane, loadtest.Load{Rate: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, load := range []loadtest.Load{{}, {Rate: -1}, {Rate: 1, For: time.Millisecond}} {
		if _, err := loadtest.Run(t.Context(), lane, load); err == nil {
			t.Errorf("%+v is taken", load)
		}
	}
}

func TestErrorsAreToldApart(t *testing.T) {
	t.Parallel()
	canceled := func(codes ...string) error {
		e := &types.TransactionCanceledException{}
		for _, code := range codes {
			e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return fmt.Errorf("wrapped: %w", e)
	}
	for _, test := range []struct {
		err                 error
		throttled, conflict bool
	}{
		{&types.ThrottlingException{}, true, false},
		{&types.ProvisionedThroughputExceededException{}, true, false},
		{&types.RequestLimitExceeded{}, true, false},
		{&types.TransactionConflictException{}, false, true},
		{canceled("None", "ThrottlingError"), true, false},
		{canceled("TransactionConflict", "None"), false, true},
		{canceled("TransactionConflict", "ThrottlingError"), true, false},
		{canceled("ConditionalCheckFailed", "ThrottlingError"), false, false},
		{&types.ConditionalCheckFailedException{}, false, false},
		{errors.New("other"), false, false},
		{nil, false, false},
	} {
		if loadtest.Throttled(test.err) != test.throttled || loadtest.Conflict(test.err) != test.conflict {
			t.Errorf("%v: throttled %v, conflict %v", test.err, loadtest.Throttled(test.err), loadtest.Conflict(test.err))
		}
	}
}

func TestAnOperationThatSleepsTakesVirtualTime(t *testing.T) {
	t.Parallel()
	counting := counters(false)
	got := run(t, func(s *loadtest.Stage) (loadtest.Do, error) {
		count, err := counting(s)
		return func(ctx context.Context, op loadtest.Op) error {
			before := s.Now()
			if err := s.Sleep(ctx, 30*time.Millisecond); err != nil {
				return err
			}
			if took := s.Now().Sub(before); took != 30*time.Millisecond {
				t.Errorf("operation %d slept for %v", op.N, took)
			}
			return count(ctx, op)
		}, err
	}, loadtest.Load{Rate: 10, Even: true, Heat: small, For: 2 * time.Second})
	if got.Answered != 20 || got.Median != 30*time.Millisecond || got.Longest != 30*time.Millisecond {
		t.Errorf("waits: %v", got)
	}
}
