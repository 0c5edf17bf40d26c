package projection_test

import (
	"cmp"
	"testing"

	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/projection"
)

// calls is everything that takes a build on, by the words of its arrow in docs/states.md.
var calls = map[string]func(t *testing.T, ns *projection.Namespace) error{
	"Start": func(t *testing.T, ns *projection.Namespace) error {
		_, err := ns.Start(t.Context(), "ann")
		return err
	},
	"Load, to the end": func(t *testing.T, ns *projection.Namespace) error {
		build, err := ns.Build(t.Context())
		if err == nil {
			_, err = ns.Load(t.Context(), build, newArchive(1, 2).from(build.Position), nil)
		}
		return err
	},
	"Prove": func(t *testing.T, ns *projection.Namespace) error {
		_, err := ns.Prove(t.Context(), projection.Evidence{Live: ns, By: "ann"})
		return err
	},
}

// Every call is tried in every state. Those that change it are the arrows of the diagram, no more and no fewer.
func TestTheDiagramOfABuildShowsEveryWayAndNoOther(t *testing.T) {
	t.Parallel()
	found := map[golden.Arrow]bool{}
	for _, way := range [][]string{nil, {"Start"}, {"Start", "Load, to the end"}, {"Start", "Load, to the end", "Prove"}} {
		for call := range calls {
			b := setup(t)
			ns := b.p.Namespace(2)
			for _, step := range way {
				if err := calls[step](t, ns); err != nil {
					t.Fatalf("%s: %v", step, err)
				}
			}
			before, _ := ns.Build(t.Context()) // there may be none
			err := calls[call](t, ns)
			after, _ := ns.Build(t.Context())
			if before.State != after.State {
				found[golden.Arrow{From: string(cmp.Or(before.State, "[*]")), Call: call, To: string(after.State)}] = true
			}
			if err != nil && before.State != after.State {
				t.Errorf("%s from %q says %v, and it is %s", call, before.State, err, after.State)
			}
		}
	}
	golden.Diagram(t, "../docs/states.md", "A build of a view", found)
}
