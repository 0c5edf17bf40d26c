package reconcile_test

import (
	"testing"

	"github.com/dynafin/dynafin/internal/golden"
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

// Every decision is tried in every status. Those that are taken are the arrows of the diagram, no more and no fewer.
func TestTheDiagramOfABreakShowsEveryWayAndNoOther(t *testing.T) {
	t.Parallel()
	found := map[golden.Arrow]bool{{From: "[*]", Call: "Run", To: string(reconcile.StatusOpen)}: true}
	for from, way := range map[reconcile.Status][]string{
		reconcile.StatusOpen: nil, reconcile.StatusEscalated: {"Escalate"}, reconcile.StatusResolved: {"Resolve"},
	} {
		for decision := range decisions {
			b := run(t)
			for _, step := range way {
				b.commit(t, decisions[step](b, b.byKey(t, "b")))
			}
			if _, err := txn.Commit(t.Context(), b.client, decisions[decision](b, b.byKey(t, "b"))); err == nil {
				found[golden.Arrow{From: string(from), Call: decision, To: string(b.byKey(t, "b").Status)}] = true
			}
		}
	}
	golden.Diagram(t, "../docs/states.md", "A break", found)
}
