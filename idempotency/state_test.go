package idempotency_test

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/txn"
)

var states = []idempotency.State{
	idempotency.InProgress, idempotency.Completed, idempotency.Released, idempotency.RepairRequired, idempotency.Escalated,
}

// in brings a new request to a state.
func in(t *testing.T, s *store, requests *idempotency.Requests, state idempotency.State) idempotency.Record {
	t.Helper()
	ways := map[idempotency.State][]string{
		idempotency.Completed: {"complete"}, idempotency.Released: {"release"}, idempotency.RepairRequired: {"repair"},
		idempotency.Escalated: {"repair", "escalate"},
	}
	if _, err := requests.Begin(t.Context(), s.client, order("10"), idempotency.External); err != nil {
		t.Fatal(err)
	}
	for _, step := range ways[state] {
		if err := requests.Take(t.Context(), s.client, step, get(t, s, requests), "claim-0", noon); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	rec := get(t, s, requests)
	if rec.State != state {
		t.Fatalf("%s, want %s", rec.State, state)
	}
	return rec
}

func get(t *testing.T, s *store, requests *idempotency.Requests) idempotency.Record {
	t.Helper()
	rec, err := requests.Get(t.Context(), s.client, order("10").Tenant, order("10").Key)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// Every step from every state: it leads where the table says, or is refused and changes nothing.
func TestEveryStepFromEveryState(t *testing.T) {
	t.Parallel()
	for _, rule := range idempotency.Rules() {
		if rule.From == idempotency.Absent {
			continue // see TestManyRequestsWithOneKeyHaveOneEffectAndOneResult and TestOneOfManyCallersGetsTheClaim
		}
		for _, state := range states {
			s := newStore(t, stores.Options{})
			requests := s.keeper(idempotency.Config{Now: at(noon), NewID: ids("claim")})
			rec := in(t, s, requests, state)
			before := s.record(t, order("10"))
			if state != rule.From {
				rec.ClaimID = "claim-9" // its own claim could be a repeat
			}
			err := requests.Take(t.Context(), s.client, rule.Step, rec, "claim-8", noon)
			after := s.record(t, order("10"))
			switch {
			case state == rule.From:
				if got := get(t, s, requests); err != nil || got.State != rule.To {
					t.Errorf("%s of a %s request: %v, and it is %s", rule.Step, state, err, got.State)
				}
				listedBy(t, after, rule)
			case !errors.Is(err, idempotency.ErrLeaseLost):
				t.Errorf("%s of a %s request: %v, want a refusal", rule.Step, state, err)
			case !reflect.DeepEqual(before, after):
				t.Errorf("%s of a %s request was refused, and changed\n%v\nto\n%v", rule.Step, state, before, after)
			}
		}
	}
}

// listedBy checks that the index has what is not finished, under the key of its state, and that leases and TTL are where
// they belong.
func listedBy(t *testing.T, item txn.Item, rule idempotency.Rule) {
	t.Helper()
	want := "TEN#acme-brokers#REPAIR#"
	switch rule.To {
	case idempotency.Completed:
		want = ""
	case idempotency.Escalated:
		want = "TEN#acme-brokers#ESCALATED#"
	}
	pk, _ := item["repairPk"].(*types.AttributeValueMemberS)
	if (pk == nil) != (want == "") || (item["repairSk"] == nil) != (want == "") || pk != nil && !strings.HasPrefix(pk.Value, want) {
		t.Errorf("after %s the index key is %v / %v", rule.Step, item["repairPk"], item["repairSk"])
	}
	held := rule.To == idempotency.InProgress || rule.Step == "probe"
	if (item["leaseUntil"] != nil) != held {
		t.Errorf("after %s the lease is %v", rule.Step, item["leaseUntil"])
	}
	if (item["expiresAt"] != nil) != (rule.To == idempotency.Completed) {
		t.Errorf("after %s the TTL is %v", rule.Step, item["expiresAt"])
	}
}

// A late copy of any earlier request changes nothing (E3), and is recognised by whoever sent it (E1).
func TestARepeatedStepIsRecognisedAndChangesNothing(t *testing.T) {
	t.Parallel()
	for _, rule := range idempotency.Rules() {
		if rule.From == idempotency.Absent {
			continue
		}
		s := newStore(t, stores.Options{})
		requests := s.keeper(idempotency.Config{Now: at(noon), NewID: ids("claim")})
		rec := in(t, s, requests, rule.From)
		if err := requests.Take(t.Context(), s.client, rule.Step, rec, "claim-8", noon); err != nil {
			t.Fatalf("%s: %v", rule.Step, err)
		}
		before := s.record(t, order("10"))
		err := requests.Take(t.Context(), s.client, rule.Step, rec, "claim-8", noon)
		committed := map[string]bool{"complete": true, "find": true, "settle": true, "free": true, "requeue": true}[rule.Step]
		if committed != errors.Is(err, idempotency.ErrLeaseLost) || !committed && err != nil { // a new Commit is another one
			t.Errorf("repeat of %s: %v", rule.Step, err)
		}
		if after := s.record(t, order("10")); !reflect.DeepEqual(before, after) {
			t.Errorf("repeat of %s changed\n%v\nto\n%v", rule.Step, before, after)
		}
		if _, replayed := idempotency.Replayed(err); replayed != (rule.To == idempotency.Completed && committed) {
			t.Errorf("repeat of %s: the stored result is replayed: %v", rule.Step, replayed)
		}
	}
}

// Nobody else's claim, attempt or revision moves a request (I5).
func TestOnlyWhatWasReadMovesARequest(t *testing.T) {
	t.Parallel()
	for _, rule := range idempotency.Rules() {
		if rule.From == idempotency.Absent {
			continue
		}
		s := newStore(t, stores.Options{})
		requests := s.keeper(idempotency.Config{Now: at(noon), NewID: ids("claim")})
		rec := in(t, s, requests, rule.From)
		before := s.record(t, order("10"))
		for what, other := range map[string]func(*idempotency.Record){
			"claim":    func(r *idempotency.Record) { r.ClaimID = "claim-9" },
			"attempt":  func(r *idempotency.Record) { r.Attempt++ },
			"revision": func(r *idempotency.Record) { r.Revision++ },
			"lease":    func(r *idempotency.Record) { r.LeaseUntil = noon.Add(time.Hour) },
		} {
			changed := rec
			other(&changed)
			if what == "lease" && rule.Step != "expire" && rule.Step != "probe" {
				continue // those of the owner do not ask for the lease, so that a renewal does not stop them
			}
			if err := requests.Take(t.Context(), s.client, rule.Step, changed, "claim-8", noon); !errors.Is(err, idempotency.ErrLeaseLost) {
				t.Errorf("%s with another %s: %v", rule.Step, what, err)
			}
		}
		if after := s.record(t, order("10")); !reflect.DeepEqual(before, after) {
			t.Errorf("%s changed\n%v\nto\n%v", rule.Step, before, after)
		}
	}
}

var (
	documented = regexp.MustCompile(`^//\t\((\d+)\) (\S[a-z ]*?) +(no record|[A-Z_]+) +-> ([A-Z_]+) `)
	drawn      = regexp.MustCompile(`\((\d+)\)`)
)

// The table and the drawing in doc.go are what people read; they may not differ from the table that the code uses.
func TestTheDocumentedStatesAreThoseInUse(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	table, drawing := map[string]idempotency.Rule{}, map[string]int{}
	for line := range strings.Lines(string(source)) {
		if m := documented.FindStringSubmatch(line); m != nil {
			table[m[1]] = idempotency.Rule{Step: m[2], From: idempotency.State(strings.TrimPrefix(m[3], "no record")), To: idempotency.State(m[4])}
			continue
		}
		for _, m := range drawn.FindAllStringSubmatch(line, -1) {
			drawing[m[1]]++
		}
	}
	inUse := map[string]idempotency.Rule{}
	for _, rule := range idempotency.Rules() {
		inUse[rule.Step] = rule
	}
	if len(table) != len(inUse) || len(drawing) != len(inUse) {
		t.Errorf("%d steps in the table, %d in the drawing, %d in use", len(table), len(drawing), len(inUse))
	}
	for n, rule := range table {
		if inUse[rule.Step] != rule || drawing[n] != 1 {
			t.Errorf("(%s): documented %+v, in use %+v, drawn %d times", n, rule, inUse[rule.Step], drawing[n])
		}
	}
}
