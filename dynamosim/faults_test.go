package dynamosim_test

import (
	"errors"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// faultyBackend is a simulator whose requests all meet one fate, without retries by the SDK. Its table exists.
func faultyBackend(t *testing.T, fate dynamosim.Fate) (healthy, faulty backend) {
	db := dynamosim.New(t)
	table := aws.String("faulty")
	healthy = backend{db.Client(), table}
	if _, err := healthy.CreateTable(ctx, testTable(*table)); err != nil {
		t.Fatal(err)
	}
	return healthy, backend{db.Client(func(o *dynamodb.Options) {
		o.HTTPClient = dynamosim.Faulty(db, func(dynamosim.Call) dynamosim.Fate { return fate })
		o.Retryer = aws.NopRetryer{}
	}), table}
}

func TestEveryFateOfASingleWrite(t *testing.T) {
	for fate, want := range map[dynamosim.Fate]struct {
		code   string // "" is no API error
		lost   bool
		stored bool
	}{
		dynamosim.Deliver:             {"", false, true},
		dynamosim.LoseRequest:         {"", true, false},
		dynamosim.LoseAnswer:          {"", true, true},
		dynamosim.Throttle:            {"ThrottlingException", false, false},
		dynamosim.Conflict:            {"TransactionConflictException", false, false},
		dynamosim.InProgress:          {"", false, true},
		dynamosim.InternalErrorBefore: {"InternalServerError", false, false},
		dynamosim.InternalErrorAfter:  {"InternalServerError", false, true},
		dynamosim.ThrottleProvisioned: {"ProvisionedThroughputExceededException", false, false},
		dynamosim.ThrottleAccount:     {"RequestLimitExceeded", false, false},
		dynamosim.TokenMismatch:       {"", false, true},
		dynamosim.MixedReasons:        {"", false, true},
		dynamosim.LateCommit:          {"", true, false}, // it lands after the next request through the same Faulty
	} {
		healthy, faulty := faultyBackend(t, fate)
		_, err := faulty.PutItem(ctx, &dynamodb.PutItemInput{TableName: faulty.table, Item: key("p", "s")})
		switch {
		case want.lost:
			if !errors.Is(err, dynamosim.ErrLost) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("fate %d: error is %v", fate, err)
			}
		case want.code != "":
			wantCode(t, err, want.code)
		case err != nil:
			t.Errorf("fate %d: %v", fate, err)
		}
		if stored := healthy.stored(t, key("p", "s")) != ""; stored != want.stored {
			t.Errorf("fate %d: stored is %v, want %v", fate, stored, want.stored)
		}
	}
}

func TestEveryFateOfATransaction(t *testing.T) {
	for fate, code := range map[dynamosim.Fate]string{
		dynamosim.Throttle:           "ThrottlingException",
		dynamosim.Conflict:           "TransactionCanceledException",
		dynamosim.InProgress:         "TransactionInProgressException",
		dynamosim.InternalErrorAfter: "InternalServerError",
		dynamosim.TokenMismatch:      "IdempotentParameterMismatchException",
		dynamosim.MixedReasons:       "TransactionCanceledException",
	} {
		_, faulty := faultyBackend(t, fate)
		err := faulty.transact(faulty.putAction(key("p", "1")), faulty.putAction(key("p", "2")))
		wantCode(t, err, code)
		if fate == dynamosim.Conflict {
			const line = "TransactionConflict Transaction is ongoing for the item"
			if got := reasons(t, err); got != line+"\n"+line {
				t.Errorf("reasons are %s", got)
			}
		}
		var throttled *types.ThrottlingException
		if fate == dynamosim.Throttle && (!errors.As(err, &throttled) || len(throttled.ThrottlingReasons) != 1) {
			t.Errorf("a throttle names its reason: %v", err)
		}
	}
}

// The client gives up, looks, sees nothing, and then its write lands.
func TestALateCommitLandsAfterTheNextRequest(t *testing.T) {
	db := dynamosim.New(t)
	b := backend{table: aws.String("late"), Client: db.Client(func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
		o.HTTPClient = dynamosim.Faulty(db, func(c dynamosim.Call) dynamosim.Fate {
			if c.Operation == "PutItem" {
				return dynamosim.LateCommit
			}
			return dynamosim.Deliver
		})
	})}
	if _, err := b.CreateTable(ctx, testTable("late")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PutItem(ctx, &dynamodb.PutItemInput{TableName: b.table, Item: key("p", "s")}); !errors.Is(err, dynamosim.ErrLost) {
		t.Fatal(err)
	}
	if got := b.stored(t, key("p", "s")); got != "" {
		t.Errorf("the first look sees %q", got)
	}
	if got := b.stored(t, key("p", "s")); got == "" {
		t.Error("the request never arrived")
	}
}

// A read cannot conflict with anything but a transaction, so it is delivered.
func TestAFateThatDoesNotApplyDelivers(t *testing.T) {
	for _, fate := range []dynamosim.Fate{dynamosim.Conflict, dynamosim.InProgress} {
		_, faulty := faultyBackend(t, fate)
		if got := faulty.stored(t, key("p", "s")); got != "" {
			t.Errorf("read %q", got)
		}
	}
}

// The SDK repeats a plain write by itself when its answer is lost. Its own first attempt then fails the condition.
func TestTheSDKRepeatsALostWriteAndMeetsItself(t *testing.T) {
	db := dynamosim.New(t)
	var calls []dynamosim.Call
	client := db.Client(func(o *dynamodb.Options) {
		o.HTTPClient = dynamosim.Faulty(db, func(c dynamosim.Call) dynamosim.Fate {
			calls = append(calls, c)
			if c.Operation == "PutItem" && c.Attempt == 1 {
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		})
	})
	if _, err := client.CreateTable(ctx, testTable("table")); err != nil {
		t.Fatal(err)
	}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("table"), Item: key("p", "s"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	wantCode(t, err, "ConditionalCheckFailedException")
	if len(calls) != 3 || calls[2].Attempt != 2 || calls[2].Sequence != 3 || calls[2].InvocationID != calls[1].InvocationID {
		t.Errorf("calls are %+v", calls)
	}
	if got := db.Stats().Requests["PutItem"]; got != 2 {
		t.Errorf("%d arrivals of one call", got)
	}
}

func TestUnreportedUnitsAreCounted(t *testing.T) {
	b := backend{}
	db := dynamosim.New(t)
	b.Client, b.table = db.Client(), aws.String("table")
	if _, err := b.CreateTable(ctx, testTable("table")); err != nil {
		t.Fatal(err)
	}
	_, err := b.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: b.table, Item: key("p", "s"), ConditionExpression: aws.String("attribute_exists(pk)"),
	})
	wantCode(t, err, "ConditionalCheckFailedException")
	err = b.transact(b.putAction(key("p", "1")), b.checkAction(key("p", "none"), "attribute_exists(pk)"))
	wantCode(t, err, "TransactionCanceledException")
	stats := db.Stats()
	if got := stats.UnreportedWrites.String(); got != "5" || stats.Refused != 2 {
		t.Errorf("unreported %s units in %d refusals, want 1 + 2x2 in 2", got, stats.Refused)
	}
}
