package projection_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/shardmap"
)

// A run that ends at any request, before it is sent or after it was applied, is taken up by the next runner, who is another person.
func TestARunbookSurvivesACrashAtEachRequest(t *testing.T) {
	t.Parallel()
	all := newArchive(2, 3)
	broken := 0
	for _, fate := range []dynamosim.Fate{dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.LateCommit} {
		for crash, requests := 0, 0; crash <= requests; crash++ { // the first run, which meets nothing, counts them
			b := setup(t)
			few := projection.Config{Map: shardmap.Fixed(1)} // and so few requests
			p := b.projection(b.client, few)
			for _, e := range all {
				if _, err := p.Namespace(1).Apply(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
			config := plan(t, all[:4]...)
			config.CatchUp = later(t, all[4:]...)
			var n atomic.Int64
			client := b.faulty(func(call dynamosim.Call) dynamosim.Fate {
				n.Add(1)
				if call.Sequence == crash {
					return fate
				}
				return dynamosim.Deliver
			})
			run, err := b.projection(client, few).Namespace(2).Runbook(config).Run(t.Context(), projection.StepCutover)
			if err != nil {
				broken++
			}
			if crash == 0 {
				requests = int(n.Load())
			}
			for _, by := range []string{"bob", "cy"} {
				if err != nil {
					config.By = by
					run, err = p.Namespace(2).Runbook(config).Run(t.Context(), projection.StepCutover)
				}
			}
			alias, aliasErr := p.Alias(t.Context())
			if err != nil || aliasErr != nil || len(run.Done) != 7 || alias.Namespace != 2 || alias.Version != 1 {
				t.Fatalf("request %d of %d, fate %v: %+v, %v; %+v, %v", crash, requests, fate, run, err, alias, aliasErr)
			}
			for _, source := range []string{"order-0", "order-1"} {
				if b.seen(t, 2, source) != "1 2 3 " {
					t.Fatalf("request %d, fate %v: the view has %q", crash, fate, b.seen(t, 2, source))
				}
			}
		}
	}
	if broken < 40 {
		t.Errorf("only %d runs were broken off", broken)
	}
}

// An answer that is lost, and asked for again by the SDK, is no rival's.
func TestARunbookRecognisesItsOwnWrites(t *testing.T) {
	t.Parallel()
	for lost, requests := 0, 0; lost <= requests; lost++ {
		b := setup(t)
		config := plan(t, newArchive(2, 2)...)
		config.Frozen = true
		var n atomic.Int64
		client := b.store.Client(func(o *dynamodb.Options) {
			o.Retryer = atOnce{o.Retryer}
			o.HTTPClient = dynamosim.Faulty(b.store, func(call dynamosim.Call) dynamosim.Fate {
				if n.Add(1); call.Sequence == lost {
					return dynamosim.LoseAnswer
				}
				return dynamosim.Deliver
			})
		})
		run, err := b.projection(client, projection.Config{Map: shardmap.Fixed(1)}).Namespace(2).Runbook(config).Run(t.Context(), projection.StepCutover)
		if err != nil || len(run.Done) != 7 {
			t.Fatalf("answer %d of %d lost: %+v, %v", lost, requests, run, err)
		}
		if lost == 0 {
			requests = int(n.Load())
		}
	}
}

// atOnce is a retryer that does not wait.
type atOnce struct{ aws.Retryer }

func (atOnce) RetryDelay(int, error) (time.Duration, error) { return 0, nil }
func (atOnce) MaxAttempts() int                             { return 3 }

// Of two runners one writes a step down, and the other one is told.
func TestTwoRunnersOfARunbook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	config := plan(t, newArchive(2, 2)...)
	config.Frozen = true
	other := config
	other.By = "bob"
	config.Reconcile = func(ctx context.Context, _ projection.Totals) (string, error) {
		_, err := b.p.Namespace(2).Runbook(other).Run(ctx, projection.StepCutover)
		return "", err
	}
	run, err := b.p.Namespace(2).Runbook(config).Run(t.Context(), projection.StepCutover)
	if !errors.Is(err, projection.ErrState) || len(run.Done) != 5 {
		t.Errorf("%+v, %v", run, err)
	}
	if run, err = b.p.Namespace(2).Runbook(config).State(t.Context()); err != nil || len(run.Done) != 7 || run.Done[6].By != "bob" {
		t.Errorf("%+v, %v", run, err)
	}
}

// steady has a digest that does not depend on what gzip makes of it.
type steady struct{ projection.Source }

func (s steady) Dataset() projection.Dataset {
	d := s.Source.Dataset()
	d.Digest = "JXb1ZqkzqOQ0yhKTgV9cVw=="
	return d
}

// What was edited, or lost in part, is found, and nothing goes on from there.
func TestAnEditedRunbookIsNotGoneOnWith(t *testing.T) {
	t.Parallel()
	b := setup(t)
	config := plan(t, newArchive(2, 2)...)
	config.Frozen, config.Source = true, steady{config.Source}
	book := b.p.Namespace(2).Runbook(config)
	if _, err := book.Run(t.Context(), projection.StepValidate); err != nil {
		t.Fatal(err)
	}
	key := b.points.Key("PROJ#portfolio", "RUNBOOK#0002")
	golden.Item(t, "runbook", b.read(t, b.points, key))
	step := func(item export.Item, n int) export.Item {
		return item["steps"].(*types.AttributeValueMemberL).Value[n].(*types.AttributeValueMemberM).Value
	}
	for name, change := range map[string]func(item export.Item){
		"evidence": func(item export.Item) {
			step(item, 2)["evidence"].(*types.AttributeValueMemberM).Value["events"] = text("3")
		},
		"less evidence": func(item export.Item) {
			delete(step(item, 1)["evidence"].(*types.AttributeValueMemberM).Value, "digest")
		},
		"who":   func(item export.Item) { step(item, 0)["by"] = text("bob") },
		"step":  func(item export.Item) { step(item, 2)["step"] = text("PROVE") },
		"proof": func(item export.Item) { step(item, 1)["proof"] = text("x") },
		"fewer steps": func(item export.Item) {
			l := item["steps"].(*types.AttributeValueMemberL)
			l.Value = l.Value[:2]
		},
		"no steps":   func(item export.Item) { delete(item, "steps") },
		"a text":     func(item export.Item) { item["steps"].(*types.AttributeValueMemberL).Value[0] = text("x") },
		"no map":     func(item export.Item) { step(item, 0)["evidence"] = text("x") },
		"the format": func(item export.Item) { item["v"] = &types.AttributeValueMemberN{Value: "2"} },
	} {
		whole := b.read(t, b.points, key)
		edited := b.read(t, b.points, key)
		change(edited)
		put := func(item export.Item) {
			if _, err := b.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.points.Name, Item: item}); err != nil {
				t.Fatal(err)
			}
		}
		put(edited)
		if _, err := book.Run(t.Context(), projection.StepCutover); !errors.Is(err, projection.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		put(whole)
	}
}
