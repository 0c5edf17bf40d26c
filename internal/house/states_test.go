package house

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/shardmap"
)

const statesPage = "docs/states.md"

// move is one arrow of a state diagram; no state before is "".
type move struct{ step, from, to string }

// movesIn reads the table that the code of a package uses: var transitions = map[step]transition{stepX: {From, To}}.
func movesIn(f file) (moves []move, err error) {
	words := map[string]string{}
	var table *ast.CompositeLit
	ast.Inspect(f.ast, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || len(spec.Names) != 1 {
			return true
		}
		switch value := spec.Values[0].(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(value.Value); err == nil && value.Kind == token.STRING {
				words[spec.Names[0].Name] = text
			}
		case *ast.CompositeLit:
			if spec.Names[0].Name == "transitions" {
				table = value
			}
		}
		return true
	})
	if table == nil {
		return nil, fmt.Errorf("%s has no table of transitions", f.path)
	}
	for _, row := range table.Elts {
		entry, _ := row.(*ast.KeyValueExpr)
		if entry == nil {
			return nil, fmt.Errorf("%s: a transition is no pair", f.path)
		}
		names := mentioned(entry)
		if len(names) != 3 {
			return nil, fmt.Errorf("%s: transition %v is not a step and two states", f.path, names)
		}
		for _, name := range names {
			if _, ok := words[name]; !ok {
				return nil, fmt.Errorf("%s: transition %v: %s is no constant of the file", f.path, names, name)
			}
		}
		moves = append(moves, move{words[names[0]], words[names[1]], words[names[2]]})
	}
	return moves, nil
}

// movesOfMaps asks the package itself, which says what follows from what.
func movesOfMaps() (moves []move) {
	for _, from := range append([]shardmap.State{""}, shardmap.States()...) {
		for _, step := range shardmap.Steps() {
			if to, ok := from.After(step); ok {
				moves = append(moves, move{string(step), string(from), string(to)})
			}
		}
	}
	return moves
}

// draw writes a Mermaid diagram: what leads nowhere ends.
func draw(moves []move) string {
	var text strings.Builder
	text.WriteString("```mermaid\nstateDiagram-v2\n")
	var last []string
	for _, m := range moves {
		fmt.Fprintf(&text, "    %s --> %s : %s\n", cmp.Or(m.from, "[*]"), m.to, m.step)
		leads := func(other move) bool { return other.from == m.to }
		if !slices.ContainsFunc(moves, leads) && !slices.Contains(last, m.to) {
			last = append(last, m.to)
		}
	}
	for _, state := range last {
		fmt.Fprintf(&text, "    %s --> [*]\n", state)
	}
	text.WriteString("```\n")
	return text.String()
}

const statesIntro = `<!-- Generated from the tables of transitions by "go generate ./internal/house"; edit the text in internal/house/states_test.go. -->

# States

Every arrow is one write, on condition of the state that was read; from any other state it is refused and changes nothing, and a late copy of it, too. The first three diagrams are drawn from
the tables that the code uses; the others are held against what is there when every call is tried in every state.
`

// statesText is what stands over each diagram.
var statesText = map[string]string{
	"idempotency": `
## A request

Package [idempotency](../idempotency/doc.go), where who takes each step and what it costs is in a table. A command whose effect is one transaction needs ` + "`once`" + ` alone. ` +
		"`take over`" + ` is for transactional attempts only; what is external and overdue goes to repair. ` + "`TestEveryStepFromEveryState`, `TestTheLifeOfARequestIsThatOfItsModel`" + `.

`,
	"outbox": `
## An event

Package [outbox](../outbox/doc.go). READY and PARKED events are in the sparse index, the others in none; the claim journal leads to what is IN_FLIGHT. ` +
		"`TestAnEventDoesWhatTheModelDoes`" + `.

`,
	"shardmap": `
## A version of a shard map

Package [shardmap](../shardmap/doc.go). Each step needs its time and its evidence. ` + "`TestEveryStepIsRefusedOutsideItsState`, `TestEveryStepNeedsItsTimeAndItsEvidence`" + `.

`,
}

const statesRest = `
## A break

Package [reconcile](../reconcile/doc.go). Each decision is a part of a transaction, so a break can close with the posting that corrects the books. A test tries every decision in every status
and holds the outcome against this picture: ` + "`TestTheDiagramOfABreakShowsEveryWayAndNoOther`" + `.

` + "```mermaid" + `
stateDiagram-v2
    [*] --> OPEN : Run
    OPEN --> OPEN : Assign
    OPEN --> ESCALATED : Escalate
    OPEN --> RESOLVED : Resolve
    ESCALATED --> ESCALATED : Assign
    ESCALATED --> ESCALATED : Escalate
    ESCALATED --> RESOLVED : Resolve
    RESOLVED --> OPEN : Reopen
` + "```" + `

## A build of a view

Package [projection](../projection/doc.go). Readers can be moved to what is PROVED, and to nothing else; that is one write of the alias, and so is going back. Calls that are repeated, or come
too early, change nothing: ` + "`TestTheDiagramOfABuildShowsEveryWayAndNoOther`" + `. The runbook of a [recovery](recovery.md) takes the same steps, with evidence for each.

` + "```mermaid" + `
stateDiagram-v2
    [*] --> BUILDING : Start
    BUILDING --> LOADED : Load, to the end
    LOADED --> PROVED : Prove
` + "```" + `

## Drawn elsewhere

| | where | held by |
|---|---|---|
| a reservation | [ledger](ledger.md#the-states-of-a-reservation) | ` + "`TestTheDiagramOfAReservationShowsEveryWayAndNoOther`" + ` |
| a source of a view | [projection](../projection/doc.go) | ` + "`TestEveryVersionHasOneResult`, `TestEverySourceIsAnOrderedListWithAWaitingRoom`" + ` |
| a unique name | [sentinel](../sentinel/doc.go) | ` + "`TestNamesAndOwnersStayOneToOne`" + ` |
| a batch | [reconcile](../reconcile/doc.go) | ` + "`TestABatchRunsOnceAndKeepsItsSummary`, `TestAnyCrashAndRestartGivesTheSameBreaksOnce`" + ` |
`

// renderStates writes the page.
func renderStates(tr *tree) (string, error) {
	page := statesIntro
	for _, pkg := range []string{"idempotency", "outbox", "shardmap"} {
		moves := movesOfMaps()
		if pkg != "shardmap" {
			f, _ := tr.named(pkg + "/state.go")
			var err error
			if moves, err = movesIn(f); err != nil {
				return "", err
			}
		}
		page += statesText[pkg] + draw(moves)
	}
	return page + statesRest, nil
}

// TestStatesPageIsCurrent compares the page with the tables of the code; with -update it writes the page.
func TestStatesPageIsCurrent(t *testing.T) {
	tr := checkout(t)
	want, err := renderStates(tr)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(tr.root, filepath.FromSlash(statesPage)), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page, _ := tr.named(statesPage); page.text != want {
		t.Errorf("%s is not what the tables say; run: go generate ./internal/house", statesPage)
	}
}

func TestStatesAreReadFromTheTable(t *testing.T) {
	_, f := goFile(t, "p/state.go", `package p

const (
	none State = ""
	Open State = "OPEN"
	Shut State = "SHUT"
	stepMake step = "make"
	stepKeep step = "keep"
	stepShut step = "shut"
)

var transitions = map[step]transition{stepMake: {none, Open}, stepKeep: {Open, Open}, stepShut: {Open, Shut}}
`)
	moves, err := movesIn(f)
	want := "```mermaid\nstateDiagram-v2\n    [*] --> OPEN : make\n    OPEN --> OPEN : keep\n    OPEN --> SHUT : shut\n    SHUT --> [*]\n```\n"
	if got := draw(moves); err != nil || got != want {
		t.Errorf("drawn, %v:\n%s\nwant\n%s", err, got, want)
	}
	_, f = goFile(t, "p/state.go", "package p\n\nvar transitions = map[step]transition{stepMake: {Gone, Open}}\n")
	if _, err := movesIn(f); err == nil || !strings.Contains(err.Error(), "no constant") {
		t.Errorf("a table of unknown states: %v", err)
	}
}
