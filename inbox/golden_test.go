package inbox_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/txn"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// The shapes of stored records are a public format: programs of other versions read them.
func TestStoredRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.process(t, b.received, filled("evt-1"))
	golden(t, "receipt", b.read(t, b.receipts, receiptKey, "EVENT#evt-1"))
	bare := inbox.Event{ID: "evt#1%"}
	if _, err := b.inbox(inbox.Config{Retention: inbox.KeepForever}).Process(t.Context(), impatient(b.client), bare, nil); err != nil {
		t.Fatal(err)
	}
	golden(t, "receipt_bare", b.read(t, b.receipts, "CONSUMER#portfolio#V#0001#SHARD#0007", "EVENT#evt%231%25"))
}

// golden compares an item with a file, all but the mark, which txn makes anew for every commit.
func golden(t *testing.T, name string, item txn.Item) {
	t.Helper()
	readable := spelled(t, item)
	if _, marked := readable[txn.MarkAttribute]; !marked {
		t.Errorf("%s: no mark", name)
	}
	readable[txn.MarkAttribute] = map[string]any{"S": "(mark)"}
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

func spelled(t *testing.T, item txn.Item) map[string]any {
	t.Helper()
	out := make(map[string]any, len(item))
	for attr, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			out[attr] = map[string]any{"S": v.Value}
		case *types.AttributeValueMemberN:
			out[attr] = map[string]any{"N": v.Value}
		case *types.AttributeValueMemberB:
			out[attr] = map[string]any{"B": base64.StdEncoding.EncodeToString(v.Value)}
		case *types.AttributeValueMemberM:
			out[attr] = map[string]any{"M": spelled(t, v.Value)}
		default:
			t.Fatalf("attribute %s is a %T", attr, value)
		}
	}
	return out
}
