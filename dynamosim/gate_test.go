package dynamosim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// bench is a gate in front of a database, inside a bubble.
type bench struct {
	*testing.T
	db   *dynamosim.DB
	calm *dynamodb.Client
	gate *dynamosim.Gate
}

func gated(t *testing.T, prove func(b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, db: dynamosim.New(t, dynamosim.Options{TokenPolicy: dynamosim.IgnoreTokens})}
		b.calm, b.gate = b.db.Client(), dynamosim.NewGate(b.db)
		_, err := b.calm.CreateTable(t.Context(), testTable("T01"))
		must(t, true, err)
		prove(b)
	})
}

// client is the SDK's client of one life of a worker, without retries of its own.
func (b *bench) client(w *dynamosim.Worker) *dynamodb.Client {
	return b.db.Client(func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = w, aws.NopRetryer{} })
}

// start lets a worker do one thing and returns where its error will be.
func (b *bench) start(name string, work func(context.Context, *dynamodb.Client) error) (*dynamosim.Worker, chan error) {
	worker, done := b.gate.Worker(name), make(chan error, 1)
	go func() { done <- work(b.Context(), b.client(worker)) }()
	synctest.Wait()
	return worker, done
}

func (b *bench) only() *dynamosim.Pending {
	b.Helper()
	pending := b.gate.Pending()
	if len(pending) != 1 {
		b.Fatalf("%d requests at the gate, want one", len(pending))
	}
	return pending[0]
}

func (b *bench) stored(pk string) bool {
	out, err := b.calm.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("T01"), Key: key(pk, "x"), ConsistentRead: aws.Bool(true)})
	return must(b, out, err).Item != nil
}

func put(pk string) func(context.Context, *dynamodb.Client) error {
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("T01"), Item: key(pk, "x")})
		return err
	}
}

// create puts items that must not be there yet, in one transaction.
func create(pks ...string) func(context.Context, *dynamodb.Client) error {
	return func(ctx context.Context, c *dynamodb.Client) error {
		in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token")}
		for _, pk := range pks {
			in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("T01"), Item: key(pk, "x"),
				ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}})
		}
		_, err := c.TransactWriteItems(ctx, in)
		return err
	}
}

func get(ctx context.Context, c *dynamodb.Client) error {
	_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("T01"), Key: key("a", "x")})
	return err
}

// TestEveryFateShowsTheClientAndTheTableWhatItSays: each row releases one request with one fate. want is the error's code
// ("" for success, "lost" for a broken connection), and stored whether the table has the item afterwards.
func TestEveryFateShowsTheClientAndTheTableWhatItSays(t *testing.T) {
	for _, row := range []struct {
		operation string
		work      func(context.Context, *dynamodb.Client) error
		fate      dynamosim.Fate
		want      string
		stored    bool
		released  string
	}{
		{"PutItem", put("a"), dynamosim.Deliver, "", true, "ok"},
		{"PutItem", put("a"), dynamosim.LoseRequest, "lost", false, ""},
		{"PutItem", put("a"), dynamosim.LoseAnswer, "lost", true, "ok"},
		{"PutItem", put("a"), dynamosim.LateCommit, "lost", false, ""},
		{"PutItem", put("a"), dynamosim.Throttle, "ThrottlingException", false, "ThrottlingException"},
		{"PutItem", put("a"), dynamosim.ThrottleProvisioned, "ProvisionedThroughputExceededException", false, "ProvisionedThroughputExceededException"},
		{"PutItem", put("a"), dynamosim.ThrottleAccount, "RequestLimitExceeded", false, "RequestLimitExceeded"},
		{"PutItem", put("a"), dynamosim.Conflict, "TransactionConflictException", false, "TransactionConflictException"},
		{"PutItem", put("a"), dynamosim.InternalErrorBefore, "InternalServerError", false, "InternalServerError"},
		{"PutItem", put("a"), dynamosim.InternalErrorAfter, "InternalServerError", true, "ok"},
		{"PutItem", put("a"), dynamosim.InProgress, "", true, "ok"},    // has no token: delivered
		{"PutItem", put("a"), dynamosim.TokenMismatch, "", true, "ok"}, // has no token: delivered
		{"TransactWriteItems", create("a", "b"), dynamosim.Deliver, "", true, "ok"},
		{"TransactWriteItems", create("a", "b"), dynamosim.LoseAnswer, "lost", true, "ok"},
		{"TransactWriteItems", create("a", "b"), dynamosim.LateCommit, "lost", false, ""},
		{"TransactWriteItems", create("a", "b"), dynamosim.Throttle, "ThrottlingException", false, "ThrottlingException"},
		{"TransactWriteItems", create("a", "b"), dynamosim.Conflict, "TransactionCanceledException", false, "cancelled [TransactionConflict, TransactionConflict]"},
		{"TransactWriteItems", create("a", "b"), dynamosim.InProgress, "TransactionInProgressException", false, "TransactionInProgressException"},
		{"TransactWriteItems", create("a", "b"), dynamosim.TokenMismatch, "IdempotentParameterMismatchException", false, "IdempotentParameterMismatchException"},
		{"TransactWriteItems", create("a", "b"), dynamosim.InternalErrorAfter, "InternalServerError", true, "ok"},
		{"TransactWriteItems", create("a", "b"), dynamosim.MixedReasons, "TransactionCanceledException", false, "cancelled [None, TransactionConflict]"},
		{"GetItem", get, dynamosim.LoseRequest, "lost", false, ""},
		{"GetItem", get, dynamosim.Throttle, "ThrottlingException", false, "ThrottlingException"},
		{"GetItem", get, dynamosim.Conflict, "", false, "ok"}, // a plain read never conflicts
	} {
		t.Run(fmt.Sprint(row.operation, " ", row.fate), func(t *testing.T) {
			gated(t, func(b *bench) {
				_, done := b.start("w", row.work)
				p := b.only()
				if p.Operation != row.operation || p.Worker != "w" || p.Number != 1 || p.Late {
					t.Errorf("at the gate: %+v", p.Call)
				}
				released := b.gate.Release(p, row.fate)
				if released.Result != row.released {
					t.Errorf("released: %q, want %q", released.Result, row.released)
				}
				err := <-done
				if row.want == "lost" {
					if !errors.Is(err, dynamosim.ErrLost) {
						t.Errorf("the client got %v", err)
					}
				} else if row.want != "" {
					wantCode(t, err, row.want)
				} else if err != nil {
					t.Errorf("the client got %v", err)
				}
				if b.stored("a") != row.stored {
					t.Errorf("stored: %v", !row.stored)
				}
			})
		})
	}
}

// TestThrottlingNamesItsReasonInEachSpelling: the three exceptions spell the member in two ways.
func TestThrottlingNamesItsReasonInEachSpelling(t *testing.T) {
	for _, fate := range []dynamosim.Fate{dynamosim.Throttle, dynamosim.ThrottleProvisioned, dynamosim.ThrottleAccount} {
		gated(t, func(b *bench) {
			_, done := b.start("w", put("a"))
			b.gate.Release(b.only(), fate)
			err := <-done
			var one *types.ThrottlingException
			var two *types.ProvisionedThroughputExceededException
			var three *types.RequestLimitExceeded
			var reasons []types.ThrottlingReason
			switch {
			case errors.As(err, &one):
				reasons = one.ThrottlingReasons
			case errors.As(err, &two):
				reasons = two.ThrottlingReasons
			case errors.As(err, &three):
				reasons = three.ThrottlingReasons
			}
			if len(reasons) != 1 || aws.ToString(reasons[0].Reason) == "" {
				t.Errorf("%v: reasons %v in %v", fate, reasons, err)
			}
		})
	}
}

// TestLateCommitLandsAfterTheClientLooked is the zombie: the client gives up, reads "absent", and then its write lands.
func TestLateCommitLandsAfterTheClientLooked(t *testing.T) {
	gated(t, func(b *bench) {
		_, done := b.start("w", put("a"))
		b.gate.Release(b.only(), dynamosim.LateCommit)
		if err := <-done; !errors.Is(err, dynamosim.ErrLost) {
			t.Fatal(err)
		}
		if b.stored("a") {
			t.Fatal("it was applied at once")
		}
		late := b.only()
		if !late.Late || late.Takes(dynamosim.LoseAnswer) || !late.Takes(dynamosim.LoseRequest) {
			t.Errorf("a late request: %+v", late)
		}
		if released := b.gate.Release(late, dynamosim.Deliver); !released.Reached || !b.stored("a") {
			t.Errorf("released %+v, and it is stored: %v", released, b.stored("a"))
		}
		if released := b.gate.Release(late, dynamosim.Deliver); released.Reached || len(b.gate.Pending()) > 0 {
			t.Error("it was delivered twice")
		}
	})
}

func TestAClientThatGivesUpLeavesItsRequestOnTheWay(t *testing.T) {
	gated(t, func(b *bench) {
		_, done := b.start("w", func(ctx context.Context, c *dynamodb.Client) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return put("a")(ctx, c)
		})
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if late := b.only(); !late.Late || !b.gate.Release(late, dynamosim.Deliver).Reached || !b.stored("a") {
			t.Error("the request was lost with its client")
		}
	})
}

// TestKillEndsAWorkerWhereItWaits: before sending and after it differ in what becomes of the request at the gate.
func TestKillEndsAWorkerWhereItWaits(t *testing.T) {
	for _, row := range []struct {
		fate   dynamosim.Fate
		stored bool
	}{{dynamosim.LoseRequest, false}, {dynamosim.Deliver, true}} {
		gated(t, func(b *bench) {
			deferred, went := false, false
			worker, done := b.start("w", func(ctx context.Context, c *dynamodb.Client) error {
				defer func() { deferred = true }()
				err := put("a")(ctx, c)
				went = true
				return err
			})
			worker.Kill()
			worker.Kill()
			synctest.Wait()
			if !deferred || went || len(done) > 0 || !worker.Dead() {
				t.Errorf("deferred calls ran: %v; the worker went on: %v; it ended by itself: %d", deferred, went, len(done))
			}
			if b.gate.Release(b.only(), row.fate); b.stored("a") != row.stored {
				t.Errorf("%v: stored %v", row.fate, !row.stored)
			}
		})
	}
}

func TestTheDeadSendNothingAndTheNextLifeIsAnother(t *testing.T) {
	gated(t, func(b *bench) {
		first := b.gate.Worker("w")
		first.Kill()
		ended := false
		go func() {
			defer func() { ended = true }()
			_ = put("a")(b.Context(), b.client(first))
			t.Error("a dead worker got an answer")
		}()
		synctest.Wait()
		if !ended || len(b.gate.Pending()) > 0 {
			t.Errorf("ended: %v, requests: %d", ended, len(b.gate.Pending()))
		}
		second, done := b.start("w", put("a"))
		if p := b.only(); second.Incarnation() != 2 || p.Incarnation != 2 {
			t.Errorf("incarnation %d", p.Incarnation)
		}
		b.gate.Release(b.only(), dynamosim.Deliver)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestMixedReasonsTellTheTruthBesideTheNoise: the failed condition is the database's own verdict, with the old item; the
// rest is what the driver asked for; and nothing is applied.
func TestMixedReasonsTellTheTruthBesideTheNoise(t *testing.T) {
	gated(t, func(b *bench) {
		must(t, true, put("c")(ctx, b.calm))
		_, done := b.start("w", create("a", "b", "c"))
		released := b.gate.Mix(b.only(), "TransactionConflict", "ThrottlingError")
		const want = "[TransactionConflict, ThrottlingError, ConditionalCheckFailed]"
		if released.Result != "cancelled "+want {
			t.Errorf("released %q", released.Result)
		}
		var canceled *types.TransactionCanceledException
		if err := <-done; !errors.As(err, &canceled) {
			t.Fatal(err)
		}
		reasons := canceled.CancellationReasons
		if len(reasons) != 3 || reasons[2].Item == nil || reasons[0].Item != nil || !strings.Contains(aws.ToString(canceled.Message), want) {
			t.Errorf("reasons %+v, message %q", reasons, aws.ToString(canceled.Message))
		}
		if b.stored("a") || b.stored("b") {
			t.Error("a cancelled transaction was applied")
		}
	})
}

func TestAMixOfNothingIsADelivery(t *testing.T) {
	gated(t, func(b *bench) {
		_, done := b.start("w", create("a", "b"))
		if released := b.gate.Mix(b.only(), "", ""); released.Result != "ok" || !b.stored("a") {
			t.Errorf("released %+v", released)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestPendingIsInOrderWhateverArrivesFirst: four workers, one of which sends three requests at once.
func TestPendingIsInOrderWhateverArrivesFirst(t *testing.T) {
	var first []string
	for range 50 {
		gated(t, func(b *bench) {
			for _, name := range []string{"d", "b", "a"} {
				go func() { _ = put(name)(b.Context(), b.client(b.gate.Worker(name))) }()
			}
			fan := b.client(b.gate.Worker("c"))
			for i := range 3 {
				go func() { _ = put(fmt.Sprint("c", i))(b.Context(), fan) }()
			}
			synctest.Wait()
			var order []string
			for _, p := range b.gate.Pending() {
				at := strings.Index(string(p.Body), `"pk":{"S":"`) + len(`"pk":{"S":"`)
				order = append(order, fmt.Sprintf("%s.%d %s", p.Worker, p.Number, p.Body[at:at+2]))
				b.gate.Release(p, dynamosim.LoseRequest)
			}
			if first == nil {
				first = order
			}
			if !slices.Equal(order, first) || len(order) != 6 {
				t.Fatalf("%q, before %q", order, first)
			}
		})
	}
}

func TestFatesAreWordsAndTheHarmlessOneIsFirst(t *testing.T) {
	all := dynamosim.Fates()
	if all[0] != dynamosim.Deliver || dynamosim.Fate(-1).String() != "unknown fate" || dynamosim.Fate(len(all)).String() != "unknown fate" {
		t.Error(all)
	}
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.String()] || f.String() == "" {
			t.Errorf("fate %d: %q", f, f)
		}
		seen[f.String()] = true
	}
}
