package engine

import (
	"slices"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// verb is what an action does to its item.
type verb int

const (
	verbPut verb = iota
	verbUpdate
	verbDelete
	verbCheck
)

// action is one write or condition check, alone or in a transaction, after its text was parsed. It passes three gates:
// begin looks at the request alone, admit at the schema, evaluate at the stored item. Inside a transaction what begin
// refuses is an error of the request and, unless the failure says otherwise, what the others refuse a cancellation reason.
type action struct {
	verb      verb
	table     *table
	key       string
	item      value.Item // the item to put, or the key of the item to touch
	condition *expr.Condition
	update    *expr.Update
	// returnOld: a failed condition shows the stored item.
	returnOld bool
}

// expressions are the members that all write requests share.
type expressions struct {
	substitutions
	ConditionExpression                 *string
	UpdateExpression                    *string
	ReturnValuesOnConditionCheckFailure *string
}

// begin parses the expressions of an action.
func (in *expressions) begin(v verb, item value.Item) (*action, *failure) {
	a := &action{verb: v, item: item}
	a.returnOld = in.ReturnValuesOnConditionCheckFailure != nil && *in.ReturnValuesOnConditionCheckFailure == "ALL_OLD"
	subs, f := in.substitutions.begin(in.ConditionExpression != nil || in.UpdateExpression != nil)
	if f != nil {
		return nil, f
	}
	var err error
	if in.UpdateExpression != nil {
		if a.update, err = expr.ParseUpdate(*in.UpdateExpression, subs); err != nil {
			return nil, refused(err)
		}
	}
	if in.ConditionExpression != nil {
		if a.condition, err = expr.ParseCondition(expr.ConditionExpression, *in.ConditionExpression, subs); err != nil {
			return nil, refused(err)
		}
	}
	return a, refused(subs.Unused())
}

// admit finds the key of the action's item and checks the action against its table's schema.
func (a *action) admit(seed uint64) *failure {
	check := a.table.keys.checkKey
	if a.verb == verbPut {
		check = a.table.keys.checkItem
	}
	if f := check(a.item); f != nil {
		return f
	}
	a.key = string(a.table.keys.encode(seed, a.item))
	switch a.verb {
	case verbPut:
		return a.admitItem()
	case verbUpdate:
		return a.admitUpdate()
	default:
		return nil
	}
}

func (a *action) admitItem() *failure {
	if f := a.table.checkIndexKeys(a.item); f != nil {
		return f
	}
	if a.item.Size() > capacity.MaxItemBytes {
		return invalidRequest(msgItemSize)
	}
	return nil
}

func (a *action) admitUpdate() *failure {
	if a.update == nil {
		return nil
	}
	for _, name := range a.update.Names() {
		if a.table.keys.has(name) {
			return invalid(msgKeyUpdated(name))
		}
	}
	return nil
}

// evaluate decides what the action does to the item stored now, without doing it.
func (e *Engine) evaluate(a *action) (change, *failure) {
	stored := a.table.item(a.key)
	if a.condition != nil {
		holds, err := a.condition.Eval(stored.item)
		if err != nil {
			return change{}, invalid(err.Error())
		}
		if !holds {
			shown := value.Item{}
			if a.returnOld {
				shown = stored.item
			}
			return change{}, conditionFailed(shown)
		}
	}
	item, f := a.result(stored.item)
	if f != nil {
		return change{}, f
	}
	return e.newChange(a.table, a.key, stored, item), nil
}

// result is the item after the action.
func (a *action) result(stored value.Item) (value.Item, *failure) {
	switch a.verb {
	case verbPut:
		return a.item, nil
	case verbDelete:
		return value.Item{}, nil
	case verbCheck:
		return stored, nil
	}
	item := stored
	if item.IsEmpty() {
		item = a.item
	}
	if a.update == nil {
		return item, nil
	}
	item, err := a.update.Apply(item)
	if err != nil {
		return item, invalid(err.Error())
	}
	if f := a.table.checkUpdatedIndexKeys(item, a.update.Names()); f != nil {
		return item, f
	}
	if item.Size() > capacity.MaxItemBytes {
		return item, invalid(msgUpdatedItemSize)
	}
	return item, nil
}

// attempted is what the table charges for an action that a failed condition kept from happening: that of the larger of
// the stored item and the one to put. The service charges it without reporting it.
func (a *action) attempted() capacity.Units {
	after := 0
	if a.verb == verbPut {
		after = a.item.Size()
	}
	return capacity.Whole(capacity.ItemWriteUnits(a.table.item(a.key).size, after))
}

// sameItem reports whether two admitted actions touch one item.
func (a *action) sameItem(b *action) bool { return a.table == b.table && a.key == b.key }

// anySameItem finds out whether two of many actions touch one item. Actions with a bad key have none.
func anySameItem(actions []*action) bool {
	for i, a := range actions {
		if a.key != "" && slices.ContainsFunc(actions[:i], a.sameItem) {
			return true
		}
	}
	return false
}
