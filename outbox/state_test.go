package outbox_test

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

var note = outbox.Audit{By: "ops@acme", Reason: "the broker is back", At: day.Add(time.Hour)}

// take applies a step to an event as it was read.
func (b *bench) take(t *testing.T, step string, r outbox.Record) error {
	t.Helper()
	return b.takeAs(t, step, r, "claim-1")
}

// takeAs is take with another token for a claim.
func (b *bench) takeAs(t *testing.T, step string, r outbox.Record, token string) error {
	t.Helper()
	var err error
	switch step {
	case "redrive":
		_, err = impatient(b.client).Commit(t.Context(), b.events.Redrive(r, day, note))
	case "pass":
		_, err = impatient(b.client).Commit(t.Context(), b.events.Pass(r, note))
	case "hold":
		_, err = impatient(b.client).Commit(t.Context(), b.events.Hold(r, note))
	case "create":
		_, err = impatient(b.client).Commit(t.Context(), b.events.Create(r.Event))
	case "renew":
		err = b.events.Take(t.Context(), b.client, step, r, token, day.Add(time.Minute))
	default:
		err = b.events.Take(t.Context(), b.client, step, r, token, day)
	}
	return err
}

// in brings a new event to a state.
func (b *bench) in(t *testing.T, id string, state outbox.State) outbox.Record {
	t.Helper()
	ways := map[outbox.State][]string{
		outbox.Ready: nil, outbox.InFlight: {"claim"}, outbox.Completed: {"claim", "complete"}, outbox.Parked: {"claim", "park"},
		outbox.Passed: {"claim", "park", "pass"},
	}
	e := accepted(id)
	b.commit(t, b.events.Create(e))
	for _, step := range ways[state] {
		if err := b.take(t, step, b.get(t, e.ID)); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	return b.get(t, e.ID)
}

func (b *bench) get(t *testing.T, id string) outbox.Record {
	t.Helper()
	record, err := b.events.Get(t.Context(), b.client, id)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

var states = []outbox.State{outbox.Ready, outbox.InFlight, outbox.Completed, outbox.Parked, outbox.Passed}

// Every step from every state: it leads where the table says, or is refused and changes nothing. A late copy of
// an earlier request: see TestARepeatedStepIsRecognisedAndChangesNothing.
func TestEveryStepFromEveryState(t *testing.T) {
	t.Parallel()
	for _, rule := range outbox.Rules() {
		for _, state := range states {
			b := setup(t)
			record := b.in(t, "order-1", state)
			before := b.item(t, record.Event.ID)
			token := "claim-1"
			if state != rule.From {
				token, record.Claim = "claim-2", "claim-2" // its own claim would be a repeat
			}
			err := b.takeAs(t, rule.Step, record, token)
			after := b.item(t, record.Event.ID)
			switch {
			case state == rule.From:
				if got := b.get(t, record.Event.ID); err != nil || got.State != rule.To {
					t.Errorf("%s of a %s event: %v, and it is %s", rule.Step, state, err, got.State)
				}
				listedBy(t, after, rule.To)
			case rule.Step == "create" && !errors.Is(err, outbox.ErrDuplicate), rule.Step != "create" && !errors.Is(err, outbox.ErrStale):
				t.Errorf("%s of a %s event: %v, want a refusal", rule.Step, state, err)
			case !reflect.DeepEqual(before, after):
				t.Errorf("%s of a %s event was refused, and changed\n%v\nto\n%v", rule.Step, state, before, after)
			}
		}
	}
}

// listedBy checks that the sparse index has READY and PARKED events, each under its own key, and no others.
func listedBy(t *testing.T, item txn.Item, state outbox.State) {
	t.Helper()
	want := map[outbox.State]string{outbox.Ready: "SERVICE#orders#READY#", outbox.Parked: "SERVICE#orders#PARKED#"}[state]
	pk, _ := item["readyPk"].(*types.AttributeValueMemberS)
	if (pk == nil) != (want == "") || (item["readySk"] == nil) != (want == "") || pk != nil && !strings.HasPrefix(pk.Value, want) {
		t.Errorf("a %s event has the index key %v / %v", state, item["readyPk"], item["readySk"])
	}
}

// A late copy of any earlier request changes nothing (E3), and is recognised by whoever sent it (E1).
func TestARepeatedStepIsRecognisedAndChangesNothing(t *testing.T) {
	t.Parallel()
	for _, rule := range outbox.Rules() {
		if rule.Step == "create" {
			continue // see TestALostAnswerIsNoDuplicate
		}
		b := setup(t)
		record := b.in(t, "order-1", rule.From)
		if err := b.take(t, rule.Step, record); err != nil {
			t.Fatalf("%s: %v", rule.Step, err)
		}
		before := b.item(t, record.Event.ID)
		err := b.take(t, rule.Step, record)
		ownMark := rule.Step == "redrive" || rule.Step == "pass" || rule.Step == "hold" // a new Commit is another one; its own retry is found by the mark
		if ownMark != errors.Is(err, outbox.ErrStale) || !ownMark && err != nil {
			t.Errorf("repeat of %s: %v", rule.Step, err)
		}
		if after := b.item(t, record.Event.ID); !reflect.DeepEqual(before, after) {
			t.Errorf("repeat of %s changed\n%v\nto\n%v", rule.Step, before, after)
		}
	}
}

// Nobody else's claim completes, retries, parks or renews an event, and no lease moves backward (O7).
func TestOnlyTheOwnerEndsItsClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	record := b.in(t, "order-1", outbox.InFlight)
	other := record
	other.Claim = "claim-2"
	for _, step := range []string{"complete", "retry", "park", "renew", "recover", "give up"} {
		if err := b.take(t, step, other); !errors.Is(err, outbox.ErrStale) {
			t.Errorf("%s by another claim: %v, want ErrStale", step, err)
		}
	}
	for _, back := range []time.Duration{0, -time.Nanosecond, -time.Hour} {
		err := b.events.Take(t.Context(), b.client, "renew", record, "claim-1", day.Add(back))
		if got := b.get(t, record.Event.ID); !got.LeaseUntil.Equal(record.LeaseUntil) || back != 0 && !errors.Is(err, outbox.ErrStale) {
			t.Errorf("renewed by %v: %v, lease until %v", back, err, got.LeaseUntil)
		}
	}
	longer := record
	longer.LeaseUntil = record.LeaseUntil.Add(time.Second) // as after a renewal that the recoverer did not see
	for _, step := range []string{"recover", "give up"} {
		if err := b.take(t, step, longer); !errors.Is(err, outbox.ErrStale) {
			t.Errorf("%s of a lease that was renewed: %v, want ErrStale", step, err)
		}
	}
}

var (
	documented = regexp.MustCompile(`^//\t\((\d+)\) (\S[a-z ]*?) +(no record|[A-Z_]+) +-> ([A-Z_]+) `)
	drawn      = regexp.MustCompile(`\((\d+)\) ([a-z ]*[a-z])`)
)

// The table and the drawing in doc.go are what people read; they may not differ from the table that the code uses.
func TestTheDocumentedStatesAreThoseInUse(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	table, drawing := map[string]outbox.Rule{}, map[string]string{}
	for line := range strings.Lines(string(source)) {
		if m := documented.FindStringSubmatch(line); m != nil {
			table[m[1]] = outbox.Rule{Step: m[2], From: outbox.State(strings.TrimPrefix(m[3], "no record")), To: outbox.State(m[4])}
			continue
		}
		for _, m := range drawn.FindAllStringSubmatch(line, -1) {
			drawing[m[1]] = m[2]
		}
	}
	rules := outbox.Rules()
	if len(table) != len(rules) || len(drawing) != len(rules) {
		t.Errorf("%d steps in the table, %d in the drawing, %d in use", len(table), len(drawing), len(rules))
	}
	inUse := map[string]outbox.Rule{}
	for _, rule := range rules {
		inUse[rule.Step] = rule
	}
	for n, rule := range table {
		if inUse[rule.Step] != rule {
			t.Errorf("(%s): documented %+v, in use %+v", n, rule, inUse[rule.Step])
		}
		if drawing[n] != rule.Step {
			t.Errorf("(%s) is %q in the drawing and %q in the table", n, drawing[n], rule.Step)
		}
	}
}
