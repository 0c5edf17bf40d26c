package invariant_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/invariant"
)

// said checks that an error says all the words, or that there is none.
func said(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	if len(words) == 0 && err != nil {
		t.Errorf("%s: %v", what, err)
	}
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", what, err, word)
		}
	}
}

func TestCheckersFindWhatIsWrongAndNothingElse(t *testing.T) {
	one := invariant.Answer{Command: "pay", Worker: "a", Body: []byte("1")}
	other := invariant.Answer{Command: "pay", Worker: "b", Body: []byte("2")}
	said(t, "same answers", invariant.SameAnswers([]invariant.Answer{one, one}))
	said(t, "same answers", invariant.SameAnswers([]invariant.Answer{one, other}), `pay: b was told "2", a before "1"`)

	said(t, "one effect", invariant.OneEffect([]string{"x", "y"}, []string{"y", "x", "x"}))
	said(t, "one effect", invariant.OneEffect([]string{"x", "x", "z"}, []string{"x", "y"}),
		"x was answered with success and has 2 effects", "y was answered with success and has 0", "z has 1 effects and no success")

	said(t, "bijection", invariant.Bijection(map[string]string{"ann": "1"}, map[string]string{"1": "ann"}))
	said(t, "bijection", invariant.Bijection(map[string]string{"ann": "1", "bob": "1"}, map[string]string{"1": "ann", "2": "ann"}),
		`name "bob" belongs to "1", whose name is "ann"`, `owner "2" has the name "ann", which belongs to "1"`)

	said(t, "same set", invariant.SameSet([]string{"a", "a"}, []string{"a"}))
	said(t, "same set", invariant.SameSet([]string{"a"}, []string{"b"}), "b is missing", "a should not be there")

	yes := invariant.Commands([]invariant.Answer{one, other}, func(body []byte) bool { return string(body) == "2" })
	if len(yes) != 1 || yes[0] != "pay" {
		t.Error(yes)
	}
}

// operation is one line of a history: by whom, what was asked, what came of it; nil for no answer.
type operation struct{ input, output any }

// inOrder checks operations, one after the other, against a model.
func inOrder(t *testing.T, model invariant.Model, operations []operation) (err error) {
	t.Helper()
	holds(t, func(w *invariant.World) {
		for i, o := range operations {
			w.Worker(fmt.Sprint("w", i), func(_ context.Context, p *invariant.Process) error {
				if end := p.Begin(o.input); o.output != nil {
					end(o.output)
				}
				return nil
			})
		}
		w.Run()
		err = w.Linearizable(model)
	})
	return err
}

// TestModelsAllowWhatOneCallerAtATimeCouldSee: each row is a history of operations that do not overlap, but for those
// without an answer, which may happen later or never.
func TestModelsAllowWhatOneCallerAtATimeCouldSee(t *testing.T) {
	claim := func(by string) any { return invariant.Claim{Key: "k", By: by} }
	name := func(owner string, release bool) any {
		return invariant.NameOp{Name: "n", Owner: owner, Release: release}
	}
	look := invariant.NameOp{Name: "n", Look: true}
	adjust := func(by int64) any { return invariant.Adjust{Account: "a", By: by} }
	for _, row := range []struct {
		name       string
		model      invariant.Model
		operations []operation
		ok         bool
	}{
		{"the first wins", invariant.OneWinner(), []operation{{claim("a"), "a"}, {claim("b"), "a"}}, true},
		{"two winners", invariant.OneWinner(), []operation{{claim("a"), "a"}, {claim("b"), "b"}}, false},
		{"the silent one won", invariant.OneWinner(), []operation{{claim("a"), nil}, {claim("b"), "a"}}, true},
		{"the silent one came too late", invariant.OneWinner(), []operation{{claim("a"), nil}, {claim("b"), "b"}, {claim("c"), "b"}}, true},
		{"nobody won", invariant.OneWinner(), []operation{{claim("a"), nil}, {claim("b"), "c"}}, false},
		{"given up is given up", invariant.OneWinner(), []operation{{claim("a"), invariant.NoEffect}, {claim("b"), "a"}}, false},
		{"reserve, release, reserve", invariant.Names(), []operation{{name("a", false), "a"}, {name("b", false), "a"}, {name("a", true), ""}, {name("b", false), "b"}, {look, "b"}}, true},
		{"released by another", invariant.Names(), []operation{{name("a", false), "a"}, {name("b", true), "a"}, {look, "a"}}, true},
		{"freed by another", invariant.Names(), []operation{{name("a", false), "a"}, {name("b", true), ""}}, false},
		{"taken while held", invariant.Names(), []operation{{name("a", false), "a"}, {name("b", false), "b"}}, false},
		{"balance with a floor", invariant.Balances(), []operation{{adjust(5), int64(5)}, {adjust(-7), int64(5)}, {adjust(-5), int64(0)}}, true},
		{"below the floor", invariant.Balances(), []operation{{adjust(5), int64(5)}, {adjust(-7), int64(-2)}}, false},
		{"a lost update", invariant.Balances(), []operation{{adjust(5), int64(5)}, {adjust(5), int64(5)}}, false},
	} {
		err := inOrder(t, row.model, row.operations)
		if (err == nil) != row.ok {
			t.Errorf("%s: %v", row.name, err)
		}
		if err == nil {
			continue
		}
		_, page, ok := strings.Cut(err.Error(), "drawn in ")
		drawn, readErr := os.ReadFile(page)
		if !ok || readErr != nil || !strings.Contains(string(drawn), "<html") {
			t.Errorf("%s: no page in %v: %v", row.name, err, readErr)
		}
	}
}

// TestALongHistoryShrinksToTheShortestThatBreaks: of two clients in bad weather four requests remain.
func TestALongHistoryShrinksToTheShortestThatBreaks(t *testing.T) {
	story := func(w *invariant.World) {
		w.Table("Seats")
		for i := range 3 {
			w.Command(fmt.Sprint("client", i), func(ctx context.Context, p *invariant.Process) ([]byte, error) {
				return claimSeat(ctx, p, fmt.Sprint("client", i))
			})
		}
		w.Run()
		w.Check("one seat, one answer", oneAnswer(w.Answers()))
	}
	found, after := invariant.Find(t, invariant.Config{}, 1, 100, story)
	if found == nil {
		t.Fatalf("not found in %d histories", after)
	}
	smallest := found.Shrink(t)
	if smallest.Requests > 5 || smallest.Requests > found.Requests || smallest.Failure.Check != found.Failure.Check {
		t.Errorf("%d requests of %d\n%s", smallest.Requests, found.Requests, smallest.Schedule)
	}
}

func oneAnswer(answers []invariant.Answer) error {
	for i := range answers {
		answers[i].Command = "all"
	}
	return invariant.SameAnswers(answers)
}
