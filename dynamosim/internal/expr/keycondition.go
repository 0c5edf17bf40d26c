package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// KeyOp is the comparison of one key condition.
type KeyOp uint8

// The comparisons of key conditions.
const (
	KeyEqual KeyOp = iota + 1
	KeyLess
	KeyLessOrEqual
	KeyGreater
	KeyGreaterOrEqual
	KeyBetween
	KeyBeginsWith
)

// KeyTerm is one comparison of a key attribute with a value. Value is the lower bound of a BETWEEN and High the upper.
type KeyTerm struct {
	Name  string
	Op    KeyOp
	Value value.Value
	High  value.Value
}

// KeyCondition is a parsed key condition: its terms in the order written, at most one for each attribute. Which of them is the
// partition key, and whether number, operators and types fit the schema, is for the engine to say.
type KeyCondition struct {
	Terms []KeyTerm
}

// ParseKeyCondition parses the text of a KeyConditionExpression. It is a condition of comparisons joined by AND, each between
// one top-level attribute and values; in a comparison, the value may stand first.
func ParseKeyCondition(src string, subs *Subs) (*KeyCondition, error) {
	p, err := newParser(KeyConditionExpression, src, subs)
	if err != nil {
		return nil, err
	}
	root, err := p.condition()
	if err != nil {
		return nil, err
	}
	keys := &KeyCondition{}
	if message := keys.collect(root); message != "" {
		return nil, &Error{message}
	}
	return keys, nil
}

// Matches reports whether a key value satisfies the term. Values of another type never do.
func (t KeyTerm) Matches(v value.Value) bool {
	switch t.Op {
	case KeyEqual:
		return v == t.Value
	case KeyLess:
		return compare('<', v, t.Value)
	case KeyLessOrEqual:
		return compare(tokenLessOrEqual, v, t.Value)
	case KeyGreater:
		return compare('>', v, t.Value)
	case KeyGreaterOrEqual:
		return compare(tokenGreaterOrEqual, v, t.Value)
	case KeyBetween:
		return compare(tokenGreaterOrEqual, v, t.Value) && compare(tokenLessOrEqual, v, t.High)
	case KeyBeginsWith:
		return value.BeginsWith(v, t.Value)
	default:
		return false
	}
}

// collect turns the condition into terms; the answer is the text of the first thing that is not allowed.
func (k *KeyCondition) collect(n node) string {
	switch n := n.(type) {
	case *andNode:
		if message := k.collect(n.left); message != "" {
			return message
		}
		return k.collect(n.right)
	case *compareNode:
		return k.compared(n)
	case *betweenNode:
		if n.what.path == nil {
			return msgKeyFirst("BETWEEN")
		}
		return k.add(KeyBetween, n.what, n.low, n.high)
	case *beginsNode:
		if n.what.path == nil {
			return msgKeyFirst("begins_with")
		}
		return k.add(KeyBeginsWith, n.what, n.prefix)
	default:
		return msgKeyOperator(operatorName(n))
	}
}

func operatorName(n node) string {
	switch n := n.(type) {
	case *orNode:
		return "OR"
	case *notNode:
		return "NOT"
	case *inNode:
		return "IN"
	case *typeNode:
		return "attribute_type"
	case *containsNode:
		return "contains"
	case *existsNode:
		if n.want {
			return "attribute_exists"
		}
	}
	return "attribute_not_exists"
}

// compared takes path op value, or value op path turned round.
func (k *KeyCondition) compared(n *compareNode) string {
	op, turned := keyOp(n.op)
	switch {
	case op == 0:
		return msgKeyOperator("<>")
	case n.left.path == nil:
		return k.add(turned, n.right, n.left)
	default:
		return k.add(op, n.left, n.right)
	}
}

// keyOp returns the comparison of an operator, and that of the operator with its sides exchanged.
func keyOp(operator tokenKind) (op, turned KeyOp) {
	switch operator {
	case '=':
		return KeyEqual, KeyEqual
	case '<':
		return KeyLess, KeyGreater
	case tokenLessOrEqual:
		return KeyLessOrEqual, KeyGreaterOrEqual
	case '>':
		return KeyGreater, KeyLess
	case tokenGreaterOrEqual:
		return KeyGreaterOrEqual, KeyLessOrEqual
	default:
		return 0, 0
	}
}

func (k *KeyCondition) add(op KeyOp, key operand, values ...operand) string {
	if key.path == nil {
		return msgNoName
	}
	for _, o := range append(values, key) {
		if o.sizeOf {
			return msgNestedOperation
		}
	}
	for _, o := range values {
		if o.path != nil {
			return msgManyNames
		}
	}
	if len(key.path) > 1 {
		return msgNestedPath
	}
	t := KeyTerm{Name: key.path[0].name, Op: op, Value: values[0].value}
	if op == KeyBetween {
		t.High = values[1].value
	}
	for _, other := range k.Terms {
		if other.Name == t.Name {
			return msgOnePerKey
		}
	}
	k.Terms = append(k.Terms, t)
	return ""
}
