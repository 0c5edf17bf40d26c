package inbox

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// The attribute names are a public format: see the golden files in testdata/items.
const (
	attrFormat             = "v"
	attrFingerprint        = "fingerprint"
	attrFingerprintVersion = "fingerprintVersion"
	attrSource             = "source"
	attrSourceVersion      = "sourceVersion"
	attrEffect             = "effect"
	attrProcessedAt        = "processedAt"
	attrExpiresAt          = "expiresAt"
	attrShard              = "shard"
	attrMapVersion         = "shardMapVersion"
	attrHashVersion        = "hashVersion"
)

// attributes are the names of a receipt, none of which a table may use for its key.
var attributes = []string{
	attrFormat, attrFingerprint, attrFingerprintVersion, attrSource, attrSourceVersion, attrEffect, attrProcessedAt,
	attrExpiresAt, attrForgottenAt, attrBy, attrReason, attrShard, attrMapVersion, attrHashVersion, txn.MarkAttribute,
}

// recordFormat is the format that this package writes and reads.
const recordFormat = 1

// MaxRecordBytes is how large a receipt may become, its key and txn's mark included. It is one write unit, so that a
// receipt costs two units in a transaction, whatever its effect.
const MaxRecordBytes = capacity.WriteUnitBytes

// markBytes is what txn adds to a receipt at most.
const markBytes = len(txn.MarkAttribute) + 36

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// newRecord returns a receipt as it is stored.
func (in *Inbox) newRecord(e Event, effect map[string]string, at time.Time, p place) (txn.Item, error) {
	processed, err := keys.Time(at)
	if err != nil {
		return nil, &InvalidError{Field: "Config.Now", Reason: "is outside the years 1 to 9999", Err: err}
	}
	expires, err := in.config.expiry(at)
	if err != nil {
		return nil, err
	}
	fingerprint := e.fingerprint()
	item := in.config.Table.Key(p.key.PK, p.key.SK)
	item[attrFormat] = number(recordFormat)
	item[attrFingerprint] = &types.AttributeValueMemberB{Value: fingerprint[:]}
	item[attrFingerprintVersion] = number(fingerprintV1)
	item[attrProcessedAt] = text(processed)
	item[attrShard] = number(int64(p.Shard))
	item[attrMapVersion] = number(int64(p.MapVersion))
	item[attrHashVersion] = number(int64(p.HashVersion))
	if expires != 0 {
		item[attrExpiresAt] = number(expires)
	}
	if e.Source != "" {
		item[attrSource] = text(e.Source)
	}
	if e.SourceVersion != 0 {
		item[attrSourceVersion] = number(e.SourceVersion)
	}
	if effect != nil {
		stored := make(txn.Item, len(effect))
		for name, value := range effect {
			if name == "" || !utf8.ValidString(name) || !utf8.ValidString(value) {
				return nil, &InvalidError{EventID: e.ID, Field: "effect", Reason: "has an empty name, or text that is not valid UTF-8"}
			}
			stored[name] = text(value)
		}
		item[attrEffect] = &types.AttributeValueMemberM{Value: stored}
	}
	if size := capacity.ItemSize(item) + markBytes; size > MaxRecordBytes {
		return nil, &InvalidError{EventID: e.ID, Field: "effect", Reason: "makes a receipt of " + strconv.Itoa(size) +
			" bytes with the event's ID and source; at most " + strconv.Itoa(MaxRecordBytes) + " fit one write unit"}
	}
	return item, nil
}

// Receipt is a stored receipt.
type Receipt struct {
	EventID string
	// Source and SourceVersion are those of the event, empty and zero if it had none.
	Source        string
	SourceVersion int64
	// Effect is what came of it, nil if nothing was stored.
	Effect map[string]string
	// ProcessedAt is when it was processed, in UTC.
	ProcessedAt time.Time
	// ExpiresAt is from when the table's TTL may remove it; zero if it is kept for ever.
	ExpiresAt time.Time
	// Placement says which shard it stands on, and which rules said so.
	Placement shardmap.Placement

	fingerprint []byte
}

// decode reads a stored receipt. Nothing it returns shares memory with the item. The error is a *RecordError.
func (in *Inbox) decode(eventID string, item txn.Item) (Receipt, error) {
	d := decoder{consumer: in.config.Consumer, eventID: eventID, item: item}
	if len(item) == 0 {
		d.fail("", "was not returned with the refusal")
		return Receipt{}, d.err
	}
	if d.number(attrFormat) != recordFormat {
		d.fail(attrFormat, "is not "+strconv.Itoa(recordFormat))
	}
	if d.number(attrFingerprintVersion) != fingerprintV1 {
		d.fail(attrFingerprintVersion, "is not "+strconv.Itoa(fingerprintV1))
	}
	r := Receipt{
		EventID:     eventID,
		ProcessedAt: d.time(attrProcessedAt),
		Placement: shardmap.Placement{
			MapVersion: int(d.number(attrMapVersion)), HashVersion: int(d.number(attrHashVersion)), Shard: int(d.number(attrShard)),
		},
		fingerprint: d.hash(attrFingerprint),
	}
	if item[attrSource] != nil {
		r.Source = d.text(attrSource)
	}
	if item[attrSourceVersion] != nil {
		r.SourceVersion = d.number(attrSourceVersion)
	}
	if item[attrExpiresAt] != nil {
		r.ExpiresAt = time.Unix(d.number(attrExpiresAt), 0).UTC()
	}
	if item[attrEffect] != nil {
		r.Effect = d.texts(attrEffect)
	}
	if d.err != nil {
		return Receipt{}, d.err
	}
	return r, nil
}

// judge decides what a stored receipt means for an event that comes again.
func (in *Inbox) judge(e Event, item txn.Item) error {
	r, err := in.decode(e.ID, item)
	if err != nil {
		return err
	}
	if fingerprint := e.fingerprint(); !bytes.Equal(fingerprint[:], r.fingerprint) {
		return &MismatchError{Consumer: in.config.Consumer, EventID: e.ID, Source: e.Source, StoredSource: r.Source,
			SourceVersion: e.SourceVersion, StoredSourceVersion: r.SourceVersion, ProcessedAt: r.ProcessedAt}
	}
	return &DuplicateError{Consumer: in.config.Consumer, EventID: e.ID, Effect: r.Effect, ProcessedAt: r.ProcessedAt}
}

// decoder reads attributes and keeps the first fault.
type decoder struct {
	consumer, eventID string
	item              txn.Item
	err               error
}

func (d *decoder) fail(attribute, reason string) {
	if d.err == nil {
		d.err = &RecordError{Consumer: d.consumer, EventID: d.eventID, Attribute: attribute, Reason: reason}
	}
}

func (d *decoder) text(name string) string {
	s, ok := d.item[name].(*types.AttributeValueMemberS)
	if !ok {
		d.fail(name, "is missing or not a string")
		return ""
	}
	return s.Value
}

func (d *decoder) number(name string) int64 {
	n, ok := d.item[name].(*types.AttributeValueMemberN)
	if !ok {
		d.fail(name, "is missing or not a number")
		return 0
	}
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || value < 0 {
		d.fail(name, "is not a whole number from zero")
	}
	return value
}

func (d *decoder) hash(name string) []byte {
	b, ok := d.item[name].(*types.AttributeValueMemberB)
	if !ok || len(b.Value) != sha256.Size {
		d.fail(name, "is missing or not a hash")
		return nil
	}
	return bytes.Clone(b.Value)
}

func (d *decoder) time(name string) time.Time {
	t, err := keys.ParseTime(d.text(name))
	if err != nil {
		d.fail(name, "is not a time in UTC with nanoseconds")
	}
	return t
}

func (d *decoder) texts(name string) map[string]string {
	m, ok := d.item[name].(*types.AttributeValueMemberM)
	if !ok {
		d.fail(name, "is not a map")
		return nil
	}
	all := make(map[string]string, len(m.Value))
	for key, value := range m.Value {
		s, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			d.fail(name, "has a value that is not a string")
			return nil
		}
		all[key] = s.Value
	}
	return all
}
