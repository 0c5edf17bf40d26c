package outbox_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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

func TestTheRecordOfEveryStateMatchesItsGoldenFile(t *testing.T) {
	t.Parallel()
	for _, state := range states {
		b := setup(t)
		record := b.in(t, "order-1", state)
		golden(t, "state_"+strings.ToLower(string(state)), b.item(t, record.Event.ID))
	}
	b := setup(t)
	retried := b.in(t, "order-1", outbox.InFlight)
	if err := b.take(t, "retry", retried); err != nil {
		t.Fatal(err)
	}
	golden(t, "state_ready_after_failure", b.item(t, retried.Event.ID))
	parked := b.in(t, "order-2", outbox.Parked)
	golden(t, "index_entry_parked", b.entry(t, parked.Event.ID))
	if err := b.take(t, "redrive", parked); err != nil {
		t.Fatal(err)
	}
	golden(t, "audit", b.first(t, "OUTBOX#"+parked.Event.ID))
	if err := b.events.Journal(t.Context(), b.client, "claim-1", day.Add(30*time.Second), "evt-1", "evt#2"); err != nil {
		t.Fatal(err)
	}
	golden(t, "journal", b.first(t, "SERVICE#orders#CLAIMS"))
}

// Compressed payloads are read whatever compressed them, so the stored bytes are no format, but everything else is.
func TestTheRecordOfACompressedEventMatchesItsGoldenFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.events = outbox.New(outbox.Config{Service: "orders", Table: b.orders, Compress: true})
	e := accepted("order-1")
	e.Payload = bytes.Repeat([]byte("0123456789"), 20)
	b.commit(t, b.events.Create(e))
	item := b.item(t, e.ID)
	if got := b.get(t, e.ID); !bytes.Equal(got.Event.Payload, e.Payload) {
		t.Errorf("payload %q", got.Event.Payload)
	}
	item["payload"] = &types.AttributeValueMemberB{Value: []byte("(deflate)")}
	golden(t, "ready_compressed", item)
}

// first reads the first item of a partition.
func (b *bench) first(t *testing.T, pk string) txn.Item {
	t.Helper()
	condition := "PK = :pk"
	out, err := b.client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &b.orders.Name, KeyConditionExpression: &condition, ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: txn.Item{":pk": &types.AttributeValueMemberS{Value: pk}},
	})
	if err != nil || len(out.Items) == 0 {
		t.Fatalf("query %s: %v, %v", pk, out, err)
	}
	return out.Items[0]
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
		case *types.AttributeValueMemberBOOL:
			readable[attr] = map[string]string{"BOOL": strconv.FormatBool(v.Value)}
		default:
			t.Fatalf("%s: attribute %s is a %T", name, attr, value)
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
