package inbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

var undone = inbox.Forget{By: "ann", Reason: "the fill was cancelled, INC-7", At: day.Add(2 * time.Hour)}

// A receipt that is forgotten stays, under another key and without an expiry, and the next delivery has its effect again.
func TestAForgottenReceiptStaysAndItsEventTakesEffectAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	committer := txn.New(b.client, txn.Config{})
	e := inbox.Event{ID: "event-1", Type: "OrderFilled", Source: "Order order-1", SourceVersion: 3, Payload: []byte("{}")}
	if _, err := b.received.Process(t.Context(), committer, e, map[string]string{"positionId": "pos-1"}); err != nil {
		t.Fatal(err)
	}
	r, err := b.received.Get(t.Context(), b.client, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := committer.Commit(t.Context(), b.received.Forget(r, undone))
	if err != nil || receipt.Total().String() != "4" {
		t.Fatalf("%s units, %v", receipt.Total(), err)
	}
	if _, err := b.received.Get(t.Context(), b.client, e.ID); !errors.Is(err, inbox.ErrNotFound) {
		t.Errorf("it is not forgotten: %v", err)
	}
	if _, err := committer.Commit(t.Context(), b.received.Forget(r, undone)); !errors.Is(err, inbox.ErrNotFound) {
		t.Errorf("forgotten twice: %v", err)
	}
	key, err := keys.InboxForgotten("portfolio", r.Placement.MapVersion, r.Placement.Shard, undone.At, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	golden.Item(t, "forgotten", b.read(t, b.receipts, key.PK, key.SK), txn.MarkAttribute)
	again, err := b.received.Process(t.Context(), committer, e, nil)
	if err != nil || again.Duplicate {
		t.Errorf("the next delivery: %+v, %v", again, err)
	}
}

func TestAForgetThatIsTooEarlyOrByNobodyIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := inbox.Receipt{EventID: "event-1", ProcessedAt: day}
	for field, spoil := range map[string]func(*inbox.Forget){
		"Forget.By":     func(f *inbox.Forget) { f.By = "" },
		"Forget.Reason": func(f *inbox.Forget) { f.Reason = "\xff" },
		"Forget.At":     func(f *inbox.Forget) { f.At = day.Add(inbox.MinHorizon - 1) },
	} {
		f := undone
		spoil(&f)
		var invalid *inbox.InvalidError
		if err := b.received.Forget(r, f).Err(); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
