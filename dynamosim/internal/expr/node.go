package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// node is one condition of an expression tree.
type node interface {
	eval(item value.Item) bool
}

type (
	andNode struct{ left, right node }
	orNode  struct{ left, right node }
	notNode struct{ inner node }

	compareNode struct {
		op          tokenKind
		left, right operand
	}
	betweenNode struct{ what, low, high operand }
	inNode      struct {
		what operand
		list []operand
	}
	existsNode struct {
		path path
		want bool
	}
	typeNode struct {
		what operand
		kind value.Kind
	}
	beginsNode   struct{ what, prefix operand }
	containsNode struct{ what, part operand }

	// faultyNode stands where a fault was found; an expression with a fault is never evaluated.
	faultyNode struct{}
)

func (n andNode) eval(item value.Item) bool { return n.left.eval(item) && n.right.eval(item) }
func (n orNode) eval(item value.Item) bool  { return n.left.eval(item) || n.right.eval(item) }
func (n notNode) eval(item value.Item) bool { return !n.inner.eval(item) }
func (faultyNode) eval(value.Item) bool     { return false }

func (n *compareNode) eval(item value.Item) bool {
	left, ok := n.left.resolve(item)
	right, ok2 := n.right.resolve(item)
	if !ok || !ok2 {
		return n.op == tokenNotEqual // what is not there differs from everything
	}
	return compare(n.op, left, right)
}

// compare never mixes types: values of two types are only different.
func compare(op tokenKind, left, right value.Value) bool {
	switch op {
	case '=':
		return left == right
	case tokenNotEqual:
		return left != right
	}
	order, ok := value.Compare(left, right)
	if !ok {
		return false
	}
	switch op {
	case '<':
		return order < 0
	case tokenLessOrEqual:
		return order <= 0
	case '>':
		return order > 0
	default:
		return order >= 0
	}
}

func (n *betweenNode) eval(item value.Item) bool {
	what, ok := n.what.resolve(item)
	low, ok2 := n.low.resolve(item)
	high, ok3 := n.high.resolve(item)
	return ok && ok2 && ok3 && compare(tokenGreaterOrEqual, what, low) && compare(tokenLessOrEqual, what, high)
}

func (n *inNode) eval(item value.Item) bool {
	what, ok := n.what.resolve(item)
	if !ok {
		return false
	}
	for _, o := range n.list {
		if v, ok := o.resolve(item); ok && v == what {
			return true
		}
	}
	return false
}

func (n *existsNode) eval(item value.Item) bool {
	_, ok := n.path.resolve(item)
	return ok == n.want
}

func (n *typeNode) eval(item value.Item) bool {
	v, ok := n.what.resolve(item)
	return ok && v.Kind() == n.kind
}

func (n *beginsNode) eval(item value.Item) bool {
	what, ok := n.what.resolve(item)
	prefix, ok2 := n.prefix.resolve(item)
	return ok && ok2 && value.BeginsWith(what, prefix)
}

func (n *containsNode) eval(item value.Item) bool {
	what, ok := n.what.resolve(item)
	part, ok2 := n.part.resolve(item)
	return ok && ok2 && value.Contains(what, part)
}
