package txn

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Option says something about one of the caller's own writes. A nil Option says nothing.
type Option func(*options)

type options struct {
	label    string
	ifAbsent bool
	noFence  bool
	when     *expression.ConditionBuilder
	explain  func(old Item) error
}

// IfAbsent makes the write conditional on the item not existing. On a Put it is also a fence (see [Write.Fence]):
// use [MayBeDeleted] beside it if the item can be deleted again.
func IfAbsent() Option { return func(o *options) { o.ifAbsent = true } }

// MayBeDeleted says that an item created with [IfAbsent] can be deleted again, so that its existence does not keep a
// repeated request from creating it a second time.
func MayBeDeleted() Option { return func(o *options) { o.noFence = true } }

// If makes the write conditional. With [IfAbsent] both must hold.
func If(condition expression.ConditionBuilder) Option {
	return func(o *options) { o.when = &condition }
}

// Label names the part in errors, observations and cost reports. Default: the action and the table, "Put Orders".
func Label(label string) Option { return func(o *options) { o.label = label } }

// Explain turns a failed condition into the caller's own error. The function gets the stored item, nil if there is
// none; it costs no read. Without it the reason is a [ConditionError].
func Explain(explain func(old Item) error) Option {
	return func(o *options) { o.explain = explain }
}

// Put returns a Part that stores an item. Cost: 2 write units for each KiB begun of the larger of the old and the new
// item, and the ordinary units of every index entry that changes.
func Put(table Table, item Item, opts ...Option) Part {
	table = table.WithDefaults(table.Name)
	return own(Write{Action: ActionPut, Table: table, Item: item}, expression.NewBuilder(), false, opts)
}

// Update returns a Part that changes the item at key. Cost: as for [Put].
func Update(table Table, key Item, update expression.UpdateBuilder, opts ...Option) Part {
	builder := expression.NewBuilder().WithUpdate(update)
	return own(Write{Action: ActionUpdate, Table: table, Key: key}, builder, true, opts)
}

// Delete returns a Part that removes the item at key. Cost: 2 write units for each KiB begun of the old item.
func Delete(table Table, key Item, opts ...Option) Part {
	return own(Write{Action: ActionDelete, Table: table, Key: key}, expression.NewBuilder(), false, opts)
}

// Check returns a Part that writes nothing and needs its condition, given with [If], to hold for the item at key when
// the others are written. Cost: 2 write units for each KiB begun of the item.
func Check(table Table, key Item, opts ...Option) Part {
	return own(Write{Action: ActionCheck, Table: table, Key: key}, expression.NewBuilder(), false, opts)
}

// absent is the condition of IfAbsent; the partition key attribute stands for the item.
const absent = "attribute_not_exists(#txnPK)"

func own(write Write, builder expression.Builder, built bool, opts []Option) Part {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	write.Table = write.Table.WithDefaults(write.Table.Name)
	label := o.label
	if label == "" {
		label = write.Action.String() + " " + write.Table.Name
	}
	if o.when != nil {
		builder = builder.WithCondition(*o.when)
	}
	if built || o.when != nil {
		expr, err := builder.Build()
		if err != nil {
			return BadPart(label, err)
		}
		write.Update = text(expr.Update())
		write.Condition = text(expr.Condition())
		write.Names, write.Values = expr.Names(), expr.Values()
	}
	if o.ifAbsent {
		write.requireAbsent()
		write.Fence = write.Action == ActionPut && !o.noFence
	}
	write.Explain = o.explain
	return NewPart(label, write)
}

// requireAbsent joins the condition that the item does not exist with the one that is there.
func (w *Write) requireAbsent() {
	if w.Condition == "" {
		w.Condition = absent
	} else {
		w.Condition = absent + " AND (" + w.Condition + ")"
	}
	names := maps.Clone(w.Names)
	if names == nil {
		names = make(map[string]string, 1)
	}
	names["#txnPK"] = w.Table.PK
	w.Names = names
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// stringValue returns the text of a string attribute; ok is false for any other.
func stringValue(v types.AttributeValue) (text string, ok bool) {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return "", false
	}
	return s.Value, true
}
