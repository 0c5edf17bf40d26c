package ledger

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// recordFormat is the format that this package writes and reads.
const recordFormat = "1"

// The attributes of the records. They are a public format: see the package documentation and the golden files in
// testdata/items.
const (
	attrFormat      = "v"
	attrVersion     = "version"
	attrStatus      = "status"
	attrSide        = "side"
	attrAsset       = "asset"
	attrClass       = "class"
	attrScale       = "scale"
	attrAmount      = "amount"
	attrAccount     = "account"
	attrStripe      = "stripe"
	attrLane        = "lane"
	attrStripes     = "stripes"
	attrLanes       = "lanes"
	attrAssets      = "assets"
	attrOpened      = "opened"
	attrOpenedAt    = "openedAt"
	attrMetadata    = "metadata"
	attrMinimum     = "minimum"
	attrPosted      = "posted"
	attrReserved    = "reserved"
	attrAvailable   = "available"
	attrOpenCount   = "reservations"
	attrSlots       = "slots"
	attrMonths      = "months"
	attrClosed      = "closed"
	attrBaseCount   = "baseCount"
	attrBaseSum     = "baseSum"
	attrBaseX       = "baseX"
	attrBaseY       = "baseY"
	attrTransaction = "transaction"
	attrLine        = "line"
	attrEffective   = "effectiveAt"
	attrRecorded    = "recordedAt"
	attrSource      = "source"
	attrState       = "state"
	attrReason      = "reason"
	attrFingerprint = "fingerprint"
	attrLines       = "lines"
	attrBucket      = "bucket"
	attrReverses    = "reverses"
	attrCorrects    = "corrects"
	attrCaptures    = "captures"
	attrReversedBy  = "reversedBy"
	attrCorrectedBy = "correctedBy"
	attrCount       = "count"
	attrLeft        = "left"
	attrExpires     = "expires"
	attrCreatedAt   = "createdAt"
	attrEndedAt     = "endedAt"
	attrSealedAt    = "sealedAt"
	attrSum         = "sum"
	attrX           = "x"
	attrY           = "y"

	attrThroughCount = "throughCount"
	attrThroughSum   = "throughSum"
	attrThroughX     = "throughX"
	attrThroughY     = "throughY"

	attrDuePK      = "duePk"
	attrDueSK      = "dueSk"
	attrHeldPK     = "heldPk"
	attrHeldSK     = "heldSk"
	attrID         = "reservation"
	attrCapturedBy = "capturedBy"
)

// attributes are the names that no table may use for its key, besides those of the months.
var attributes = []string{
	attrFormat, attrVersion, attrStatus, attrSide, attrAsset, attrClass, attrScale, attrAmount, attrAccount, attrStripe, attrLane,
	attrStripes, attrLanes, attrAssets, attrOpened, attrOpenedAt, attrMetadata, attrMinimum, attrPosted, attrReserved, attrAvailable,
	attrOpenCount, attrSlots, attrMonths, attrClosed, attrBaseCount, attrBaseSum, attrBaseX, attrBaseY, attrTransaction, attrLine,
	attrEffective, attrRecorded, attrSource, attrState, attrReason, attrFingerprint, attrLines, attrBucket, attrReverses,
	attrCorrects, attrCaptures, attrReversedBy, attrCorrectedBy, attrCount, attrLeft, attrExpires, attrCreatedAt, attrEndedAt,
	attrSealedAt, attrSum, attrX, attrY, attrThroughCount, attrThroughSum, attrThroughX, attrThroughY, attrDuePK, attrDueSK, attrHeldPK, attrHeldSK, attrID,
	attrCapturedBy, txn.MarkAttribute, txn.UpdateMarkAttribute,
}

// projected are the attributes that the indexes of open reservations have besides keys.
var projected = []string{attrFormat, attrID, attrAccount, attrAsset, attrClass, attrScale, attrStripe, attrLeft, attrVersion, attrExpires}

// markBytes is what txn adds to a record that it puts: the attribute and a mark of at most 36 bytes.
const markBytes = len(txn.MarkAttribute) + 36

// The classes of assets, as keys and records spell them.
const (
	classCash     = "CASH"
	classSecurity = "SEC"
)

func classOf(c money.Currency) string {
	if c.Kind() == money.KindSecurity {
		return classSecurity
	}
	return classCash
}

// currencyOf makes the currency that a record names. A code of ISO 4217 has the scale that was stored, whatever
// the table says today.
func currencyOf(code, class string, scale int64) (money.Currency, bool) {
	kind := money.KindCash
	switch class {
	case classCash:
	case classSecurity:
		kind = money.KindSecurity
	default:
		return money.Currency{}, false
	}
	if scale < 0 || scale > money.MaxScale {
		return money.Currency{}, false
	}
	if c, err := money.Define(code, int(scale), kind); err == nil {
		return c, true
	}
	zero, err := money.Registry{}.Decode(&types.AttributeValueMemberM{Value: txn.Item{
		"a": number("0"), "c": text(code), "s": integer(scale),
	}})
	return zero.Currency(), err == nil && kind == money.KindCash
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
func integer(n int64) types.AttributeValue { return number(strconv.FormatInt(n, 10)) }
func amount(a money.Amount) types.AttributeValue {
	return number(a.MinorUnits())
}

// Substitutions that every expression draws from. They are shared and never changed.
var (
	formatValue   = number(recordFormat)
	zeroValue     = number("0")
	oneValue      = number("1")
	openValue     = text(string(StatusOpen))
	debitValue    = text(string(DebitSide))
	creditValue   = text(string(CreditSide))
	maxOpenMonths = integer(MaxOpenMonths)
)

// Names that expressions of one kind have in common. They are shared and never changed.
var statusName = map[string]string{"#status": attrStatus}

// values makes attribute values in blocks, which takes fewer allocations than one by one.
type values struct {
	texts   []types.AttributeValueMemberS
	numbers []types.AttributeValueMemberN
}

func newValues(texts, numbers int) *values {
	return &values{make([]types.AttributeValueMemberS, 0, texts), make([]types.AttributeValueMemberN, 0, numbers)}
}

func (v *values) text(s string) types.AttributeValue {
	v.texts = append(v.texts, types.AttributeValueMemberS{Value: s})
	return &v.texts[len(v.texts)-1]
}

func (v *values) number(s string) types.AttributeValue {
	v.numbers = append(v.numbers, types.AttributeValueMemberN{Value: s})
	return &v.numbers[len(v.numbers)-1]
}

// key makes the key attributes of a record, in an item that gets further attributes up to n.
func (v *values) key(t txn.Table, key keys.Key, n int) txn.Item {
	item := make(txn.Item, n)
	item[t.PK], item[t.SK] = v.text(key.PK), v.text(key.SK)
	return item
}

func (v *values) integer(n int64) types.AttributeValue { return v.number(strconv.FormatInt(n, 10)) }

// limits of what a caller says in words.
const (
	maxMetadata      = 50
	maxMetadataBytes = 16 * 1024
	maxReasonBytes   = 1024
)

func checkMetadata(what, id string, metadata map[string]string) error {
	if len(metadata) > maxMetadata {
		return &LimitError{What: what, ID: id, Limit: "entries of metadata", Max: maxMetadata}
	}
	size := 0
	for name, value := range metadata {
		if name == "" || !utf8.ValidString(name) || !utf8.ValidString(value) {
			return &InvalidError{What: what, ID: id, Field: "Metadata", Reason: "has an empty name, or text that is not valid UTF-8"}
		}
		size += len(name) + len(value)
	}
	if size > maxMetadataBytes {
		return &LimitError{What: what, ID: id, Limit: "bytes of metadata", Max: maxMetadataBytes}
	}
	return nil
}

func metadataValue(metadata map[string]string) types.AttributeValue {
	m := make(txn.Item, len(metadata))
	for name, value := range metadata {
		m[name] = text(value)
	}
	return &types.AttributeValueMemberM{Value: m}
}

// decoder reads attributes and keeps the first one that is not as it should be.
type decoder struct {
	record string // for people
	item   txn.Item
	err    error
}

func (d *decoder) fail(attribute string) {
	if d.err == nil {
		d.err = &RecordError{Record: d.record, Attribute: attribute}
	}
}

// decode starts reading a record of this format.
func decode(record string, item txn.Item) *decoder {
	d := &decoder{record: record, item: item}
	if v, ok := item[attrFormat].(*types.AttributeValueMemberN); !ok || v.Value != recordFormat {
		d.fail(attrFormat)
	}
	return d
}

func (d *decoder) has(name string) bool { _, ok := d.item[name]; return ok }

func (d *decoder) text(name string) string {
	s, ok := d.item[name].(*types.AttributeValueMemberS)
	if !ok || s.Value == "" {
		d.fail(name)
		return ""
	}
	return s.Value
}

func (d *decoder) optionalText(name string) string {
	if !d.has(name) {
		return ""
	}
	return d.text(name)
}

func (d *decoder) digits(name string) string {
	n, ok := d.item[name].(*types.AttributeValueMemberN)
	if !ok {
		d.fail(name)
		return "0"
	}
	return n.Value
}

// count reads a whole number from zero; a missing one is zero if it is optional.
func (d *decoder) count(name string) int64 {
	n, err := strconv.ParseInt(d.digits(name), 10, 64)
	if err != nil || n < 0 {
		d.fail(name)
		return 0
	}
	return n
}

func (d *decoder) optionalCount(name string) int64 {
	if !d.has(name) {
		return 0
	}
	return d.count(name)
}

func (d *decoder) amount(name string, c money.Currency) money.Amount {
	a, err := money.ParseMinor(d.digits(name), c)
	if err != nil {
		d.fail(name)
		return money.Zero(c)
	}
	return a
}

func (d *decoder) optionalAmount(name string, c money.Currency) money.Amount {
	if !d.has(name) {
		return money.Zero(c)
	}
	return d.amount(name, c)
}

func (d *decoder) half(name string) half {
	if !d.has(name) {
		return half{}
	}
	h, ok := parseHalf(d.digits(name))
	if !ok {
		d.fail(name)
	}
	return h
}

func (d *decoder) time(name string) time.Time {
	t, err := keys.ParseTime(d.text(name))
	if err != nil {
		d.fail(name)
	}
	return t
}

func (d *decoder) currency() money.Currency {
	c, ok := currencyOf(d.text(attrAsset), d.text(attrClass), d.count(attrScale))
	if !ok {
		d.fail(attrAsset)
	}
	return c
}

func (d *decoder) metadata() map[string]string {
	if !d.has(attrMetadata) {
		return nil
	}
	m, ok := d.item[attrMetadata].(*types.AttributeValueMemberM)
	if !ok {
		d.fail(attrMetadata)
		return nil
	}
	all := make(map[string]string, len(m.Value))
	for name, value := range m.Value {
		s, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			d.fail(attrMetadata)
			return nil
		}
		all[name] = s.Value
	}
	return all
}

// tooLong says whether an amount has more digits than a ledger keeps.
func tooLong(a money.Amount) bool {
	if _, err := a.MinorInt64(); err == nil {
		return false
	}
	return len(a.Abs().MinorUnits()) > MaxDigits
}
