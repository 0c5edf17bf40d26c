package mend_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

func TestRetryOfOneEventNeedsNoReason(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.park(3)
	set := b.settings(b.client)
	set.Reason = ""
	report, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), change.Selection{IDs: ids[1:2]}, set)
	if err != nil || len(report.Changes) != 1 || report.Changes[0].Is != "READY" {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := b.states(ids); got[outbox.Ready] != 1 || got[outbox.Parked] != 2 {
		t.Errorf("%v", got)
	}
	entries := b.entries(report.Run)
	if len(entries) != 1 || entries[0].By != "ann" || entries[0].Item != ids[1] || !strings.HasPrefix(entries[0].Before, "PARKED after 10 attempts") {
		t.Errorf("audit: %+v", entries)
	}
}

// Each refusal leaves everything as it was.
func TestNothingChangesWithoutReasonConfirmationOrSelection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*change.Settings, *change.Selection)
		want  string
	}{
		"no reason":       {func(s *change.Settings, _ *change.Selection) { s.Reason = "" }, "--reason"},
		"nobody to ask":   {func(s *change.Settings, _ *change.Selection) { s.Yes = false }, "--yes"},
		"another count":   {func(s *change.Settings, _ *change.Selection) { s.Yes, s.Ask = false, answers("2") }, "is not 3"},
		"no selection":    {func(_ *change.Settings, s *change.Selection) { s.Where = nil }, "say what is to change"},
		"two selections":  {func(_ *change.Settings, s *change.Selection) { s.IDs = []string{"x"} }, "say what is to change"},
		"misspelt field":  {func(_ *change.Settings, s *change.Selection) { s.Where = []string{"tpoic=trades"} }, "the fields are"},
		"no throughput":   {func(s *change.Settings, _ *change.Selection) { s.MaxUnits = -1 }, "--max-wcu"},
		"resume and more": {func(s *change.Settings, _ *change.Selection) { s.Resume = "x" }, "--resume"},
		"nothing matches": {func(_ *change.Settings, s *change.Selection) { s.Where = []string{"topic=quotes"} }, "nothing matched"},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.park(3)
			before := b.snapshot()
			set, selection := b.settings(b.client), change.Selection{Where: []string{"topic=trades"}}
			c.spoil(&set, &selection)
			_, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), selection, set)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if !reflect.DeepEqual(before, b.snapshot()) {
				t.Error("something was written")
			}
		})
	}
}

func answers(with string) func(string) (string, error) {
	return func(string) (string, error) { return with, nil }
}

func TestATypedCountConfirms(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.park(3)
	set := b.settings(b.client)
	set.Yes, set.Ask = false, answers("3\n")
	if report, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), change.Selection{Where: []string{"cause~503"}}, set); err != nil || len(report.Changes) != 3 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := b.states(ids); got[outbox.Ready] != 3 {
		t.Errorf("%v", got)
	}
}

// A dry run writes nothing, and what it says is what the run then does.
func TestADryRunPrintsExactlyTheWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.park(3)
	before := b.snapshot()
	set := b.settings(b.client)
	set.DryRun, set.Yes = true, false
	dry, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), change.Selection{Where: []string{"topic=trades"}}, set)
	if err != nil || len(dry.Writes) != 3 || !dry.Exact {
		t.Fatalf("%+v, %v", dry, err)
	}
	if !reflect.DeepEqual(before, b.snapshot()) {
		t.Fatal("a dry run wrote")
	}
	for _, w := range dry.Writes[0].Writes {
		t.Log(w)
	}
	set.DryRun, set.Yes = false, true
	report, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), change.Selection{Where: []string{"topic=trades"}}, set)
	if err != nil || report.Spent != dry.Units || report.Units != dry.Units {
		t.Errorf("spent %s and planned %s, the dry run said %s: %v", report.Spent, report.Units, dry.Units, err)
	}
	sum := 0
	for _, w := range dry.Writes[0].Writes {
		sum += w.Units
	}
	if float64(sum)+dry.Writes[0].Index.Float64() != dry.Writes[0].Units.Float64() {
		t.Errorf("writes of %d units and %s of the index, together %s", sum, dry.Writes[0].Index, dry.Writes[0].Units)
	}
	_ = ids
}

func TestADiscardedEventStaysAndIsPassed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.park(2)
	report, err := change.Apply(t.Context(), b.outbox(b.client).Discard(), change.Selection{IDs: ids}, b.settings(b.client))
	if err != nil || len(report.Changes) != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := b.states(ids); got[outbox.Passed] != 2 {
		t.Errorf("%v", got)
	}
}

// The events of an aggregate come READY, and due, in the order of their versions, whatever the order in which they were parked.
func TestRetryKeepsTheOrderWithinAnAggregate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.park(6) // versions 3, 2, 1 of two orders
	if _, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), change.Selection{Where: []string{"age>1s"}}, b.settings(b.client)); err != nil {
		t.Fatal(err)
	}
	var ready []outbox.Listed
	for shard := range 13 {
		for l, err := range b.events.Ready(t.Context(), b.client, shard, b.now.Add(time.Hour), 0) {
			if err != nil {
				t.Fatal(err)
			}
			ready = append(ready, l)
		}
	}
	slices.SortFunc(ready, func(a, b outbox.Listed) int { return a.Due.Compare(b.Due) })
	versions := map[string]int64{}
	for _, l := range ready {
		if l.AggregateVersion != versions[l.AggregateID]+1 {
			t.Errorf("%s: version %d is due after version %d", l.AggregateID, l.AggregateVersion, versions[l.AggregateID])
		}
		versions[l.AggregateID] = l.AggregateVersion
	}
	if len(ready) != 6 {
		t.Errorf("%d are READY", len(ready))
	}
}

// The limit holds from the first change on.
func TestMaxUnitsThrottlesInVirtualTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.park(10)
	set := b.settings(b.client)
	set.MaxUnits = 5
	started := b.now
	report, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), change.Selection{Where: []string{"attempt>=10"}}, set)
	if err != nil {
		t.Fatal(err)
	}
	each := report.Spent.Float64() / 10
	if took, want := b.now.Sub(started).Seconds(), 9*each/5; took < want-0.001 || took > want+0.001 {
		t.Errorf("10 changes of %.1f units took %.3f s at 5 units a second, want %.3f", each, took, want)
	}
}

// Whatever request of a run is lost, unanswered or its last one, the state is as before or the run can be resumed, and nothing is done
// twice: all events are READY at version 4, each with one audit item.
func TestARunThatIsBrokenOffAnywhereIsResumed(t *testing.T) {
	t.Parallel()
	const events = 4
	requests := 0
	{
		b := setup(t)
		b.park(events)
		client := b.faulty(func(c dynamosim.Call) dynamosim.Fate { requests = c.Sequence; return dynamosim.Deliver })
		if _, err := change.Apply(t.Context(), b.outbox(client).Retry(), change.Selection{Where: []string{"cause~503"}}, b.settings(client)); err != nil {
			t.Fatal(err)
		}
	}
	resumed := 0
	for at := 1; at <= requests; at++ {
		for _, fate := range []dynamosim.Fate{dynamosim.LoseRequest, dynamosim.LoseAnswer} {
			for _, dies := range []bool{false, true} {
				b := setup(t)
				ids := b.park(events)
				ctx, cancel := context.WithCancel(t.Context())
				client := b.faulty(func(c dynamosim.Call) dynamosim.Fate {
					if c.Sequence != at {
						return dynamosim.Deliver
					}
					if dies {
						cancel()
					}
					return fate
				})
				_, err := change.Apply(ctx, b.outbox(client).Retry(), change.Selection{Where: []string{"cause~503"}}, b.settings(client))
				cancel()
				run := ""
				var interrupted *change.InterruptedError
				switch {
				case err == nil:
				case errors.As(err, &interrupted):
					run = interrupted.Run
				default:
					if got := b.states(ids); got[outbox.Parked] != events {
						t.Fatalf("request %d, %v: %v, and the states are %v", at, fate, err, got)
					}
					continue
				}
				if err != nil {
					resumed++
					set := b.settings(b.client)
					set.Resume, set.Reason, set.Yes = run, "", false
					if _, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), change.Selection{}, set); err != nil {
						t.Fatalf("request %d, %v: resume: %v", at, fate, err)
					}
				}
				b.eachRetriedOnce(ids)
			}
		}
	}
	t.Logf("%d requests; %d runs were resumed", requests, resumed)
	if resumed == 0 {
		t.Error("no run was interrupted")
	}
}

func (b *bench) eachRetriedOnce(ids []string) {
	b.Helper()
	for _, id := range ids {
		r, err := b.events.Get(b.Context(), b.client, id)
		if err != nil || r.State != outbox.Ready || r.Version != 4 {
			b.Errorf("%s: %s at version %d: %v", id, r.State, r.Version, err)
		}
		if notes, err := b.events.Audits(b.Context(), b.client, id); err != nil || len(notes) != 1 {
			b.Errorf("%s: %d notes, %v", id, len(notes), err)
		}
	}
}

// A run that is resumed leaves alone what it has retried, also if that was parked again, and what was parked later.
func TestAResumedRunActsOnNoEventTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.park(4)
	client := b.faulty(dieAfter(2))
	_, err := change.Apply(t.Context(), b.outbox(client).Retry(), change.Selection{Where: []string{"cause~503"}}, b.settings(client))
	var interrupted *change.InterruptedError
	if !errors.As(err, &interrupted) {
		t.Fatal(err)
	}
	b.now = b.now.Add(time.Minute)
	down := &outbox.Memory{Refuse: func(outbox.Message) outbox.Result { return outbox.Result{Err: errors.New("down again")} }}
	relay := outbox.NewRelay(b.events, b.client, down, outbox.RelayConfig{MaxAttempts: 1, Now: func() time.Time { return b.now }})
	if _, err := relay.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.states(ids); got[outbox.Parked] != 4 {
		t.Fatalf("before it is resumed: %v", got)
	}
	set := b.settings(b.client)
	set.Resume, set.Reason = interrupted.Run, ""
	report, err := change.Apply(t.Context(), b.outbox(b.client).Retry(), change.Selection{}, set)
	if err != nil || report.Before != 2 || len(report.Changes) != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	if got := b.states(ids); got[outbox.Parked] != 2 || got[outbox.Ready] != 2 {
		t.Errorf("after it is resumed: %v", got)
	}
}

// dieAfter answers nothing more after n transactions.
func dieAfter(n int) func(dynamosim.Call) dynamosim.Fate {
	done := 0
	return func(c dynamosim.Call) dynamosim.Fate {
		if done >= n {
			return dynamosim.LoseRequest
		}
		if c.Operation == "TransactWriteItems" {
			done++
		}
		return dynamosim.Deliver
	}
}

// No cap: 20,001 parked events are all found, and all retried, with a crash halfway; and nothing is scanned.
func TestTwentyThousandAndOneParkedEventsAreAllRetried(t *testing.T) {
	t.Parallel()
	const events = 20_001
	b := setup(t)
	b.park(events)
	watch := &recorder{next: b.db}
	crash := dieAfter(10_000)
	client := b.db.Client(func(o *dynamodb.Options) {
		o.HTTPClient, o.RetryMaxAttempts = dynamosim.Faulty(watch, crash), 1
	})
	set := b.settings(client)
	set.MaxUnits = 10_000
	first, err := change.Apply(t.Context(), b.outbox(client).Retry(), change.Selection{Where: []string{"cause~503"}}, set)
	var interrupted *change.InterruptedError
	if !errors.As(err, &interrupted) || first.Planned != events {
		t.Fatalf("planned %d of %d: %v", first.Planned, events, err)
	}
	client = b.db.Client(func(o *dynamodb.Options) { o.HTTPClient = watch })
	set = b.settings(client)
	set.Resume, set.Reason, set.MaxUnits = interrupted.Run, "", 10_000
	second, err := change.Apply(t.Context(), b.outbox(client).Retry(), change.Selection{}, set)
	if err != nil || second.Before+len(second.Changes) != events || second.SkippedCount() != 0 {
		t.Fatalf("%d before, %d changed, %d skipped: %v", second.Before, len(second.Changes), second.SkippedCount(), err)
	}
	for range b.events.Parked(t.Context(), client) {
		t.Fatal("an event is parked still")
	}
	ready := 0
	for shard := range 13 {
		for _, err := range b.events.Ready(t.Context(), client, shard, b.now.Add(time.Hour), 0) {
			if err != nil {
				t.Fatal(err)
			}
			ready++
		}
	}
	if ready != events {
		t.Errorf("%d of %d are READY", ready, events)
	}
	if slices.Contains(watch.calls, "DynamoDB_20120810.Scan") {
		t.Error("it scanned")
	}
}

// What is stored of a run is a public format: programs of other versions read it.
func TestStoredRunsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.park(2)
	selection := change.Selection{IDs: ids[:1], Args: map[string]string{"service": "orders"}}
	if _, err := change.Apply(t.Context(), b.outbox(b.client).Discard(), selection, b.settings(b.client)); err != nil {
		t.Fatal(err)
	}
	for _, item := range b.snapshot() {
		switch pk := change.Text(item["PK"]); {
		case strings.HasPrefix(pk, "OPERATOR#RUNS#"):
			golden.Item(t, "run", item)
		case strings.HasPrefix(pk, "OPERATOR#RUN#"):
			golden.Item(t, "audit", item, txn.MarkAttribute)
		}
	}
}
