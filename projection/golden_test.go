package projection_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// The shapes of stored records are a public format: programs of other versions read them.
func TestStoredRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	check := func(name, pk, sk string) { golden(t, name, b.read(t, b.points, b.points.Key(pk, sk))) }
	b.apply(t, "order-1", 1, projection.Applied)
	check("checkpoint", partition, "SOURCE#order-1")
	b.apply(t, "order-1", 4, projection.Parked)
	check("checkpoint_with_gap", partition, "SOURCE#order-1")
	check("gap", partition, "GAP#order-1")
	check("parked", partition, "PARKED#order-1#000000000000000004")
	if _, err := b.ns.ForceAdvance(t.Context(), force(3)); err != nil {
		t.Fatal(err)
	}
	check("checkpoint_forced", partition, "SOURCE#order-1")
	check("forced", partition, "FORCED#order-1#000000000000000003")

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
	check("alias", "PROJ#portfolio", "ALIAS")
}

// golden compares an item with a file, all but the mark, which txn makes anew for every commit.
func golden(t *testing.T, name string, item txn.Item) {
	t.Helper()
	readable := make(map[string]map[string]string, len(item))
	for attr, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			readable[attr] = map[string]string{"S": v.Value}
		case *types.AttributeValueMemberN:
			readable[attr] = map[string]string{"N": v.Value}
		case *types.AttributeValueMemberB:
			readable[attr] = map[string]string{"B": base64.StdEncoding.EncodeToString(v.Value)}
		default:
			t.Fatalf("attribute %s is a %T", attr, value)
		}
	}
	for _, mark := range []string{txn.MarkAttribute, txn.UpdateMarkAttribute} {
		if _, marked := readable[mark]; marked {
			readable[mark] = map[string]string{"S": "(mark)"}
		}
	}
	got, err := json.MarshalIndent(readable, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	file := filepath.Join("testdata", "items", name+".json")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s changed; that breaks stored data. Got\n%s", file, got)
	}
}
