package idempotency

import (
	"crypto/sha256"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// recordVersion is the format that this package writes, and the newest that it reads.
const recordVersion = 1

// The states of a record. Only completed ones are written so far; the others are understood.
const (
	stateInProgress = "IN_PROGRESS"
	stateCompleted  = "COMPLETED"
	stateRepair     = "REPAIR_REQUIRED"
)

// The attribute names are a public format; see the package documentation for their meaning.
const (
	attrVersion       = "v"
	attrState         = "state"
	attrOperation     = "operation"
	attrSchemaVersion = "schemaVersion"
	attrFingerprint   = "fingerprint"
	attrHashVersion   = "hashVersion"
	attrAttempt       = "attempt"
	attrOwner         = "attemptOwner"
	attrLeaseUntil    = "leaseUntil"
	attrResult        = "result"
	attrKind          = "kind"
	attrCode          = "code"
	attrBody          = "body"
	attrDigest        = "digest"
	attrEffect        = "effect"
	attrCreatedAt     = "createdAt"
	attrUpdatedAt     = "updatedAt"
	attrExpiresAt     = "expiresAt"
)

// attributes are the names at the top of the record, none of which a table may use for its key.
var attributes = []string{
	attrVersion, attrState, attrOperation, attrSchemaVersion, attrFingerprint, attrHashVersion, attrAttempt, attrOwner,
	attrLeaseUntil, attrResult, attrEffect, attrCreatedAt, attrUpdatedAt, attrExpiresAt, txn.MarkAttribute,
}

// record is a stored request.
type record struct {
	state         string
	operation     string
	schemaVersion int
	fingerprint   Fingerprint
	attempt       int
	owner         string
	leaseUntil    time.Time // zero if there is no lease
	result        Result    // if completed
	createdAt     time.Time
	updatedAt     time.Time
	expiresAt     int64 // epoch seconds, zero if kept for ever
}

// item returns a completed record as it is stored, without its key.
func (r *record) item() (txn.Item, error) {
	created, err := keys.Time(r.createdAt)
	if err != nil {
		return nil, &InvalidError{Field: "Config.Now", Reason: "is outside the years 1 to 9999", Cause: err}
	}
	updated, err := keys.Time(r.updatedAt)
	if err != nil {
		return nil, &InvalidError{Field: "Config.Now", Reason: "is outside the years 1 to 9999", Cause: err}
	}
	digest := r.result.digest()
	result := txn.Item{
		attrKind:   stringAttr(r.result.Kind.String()),
		attrDigest: binaryAttr(digest[:]),
	}
	if r.result.Code != "" {
		result[attrCode] = stringAttr(r.result.Code)
	}
	if r.result.Body != nil {
		result[attrBody] = binaryAttr(r.result.Body)
	}
	item := txn.Item{
		attrVersion:       numberAttr(recordVersion),
		attrState:         stringAttr(r.state),
		attrOperation:     stringAttr(r.operation),
		attrSchemaVersion: numberAttr(int64(r.schemaVersion)),
		attrFingerprint:   binaryAttr(r.fingerprint.Bytes()),
		attrHashVersion:   numberAttr(int64(r.fingerprint.version)),
		attrAttempt:       numberAttr(int64(r.attempt)),
		attrResult:        &types.AttributeValueMemberM{Value: result},
		attrCreatedAt:     stringAttr(created),
		attrUpdatedAt:     stringAttr(updated),
	}
	if r.owner != "" {
		item[attrOwner] = stringAttr(r.owner)
	}
	if r.expiresAt != 0 {
		item[attrExpiresAt] = numberAttr(r.expiresAt)
	}
	if r.result.Effect != nil {
		effect := make(txn.Item, len(r.result.Effect))
		for name, value := range r.result.Effect {
			effect[name] = stringAttr(value)
		}
		item[attrEffect] = &types.AttributeValueMemberM{Value: effect}
	}
	return item, nil
}

func stringAttr(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func binaryAttr(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }
func numberAttr(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// decoder reads attributes and keeps the first fault. Nothing it returns shares memory with the item.
type decoder struct {
	tenant, key string
	item        txn.Item
	err         error
}

func (d *decoder) fail(attribute, reason string) {
	if d.err == nil {
		d.err = &RecordError{Tenant: d.tenant, Key: d.key, Attribute: attribute, Reason: reason}
	}
}

func (d *decoder) has(name string) bool { _, ok := d.item[name]; return ok }

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

func (d *decoder) hash(name string) (sum [sha256.Size]byte) {
	b, ok := d.item[name].(*types.AttributeValueMemberB)
	if !ok || len(b.Value) != sha256.Size {
		d.fail(name, "is missing or not a hash")
		return sum
	}
	return [sha256.Size]byte(b.Value)
}

func (d *decoder) time(name string) time.Time {
	t, err := keys.ParseTime(d.text(name))
	if err != nil {
		d.fail(name, "is not a time in UTC with nanoseconds")
	}
	return t
}

func (d *decoder) group(name string) txn.Item {
	m, ok := d.item[name].(*types.AttributeValueMemberM)
	if !ok {
		d.fail(name, "is missing or not a map")
		return nil
	}
	return m.Value
}

// decode reads a stored record. A format of a newer writer is a *VersionError, anything else amiss a *RecordError.
func decode(tenant, key string, item txn.Item) (*record, error) {
	d := &decoder{tenant: tenant, key: key, item: item}
	for _, version := range []struct {
		attribute string
		newest    int64
	}{{attrVersion, recordVersion}, {attrHashVersion, hashCurrent}} {
		switch found := d.number(version.attribute); {
		case d.err != nil:
			return nil, d.err
		case found == 0:
			d.fail(version.attribute, "is zero")
			return nil, d.err
		case found > version.newest:
			return nil, &VersionError{Tenant: tenant, Key: key, Attribute: version.attribute, Found: strconv.FormatInt(found, 10)}
		}
	}
	r := &record{
		state:         d.text(attrState),
		operation:     d.text(attrOperation),
		schemaVersion: int(d.number(attrSchemaVersion)),
		fingerprint:   Fingerprint{version: int(d.number(attrHashVersion)), sum: d.hash(attrFingerprint)},
		attempt:       int(d.number(attrAttempt)),
		createdAt:     d.time(attrCreatedAt),
		updatedAt:     d.time(attrUpdatedAt),
	}
	if d.has(attrOwner) {
		r.owner = d.text(attrOwner)
	}
	if d.has(attrLeaseUntil) {
		r.leaseUntil = d.time(attrLeaseUntil)
	}
	if d.has(attrExpiresAt) {
		r.expiresAt = d.number(attrExpiresAt)
	}
	if r.state == stateCompleted {
		r.result = d.result()
	}
	return r, d.err
}

// result reads the result and holds it against its digest.
func (d *decoder) result() Result {
	stored := &decoder{tenant: d.tenant, key: d.key, item: d.group(attrResult)}
	var r Result
	switch stored.text(attrKind) {
	case Accepted.String():
	case Rejected.String():
		r.Kind = Rejected
	default:
		stored.fail(attrKind, "is neither ACCEPTED nor REJECTED")
	}
	if stored.has(attrCode) {
		r.Code = stored.text(attrCode)
	}
	if body, ok := stored.item[attrBody].(*types.AttributeValueMemberB); ok {
		r.Body = append([]byte{}, body.Value...)
	}
	if d.has(attrEffect) {
		effect := &decoder{tenant: d.tenant, key: d.key, item: d.group(attrEffect)}
		r.Effect = make(map[string]string, len(effect.item))
		for name := range effect.item {
			r.Effect[name] = effect.text(name)
		}
		stored.keep(effect.err)
	}
	if stored.hash(attrDigest) != r.digest() {
		stored.fail(attrDigest, "does not match the result")
	}
	d.keep(stored.err)
	return r
}

func (d *decoder) keep(err error) {
	if d.err == nil {
		d.err = err
	}
}
