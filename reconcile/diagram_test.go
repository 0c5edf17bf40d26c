package reconcile_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// decisions is everything that people do with a break, by the words of its arrow in docs/states.md.
var decisions = map[string]func(b *bench, of reconcile.Break) txn.Part{
	"Assign": func(b *bench, of reconcile.Break) txn.Part {
		return b.desk.Assign(of, reconcile.Assignment{Owner: "bob", Due: day}, "ann", "he knows")
	},
	"Escalate": func(b *bench, of reconcile.Break) txn.Part {
		return b.desk.Escalate(of, reconcile.Assignment{Owner: "head", Due: day}, "ann", "no answer")
	},
	"Resolve": func(b *bench, of reconcile.Break) txn.Part { return b.desk.Resolve(of, proof) },
	"Reopen": func(b *bench, of reconcile.Break) txn.Part {
		return b.desk.Reopen(of, reconcile.Assignment{Owner: "ann", Due: day}, "head", "it is another")
	},
}

// arrow is one arrow of the diagram.
type arrow struct {
	from     reconcile.Status
	decision string
	to       reconcile.Status
}

// Every decision is tried in every status. Those that are taken are the arrows of the diagram, no more and no fewer.
func TestTheDiagramOfABreakShowsEveryWayAndNoOther(t *testing.T) {
	t.Parallel()
	found := map[arrow]bool{{"[*]", "Run", reconcile.StatusOpen}: true}
	for from, way := range map[reconcile.Status][]string{
		reconcile.StatusOpen: nil, reconcile.StatusEscalated: {"Escalate"}, reconcile.StatusResolved: {"Resolve"},
	} {
		for decision := range decisions {
			b := run(t)
			for _, step := range way {
				b.commit(t, decisions[step](b, b.byKey(t, "b")))
			}
			if _, err := txn.Commit(t.Context(), b.client, decisions[decision](b, b.byKey(t, "b"))); err == nil {
				found[arrow{from, decision, b.byKey(t, "b").Status}] = true
			}
		}
	}
	page, err := os.ReadFile("../docs/states.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## A break\n")
	section, _, _ = strings.Cut(section, "\n## ")
	drawn := map[arrow]bool{}
	for _, line := range regexp.MustCompile(`(?m)^ +(\S+) --> (\S+) : (.+)$`).FindAllStringSubmatch(section, -1) {
		drawn[arrow{reconcile.Status(line[1]), line[3], reconcile.Status(line[2])}] = true
	}
	if !maps.Equal(found, drawn) {
		t.Errorf("these ways are there:\n%v\nand these are drawn:\n%v", slices.Collect(maps.Keys(found)), slices.Collect(maps.Keys(drawn)))
	}
}
