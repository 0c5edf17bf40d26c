package projection_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/projection"
)

// eventRecord is an event as its owner's table has it, in an export.
func eventRecord(e projection.Event) export.Record {
	item := export.Item{
		"PK": text("EVENT#" + e.ID), "source": text(e.Source), "version": &types.AttributeValueMemberN{Value: strconv.FormatInt(e.Version, 10)},
		"at": text(e.OccurredAt.Format(time.RFC3339Nano)), "payload": &types.AttributeValueMemberB{Value: e.Payload},
	}
	return export.Record{New: item, Keys: export.Item{"PK": item["PK"]}, WrittenAt: day.Add(time.Minute)}
}

// eventIn reads it back. Items of other kinds are in the table, too.
func eventIn(r export.Record) (projection.Event, bool, error) {
	source, ok := r.New["source"].(*types.AttributeValueMemberS)
	if !ok {
		return projection.Event{}, false, nil
	}
	version, err := strconv.ParseInt(r.New["version"].(*types.AttributeValueMemberN).Value, 10, 64)
	return changed(source.Value, version), true, err
}

// exportOf returns the events as an export has them: in no order.
func exportOf(t stores.TB, config export.WriteConfig, events ...projection.Event) *export.Export {
	t.Helper()
	events = slices.Clone(events)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	config.Table, config.ItemsPerFile = "Orders", 7
	files := fstest.MapFS{}
	dir, err := export.Write(func(name string, content []byte) error { files[name] = &fstest.MapFile{Data: content}; return nil }, config,
		func(yield func(export.Record, error) bool) {
			if config.Type != export.Incremental && !yield(export.Record{New: export.Item{"PK": text("other")}}, nil) {
				return
			}
			for _, e := range events {
				if !yield(eventRecord(e), nil) {
					return
				}
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	e, err := export.Open(files, dir, export.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func fullExport(t stores.TB, events ...projection.Event) *export.Export {
	t.Helper()
	return exportOf(t, export.WriteConfig{ExportTime: day.Add(time.Minute)}, events...)
}

// plan rebuilds namespace 2 from a full export.
func plan(t stores.TB, events ...projection.Event) projection.RunbookConfig {
	t.Helper()
	return projection.RunbookConfig{By: "ann", AsOf: day, Policy: "nothing is frozen; readers move once it is proved; roll back by alias", Schema: "orders-3",
		Source: projection.FromExport(fullExport(t, events...), eventIn), Passes: 2}
}

// later gives the events of the incremental export that follows.
func later(t stores.TB, events ...projection.Event) func(context.Context) iter.Seq2[projection.Event, error] {
	t.Helper()
	e := exportOf(t, export.WriteConfig{Type: export.Incremental, From: day.Add(time.Minute), To: day.Add(time.Hour)}, events...)
	return func(ctx context.Context) iter.Seq2[projection.Event, error] {
		return export.Map(e.Records(ctx, export.Position{}), eventIn)
	}
}

// steps are the steps that are done.
func stepsOf(run projection.Run) string {
	text := ""
	for _, done := range run.Done {
		text += string(done.Step) + " "
	}
	return text
}

// Seven steps, each written down: from an export in no order, through what came since, to readers that move.
func TestARebuildFromAnExportGoesThroughSevenSteps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := newArchive(5, 4)
	for _, e := range all {
		if _, err := b.ns.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	config := plan(t, all[:12]...)
	config.CatchUp = later(t, all[10:]...) // some of them again
	builds := 0
	config.Progress = func(run projection.Run, build projection.Build) { builds++ }
	var reconciled projection.Totals
	config.Reconcile = func(_ context.Context, totals projection.Totals) (string, error) {
		reconciled = totals
		return "books of 2026-11-29", nil
	}
	book := b.p.Namespace(2).Runbook(config)
	run, err := book.State(t.Context())
	if next, ok := run.Next(); err != nil || next != projection.StepDeclare || !ok {
		t.Fatalf("%+v, %v", run, err)
	}
	run, err = book.Run(t.Context(), projection.StepProve)
	if next, _ := run.Next(); err != nil || next != projection.StepCutover || builds < 7 {
		t.Fatalf("%+v, %v", run, err)
	}
	if alias, err := b.p.Alias(t.Context()); err != nil || alias.Namespace != 1 {
		t.Errorf("readers moved before the last step: %+v, %v", alias, err)
	}
	run, err = book.Run(t.Context(), projection.StepCutover)
	if next, ok := run.Next(); err != nil || ok || stepsOf(run) != "DECLARE TAKE VALIDATE BUILD CATCH_UP PROVE CUTOVER " {
		t.Fatalf("%+v, then %s, %v", run, next, err)
	}
	again, err := book.Run(t.Context(), projection.StepCutover)
	if err != nil || stepsOf(again) != stepsOf(run) {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	for step, want := range map[projection.Step]map[string]string{
		projection.StepDeclare:  {"policy": config.Policy, "schema": "orders-3", "aliasNamespace": "1", "aliasVersion": "0", "frozen": "false"},
		projection.StepTake:     {"records": "13"},
		projection.StepValidate: {"sources": "5", "events": "12", "control": "2100"},
		projection.StepBuild:    {"read": "12"},
		projection.StepCatchUp:  {"given": "10", "events": "20"},
		projection.StepProve:    {"sources": "5", "events": "20", "control": "5000", "reconciled": "books of 2026-11-29"},
		projection.StepCutover:  {"aliasNamespace": "2", "aliasPrevious": "1", "aliasVersion": "1"},
	} {
		evidence := run.Evidence(step)
		for name, value := range want {
			if evidence[name] != value {
				t.Errorf("%s: %s is %q, not %q", step, name, evidence[name], value)
			}
		}
	}
	if alias, err := b.p.Alias(t.Context()); err != nil || alias.Namespace != 2 || reconciled.Events != 20 {
		t.Errorf("%+v, %v, %+v", alias, err, reconciled)
	}
	if b.seen(t, 2, "order-3") != "1 2 3 4 " || b.seen(t, 2, "order-3") != b.seen(t, 1, "order-3") {
		t.Errorf("the view has %q and had %q", b.seen(t, 2, "order-3"), b.seen(t, 1, "order-3"))
	}
}

// Where nothing happens any more the dataset alone proves the new namespace; the old one may be broken.
func TestAFrozenRebuildNeedsNoLiveNamespace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, "order-0", 1, projection.Applied)
	b.apply(t, "order-9", 3, projection.Parked) // the old one has a gap
	config := plan(t, newArchive(3, 3)...)
	config.Frozen = true
	run, err := b.p.Namespace(2).Runbook(config).Run(t.Context(), projection.StepCutover)
	if _, open := run.Next(); err != nil || open {
		t.Fatalf("%+v, %v", run, err)
	}
	config.CatchUp = later(t)
	if _, err := b.p.Namespace(3).Runbook(config).Run(t.Context(), projection.StepCutover); !errors.Is(err, projection.ErrInvalid) {
		t.Error(err)
	}
}

// Each step refuses what would make its proof worth nothing, and is not written down.
func TestEachStepRefuses(t *testing.T) {
	t.Parallel()
	all := newArchive(3, 3)
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, b *bench, config *projection.RunbookConfig)
		done  string
		kind  error
		says  string
	}{
		{"the build was started before", func(t *testing.T, b *bench, _ *projection.RunbookConfig) {
			if _, err := b.p.Namespace(2).Start(t.Context(), "bob"); err != nil {
				t.Fatal(err)
			}
		}, "", projection.ErrState, "before its rebuild was declared"},
		{"a dataset that is too old", func(t *testing.T, b *bench, config *projection.RunbookConfig) { config.AsOf = day.Add(2 * time.Minute) },
			"DECLARE ", projection.ErrState, "up to 2026-11-29T14:19:00.000000000Z only"},
		{"a dataset without a digest", func(t *testing.T, b *bench, config *projection.RunbookConfig) { config.Source = unnamed{config.Source} },
			"DECLARE ", projection.ErrInvalid, "no digest"},
		{"a dataset with a hole", func(t *testing.T, b *bench, config *projection.RunbookConfig) {
			*config = plan(t, slices.Delete(newArchive(3, 3), 4, 5)...)
		}, "DECLARE TAKE ", projection.ErrUnproved, `source "order-1" misses version 2`},
		{"a dataset that is cut", func(t *testing.T, b *bench, config *projection.RunbookConfig) { config.Source = broken{config.Source} },
			"DECLARE TAKE ", errBelow, "from below"},
		{"an event that is none", func(t *testing.T, b *bench, config *projection.RunbookConfig) {
			*config = plan(t, append(newArchive(1, 1), projection.Event{Source: "x", ID: "y"})...)
		}, "DECLARE TAKE ", projection.ErrInvalid, "Version is outside"},
		{"too little memory", func(t *testing.T, b *bench, config *projection.RunbookConfig) { config.MaxBytes = 300 },
			"DECLARE TAKE ", projection.ErrInvalid, "more passes"},
		{"what came since is not there", func(t *testing.T, b *bench, config *projection.RunbookConfig) {
			b.apply(t, "order-1", 4, projection.Applied)
		},
			"DECLARE TAKE VALIDATE BUILD ", projection.ErrUnproved, "readers see version 4"},
		{"a gap", func(t *testing.T, b *bench, config *projection.RunbookConfig) {
			config.CatchUp = later(t, changed("order-1", 5))
		},
			"DECLARE TAKE VALIDATE BUILD ", projection.ErrUnproved, "misses version 4"},
		{"what came since cannot be read", func(t *testing.T, b *bench, config *projection.RunbookConfig) {
			config.CatchUp = func(context.Context) iter.Seq2[projection.Event, error] {
				return func(yield func(projection.Event, error) bool) { yield(projection.Event{}, errBelow) }
			}
		}, "DECLARE TAKE VALIDATE BUILD ", errBelow, "from below"},
		{"what was built is gone", func(t *testing.T, b *bench, config *projection.RunbookConfig) {
			config.CatchUp = func(context.Context) iter.Seq2[projection.Event, error] {
				b.lose(t, "SOURCE#order-2")
				return func(func(projection.Event, error) bool) {}
			}
		}, "DECLARE TAKE VALIDATE BUILD ", projection.ErrUnproved, "2 sources with 6 events, the dataset had 3 with 9"},
		{"it does not reconcile", func(t *testing.T, b *bench, config *projection.RunbookConfig) {
			config.Reconcile = func(context.Context, projection.Totals) (string, error) { return "", errBelow }
		}, "DECLARE TAKE VALIDATE BUILD CATCH_UP ", errBelow, "from below"},
		{"the alias moved", func(t *testing.T, b *bench, config *projection.RunbookConfig) {
			config.Reconcile = func(ctx context.Context, _ projection.Totals) (string, error) { return "", moveAlias(ctx, b) }
		}, "DECLARE TAKE VALIDATE BUILD CATCH_UP PROVE ", projection.ErrState, "not as it was read"},
	} {
		b := setup(t)
		for _, e := range all {
			if _, err := b.ns.Apply(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		config := plan(t, all...)
		c.spoil(t, b, &config)
		for range 2 { // the second time it is the same
			run, err := b.p.Namespace(2).Runbook(config).Run(t.Context(), projection.StepCutover)
			if stepsOf(run) != c.done || !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("%s: done %s, %v", c.name, stepsOf(run), err)
			}
		}
		if alias, err := b.p.Alias(t.Context()); err != nil || alias.Namespace == 2 {
			t.Errorf("%s: readers are at %+v, %v", c.name, alias, err)
		}
		if c.done == "" || c.done == "DECLARE " || c.done == "DECLARE TAKE " {
			if totals, err := b.p.Namespace(2).Totals(t.Context()); err != nil || totals.Events != 0 {
				t.Errorf("%s: %d events were applied, %v", c.name, totals.Events, err)
			}
		}
	}
}

// moveAlias moves readers to a third namespace, once.
func moveAlias(ctx context.Context, b *bench) error {
	alias, err := b.p.Alias(ctx)
	if err != nil || alias.Version > 0 {
		return err
	}
	third := b.p.Namespace(3)
	build, err := third.Start(ctx, "bob")
	if err == nil {
		_, err = third.Load(ctx, build, newArchive(3, 3).from(""), nil)
	}
	if err == nil {
		_, err = third.Prove(ctx, projection.Evidence{Live: b.ns, By: "bob"})
	}
	if err == nil {
		_, err = third.Cutover(ctx, alias, "bob")
	}
	return err
}

// lose deletes a record from all namespaces.
func (b *bench) lose(t *testing.T, sk string) {
	t.Helper()
	all, err := b.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &b.points.Name})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range all.Items {
		if item["SK"].(*types.AttributeValueMemberS).Value != sk {
			continue
		}
		key := export.Item{"PK": item["PK"], "SK": item["SK"]}
		if _, err := b.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &b.points.Name, Key: key}); err != nil {
			t.Fatal(err)
		}
	}
}

type unnamed struct{ projection.Source }

func (unnamed) Dataset() projection.Dataset { return projection.Dataset{Name: "x", AsOf: day} }

type broken struct{ projection.Source }

func (broken) Verify(context.Context) error { return errBelow }

// Whoever goes on must have the same plan, dataset and code.
func TestARunbookGoesOnAsItWasDeclared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := newArchive(3, 3)
	config := plan(t, all...)
	config.Frozen = true
	if _, err := b.p.Namespace(2).Runbook(config).Run(t.Context(), projection.StepTake); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*projection.RunbookConfig){
		"asOf":    func(c *projection.RunbookConfig) { c.AsOf = c.AsOf.Add(1) },
		"policy":  func(c *projection.RunbookConfig) { c.Policy += "!" },
		"schema":  func(c *projection.RunbookConfig) { c.Schema = "orders-4" },
		"frozen":  func(c *projection.RunbookConfig) { c.Frozen = false },
		"dataset": func(c *projection.RunbookConfig) { c.Source = plan(t, all[:8]...).Source },
	} {
		other := config
		change(&other)
		if run, err := b.p.Namespace(2).Runbook(other).Run(t.Context(), projection.StepCutover); !errors.Is(err, projection.ErrState) ||
			!strings.Contains(err.Error(), name) || len(run.Done) != 2 {
			t.Errorf("%s: %+v, %v", name, run, err)
		}
	}
	config.By, config.Passes = "bob", 3
	run, err := b.p.Namespace(2).Runbook(config).Run(t.Context(), projection.StepCutover)
	if err != nil || len(run.Done) != 7 || run.Done[1].By != "ann" || run.Done[6].By != "bob" {
		t.Errorf("%+v, %v", run, err)
	}
	for field, change := range map[string]func(*projection.RunbookConfig){
		"By": func(c *projection.RunbookConfig) { c.By = "" }, "Policy": func(c *projection.RunbookConfig) { c.Policy = "\xff" },
		"Schema": func(c *projection.RunbookConfig) { c.Schema = "" }, "AsOf": func(c *projection.RunbookConfig) { c.AsOf = time.Time{} },
		"Source": func(c *projection.RunbookConfig) { c.Source = nil }, "Passes": func(c *projection.RunbookConfig) { c.Passes = -1 },
	} {
		wrong := config
		change(&wrong)
		var invalid *projection.InvalidError
		if _, err := b.p.Namespace(3).Runbook(wrong).State(t.Context()); !errors.As(err, &invalid) || invalid.Field != "RunbookConfig."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := b.p.Namespace(2).Runbook(config).Run(t.Context(), "SING"); !errors.Is(err, projection.ErrInvalid) {
		t.Error(err)
	}
}
