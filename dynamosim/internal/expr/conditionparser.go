package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// term is what the condition grammar is made of: a condition, or an operand that becomes part of one. Only what follows a
// closing parenthesis tells which of the two it enclosed.
type term struct {
	cond    node // nil for an operand
	operand operand
	fn      string // the function it is, if it is one and nothing else
	parens  bool   // enclosed in parentheses, and nothing followed them
}

// condition reads a whole condition expression.
func (p *parser) condition() (node, error) {
	t, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, p.syntaxError()
	}
	root, err := p.asCondition(t)
	if err != nil {
		return nil, err
	}
	return root, p.done()
}

func (p *parser) or() (term, error) {
	left, err := p.and()
	for err == nil && p.tok.kind == tokenOr {
		left, err = p.combine(left, p.and, func(l, r node) node { return &orNode{l, r} })
	}
	return left, err
}

func (p *parser) and() (term, error) {
	left, err := p.not()
	for err == nil && p.tok.kind == tokenAnd {
		left, err = p.combine(left, p.not, func(l, r node) node { return &andNode{l, r} })
	}
	return left, err
}

// combine reads the AND or OR that is the current token and the condition after it.
func (p *parser) combine(left term, read func() (term, error), join func(l, r node) node) (term, error) {
	l, err := p.asCondition(left)
	if err != nil {
		return term{}, err
	}
	p.operators++
	p.advance()
	right, err := read()
	if err != nil {
		return term{}, err
	}
	r, err := p.asCondition(right)
	return term{cond: join(l, r)}, err
}

func (p *parser) not() (term, error) {
	if p.tok.kind != tokenNot {
		return p.comparison()
	}
	p.operators++
	p.advance()
	t, err := p.not()
	if err != nil {
		return term{}, err
	}
	inner, err := p.asCondition(t)
	return term{cond: &notNode{inner}}, err
}

// comparison reads a term and what may compare it: an operator, BETWEEN or IN.
func (p *parser) comparison() (term, error) {
	left, err := p.term()
	if err != nil {
		return term{}, err
	}
	var cond node
	switch p.tok.kind {
	case '=', '<', '>', tokenNotEqual, tokenLessOrEqual, tokenGreaterOrEqual:
		cond, err = p.compared(left)
	case tokenBetween:
		cond, err = p.between(left)
	case tokenIn:
		cond, err = p.in(left)
	default:
		if left.cond != nil {
			p.faults.settle()
		}
		return left, nil
	}
	if err != nil {
		return term{}, err
	}
	p.operators++
	p.faults.settle()
	return term{cond: cond}, nil
}

func (p *parser) compared(left term) (node, error) {
	l, err := p.asOperand(left)
	if err != nil {
		return nil, err
	}
	op, symbol := p.tok.kind, p.text(p.tok)
	p.advance()
	r, err := p.operand()
	if err != nil {
		return nil, err
	}
	p.checkDistinct(symbol, l, r)
	if op != '=' && op != tokenNotEqual {
		p.checkOrdered(symbol, l, r)
	}
	return &compareNode{op, l, r}, nil
}

func (p *parser) between(left term) (node, error) {
	what, err := p.asOperand(left)
	if err != nil {
		return nil, err
	}
	p.advance()
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.expect(tokenAnd); err != nil {
		return nil, err
	}
	high, err := p.operand()
	if err != nil {
		return nil, err
	}
	p.checkOrdered("BETWEEN", what, low, high)
	p.checkBounds(low.value, high.value)
	return &betweenNode{what, low, high}, nil
}

func (p *parser) in(left term) (node, error) {
	what, err := p.asOperand(left)
	if err != nil {
		return nil, err
	}
	p.advance()
	list, err := p.operands()
	if err != nil {
		return nil, err
	}
	if len(list) > maxInOperands {
		p.faults.add(faultOperand, msgInOperands(len(list)))
	}
	return &inNode{what, list}, nil
}

// term reads an operand, a function, or something in parentheses.
func (p *parser) term() (term, error) {
	switch {
	case p.tok.kind == '(':
		return p.enclosed()
	case p.tok.kind == tokenValueRef:
		return term{operand: operand{value: p.value()}}, nil
	case p.tok.kind == tokenName && p.ahead.kind == '(':
		return p.function()
	default:
		path, err := p.path()
		return term{operand: operand{path: path}}, err
	}
}

func (p *parser) enclosed() (term, error) {
	p.advance()
	inner, err := p.or()
	if err != nil {
		return term{}, err
	}
	if err := p.expect(')'); err != nil {
		return term{}, err
	}
	if inner.parens {
		p.faults.add(faultParens, msgParens)
	}
	inner.parens = true
	if inner.cond == nil && inner.operand.path != nil && !inner.operand.sizeOf {
		steps, err := p.pathTail(inner.operand.path)
		if err != nil {
			return term{}, err
		}
		inner.parens = len(steps) == len(inner.operand.path)
		inner.operand.path = steps
	}
	return inner, nil
}

// operand reads a term that must be an operand.
func (p *parser) operand() (operand, error) {
	t, err := p.term()
	if err != nil {
		return operand{}, err
	}
	return p.asOperand(t)
}

// operands reads (operand, operand, ...).
func (p *parser) operands() ([]operand, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	var list []operand
	for {
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
		if !p.accept(',') {
			return list, p.expect(')')
		}
	}
}

// asCondition refuses an operand where a condition must stand. A size there is a misused function, all else is a comparison
// that the current token fails to go on with.
func (p *parser) asCondition(t term) (node, error) {
	if t.cond != nil {
		return t.cond, nil
	}
	if t.fn != "" {
		p.faults.add(faultMisused, msgMisusedFunction(t.fn))
		return faultyNode{}, nil
	}
	return nil, p.syntaxError()
}

// asOperand refuses a condition where an operand must stand.
func (p *parser) asOperand(t term) (operand, error) {
	if t.cond == nil {
		return t.operand, nil
	}
	if t.fn != "" {
		p.faults.add(faultMisused, msgMisusedFunction(t.fn))
		return operand{}, nil
	}
	return operand{}, p.syntaxError()
}

// checkDistinct refuses a comparison of a path with itself.
func (p *parser) checkDistinct(operator string, l, r operand) {
	if l.path != nil && r.path != nil && !l.sizeOf && !r.sizeOf && comparePaths(l.path, r.path) == 0 {
		p.faults.add(faultDistinct, msgDistinct(operator, l.path))
	}
}

// checkOrdered refuses values that have no order.
func (p *parser) checkOrdered(operator string, operands ...operand) {
	for _, o := range operands {
		if kind := o.kind(); kind != 0 && !kind.Ordered() {
			p.faults.add(faultType, msgOperandType(operator, kind.String()))
		}
	}
}

// checkBounds compares the bounds of a BETWEEN that are both values.
func (p *parser) checkBounds(low, high value.Value) {
	if low.IsZero() || high.IsZero() {
		return
	}
	if low.Kind() != high.Kind() {
		p.faults.add(faultType, msgBetweenTypes(low, high))
		return
	}
	if order, ok := value.Compare(low, high); ok && order > 0 {
		p.faults.add(faultType, msgBetweenOrder(low, high))
	}
}
