package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// Condition is a parsed condition or filter expression.
type Condition struct {
	root  node
	paths []path
}

// ParseCondition parses the text of a ConditionExpression or FilterExpression; kind says which, for the error texts.
func ParseCondition(kind Kind, src string, subs *Subs) (*Condition, error) {
	p, err := newParser(kind, src, subs)
	if err != nil {
		return nil, err
	}
	root, err := p.condition()
	if err != nil {
		return nil, err
	}
	return &Condition{root: root, paths: p.paths}, nil
}

// Eval applies the condition to an item; the zero item stands for an item that does not exist. The error is always nil
// today: operands of the wrong type make a comparison false, and what can be refused is refused at parsing.
func (c *Condition) Eval(item value.Item) (bool, error) { return c.root.eval(item), nil }

// Names returns the top-level attributes the condition reads, sorted, each once. The engine refuses filters on key
// attributes with it.
func (c *Condition) Names() []string { return topNames(c.paths) }

// Nested returns those of Names that the condition reaches into, which is refused where they are keys.
func (c *Condition) Nested() []string { return nestedNames(c.paths) }
