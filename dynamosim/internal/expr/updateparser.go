package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// update reads the sections of an update expression, each at most once.
func (p *parser) update() ([]action, error) {
	var actions []action
	var seen [verbs]bool
	for {
		verb, ok := sectionOf(p.tok.kind)
		if !ok {
			return nil, p.syntaxError()
		}
		if seen[verb] {
			p.faults.add(faultSection, msgSection(verbNames[verb]))
		}
		seen[verb] = true
		p.advance()
		for {
			a, err := p.action(verb)
			if err != nil {
				return nil, err
			}
			actions = append(actions, a)
			if !p.accept(',') {
				break
			}
		}
		if p.tok.kind == tokenEnd {
			return actions, nil
		}
	}
}

func sectionOf(kind tokenKind) (verb, bool) {
	switch kind {
	case tokenSet:
		return verbSet, true
	case tokenRemove:
		return verbRemove, true
	case tokenAdd:
		return verbAdd, true
	case tokenDelete:
		return verbDelete, true
	default:
		return 0, false
	}
}

func (p *parser) action(verb verb) (action, error) {
	target, err := p.path()
	if err != nil {
		return action{}, err
	}
	a := action{verb: verb, target: target}
	switch verb {
	case verbSet:
		if err := p.expect('='); err != nil {
			return action{}, err
		}
		a.source, err = p.sum()
	case verbAdd, verbDelete:
		if p.tok.kind != tokenValueRef {
			return action{}, p.syntaxError()
		}
		v := p.value()
		p.checkActionType(verb, v.Kind())
		a.source = valueSource{v}
	}
	return a, err
}

// checkActionType: ADD takes a number or a set, DELETE a set.
func (p *parser) checkActionType(verb verb, kind value.Kind) {
	if kind == 0 || kind.IsSet() || verb == verbAdd && kind == value.N {
		return
	}
	p.faults.add(faultOperand, msgActionType(verbNames[verb], kind))
}

// sum reads a source, or two with + or - between them.
func (p *parser) sum() (source, error) {
	left, err := p.source()
	if err != nil || p.tok.kind != '+' && p.tok.kind != '-' {
		return left, err
	}
	minus, symbol := p.tok.kind == '-', p.text(p.tok)
	p.operators++
	p.advance()
	right, err := p.source()
	if err != nil {
		return nil, err
	}
	p.checkSourceType(symbol, value.N, left, right)
	return &sumSource{left, right, minus}, nil
}

// source reads a :value, a path, a function, or a sum in parentheses.
func (p *parser) source() (source, error) {
	switch {
	case p.accept('('):
		inner, err := p.sum()
		if err != nil {
			return nil, err
		}
		return inner, p.expect(')')
	case p.tok.kind == tokenValueRef:
		return valueSource{p.value()}, nil
	case p.tok.kind == tokenName && p.ahead.kind == '(':
		return p.sourceFunction()
	default:
		path, err := p.path()
		return &pathSource{path}, err
	}
}

func (p *parser) sourceFunction() (source, error) {
	name := p.text(p.tok)
	p.advance()
	p.advance()
	var args []source
	for {
		arg, err := p.source()
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
		if !p.accept(',') {
			break
		}
	}
	if err := p.expect(')'); err != nil {
		return nil, err
	}
	p.operators++
	switch {
	case name != "if_not_exists" && name != "list_append":
		p.faults.add(faultFunctionName, msgUnknownFunction(name))
		return faultySource{}, nil
	case len(args) != 2:
		p.faults.add(faultType, msgOperandCount(name, len(args)))
		return faultySource{}, nil
	case name == "list_append":
		p.checkSourceType(name, value.L, args...)
		return &listAppendSource{args[0], args[1]}, nil
	}
	tested, ok := args[0].(*pathSource)
	if !ok {
		p.faults.add(faultType, msgNeedsPath(name))
		return faultySource{}, nil
	}
	return &ifNotExistsSource{tested.path, args[1]}, nil
}

// checkSourceType refuses a :value of another type than the operator works on.
func (p *parser) checkSourceType(operator string, want value.Kind, sources ...source) {
	for _, s := range sources {
		if v, ok := s.(valueSource); ok && !v.value.IsZero() && v.value.Kind() != want {
			p.faults.add(faultType, msgOperandType(operator, v.value.Kind().String()))
		}
	}
}
