package projection_test

import (
	"math/big"
	"testing"

	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// The shapes of stored records are a public format: programs of other versions read them.
func TestStoredRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	check := func(name, pk, sk string, marks ...string) {
		t.Helper()
		golden.Item(t, name, b.read(t, b.points, b.points.Key(pk, sk)), marks...)
	}
	b.apply(t, "order-1", 1, projection.Applied)
	check("checkpoint", partition, "SOURCE#order-1", txn.UpdateMarkAttribute)
	b.apply(t, "order-1", 4, projection.Parked)
	check("checkpoint_with_gap", partition, "SOURCE#order-1", txn.UpdateMarkAttribute)
	check("gap", partition, "GAP#order-1", txn.UpdateMarkAttribute)
	check("parked", partition, "PARKED#order-1#000000000000000004", txn.MarkAttribute)
	if _, err := b.ns.ForceAdvance(t.Context(), force(3)); err != nil {
		t.Fatal(err)
	}
	check("checkpoint_forced", partition, "SOURCE#order-1", txn.UpdateMarkAttribute)
	check("forced", partition, "FORCED#order-1#000000000000000003", txn.MarkAttribute)

	next := b.p.Namespace(2)
	build, err := next.Start(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	check("build", "PROJ#portfolio", "BUILD#0002")
	if _, err = next.Load(t.Context(), build, newArchive(1, 1).from(""), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Prove(t.Context(), projection.Evidence{Want: &projection.Totals{Sources: 1, Events: 1, Control: big.NewInt(100)}, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	check("build_proved", "PROJ#portfolio", "BUILD#0002")
	if _, err := next.Cutover(t.Context(), projection.Alias{Namespace: 1}, "ann"); err != nil {
		t.Fatal(err)
	}
	check("alias", "PROJ#portfolio", "ALIAS", txn.UpdateMarkAttribute)
}
