package idempotency

import (
	"crypto/sha256"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

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
func (c *Config) decode(tenant, key string, item txn.Item) (*Record, error) {
	d := &decoder{tenant: tenant, key: key, item: item}
	if err := d.format(); err != nil {
		return nil, err
	}
	r := &Record{
		Tenant: tenant, Key: key,
		State:         State(d.text(attrState)),
		Operation:     d.text(attrOperation),
		SchemaVersion: int(d.number(attrSchemaVersion)),
		Fingerprint:   Fingerprint{version: int(d.number(attrHashVersion)), sum: d.hash(attrFingerprint)},
		Attempt:       int(d.number(attrAttempt)),
		Owner:         d.optionalText(attrOwner),
		ClaimID:       d.optionalText(attrClaim),
		Reason:        d.optionalText(attrReason),
		Probes:        int(d.optionalNumber(attrProbes, 0)),
		Revision:      d.optionalNumber(attrRevision, 0),
		CreatedAt:     d.time(attrCreatedAt),
		UpdatedAt:     d.time(attrUpdatedAt),
		expiresAt:     d.optionalNumber(attrExpiresAt, 0),
		shard:         int(d.optionalNumber(attrShard, -1)),
	}
	if d.has(c.IndexPK) {
		r.listedAt = d.place(c.IndexPK, c.IndexSK)
	}
	if d.has(attrLeaseUntil) {
		r.LeaseUntil = d.time(attrLeaseUntil)
	}
	switch mode := d.optionalText(attrMode); mode {
	case "":
	case Transactional.String():
		r.Mode = Transactional
	case External.String():
		r.Mode = External
	default:
		d.fail(attrMode, "is neither TRANSACTIONAL nor EXTERNAL")
	}
	if d.has(attrEvidence) {
		r.Evidence = d.texts(attrEvidence)
	}
	if r.State == Completed {
		r.Result = d.result()
	}
	return r, d.err
}

// format refuses what a newer writer wrote.
func (d *decoder) format() error {
	for _, version := range []struct {
		attribute string
		newest    int64
	}{{attrVersion, recordVersion}, {attrHashVersion, hashCurrent}} {
		switch found := d.number(version.attribute); {
		case d.err != nil:
			return d.err
		case found == 0:
			d.fail(version.attribute, "is zero")
			return d.err
		case found > version.newest:
			return &VersionError{Tenant: d.tenant, Key: d.key, Attribute: version.attribute, Found: strconv.FormatInt(found, 10)}
		}
	}
	return nil
}

// place reads from the key of the index since when the record is due, or escalated.
func (d *decoder) place(pk, sk string) time.Time {
	key := keys.Key{PK: d.text(pk), SK: d.text(sk)}
	_, _, due, _, err := keys.ParseRepairDue(key)
	if err == nil {
		return due
	}
	_, _, at, _, err := keys.ParseRepairEscalated(key)
	if err != nil {
		d.fail(sk, "is no key of a listed request")
	}
	return at
}

func (d *decoder) optionalText(name string) string {
	if !d.has(name) {
		return ""
	}
	return d.text(name)
}

func (d *decoder) optionalNumber(name string, absent int64) int64 {
	if !d.has(name) {
		return absent
	}
	return d.number(name)
}

func (d *decoder) texts(name string) map[string]string {
	group := &decoder{tenant: d.tenant, key: d.key, item: d.group(name)}
	texts := make(map[string]string, len(group.item))
	for name := range group.item {
		texts[name] = group.text(name)
	}
	d.keep(group.err)
	return texts
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
		r.Effect = d.texts(attrEffect)
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
