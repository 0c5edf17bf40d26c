package idempotency

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// recordVersion is the format that this package writes, and the newest that it reads.
const recordVersion = 1

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
	attrMode          = "mode"
	attrRevision      = "revision"
	attrClaim         = "claim"
	attrReason        = "reason"
	attrEvidence      = "evidence"
	attrProbes        = "probes"
	attrShard         = "repairShard"
)

// attributes are the names at the top of the record, none of which a table may use for its key.
var attributes = []string{
	attrVersion, attrState, attrOperation, attrSchemaVersion, attrFingerprint, attrHashVersion, attrAttempt, attrOwner,
	attrLeaseUntil, attrResult, attrEffect, attrCreatedAt, attrUpdatedAt, attrExpiresAt, attrMode, attrRevision, attrClaim,
	attrReason, attrEvidence, attrProbes, attrShard, txn.MarkAttribute, txn.UpdateMarkAttribute,
}

// Record is a request as it is stored.
type Record struct {
	Tenant, Key string
	// State is where the request stands.
	State State
	// Operation and SchemaVersion are those of the [Request]; its command is known by its Fingerprint alone.
	Operation     string
	SchemaVersion int
	Fingerprint   Fingerprint
	// Mode is what the effect is; 0 of a record that [Requests.Once] wrote.
	Mode Mode
	// Attempt counts the attempts, from 1.
	Attempt int
	// Owner is who has, or had, the last attempt or the last look of a repair worker, for people.
	Owner string
	// ClaimID is the token of that attempt or look, new for each. A claim of a later attempt has another one.
	ClaimID string
	// LeaseUntil is when the owner's hold ends, in UTC; zero if nobody holds the request.
	LeaseUntil time.Time
	// Reason says why the request is in repair, was released or was escalated; Evidence is what was known then, for example
	// the reference that was given to another system.
	Reason   string
	Evidence map[string]string
	// Probes counts how often a repair worker has looked since the request came into repair.
	Probes int
	// Result is the result of a completed request, checked against its digest.
	Result Result
	// Revision rises with every step but a renewal. 0 of a record that [Requests.Once] wrote.
	Revision int64
	// CreatedAt is when the key was first used, UpdatedAt when the record last changed, in UTC.
	CreatedAt, UpdatedAt time.Time

	expiresAt int64     // epoch seconds, zero if kept for ever
	shard     int       // in the index, -1 if it was never listed
	listedAt  time.Time // its place in the index, zero if it is not listed
}

func (r *Record) listed() bool { return !r.listedAt.IsZero() }

// item returns the record as it is stored, without its key and its place in the index.
func (r *Record) item() (txn.Item, error) {
	item := txn.Item{
		attrVersion:       numberAttr(recordVersion),
		attrState:         stringAttr(string(r.State)),
		attrOperation:     stringAttr(r.Operation),
		attrSchemaVersion: numberAttr(int64(r.SchemaVersion)),
		attrFingerprint:   binaryAttr(r.Fingerprint.Bytes()),
		attrHashVersion:   numberAttr(int64(r.Fingerprint.version)),
		attrAttempt:       numberAttr(int64(r.Attempt)),
	}
	for _, instant := range []struct {
		attribute string
		value     time.Time
	}{{attrCreatedAt, r.CreatedAt}, {attrUpdatedAt, r.UpdatedAt}, {attrLeaseUntil, r.LeaseUntil}} {
		if instant.value.IsZero() && instant.attribute == attrLeaseUntil {
			continue
		}
		text, err := keys.Time(instant.value)
		if err != nil {
			return nil, &InvalidError{Field: "Config.Now", Reason: "is outside the years 1 to 9999", Cause: err}
		}
		item[instant.attribute] = stringAttr(text)
	}
	if r.Owner != "" {
		item[attrOwner] = stringAttr(r.Owner)
	}
	if r.Mode != 0 {
		item[attrMode] = stringAttr(r.Mode.String())
		item[attrRevision] = numberAttr(r.Revision)
		item[attrClaim] = stringAttr(r.ClaimID)
	}
	if r.expiresAt != 0 {
		item[attrExpiresAt] = numberAttr(r.expiresAt)
	}
	if r.State == Completed {
		maps.Copy(item, r.Result.attributes())
	}
	return item, nil
}

// attributes returns a result as it is stored.
func (r Result) attributes() txn.Item {
	digest := r.digest()
	result := txn.Item{
		attrKind:   stringAttr(r.Kind.String()),
		attrDigest: binaryAttr(digest[:]),
	}
	if r.Code != "" {
		result[attrCode] = stringAttr(r.Code)
	}
	if r.Body != nil {
		result[attrBody] = binaryAttr(r.Body)
	}
	item := txn.Item{attrResult: &types.AttributeValueMemberM{Value: result}}
	if r.Effect != nil {
		item[attrEffect] = textsAttr(r.Effect)
	}
	return item
}

func textsAttr(texts map[string]string) types.AttributeValue {
	group := make(txn.Item, len(texts))
	for name, value := range texts {
		group[name] = stringAttr(value)
	}
	return &types.AttributeValueMemberM{Value: group}
}

func stringAttr(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func binaryAttr(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }
func numberAttr(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
