package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// Condition is a parsed condition or filter expression.
type Condition struct{}

// ParseCondition parses the text of a ConditionExpression or FilterExpression.
func ParseCondition(kind Kind, src string, subs *Subs) (*Condition, error) { return nil, nil }

// Eval applies the condition to an item; the zero item stands for an item that does not exist. An error is an operand
// of a type the condition cannot work on; most mismatches are simply false.
func (c *Condition) Eval(item value.Item) (bool, error) { return false, nil }

// Names returns the top-level attributes the condition reads. The engine refuses key attributes in a filter with it.
func (c *Condition) Names() []string { return nil }
