package inbox_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/shardmap"
)

// An operator has the ID and not the event, and an export has the item and neither.
func TestAReceiptIsFoundByItsIDAloneAndByItsItem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old, both := b.inbox(inbox.Config{}), b.inbox(inbox.Config{Maps: []shardmap.Map{map17, map13}})
	e := filled("evt-1")
	b.process(t, old, e)
	want, err := old.Lookup(t.Context(), b.client, e)
	if err != nil {
		t.Fatal(err)
	}
	for name, received := range map[string]*inbox.Inbox{"its map": old, "a newer map": both} {
		if r, err := received.Get(t.Context(), b.client, e.ID); err != nil || r.EventID != e.ID || !r.ProcessedAt.Equal(want.ProcessedAt) || r.Effect["positionId"] != "pos-evt-1" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if _, err := old.Get(t.Context(), b.client, "evt-2"); !errors.Is(err, inbox.ErrNotFound) {
		t.Errorf("an event that never came: %v", err)
	}

	key, err := shardmap.Default13().Place(e.ID)
	if err != nil {
		t.Fatal(err)
	}
	item := b.read(t, b.receipts, fmt.Sprintf("CONSUMER#portfolio#V#0001#SHARD#%04d", key.Shard), "EVENT#"+e.ID)
	if r, ok, err := old.Decode(item); !ok || err != nil || r.EventID != e.ID || r.Source != want.Source {
		t.Errorf("its item: %+v, %v, %v", r, ok, err)
	}
	stranger := inbox.New(inbox.Config{Consumer: "another", Table: b.receipts})
	if _, ok, err := stranger.Decode(item); ok || err != nil {
		t.Errorf("a receipt of another consumer: %v, %v", ok, err)
	}
	if _, ok, err := old.Decode(b.state.Key("POSITION#1", "META")); ok || err != nil {
		t.Errorf("an item of the table that is none: %v, %v", ok, err)
	}
	item["processedAt"] = &types.AttributeValueMemberS{Value: "yesterday"}
	if _, ok, err := old.Decode(item); !ok || !errors.Is(err, inbox.ErrCorrupt) {
		t.Errorf("a damaged receipt: %v, %v", ok, err)
	}
}
