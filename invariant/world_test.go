package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/invariant"
)

// calm is a configuration in which nothing befalls anybody.
var calm = invariant.Config{Fates: []dynamosim.Fate{}, Crashes: -1, Faults: -1, SkewMax: -1, Copies: 1}

// put is one request: it stores an item under a key.
func put(ctx context.Context, p *invariant.Process, pk string) error {
	_, err := p.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Things"), Item: orders.Key(pk, "x")})
	return err
}

func stored(w *invariant.World, pk string) bool {
	out, err := w.Client().GetItem(w.Context(), &dynamodb.GetItemInput{TableName: aws.String("Things"), Key: orders.Key(pk, "x"), ConsistentRead: aws.Bool(true)})
	w.Check("read", err)
	return out.Item != nil
}

// holds runs one calm history and fails the test if it does not hold.
func holds(t *testing.T, story func(w *invariant.World)) *invariant.History {
	t.Helper()
	h := invariant.Run(t, calm, 1, story)
	if h.Failure != nil {
		t.Errorf("%v\n%s", h.Failure, h.Schedule)
	}
	return h
}

// breaks runs one calm history and fails the test unless the named check breaks.
func breaks(t *testing.T, check, text string, story func(w *invariant.World)) {
	t.Helper()
	h := invariant.Run(t, calm, 1, story)
	if h.Failure == nil || h.Failure.Check != check || !strings.Contains(h.Failure.Error(), text) {
		t.Errorf("got %v, want %q to break with %q\n%.2000s", h.Failure, check, text, h.Schedule)
	}
}

// TestEqualSeedsGiveEqualHistories: byte for byte, all faults on, for 200 seeds; and in all of them everything holds.
func TestEqualSeedsGiveEqualHistories(t *testing.T) {
	t.Parallel()
	config := invariant.Config{SDKAttempts: 2, Timeout: 2 * time.Minute}
	different := map[string]bool{}
	for name, story := range map[string]func(*invariant.World){"orders": acceptOrders, "names": nameCustomers} {
		for seed := range uint64(100) {
			one, two := invariant.Run(t, config, seed, story), invariant.Run(t, config, seed, story)
			if one.Hash != two.Hash || one.Schedule != two.Schedule {
				t.Fatalf("%s, seed %d gave\n%s\nand then\n%s", name, seed, one.Schedule, two.Schedule)
			}
			if one.Failure != nil {
				t.Fatalf("%s, seed %d: %v\n%s", name, seed, one.Failure, one.Schedule)
			}
			different[one.Hash] = true
		}
	}
	if len(different) < 190 {
		t.Errorf("200 seeds gave only %d histories", len(different))
	}
}

func TestACrashEndsALifeAndTheNextKnowsOnlyWhatIsStored(t *testing.T) {
	holds(t, func(w *invariant.World) {
		w.Table("Things")
		var lives []int
		w.Worker("a", func(ctx context.Context, p *invariant.Process) error {
			lives = append(lives, p.Life())
			return put(ctx, p, fmt.Sprint("life", p.Life()))
		})
		w.Crash("a")
		w.Run()
		w.Settle()
		if !slices.Equal(lives, []int{1, 2}) || !stored(w, "life1") || !stored(w, "life2") {
			w.Fatalf("lives %v; what the first had sent arrived: %v; the second finished: %v", lives, stored(w, "life1"), stored(w, "life2"))
		}
	})
	breaks(t, "story", `no worker "b"`, func(w *invariant.World) { w.Crash("b") })
}

func TestAnErrorIsTriedAgainInTheSameLife(t *testing.T) {
	holds(t, func(w *invariant.World) {
		tries, life := 0, 0
		w.Worker("a", func(_ context.Context, p *invariant.Process) error {
			tries, life = tries+1, p.Life()
			if tries < 3 {
				return errors.New("not yet")
			}
			return nil
		})
		w.Run()
		if tries != 3 || life != 1 {
			w.Fatalf("%d tries, life %d", tries, life)
		}
	})
}

func TestClocksAreSkewedAndTimeIsVirtual(t *testing.T) {
	holds(t, func(w *invariant.World) {
		w.Table("Things")
		began := w.Now()
		var saw, after time.Time
		w.Worker("a", func(ctx context.Context, p *invariant.Process) error {
			if err := put(ctx, p, "x"); err != nil {
				return err
			}
			saw = p.Now()
			if err := p.Sleep(ctx, 48*time.Hour); err != nil {
				return err
			}
			after = p.Now()
			return nil
		})
		w.Skew("a", -time.Hour)
		w.Advance(10 * time.Minute) // the request waits
		if stored(w, "x") {
			w.Fatalf("Advance released a request")
		}
		w.Run()
		if saw.Sub(began) != -50*time.Minute || after.Sub(saw) != 48*time.Hour || w.Elapsed() < 48*time.Hour {
			w.Fatalf("saw %v, then %v, %v after the beginning", saw, after, w.Elapsed())
		}
	})
}

// TestAContextEndsAndItsRequestArrivesLate: the timeout of a life works in virtual time.
func TestAContextEndsAndItsRequestArrivesLate(t *testing.T) {
	config := calm
	config.Timeout = time.Second
	h := invariant.Run(t, config, 1, func(w *invariant.World) {
		w.Table("Things")
		w.Worker("a", func(ctx context.Context, p *invariant.Process) error {
			if stored(w, "x") {
				return nil
			}
			return put(ctx, p, "x")
		})
		w.Advance(time.Minute)
		w.Settle()
		if !stored(w, "x") {
			w.Fatalf("it never arrived")
		}
	})
	if h.Failure != nil || !strings.Contains(h.Schedule, "late: delivered") {
		t.Errorf("%v\n%s", h.Failure, h.Schedule)
	}
}

// A schedule says what each request is about, also where a service's own table has keys of other names.
func TestAScheduleShowsTheKeysOfEveryTable(t *testing.T) {
	h := invariant.Run(t, calm, 1, func(w *invariant.World) {
		w.Table("Things")
		_, err := w.Client().CreateTable(w.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("Trades"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("order"), AttributeType: types.ScalarAttributeTypeS},
				{AttributeName: aws.String("line"), AttributeType: types.ScalarAttributeTypeN}},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("order"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("line"), KeyType: types.KeyTypeRange}},
		})
		w.Check("create", err)
		w.Worker("w", func(ctx context.Context, p *invariant.Process) error {
			trade := map[string]types.AttributeValue{"order": &types.AttributeValueMemberS{Value: "o-1"}, "line": &types.AttributeValueMemberN{Value: "2"}}
			thing := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}, "SK": &types.AttributeValueMemberS{Value: "b"}}
			put := func(table string, item map[string]types.AttributeValue) types.TransactWriteItem {
				return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: item}}
			}
			_, err := p.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Trades"), Item: trade})
			if err == nil {
				_, err = p.Client().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
					TransactItems: []types.TransactWriteItem{put("Trades", trade), put("Things", thing)}})
			}
			return err
		})
		w.Run()
	})
	for _, want := range []string{"PutItem Trades o-1/2 ", "TransactWrite [Put Trades o-1/2, Put a] "} {
		if h.Failure != nil || !strings.Contains(h.Schedule, want) {
			t.Errorf("%v: no %q in\n%s", h.Failure, want, h.Schedule)
		}
	}
}

// TestWhatIsStuckIsNamed: liveness fails with the workers that cannot finish.
func TestWhatIsStuckIsNamed(t *testing.T) {
	breaks(t, "settle", "unfinished after 1h0m0s without faults: loop", func(w *invariant.World) {
		w.Worker("loop", func(ctx context.Context, p *invariant.Process) error {
			return errors.Join(p.Sleep(ctx, 25*time.Minute), errors.New("never"))
		})
		w.Settle()
	})
	breaks(t, "settle", "unfinished after 2000 steps without faults: busy, busy at PutItem x/x; "+
		"busy took 2000 of 2000 steps; poll less often or raise Config.SettleSteps", func(w *invariant.World) {
		w.Table("Things")
		w.Worker("busy", func(ctx context.Context, p *invariant.Process) error {
			for {
				if err := put(ctx, p, "x"); err != nil {
					return err
				}
			}
		})
		w.Settle()
	})
	breaks(t, "blocked", "neither a request nor an end in 1h0m0s: waits", func(w *invariant.World) {
		w.Worker("waits", func(ctx context.Context, p *invariant.Process) error { <-ctx.Done(); return ctx.Err() })
		w.Settle()
	})
}

func TestEveryKindOfFailureEndsTheHistoryWithItsName(t *testing.T) {
	breaks(t, "mine", "broken", func(w *invariant.World) { w.Check("mine", errors.New("broken")) })
	breaks(t, "panic", "worker a.1: oh", func(w *invariant.World) {
		w.Worker("a", func(context.Context, *invariant.Process) error { panic("oh") })
		w.Run()
	})
	breaks(t, "a", "seen 7", func(w *invariant.World) {
		w.Worker("a", func(_ context.Context, p *invariant.Process) error { p.Fatalf("seen %d", 7); return nil })
		w.Run()
	})
	breaks(t, "always", "too many", func(w *invariant.World) {
		w.Table("Things")
		w.Always("always", func() error {
			if stored(w, "y") {
				return errors.New("too many")
			}
			return nil
		})
		w.Worker("a", func(ctx context.Context, p *invariant.Process) error {
			return errors.Join(put(ctx, p, "x"), put(ctx, p, "y"), put(ctx, p, "z"))
		})
		w.Run()
	})
	breaks(t, "create table Things", "ResourceInUseException", func(w *invariant.World) {
		w.Table("Things")
		w.Table("Things")
	})
	h := invariant.Run(t, calm, 1, func(w *invariant.World) { w.Check("mine", dynamosim.ErrLost) })
	if !errors.Is(h.Failure, dynamosim.ErrLost) {
		t.Error("the failure hides its reason")
	}
}

// TestEachFaultTriesThemAll: one write is one calm run and eight in trouble: lost, answer lost, late twice, and five
// crashes, of which one is late twice.
func TestEachFaultTriesThemAll(t *testing.T) {
	runs := invariant.EachFault(t, calm, func(w *invariant.World) {
		w.Table("Things")
		w.Worker("a", func(ctx context.Context, p *invariant.Process) error { return put(ctx, p, "x") })
		w.Run()
		w.Settle()
		if !stored(w, "x") {
			w.Fatalf("lost")
		}
	})
	if runs != 1+8 {
		t.Errorf("%d runs", runs)
	}
}

// TestSDKRetriesAreTheHistorysOwn: the SDK repeats a plain write by itself after an error, and the schedule says so.
func TestSDKRetriesAreTheHistorysOwn(t *testing.T) {
	config := invariant.Config{Fates: []dynamosim.Fate{dynamosim.InternalErrorAfter}, Crashes: -1, SDKAttempts: 3}
	twice := false
	for seed := range uint64(50) {
		h := invariant.Run(t, config, seed, func(w *invariant.World) {
			w.Table("Things")
			w.Worker("a", func(ctx context.Context, p *invariant.Process) error { return put(ctx, p, "x") })
			w.Run()
			w.Settle()
		})
		twice = twice || strings.Contains(h.Schedule, "PutItem x/x (attempt 2)")
	}
	if !twice {
		t.Error("the SDK never sent again")
	}
}
