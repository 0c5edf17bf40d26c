package projection

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// The attribute names are a public format: see the golden files in testdata/items.
const (
	attrFormat      = "v"
	attrVersion     = "version"
	attrEvents      = "events"
	attrControl     = "control"
	attrSkipped     = "skipped"
	attrParked      = "parked"
	attrOccurredAt  = "occurredAt"
	attrUpdatedAt   = "updatedAt"
	attrMapVersion  = "shardMapVersion"
	attrHashVersion = "hashVersion"
	attrShard       = "shard"

	attrMissing = "missing"
	attrHighest = "highest"
	attrSince   = "since"

	attrEventID   = "eventId"
	attrEventType = "eventType"
	attrPayload   = "payload"
	attrDigest    = "digest"

	attrFrom   = "from"
	attrBy     = "by"
	attrReason = "reason"

	attrNamespace = "namespace"
	attrPrevious  = "previous"
	attrState     = "state"
	attrRevision  = "revision"
	attrPosition  = "position"
	attrStartedAt = "startedAt"
	attrSources   = "sources"
	attrRead      = "read"
)

// attributes are the names that records have, none of which a table may use for its key.
var attributes = []string{
	attrFormat, attrVersion, attrEvents, attrControl, attrSkipped, attrParked, attrOccurredAt, attrUpdatedAt, attrMapVersion,
	attrHashVersion, attrShard, attrMissing, attrHighest, attrSince, attrEventID, attrEventType, attrPayload, attrDigest,
	attrFrom, attrBy, attrReason, attrNamespace, attrPrevious, attrState, attrRevision, attrPosition, attrStartedAt,
	attrSources, attrRead, attrSteps, txn.MarkAttribute, txn.UpdateMarkAttribute,
}

// recordFormat is the format that this package writes and reads.
const recordFormat = 1

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// checkpoint is a stored checkpoint. One that does not exist stands before the first version.
type checkpoint struct {
	exists     bool
	version    int64
	events     int64
	skipped    int64
	parked     int64
	highest    int64 // of the parked events
	control    *big.Int
	occurredAt time.Time // zero if no event was applied
	updatedAt  time.Time
}

// decoder reads attributes and keeps the first fault.
type decoder struct {
	key  keys.Key
	item txn.Item
	err  error
}

func (d *decoder) fail(attribute string) {
	if d.err == nil {
		d.err = &RecordError{PK: d.key.PK, SK: d.key.SK, Attribute: attribute}
	}
}

func (d *decoder) format() {
	if d.number(attrFormat) != recordFormat {
		d.fail(attrFormat)
	}
}

func (d *decoder) has(name string) bool { _, ok := d.item[name]; return ok }

func (d *decoder) text(name string) string {
	s, ok := d.item[name].(*types.AttributeValueMemberS)
	if !ok {
		d.fail(name)
		return ""
	}
	return s.Value
}

func (d *decoder) number(name string) int64 {
	n, ok := d.item[name].(*types.AttributeValueMemberN)
	if !ok {
		d.fail(name)
		return 0
	}
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		d.fail(name)
	}
	return value
}

// count reads a number that is absent while it is zero.
func (d *decoder) count(name string) int64 {
	if !d.has(name) {
		return 0
	}
	n := d.number(name)
	if n < 0 {
		d.fail(name)
	}
	return n
}

// total reads a sum, which may be larger than the numbers in it; absent while it is zero.
func (d *decoder) total(name string) *big.Int {
	sum := new(big.Int)
	if !d.has(name) {
		return sum
	}
	n, ok := d.item[name].(*types.AttributeValueMemberN)
	if !ok || len(n.Value) > 40 {
		d.fail(name)
		return sum
	}
	if _, ok := sum.SetString(n.Value, 10); !ok {
		d.fail(name)
	}
	return sum
}

func (d *decoder) time(name string) time.Time {
	t, err := keys.ParseTime(d.text(name))
	if err != nil {
		d.fail(name)
	}
	return t
}

// decodeCheckpoint reads a checkpoint; an item that is not there is one before the first version.
func (ns *Namespace) decodeCheckpoint(key keys.Key, item txn.Item) (checkpoint, error) {
	if len(item) == 0 {
		return checkpoint{version: ns.p.config.First - 1, control: new(big.Int)}, nil
	}
	d := &decoder{key: key, item: item}
	d.format()
	cp := checkpoint{
		exists: true, version: d.number(attrVersion), events: d.count(attrEvents), skipped: d.count(attrSkipped),
		parked: d.count(attrParked), highest: d.count(attrHighest), control: d.total(attrControl), updatedAt: d.time(attrUpdatedAt),
	}
	if d.has(attrOccurredAt) {
		cp.occurredAt = d.time(attrOccurredAt)
	}
	if cp.version < 0 {
		d.fail(attrVersion)
	}
	return cp, d.err
}

// parkedItem returns an event as it is parked.
func (ns *Namespace) parkedItem(key keys.Key, e Event, now string) (txn.Item, error) {
	occurred, err := keys.Time(e.OccurredAt)
	if err != nil {
		return nil, err
	}
	digest := e.digest()
	item := ns.p.config.Table.Key(key.PK, key.SK)
	item[attrFormat] = number(recordFormat)
	item[attrOccurredAt] = text(occurred)
	item[attrUpdatedAt] = text(now)
	item[attrPayload] = &types.AttributeValueMemberB{Value: append([]byte{}, e.Payload...)}
	item[attrDigest] = &types.AttributeValueMemberB{Value: digest[:]}
	if e.ID != "" {
		item[attrEventID] = text(e.ID)
	}
	if e.Type != "" {
		item[attrEventType] = text(e.Type)
	}
	if e.Control != 0 {
		item[attrControl] = number(e.Control)
	}
	return item, nil
}

// decodeParked reads a parked event and holds it against its digest.
func decodeParked(key keys.Key, item txn.Item) (Event, error) {
	at, err := keys.ParseParked(key)
	if err != nil {
		return Event{}, &RecordError{PK: key.PK, SK: key.SK}
	}
	d := &decoder{key: key, item: item}
	d.format()
	e := Event{Source: at.Source, Version: at.Position, OccurredAt: d.time(attrOccurredAt)}
	if d.has(attrEventID) {
		e.ID = d.text(attrEventID)
	}
	if d.has(attrEventType) {
		e.Type = d.text(attrEventType)
	}
	if d.has(attrControl) {
		e.Control = d.number(attrControl)
	}
	payload, ok := item[attrPayload].(*types.AttributeValueMemberB)
	if !ok {
		d.fail(attrPayload)
		return Event{}, d.err
	}
	e.Payload = bytes.Clone(payload.Value)
	stored, ok := item[attrDigest].(*types.AttributeValueMemberB)
	if digest := e.digest(); !ok || len(stored.Value) != sha256.Size || !bytes.Equal(stored.Value, digest[:]) {
		d.fail(attrDigest)
	}
	return e, d.err
}

// keyIn returns the key of an item of the table.
func (p *Projection) keyIn(item txn.Item) keys.Key {
	var key keys.Key
	if s, ok := item[p.config.Table.PK].(*types.AttributeValueMemberS); ok {
		key.PK = s.Value
	}
	if s, ok := item[p.config.Table.SK].(*types.AttributeValueMemberS); ok {
		key.SK = s.Value
	}
	return key
}

// now is the time as it is stored.
func (p *Projection) now() (string, error) {
	at, err := keys.Time(p.config.Now())
	if err != nil {
		return "", &InvalidError{Field: "Config.Now", Reason: "is outside the years 1 to 9999"}
	}
	return at, nil
}
