package inbox_test

import (
	"testing"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/txn"
)

// The shapes of stored records are a public format: programs of other versions read them.
func TestStoredRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.process(t, b.received, filled("evt-1"))
	golden.Item(t, "receipt", b.read(t, b.receipts, receiptKey, "EVENT#evt-1"), txn.MarkAttribute)
	bare := inbox.Event{ID: "evt#1%"}
	if _, err := b.inbox(inbox.Config{Retention: inbox.KeepForever}).Process(t.Context(), impatient(b.client), bare, nil); err != nil {
		t.Fatal(err)
	}
	golden.Item(t, "receipt_bare", b.read(t, b.receipts, "CONSUMER#portfolio#V#0001#SHARD#0007", "EVENT#evt%231%25"), txn.MarkAttribute)
}
