package outbox_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// The shapes of stored records are a public format: programs of other versions read them.
func TestStoredRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	whole := accepted("order-1")
	bare := outbox.Event{
		ID: "evt#1%", Tenant: "acme", AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 2,
		Type: "OrderExpired", SchemaVersion: 1, OccurredAt: day, Due: day.Add(1500 * time.Millisecond),
	}
	b.commit(t, b.events.Create(whole), b.events.Create(bare))
	golden(t, "ready", b.item(t, whole.ID))
	golden(t, "ready_bare", b.item(t, "evt%231%25"))
	golden(t, "index_entry", b.entry(t, whole.ID))
}

// golden compares an item with a file, all but the mark, which txn makes anew for every commit.
func golden(t *testing.T, name string, item txn.Item) {
	t.Helper()
	readable := map[string]map[string]string{}
	for attr, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			readable[attr] = map[string]string{"S": v.Value}
		case *types.AttributeValueMemberN:
			readable[attr] = map[string]string{"N": v.Value}
		case *types.AttributeValueMemberB:
			readable[attr] = map[string]string{"B": base64.StdEncoding.EncodeToString(v.Value)}
		default:
			t.Fatalf("%s: attribute %s is a %T", name, attr, value)
		}
	}
	if _, marked := readable[txn.MarkAttribute]; marked {
		readable[txn.MarkAttribute] = map[string]string{"S": "(mark)"}
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
