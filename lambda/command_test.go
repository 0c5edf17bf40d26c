package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/lambda"
	"github.com/dynafin/dynafin/txn"
)

// payment is the input of a function, receipt its output.
type payment struct {
	Key, Amount string
}

type receipt struct {
	ID     string
	Amount string `json:"amount,omitempty"`
	Float  float64
}

// counter is a function that pays: its effect is a count.
type counter struct {
	client, plain *dynamodb.Client // plain loses nothing
	requests      *idempotency.Requests
}

func newCounter(t *testing.T, choose func(dynamosim.Call) dynamosim.Fate) *counter {
	t.Helper()
	db := dynamosim.New(t)
	requests := idempotency.New(idempotency.Config{Lease: time.Minute, Txn: txn.Config{MaxAttempts: 2, Jitter: func(time.Duration) time.Duration { return 0 }}})
	if err := db.CreateTable(idempotency.TableName, requests.Index()); err != nil {
		t.Fatal(err)
	}
	if err := db.CreateTable(state.Name); err != nil {
		t.Fatal(err)
	}
	client := db.Client()
	if choose != nil {
		client = db.Client(func(o *dynamodb.Options) { o.Retryer, o.HTTPClient = aws.NopRetryer{}, dynamosim.Faulty(db, choose) })
	}
	return &counter{client, db.Client(), requests}
}

func (c *counter) config(mode idempotency.Mode) lambda.CommandConfig[payment] {
	return lambda.CommandConfig[payment]{Requests: c.requests, Client: c.client, Mode: mode, Request: func(p payment) (idempotency.Request, error) {
		return idempotency.Request{Tenant: "acme", Key: p.Key, Operation: "pay", Command: idempotency.NewFields().Decimal("amount", p.Amount)}, nil
	}}
}

func (c *counter) effect() txn.Part {
	return txn.Update(state, state.Key("PAID", "N"), expression.Add(expression.Name("n"), expression.Value(1)))
}

func (c *counter) paid(t *testing.T) int {
	t.Helper()
	out, err := c.plain.GetItem(context.WithoutCancel(t.Context()), &dynamodb.GetItemInput{TableName: &state.Name, Key: state.Key("PAID", "N"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	n, ok := out.Item["n"].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	count, err := strconv.Atoi(n.Value)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// Of any number of invocations with one key one has an effect, and all that are answered get the same bytes.
func TestACommandHasOneEffectAndOneAnswer(t *testing.T) {
	t.Parallel()
	c := newCounter(t, nil)
	var mu sync.Mutex
	runs := 0
	pay := lambda.Command(c.config(idempotency.Transactional), func(_ context.Context, p payment) (receipt, []txn.Part, error) {
		mu.Lock()
		defer mu.Unlock()
		runs++
		return receipt{ID: "r-" + strconv.Itoa(runs), Amount: "<" + p.Amount + ">"}, []txn.Part{c.effect()}, nil
	})
	first, err := pay(t.Context(), payment{"k-1", "19.99"})
	if err != nil || string(first) != `{"ID":"r-1","amount":"\u003c19.99\u003e","Float":0}` {
		t.Fatalf("%s, %v", first, err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			again, err := pay(t.Context(), payment{"k-1", "19.990"})
			sent, _ := json.Marshal(again) // as Lambda sends it
			if err != nil || string(sent) != string(first) {
				t.Errorf("%s, %v", again, err)
			}
		})
	}
	all.Wait()
	if _, err := pay(t.Context(), payment{"k-1", "20.00"}); !errors.Is(err, idempotency.ErrMismatch) {
		t.Errorf("another payment under the key: %v", err)
	}
	if n := c.paid(t); n != 1 || runs != 1 {
		t.Errorf("paid %d times in %d runs", n, runs)
	}
}

// Whatever becomes of each request of an invocation: repeated until it is answered, it has one effect.
func TestACommandRepeatedAfterAnyFaultHasOneEffect(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 4; n++ {
		for _, fate := range dynamosim.Fates() {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c := newCounter(t, func(dynamosim.Call) dynamosim.Fate {
					if sent++; sent == n {
						return fate
					}
					return dynamosim.Deliver
				})
				pay := lambda.Command(c.config(idempotency.Transactional), func(context.Context, payment) (receipt, []txn.Part, error) {
					return receipt{ID: "r"}, []txn.Part{c.effect()}, nil
				})
				var err error
				for range 5 {
					if _, err = pay(t.Context(), payment{"k-1", "1.00"}); err == nil {
						break
					}
					time.Sleep(time.Minute) // the lease ends
				}
				if paid := c.paid(t); err != nil || paid != 1 {
					t.Errorf("request %d, %v: paid %d times, %v", n, fate, paid, err)
				}
			})
		}
	}
}

// A function that is stopped before its timeout leaves an external effect to repair, and a transactional one to its repeat.
func TestACommandThatRunsOutOfTimeSaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	for mode, want := range map[idempotency.Mode]error{idempotency.External: idempotency.ErrRepairRequired, idempotency.Transactional: nil} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, nil)
			slow := true
			pay := lambda.Command(c.config(mode), func(ctx context.Context, _ payment) (receipt, []txn.Part, error) {
				if slow {
					<-ctx.Done()
					return receipt{}, nil, ctx.Err()
				}
				return receipt{ID: "r"}, nil, nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			if _, err := pay(ctx, payment{"k-1", "1.00"}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) >= 10*time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			slow = false
			if _, err := pay(t.Context(), payment{"k-1", "1.00"}); want == nil && err != nil || want != nil && !errors.Is(err, want) {
				t.Errorf("the repeat: %v, want %v", err, want)
			}
		})
	}
}

func TestACommandThatBreaksARuleDoesNothing(t *testing.T) {
	t.Parallel()
	c := newCounter(t, nil)
	never := func(context.Context, payment) (receipt, []txn.Part, error) {
		t.Error("it ran")
		return receipt{}, nil, nil
	}
	good := c.config(idempotency.Transactional)
	for what, spoil := range map[string]func(*lambda.CommandConfig[payment]){
		"no requests": func(c *lambda.CommandConfig[payment]) { c.Requests = nil }, "no client": func(c *lambda.CommandConfig[payment]) { c.Client = nil },
		"no request": func(c *lambda.CommandConfig[payment]) { c.Request = nil }, "a negative margin": func(c *lambda.CommandConfig[payment]) { c.Margin = -1 },
	} {
		config := good
		spoil(&config)
		if _, err := lambda.Command(config, never)(t.Context(), payment{"k", "1.00"}); !errors.Is(err, lambda.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := lambda.Command(good, never)(t.Context(), payment{"", "1.00"}); !errors.Is(err, idempotency.ErrInvalid) {
		t.Errorf("no key: %v", err)
	}
	if _, err := lambda.Command(good, never)(t.Context(), payment{"k", "1e3x"}); !errors.Is(err, idempotency.ErrCommand) {
		t.Errorf("no amount: %v", err)
	}
	unwritable := lambda.Command(good, func(context.Context, payment) (receipt, []txn.Part, error) {
		return receipt{Float: math.NaN()}, []txn.Part{c.effect()}, nil
	})
	if _, err := unwritable(t.Context(), payment{"k", "1.00"}); err == nil || c.paid(t) != 0 {
		t.Errorf("an output without JSON: %v", err)
	}
}
