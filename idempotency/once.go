package idempotency

import (
	"errors"
	"maps"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// LabelOnce is the label of the parts of [Requests.Once] in errors, observations and cost reports.
const LabelOnce = "AP08.once"

// What txn's mark adds to a record that is put, or updated, at most: its name and a value of up to 36 bytes.
const (
	markBytes       = len(txn.MarkAttribute) + 36
	updateMarkBytes = len(txn.UpdateMarkAttribute) + 36
)

// Once returns a Part that records the result of a command in the transaction that gives the command its effect
// (AP08, IDX08): the record is created only if the key has none. The transaction succeeds for one request of a key; for
// every other one it is cancelled as a whole, without another read, and the error holds, in this order of precedence:
//
//   - [*RecordError], [*VersionError]: the stored record cannot be judged;
//   - [*MismatchError]: the key belongs to another command or another operation;
//   - [*ReplayedError]: this command was completed before, here is its result (see [Replayed]);
//   - [*InProgressError], [*RepairRequiredError]: another attempt holds the key.
//
// Each of them settles the Commit: reasons of other parts, which then lost against their own earlier selves, are not
// reported.
//
// Key, fingerprint and result are taken at the call; changing the command, the body or the effect afterwards changes
// nothing. A definite refusal is recorded by committing the part alone, with a result of kind [Rejected].
//
// Once sends nothing. What is wrong with the request, the result or the configuration is reported by Commit, before
// anything is sent: [*InvalidError], [*CommandError], [*TooLargeError].
//
// Cost: 2 write units for each KiB begun of the record, 2 at the usual sizes; see the package documentation.
func (r *Requests) Once(request Request, result Result) txn.Part {
	write, err := r.once(request, result)
	if err != nil {
		return txn.BadPart(LabelOnce, err)
	}
	return txn.NewPart(LabelOnce, write)
}

func (r *Requests) once(request Request, result Result) (txn.Write, error) {
	id, key, err := r.identify(request)
	if err != nil {
		return txn.Write{}, err
	}
	if err := result.validate(); err != nil {
		return txn.Write{}, err
	}
	now := r.config.Now()
	expiresAt, err := r.config.expiry(now)
	if err != nil {
		return txn.Write{}, err
	}
	completed := id.record(Completed, now)
	completed.Owner, completed.Result, completed.expiresAt = r.config.Owner, result.clone(), expiresAt
	item, err := completed.item()
	if err != nil {
		return txn.Write{}, err
	}
	maps.Copy(item, key)
	if size := capacity.ItemSize(item) + markBytes; size > r.config.RecordBytesMax {
		return txn.Write{}, &TooLargeError{Tenant: id.tenant, Key: id.key, Bytes: size, BytesMax: r.config.RecordBytesMax}
	}
	return txn.Write{
		Action:    txn.ActionPut,
		Table:     r.config.Table,
		Item:      item,
		Condition: "attribute_not_exists(#pk)",
		Names:     map[string]string{"#pk": r.config.Table.PK},
		Fence:     true,
		Settles:   true,
		Explain: func(old txn.Item) error {
			stored, err := r.match(id, old)
			if err != nil {
				return err
			}
			return stored.verdict(r.config.Now())
		},
	}, nil
}

// identify checks request and configuration and returns what the request covers and the key of its record.
func (r *Requests) identify(request Request) (*identity, txn.Item, error) {
	if r.err != nil {
		return nil, nil, r.err
	}
	id, err := request.identify()
	if err != nil {
		return nil, nil, err
	}
	key, err := keys.Request(id.tenant, id.key)
	if err != nil {
		invalid := &InvalidError{Field: "Request", Reason: "does not give a key", Cause: err}
		var detail *keys.Error
		if errors.As(err, &detail) {
			invalid.Reason = "gives no key: the " + detail.Component + " " + string(detail.Reason)
		}
		return nil, nil, invalid
	}
	return id, r.config.Table.Key(key.PK, key.SK), nil
}

// record begins the record of a request.
func (id *identity) record(state State, now time.Time) Record {
	return Record{
		Tenant: id.tenant, Key: id.key, State: state, Operation: id.operation, SchemaVersion: id.schemaVersion,
		Fingerprint: id.current(), Attempt: 1, CreatedAt: now, UpdatedAt: now, shard: -1,
	}
}

// match reads a stored record and finds out whether it is this request's.
func (r *Requests) match(id *identity, stored txn.Item) (*Record, error) {
	if stored == nil {
		return nil, &RecordError{Tenant: id.tenant, Key: id.key, Reason: "was not returned with the refusal"}
	}
	rec, err := r.config.decode(id.tenant, id.key, stored)
	if err != nil {
		return nil, err
	}
	if err := id.mismatch(rec); err != nil {
		return nil, err
	}
	return rec, nil
}

// mismatch compares what a record was made for with this request.
func (id *identity) mismatch(rec *Record) error {
	fingerprint, known := id.fingerprint(rec.Fingerprint.version)
	if known && fingerprint == rec.Fingerprint && id.operation == rec.Operation {
		return nil
	}
	return &MismatchError{Tenant: id.tenant, Key: id.key,
		Operation: id.operation, StoredOperation: rec.Operation, CreatedAt: rec.CreatedAt}
}

// verdict says what a record means for a repeat of its request: the result to replay, or why there is none yet.
func (r *Record) verdict(now time.Time) error {
	switch r.State {
	case Completed:
		return &ReplayedError{Tenant: r.Tenant, Key: r.Key, Result: r.Result.clone(), CreatedAt: r.UpdatedAt}
	case InProgress:
		if r.LeaseUntil.IsZero() {
			break // held by nobody who could end: as good as stuck
		}
		return &InProgressError{Tenant: r.Tenant, Key: r.Key, Owner: r.Owner, Attempt: r.Attempt,
			LeaseUntil: r.LeaseUntil, RetryAfter: max(0, r.LeaseUntil.Sub(now))}
	case RepairRequired, Released, Escalated:
	default:
		return &VersionError{Tenant: r.Tenant, Key: r.Key, Attribute: attrState, Found: string(r.State)}
	}
	return &RepairRequiredError{Tenant: r.Tenant, Key: r.Key, State: r.State, Reason: r.Reason, Since: r.UpdatedAt}
}
