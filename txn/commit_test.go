package txn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// fenced is a transaction whose first write is a fence and whose second is an ordinary conditional write.
func fenced() []txn.Part {
	return []txn.Part{
		txn.Put(orders, item("req"), txn.IfAbsent(), txn.Label("claim")),
		txn.Put(orders, item("acct"), txn.If(expression.Name("balance").GreaterThanEqual(expression.Value(5))), txn.Label("funds")),
	}
}

// open is the same transaction without a fence.
func open() []txn.Part {
	return []txn.Part{
		txn.Put(orders, item("req"), txn.IfAbsent(), txn.MayBeDeleted(), txn.Label("claim")),
		fenced()[1],
	}
}

// versioned is the same transaction with a fence that is an update: its condition names a version that only rises.
func versioned() []txn.Part {
	return []txn.Part{
		txn.NewPart("move", txn.Write{Action: txn.ActionUpdate, Table: orders, Key: item("req"), Update: "SET version = version + :one",
			Condition: "version = :seen", Values: txn.Item{":one": n("1"), ":seen": n("7")}, Fence: true}),
		fenced()[1],
	}
}

// settling is the same transaction whose first write may settle it, as an idempotency record does.
func settling() []txn.Part {
	claim := txn.NewPart("claim", txn.Write{Action: txn.ActionPut, Table: orders, Item: item("req"), Condition: "attribute_not_exists(PK)", Settles: true})
	return []txn.Part{claim, fenced()[1]}
}

// TestOutcomeOfEveryAnswer is the transition table of one Commit. Each row: what the parts are, what DynamoDB answers in
// turn, and the outcome. A script with answers left over, or too few, fails too, so a row also says how often
// Commit sends.
func TestOutcomeOfEveryAnswer(t *testing.T) {
	mine := func(pk string) txn.Item { return item(pk, txn.MarkAttribute, "mark-1") }
	mineUpdated := func(pk string) txn.Item {
		return item(pk, txn.MarkAttribute, "mark-0", txn.UpdateMarkAttribute, "mark-1")
	}
	rival := func(pk string) txn.Item { return item(pk, txn.MarkAttribute, "mark-0") }
	conflict, throttled := reason("TransactionConflict"), reason("ThrottlingError")
	busy := slices.Repeat([]answer{cancels(none, conflict)}, 8)

	for _, row := range []struct {
		name    string
		parts   []txn.Part
		answers []answer
		want    observe.Outcome
	}{
		{"applied at once", open(), []answer{ok}, observe.OK},

		{"a conflict is tried again", open(), []answer{cancels(none, conflict), ok}, observe.OK},
		{"throttling is tried again", open(), []answer{code("ThrottlingException"), ok}, observe.OK},
		{"every kind of throttling is", open(), []answer{code("ProvisionedThroughputExceededException"), code("RequestLimitExceeded"),
			cancels(throttled, none), cancels(reason("ProvisionedThroughputExceeded"), none), ok}, observe.OK},
		{"a conflict that lasts ends as contention", open(), busy, observe.Busy},

		{"a failed condition is never tried again", open(), []answer{cancels(reason(failed, rival("req")), none)}, observe.Rejected},
		{"a failed condition outweighs a conflict", open(), []answer{cancels(conflict, reason(failed))}, observe.Rejected},
		{"a failed condition outweighs throttling", open(), []answer{cancels(throttled, reason(failed))}, observe.Rejected},
		{"while the write that may settle it is busy, a failed condition decides nothing", settling(), []answer{cancels(conflict, reason(failed, rival("acct"))), cancels(throttled, reason("ValidationError")),
			cancels(none, reason(failed, rival("acct")))}, observe.Rejected},
		{"and if it stays busy the outcome is contention", settling(), slices.Repeat([]answer{cancels(conflict, reason(failed, rival("acct")))}, 8), observe.Busy},
		{"a refusal outweighs a failed condition", open(), []answer{cancels(reason("ValidationError"), reason(failed))}, observe.Failed},
		{"a refusal outweighs a conflict", open(), []answer{cancels(conflict, reason("ItemCollectionSizeLimitExceeded"))}, observe.Failed},
		{"validation is refused", open(), []answer{code("ValidationException")}, observe.Failed},
		{"access is refused", open(), []answer{code("AccessDeniedException")}, observe.Failed},
		{"reasons that do not fit the writes are refused", open(), []answer{cancels(none)}, observe.Failed},
		{"a request that could not be built is refused", open(), []answer{fails(&smithy.SerializationError{Err: io.EOF})}, observe.Failed},

		{"own mark at the first answer: a copy on the way was applied", open(), []answer{cancels(reason(failed, mine("req")), none)}, observe.Recovered},
		{"lost, then own mark on the fence", fenced(), []answer{lost, cancels(reason(failed, mine("req")), none)}, observe.Recovered},
		{"lost, then own mark beside the fence", fenced(), []answer{lost, cancels(conflict, reason(failed, mineUpdated("acct")))}, observe.Recovered},
		{"lost, then applied", fenced(), []answer{lost, ok}, observe.OK},
		{"500, 503, in progress, then own mark", fenced(), []answer{status(500), status(503), code("TransactionInProgressException"),
			cancels(reason(failed, mine("req")), none)}, observe.Recovered},
		{"token refused, then own mark", fenced(), []answer{lost, code("IdempotentParameterMismatchException"),
			cancels(reason(failed, mine("req")), none)}, observe.Recovered},
		{"token refused, then applied under another", fenced(), []answer{code("IdempotentParameterMismatchException"), ok}, observe.OK},

		{"lost without a fence is not repeated", open(), []answer{lost}, observe.Ambiguous},
		{"500 without a fence is not repeated", open(), []answer{status(500)}, observe.Ambiguous},
		{"token refused without a fence is not repeated", open(), []answer{code("IdempotentParameterMismatchException")}, observe.Ambiguous},
		{"an error that DynamoDB did not name is no proof", open(), []answer{code("UnknownError")}, observe.Ambiguous},
		{"an error that DynamoDB did not name, then own mark", fenced(), []answer{code("UnknownError"), cancels(reason(failed, mine("req")), none)}, observe.Recovered},
		{"an error nobody knows is no proof", open(), []answer{fails(errors.New("?"))}, observe.Ambiguous},

		{"lost, then a rival's fence: never applied", fenced(), []answer{lost, cancels(reason(failed, rival("req")), none)}, observe.Rejected},
		{"lost, then refused beside an absent fence", fenced(), []answer{lost, cancels(none, reason(failed, rival("acct")))}, observe.Rejected},
		{"lost, then refused beside a busy fence: no proof", fenced(), []answer{lost, cancels(conflict, reason(failed, rival("acct")))}, observe.Ambiguous},
		{"lost, then a fence that shows nothing: no proof", fenced(), []answer{lost, cancels(reason(failed), none)}, observe.Ambiguous},
		{"lost, then a fence that shows an item of nothing: no proof", fenced(), []answer{lost, cancels(reason(failed, txn.Item{}), none)}, observe.Ambiguous},
		{"lost, then an update's fence that failed: a later update may hide our own", versioned(), []answer{lost, cancels(reason(failed, rival("req")), none)}, observe.Ambiguous},
		{"lost, then refused beside an update's fence that holds", versioned(), []answer{lost, cancels(none, reason(failed, rival("acct")))}, observe.Rejected},
		{"lost, then own mark on an update's fence", versioned(), []answer{lost, cancels(reason(failed, mineUpdated("req")), none)}, observe.Recovered},
		{"lost, then access taken away: no proof", fenced(), []answer{lost, code("AccessDeniedException")}, observe.Ambiguous},
		{"lost, then busy until the budget is spent: no proof", fenced(), append([]answer{lost}, busy[1:]...), observe.Ambiguous},
		{"lost every time", fenced(), slices.Repeat([]answer{lost}, 8), observe.Ambiguous},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, _, clock, err := commit(t, row.parts, row.answers...)
			if got := clock.seen[0].Outcome; got != row.want {
				t.Errorf("outcome %s, want %s (error: %v)", got, row.want, err)
			}
			if success := row.want == observe.OK || row.want == observe.Recovered; success != (err == nil) {
				t.Errorf("error %v with outcome %s", err, row.want)
			}
		})
	}
}

func TestOneTokenServesAllAttemptsUntilDynamoDBRefusesIt(t *testing.T) {
	_, client, _, _ := commit(t, fenced(), lost, cancels(none, reason("TransactionConflict")), lost, code("IdempotentParameterMismatchException"), ok)
	var tokens, marks []string
	for _, in := range client.sent {
		tokens = append(tokens, *in.ClientRequestToken)
		marks = append(marks, in.TransactItems[0].Put.Item[txn.MarkAttribute].(*types.AttributeValueMemberS).Value)
	}
	if want := []string{"mark-1", "mark-1", "mark-1", "mark-1", "mark-2"}; !slices.Equal(tokens, want) {
		t.Errorf("tokens %v, want %v", tokens, want)
	}
	if want := slices.Repeat([]string{"mark-1"}, 5); !slices.Equal(marks, want) {
		t.Errorf("marks %v: the mark must not change, it is what proves the earlier attempts", marks)
	}
}

func TestEveryCommitHasATokenOfItsOwnAndAFreshInput(t *testing.T) {
	clock := &clockwork{}
	client := &script{t: t, answers: []answer{ok, ok}}
	committer := txn.New(client, clock.config())
	parts := fenced()
	for range 2 {
		if _, err := committer.Commit(t.Context(), parts...); err != nil {
			t.Fatal(err)
		}
	}
	if *client.sent[0].ClientRequestToken == *client.sent[1].ClientRequestToken || client.sent[0] == client.sent[1] {
		t.Error("a second Commit of the same parts would be dropped as a repeat of the first")
	}
}

func TestANilOptionSaysNothing(t *testing.T) {
	if _, _, _, err := commit(t, []txn.Part{txn.Put(orders, item("a"), nil, txn.IfAbsent())}, ok); err != nil {
		t.Error(err)
	}
}

func TestCommitLeavesTheCallersMapsAlone(t *testing.T) {
	put, key := item("a"), item("b")
	update := txn.Update(orders, key, expression.Set(expression.Name("x"), expression.Value(1)))
	if _, _, _, err := commit(t, []txn.Part{txn.Put(orders, put), update}, ok); err != nil {
		t.Fatal(err)
	}
	if len(put) != 2 || len(key) != 2 {
		t.Errorf("changed: %v %v", put, key)
	}
}

func TestWaitsGrowWithinTheirBoundsAndLongerAfterThrottling(t *testing.T) {
	_, _, clock, _ := commit(t, open(), append(slices.Repeat([]answer{cancels(none, reason("TransactionConflict"))}, 3),
		code("ThrottlingException"), code("ThrottlingException"), code("ThrottlingException"), ok)...)
	ms := time.Millisecond
	if want := []time.Duration{25 * ms, 50 * ms, 100 * ms, 1600 * ms, 2000 * ms, 2000 * ms}; !slices.Equal(clock.waits, want) {
		t.Errorf("waits %v, want %v", clock.waits, want)
	}
}

func TestNoWaitIsLongerThanTheLongest(t *testing.T) {
	clock := &clockwork{}
	config := clock.config()
	config.MaxDelay = 10 * time.Millisecond // below the default of BaseDelay
	busy := cancels(none, reason("TransactionConflict"))
	client := &script{t: t, answers: []answer{busy, code("ThrottlingException"), busy, ok}}
	if _, err := txn.New(client, config).Commit(t.Context(), open()...); err != nil {
		t.Fatal(err)
	}
	if longest := slices.Max(clock.waits); len(clock.waits) != 3 || longest > config.MaxDelay {
		t.Errorf("waits %v, want three of at most %v", clock.waits, config.MaxDelay)
	}
}

func TestTheBudgetOfTimeEndsTheRetries(t *testing.T) {
	clock := &clockwork{}
	config := clock.config()
	config.MaxAttempts, config.MaxElapsed = 1000, 10*time.Second
	client := &script{t: t, answers: slices.Repeat([]answer{cancels(none, reason("TransactionConflict"))}, 100)}
	_, err := txn.New(client, config).Commit(t.Context(), open()...)
	var contention *txn.ContentionError
	if !errors.As(err, &contention) || contention.Attempts != len(client.sent) {
		t.Fatalf("got %v after %d requests", err, len(client.sent))
	}
	if clock.now.Sub(time.Time{}) > 10*time.Second {
		t.Errorf("went on for %v", clock.now.Sub(time.Time{}))
	}
}

func TestAContextThatEndedBeforeSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := &script{t: t}
	_, err := txn.Commit(ctx, client, open()...)
	if !errors.Is(err, txn.ErrNotSent) || !errors.Is(err, context.Canceled) || len(client.sent) > 0 {
		t.Errorf("got %v after %d requests", err, len(client.sent))
	}
}

func TestAContextThatEndsBetweenAttemptsKeepsWhatIsKnown(t *testing.T) {
	for name, row := range map[string]struct {
		first answer
		want  error
	}{
		"busy":       {cancels(none, reason("TransactionConflict")), txn.ErrContention},
		"unanswered": {lost, txn.ErrAmbiguous},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			client := &script{t: t, answers: []answer{row.first}}
			clock := &clockwork{}
			config := clock.config()
			config.Jitter = func(time.Duration) time.Duration { cancel(); return time.Hour }
			config.NewTimer = nil
			_, err := txn.New(client, config).Commit(ctx, fenced()...)
			if !errors.Is(err, row.want) || !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

type takenError struct{ by string }

func (e *takenError) Error() string { return "taken by " + e.by }

type replayed struct{}

func (replayed) Error() string       { return "replayed" }
func (replayed) SettlesCommit() bool { return true }

func TestReasonsGoToThePartsThatOwnThemInOrder(t *testing.T) {
	explain := func(old txn.Item) error { return &takenError{by: old["owner"].(*types.AttributeValueMemberS).Value} }
	parts := []txn.Part{
		txn.NewPart("two", txn.Write{Action: txn.ActionPut, Table: orders, Item: item("a")},
			txn.Write{Action: txn.ActionPut, Table: orders, Item: item("b"), Condition: "attribute_not_exists(PK)", Explain: explain}),
		txn.Put(orders, item("c"), txn.IfAbsent(), txn.Explain(explain), txn.Label("third")),
		txn.Check(orders, item("d"), txn.If(expression.AttributeExists(expression.Name("PK"))), txn.Label("fourth")),
	}
	_, client, _, err := commit(t, parts, cancels(none, reason(failed, item("b", "owner", "Ann")), reason(failed, item("c", "owner", "Bob")), reason(failed)))
	var canceled *txn.CanceledError
	if !errors.As(err, &canceled) {
		t.Fatal(err)
	}
	var said []string
	for _, r := range canceled.Reasons {
		said = append(said, fmt.Sprint(r.Part, " ", r.Key.PK, " ", r.Code))
	}
	if want := []string{"two b ConditionalCheckFailed", "third c ConditionalCheckFailed", "fourth d ConditionalCheckFailed"}; !slices.Equal(said, want) {
		t.Errorf("reasons %q, want %q", said, want)
	}
	var taken *takenError
	if !errors.As(err, &taken) || taken.by != "Ann" {
		t.Errorf("the first part's error comes first, got %v", taken)
	}
	var condition *txn.ConditionError
	if !errors.As(err, &condition) || condition.Part != "fourth" || condition.Old != nil {
		t.Errorf("an unexplained reason is a ConditionError, got %+v", condition)
	}
	for i, sent := range client.sent[0].TransactItems {
		if c := sent.Put; c != nil && c.ConditionExpression != nil && c.ReturnValuesOnConditionCheckFailure != types.ReturnValuesOnConditionCheckFailureAllOld {
			t.Errorf("write %d does not ask for the old item", i)
		}
	}
}

func TestAnErrorThatSettlesTheCommitStandsAlone(t *testing.T) {
	parts := []txn.Part{
		txn.Put(orders, item("req"), txn.IfAbsent(), txn.Explain(func(txn.Item) error { return replayed{} })),
		txn.Put(orders, item("name"), txn.IfAbsent(), txn.Explain(func(txn.Item) error { return &takenError{} })),
	}
	_, _, _, err := commit(t, parts, cancels(reason(failed, item("req")), reason(failed, item("name"))))
	var taken *takenError
	if errors.As(err, &taken) || !errors.As(err, new(replayed)) {
		t.Errorf("a replay is not a collision with oneself: %v", err)
	}
}

// The repeat of a command meets what became since of the records that its first run wrote: they may refuse the writes.
func TestAnErrorThatSettlesTheCommitOutweighsARefusal(t *testing.T) {
	parts := []txn.Part{
		txn.Update(orders, item("acct"), expression.Set(expression.Name("n"), expression.Name("n").Minus(expression.Value(1)))),
		txn.Put(orders, item("req"), txn.IfAbsent(), txn.Explain(func(txn.Item) error { return replayed{} })),
	}
	for _, beside := range []string{"ValidationError", "TransactionConflict", "ThrottlingError", "AccessDenied"} {
		_, _, clock, err := commit(t, parts, cancels(reason(beside), reason(failed, item("req"))))
		if !errors.As(err, new(replayed)) || errors.Is(err, txn.ErrRefused) || clock.seen[0].Outcome != observe.Rejected {
			t.Errorf("%s: got %v", beside, err)
		}
	}
}

func TestARefusalAfterALostAnswerSaysWhetherACopyMayStillArrive(t *testing.T) {
	for name, row := range map[string]struct {
		second    answer
		unsettled bool
	}{
		"the fence is a rival's": {cancels(reason(failed, item("req")), reason(failed, item("acct"))), false},
		"the fence is absent":    {cancels(none, reason(failed, item("acct"))), true},
	} {
		_, _, _, err := commit(t, fenced(), lost, row.second)
		var canceled *txn.CanceledError
		if !errors.As(err, &canceled) || canceled.Unsettled != row.unsettled {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, _, _, err := commit(t, fenced(), cancels(none, reason(failed, item("acct"))))
	var canceled *txn.CanceledError
	if !errors.As(err, &canceled) || canceled.Unsettled {
		t.Errorf("no answer was lost, got %v", err)
	}
}

func TestAnAmbiguousErrorIsNoProofOfATypedReason(t *testing.T) {
	explain := txn.Explain(func(txn.Item) error { return &takenError{} })
	parts := []txn.Part{fenced()[0], txn.Put(orders, item("n"), txn.IfAbsent(), explain, txn.MayBeDeleted())}
	_, _, _, err := commit(t, parts, lost, cancels(reason("TransactionConflict"), reason(failed, item("n"))))
	var taken *takenError
	if !errors.Is(err, txn.ErrAmbiguous) || errors.As(err, &taken) || errors.Is(err, txn.ErrCanceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnAmbiguousErrorNeverSaysThatNothingWasWritten(t *testing.T) {
	busy := slices.Repeat([]answer{code("ThrottlingException")}, 7)
	for name, answers := range map[string][]answer{
		"busy to the end":   append([]answer{lost}, busy...),
		"access taken away": {lost, code("AccessDeniedException")},
	} {
		_, _, _, err := commit(t, fenced(), answers...)
		var aws smithy.APIError
		if !errors.Is(err, txn.ErrAmbiguous) || errors.Is(err, txn.ErrContention) || errors.Is(err, txn.ErrRefused) || !errors.As(err, &aws) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestReceiptsHoldTheUnitsOfEachTableAndIndex(t *testing.T) {
	f := aws.Float64
	answer := func(in *inputT) (*outputT, error) {
		return &outputT{ConsumedCapacity: []types.ConsumedCapacity{
			{TableName: aws.String("Z"), CapacityUnits: f(2), WriteCapacityUnits: f(2)},
			{TableName: aws.String("A"), CapacityUnits: f(7), WriteCapacityUnits: f(7), Table: &types.Capacity{CapacityUnits: f(4)},
				GlobalSecondaryIndexes: map[string]types.Capacity{"G2": {CapacityUnits: f(1)}, "G1": {CapacityUnits: f(2)}}},
		}}, nil
	}
	receipt, client, _, err := commit(t, open(), answer)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(receipt.Base(), receipt.Index(), receipt.Total(), receipt.Tables)
	if want := "6 3 9 [{A 4 [{G1 2} {G2 1}]} {Z 2 []}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if client.sent[0].ReturnConsumedCapacity != types.ReturnConsumedCapacityIndexes {
		t.Error("the units of the indexes were not asked for")
	}
	replay := func(in *inputT) (*outputT, error) {
		return &outputT{ConsumedCapacity: []types.ConsumedCapacity{{TableName: aws.String("A"), CapacityUnits: f(4), ReadCapacityUnits: f(4)}}}, nil
	}
	receipt, _, _, err = commit(t, fenced(), lost, replay)
	if err != nil || !receipt.Recovered || receipt.ReplayRead.String() != "4" || receipt.Total() != 0 {
		t.Errorf("a replayed token is a recovered Commit: %+v, %v", receipt, err)
	}
}
