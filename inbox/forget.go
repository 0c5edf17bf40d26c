package inbox

import (
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// LabelForget is the label of the parts of [Inbox.Forget].
const LabelForget = "AP09.forget"

// MaxReasonBytes is how long the name and the reason of an operator may be.
const MaxReasonBytes = 512

// Forget is an operator's decision that an event is to have its effect again.
type Forget struct {
	// By and Reason say who decided, and why. Required, up to MaxReasonBytes each.
	By, Reason string
	// At is when. Required; at least MinHorizon after the event was processed.
	At time.Time
}

const (
	attrForgottenAt = "forgottenAt"
	attrBy          = "by"
	attrReason      = "reason"
)

// Forget returns the part that takes a receipt, as it was read, out of the way, so that the next delivery of its event takes effect again. The
// receipt is not lost: it moves under the sort key FORGOTTEN#at#eventId of its partition, with who decided so and why, and stays there
// without an expiry. Undo the effect first, or know that it may happen twice. The Commit fails with a [NotFoundError] if the receipt
// is gone, and with an [InvalidError] if the event was processed again since.
//
// A receipt younger than [MinHorizon] is not forgotten: the Commit that wrote it might still repeat its request.
//
// Cost: 4 write units, 2 more if the reason brings the record above 1 KiB.
func (in *Inbox) Forget(r Receipt, f Forget) txn.Part {
	bad := func(field, reason string) txn.Part {
		return txn.BadPart(LabelForget, &InvalidError{EventID: r.EventID, Field: field, Reason: reason})
	}
	if in.err != nil {
		return txn.BadPart(LabelForget, in.err)
	}
	for _, field := range []struct{ name, text string }{{"Forget.By", f.By}, {"Forget.Reason", f.Reason}} {
		if field.text == "" || len(field.text) > MaxReasonBytes || !utf8.ValidString(field.text) {
			return bad(field.name, "is empty, too long, or not valid UTF-8")
		}
	}
	at, err := keys.Time(f.At)
	if err != nil || f.At.Sub(r.ProcessedAt) < MinHorizon {
		return bad("Forget.At", "is missing, or less than "+MinHorizon.String()+" after the event was processed")
	}
	processed, err := keys.Time(r.ProcessedAt)
	if err != nil {
		return bad("Receipt", "was not read from an inbox")
	}
	from, err := keys.Inbox(in.config.Consumer, r.Placement.MapVersion, r.Placement.Shard, r.EventID)
	if err != nil {
		return txn.BadPart(LabelForget, invalidKey(r.EventID, err))
	}
	to, err := keys.InboxForgotten(in.config.Consumer, r.Placement.MapVersion, r.Placement.Shard, f.At, r.EventID)
	if err != nil {
		return txn.BadPart(LabelForget, invalidKey(r.EventID, err))
	}
	item := r.attributes(in.config.Table.Key(to.PK, to.SK), processed)
	item[attrForgottenAt], item[attrBy], item[attrReason] = text(at), text(f.By), text(f.Reason)
	fingerprint := &types.AttributeValueMemberB{Value: r.fingerprint}
	return txn.NewPart(LabelForget, txn.Write{
		Action: txn.ActionDelete, Table: in.config.Table, Key: in.config.Table.Key(from.PK, from.SK),
		Condition: "#processed = :processed AND #fingerprint = :fingerprint",
		Names:     map[string]string{"#processed": attrProcessedAt, "#fingerprint": attrFingerprint},
		Values:    txn.Item{":processed": text(processed), ":fingerprint": fingerprint},
		Explain: func(old txn.Item) error {
			if old == nil {
				return &NotFoundError{Consumer: in.config.Consumer, EventID: r.EventID}
			}
			return &InvalidError{EventID: r.EventID, Field: "Receipt", Reason: "is not the one that is stored: the event was processed again"}
		},
	}, txn.Write{
		Action: txn.ActionPut, Table: in.config.Table, Item: item, Fence: true,
		Condition: "attribute_not_exists(#pk)", Names: map[string]string{"#pk": in.config.Table.PK},
	})
}

// attributes adds what a receipt has beside its key and its expiry.
func (r Receipt) attributes(item txn.Item, processed string) txn.Item {
	item[attrFormat], item[attrFingerprintVersion] = number(recordFormat), number(fingerprintV1)
	item[attrFingerprint] = &types.AttributeValueMemberB{Value: r.fingerprint}
	item[attrProcessedAt] = text(processed)
	item[attrShard], item[attrMapVersion] = number(int64(r.Placement.Shard)), number(int64(r.Placement.MapVersion))
	item[attrHashVersion] = number(int64(r.Placement.HashVersion))
	if r.Source != "" {
		item[attrSource] = text(r.Source)
	}
	if r.SourceVersion != 0 {
		item[attrSourceVersion] = number(r.SourceVersion)
	}
	if r.Effect != nil {
		effect := make(txn.Item, len(r.Effect))
		for name, value := range r.Effect {
			effect[name] = text(value)
		}
		item[attrEffect] = &types.AttributeValueMemberM{Value: effect}
	}
	return item
}
