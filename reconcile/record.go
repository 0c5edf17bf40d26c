package reconcile

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// The attributes of a record. They are a public format: see the golden files in testdata/items.
const (
	attrFormat  = "v"
	attrVersion = "version"
	attrState   = "state"
	attrCreated = "createdAt"

	// of a batch
	attrRules    = "rules"
	attrFrom     = "from"
	attrCutoff   = "cutoff"
	attrGrace    = "graceNs"
	attrLeft     = "left"
	attrRight    = "right"
	attrAttempt  = "attempt"
	attrOwner    = "owner"
	attrLease    = "leaseUntil"
	attrOutcomes = "outcomes"
	attrRows     = "rows"
	attrDrifts   = "drifts"
	attrFailure  = "failure"
	attrEnded    = "endedAt"

	// of a break; its sides are in attrLeft and attrRight, too
	attrDate    = "date"
	attrKind    = "kind"
	attrKey     = "matchKey"
	attrDrift   = "drift"
	attrFaults  = "faults"
	attrDue     = "due"
	attrMap     = "mapVersion"
	attrHash    = "hashVersion"
	attrShard   = "shard"
	attrChanges = "changes"

	// within a side
	fieldName     = "name"
	fieldDeclared = "declared"
	fieldFound    = "found"
	fieldRows     = "rows"
	fieldSums     = "sums"
	fieldDigest   = "digest"
	fieldIDs      = "ids"
	fieldSum      = "sum"

	// within a change
	fieldAt        = "at"
	fieldBy        = "by"
	fieldWhat      = "what"
	fieldNote      = "note"
	fieldReference = "reference"
)

// projected are the attributes that the index shows besides the keys.
var projected = []string{attrFormat, attrVersion, attrState, attrKind, attrKey, attrOwner, attrDrift, attrCreated}

// recordFormat is the format that this package writes and reads.
const recordFormat = "1"

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func texts(list []string) types.AttributeValue {
	values := make([]types.AttributeValue, len(list))
	for i, s := range list {
		values[i] = text(s)
	}
	return &types.AttributeValueMemberL{Value: values}
}

// amounts writes money as package money stores it.
func amounts(list []money.Amount) (types.AttributeValue, error) {
	values := make([]types.AttributeValue, len(list))
	for i, a := range list {
		encoded, err := a.Encode()
		if err != nil {
			return nil, err
		}
		values[i] = encoded
	}
	return &types.AttributeValueMemberL{Value: values}, nil
}

// decoder reads the attributes of a record and remembers the first that is not what it should be.
type decoder struct {
	currencies money.Registry
	key        keys.Key
	path       string // of the map within the record
	item       txn.Item
	err        *error
}

func (r *Reconciler) decode(key keys.Key, item txn.Item) *decoder {
	var err error
	d := &decoder{currencies: r.config.Currencies, key: key, item: item, err: &err}
	if v, ok := item[attrFormat].(*types.AttributeValueMemberN); !ok || v.Value != recordFormat {
		d.bad(attrFormat)
	}
	return d
}

func (d *decoder) bad(attr string) {
	if *d.err == nil {
		*d.err = &RecordError{PK: d.key.PK, SK: d.key.SK, Attribute: d.path + attr}
	}
}

func (d *decoder) text(attr string) string {
	s, ok := d.item[attr].(*types.AttributeValueMemberS)
	if !ok {
		d.bad(attr)
		return ""
	}
	return s.Value
}

// optional is the text of an attribute that may be absent.
func (d *decoder) optional(attr string) string {
	if d.item[attr] == nil {
		return ""
	}
	return d.text(attr)
}

func (d *decoder) number(attr string) int64 {
	n, ok := d.item[attr].(*types.AttributeValueMemberN)
	if !ok {
		d.bad(attr)
		return 0
	}
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		d.bad(attr)
	}
	return value
}

func (d *decoder) time(attr string) time.Time {
	at, err := keys.ParseTime(d.text(attr))
	if err != nil {
		d.bad(attr)
	}
	return at
}

// optionalTime is zero where the attribute is absent.
func (d *decoder) optionalTime(attr string) time.Time {
	if d.item[attr] == nil {
		return time.Time{}
	}
	return d.time(attr)
}

func (d *decoder) texts(attr string) (list []string) {
	for _, value := range d.list(attr) {
		s, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			d.bad(attr)
			return nil
		}
		list = append(list, s.Value)
	}
	return list
}

func (d *decoder) list(attr string) []types.AttributeValue {
	if d.item[attr] == nil {
		return nil
	}
	l, ok := d.item[attr].(*types.AttributeValueMemberL)
	if !ok {
		d.bad(attr)
		return nil
	}
	return l.Value
}

// under is the decoder of a map within the record, nil if there is none.
func (d *decoder) under(attr string) *decoder {
	if d.item[attr] == nil {
		return nil
	}
	m, ok := d.item[attr].(*types.AttributeValueMemberM)
	if !ok {
		d.bad(attr)
		return nil
	}
	inner := *d
	inner.path, inner.item = d.path+attr+".", m.Value
	return &inner
}

// amount is the zero Amount where the attribute is absent.
func (d *decoder) amount(attr string) money.Amount {
	if d.item[attr] == nil {
		return money.Amount{}
	}
	a, err := d.currencies.Decode(d.item[attr])
	if err != nil {
		d.bad(attr)
	}
	return a
}

func (d *decoder) amounts(attr string) (list []money.Amount) {
	for _, value := range d.list(attr) {
		a, err := d.currencies.Decode(value)
		if err != nil {
			d.bad(attr)
			return nil
		}
		list = append(list, a)
	}
	return list
}
