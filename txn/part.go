package txn

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
)

// Item is a DynamoDB item: attribute names and values.
type Item = map[string]types.AttributeValue

// Table names a table and its key attributes.
type Table struct {
	// Name is the table's name. Required.
	Name string
	// PK names the partition key attribute. Default: "PK".
	PK string
	// SK names the sort key attribute. Default: "SK"; "-" says that the table has none.
	SK string
}

// NoSortKey is the value of [Table.SK] for a table without a sort key.
const NoSortKey = "-"

// WithDefaults returns the table with its empty fields filled in: name, "PK" and "SK".
func (t Table) WithDefaults(name string) Table {
	if t.Name == "" {
		t.Name = name
	}
	if t.PK == "" {
		t.PK = "PK"
	}
	if t.SK == "" {
		t.SK = "SK"
	}
	return t
}

// HasSortKey says whether the table has a sort key attribute.
func (t Table) HasSortKey() bool { return t.SK != NoSortKey }

// Key returns the key attributes of one item of the table. The sort key is left out where the table has none.
func (t Table) Key(pk, sk string) Item {
	t = t.WithDefaults(t.Name)
	key := Item{t.PK: &types.AttributeValueMemberS{Value: pk}}
	if t.HasSortKey() {
		key[t.SK] = &types.AttributeValueMemberS{Value: sk}
	}
	return key
}

// JoinKey writes a key value out of segments, for records of the caller's own: JoinKey("TEN", tenant, "ORDER", id). It joins
// them with # and writes # and % within a segment as %23 and %25, so that no tenant's or client's value can spell
// another's key: two different lists of segments never give one text.
func JoinKey(segments ...string) string { return keys.Join(segments...) }

// Action says what a write does to its item.
type Action uint8

// The four actions of TransactWriteItems.
const (
	ActionPut    Action = iota + 1 // stores Item, replacing what is there
	ActionUpdate                   // applies Update to the item at Key
	ActionDelete                   // removes the item at Key
	ActionCheck                    // writes nothing; its Condition must hold for the item at Key
)

// String returns the action's name as DynamoDB spells it.
func (a Action) String() string {
	switch a {
	case ActionPut:
		return "Put"
	case ActionUpdate:
		return "Update"
	case ActionDelete:
		return "Delete"
	case ActionCheck:
		return "ConditionCheck"
	default:
		return "unknown action"
	}
}

// Write is one action on one item. Packages that build Parts fill it in directly; callers have [Put], [Update],
// [Delete] and [Check].
//
// A Write is handed over with its Part: its maps must not be changed afterwards. Commit never changes them either.
type Write struct {
	// Action and Table say what is done and where. Both are required.
	Action Action
	Table  Table
	// Key is the primary key of the target of an Update, Delete or Check. A Put's key is taken from its Item.
	Key Item
	// Item is what a Put stores.
	Item Item
	// Update is an update expression.
	Update string
	// Condition is a condition expression; a Check needs one.
	Condition string
	// Names and Values are the substitutions of both expressions.
	Names  map[string]string
	Values map[string]types.AttributeValue
	// Fence says that the condition can never hold again once this write was applied: the record is created only if
	// absent and never deleted, or the condition names a version that only rises. A transaction with a fence may be sent
	// again after its answer was lost: the second copy cannot have a second effect. A Put with a fence also promises that
	// no other Put ever replaces the record. A fence needs a Condition, and a Check is none. See the package
	// documentation.
	Fence bool
	// Settles says that this write's failed condition can decide the whole transaction: Explain may return a [Settler].
	// While its item is busy or throttled the other reasons decide nothing, and the transaction is sent again: they
	// may be the work of this very command.
	Settles bool
	// Explain turns this write's failed condition into a typed error. It gets the stored item, nil if there is none,
	// and must not keep or change it. Without Explain the reason is a [ConditionError].
	Explain func(old Item) error
}

// Part is what one primitive, or one write of the caller's own, adds to a transaction.
// Parts are values without I/O: building one sends nothing, and a Part may be used for several attempts.
type Part struct {
	label  string
	writes []Write
	err    error
}

// NewPart returns a Part with its label, for example "AP16.create". The label names the part in errors,
// observations and cost reports.
func NewPart(label string, writes ...Write) Part {
	return Part{label: label, writes: writes}
}

// BadPart returns a Part that could not be built. Commit reports err and sends nothing, so that a constructor
// that returns a Part needs no second result.
func BadPart(label string, err error) Part {
	if err == nil {
		err = errors.New("no reason was given") // else the part would be taken for one without writes
	}
	return Part{label: label, err: err}
}

// Label returns the part's label.
func (p Part) Label() string { return p.label }

// Writes returns how many writes the part adds.
func (p Part) Writes() int { return len(p.writes) }

// Err returns the error of a part that could not be built, else nil.
func (p Part) Err() error { return p.err }
