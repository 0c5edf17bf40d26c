package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// function reads name(operand, ...), whose name is the current token. Names of functions are case-sensitive.
func (p *parser) function() (term, error) {
	name := p.text(p.tok)
	p.advance()
	args, err := p.operands()
	if err != nil {
		return term{}, err
	}
	p.operators++
	count, known := conditionFunctions[name]
	switch {
	case !known:
		p.faults.add(faultFunctionName, msgUnknownFunction(name))
		return term{cond: faultyNode{}, fn: name}, nil
	case count != len(args):
		p.faults.add(faultOperand, msgOperandCount(name, len(args)))
		return term{cond: faultyNode{}, fn: name}, nil
	}
	if count == 2 {
		p.checkDistinct(name, args[0], args[1])
	}
	if name == "size" {
		return term{operand: p.size(args[0]), fn: name}, nil
	}
	return term{cond: p.predicate(name, args), fn: name}, nil
}

// conditionFunctions lists the functions of conditions and how many operands each takes.
var conditionFunctions = map[string]int{
	"attribute_exists":     1,
	"attribute_not_exists": 1,
	"attribute_type":       2,
	"begins_with":          2,
	"contains":             2,
	"size":                 1,
}

func (p *parser) predicate(name string, args []operand) node {
	switch name {
	case "attribute_type":
		return p.attributeType(args)
	case "begins_with":
		for _, o := range args {
			if kind := o.kind(); kind != 0 && kind != value.S && kind != value.B {
				p.faults.add(faultType, msgOperandType(name, kind.String()))
			}
		}
		return &beginsNode{args[0], args[1]}
	case "contains":
		return &containsNode{args[0], args[1]}
	default:
		if args[0].path == nil || args[0].sizeOf {
			p.faults.add(faultType, msgNeedsPath(name))
			return faultyNode{}
		}
		return &existsNode{args[0].path, name == "attribute_exists"}
	}
}

// attributeType needs the name of a type as a :value.
func (p *parser) attributeType(args []operand) node {
	wanted := args[1]
	if wanted.path != nil || wanted.kind() != value.S {
		shown := anyType
		if kind := wanted.kind(); kind != 0 {
			shown = kind.String()
		}
		p.faults.add(faultType, msgOperandType("attribute_type", shown))
		return faultyNode{}
	}
	kind, ok := value.ParseKind(wanted.value.Text())
	if !ok {
		p.faults.add(faultType, msgTypeName(wanted.value.Text()))
	}
	return &typeNode{args[0], kind}
}

// size of a path is measured at evaluation, size of a :value at once.
func (p *parser) size(arg operand) operand {
	if arg.path != nil && !arg.sizeOf {
		arg.sizeOf = true
		return arg
	}
	size, ok := sizeOf(arg.value)
	if !ok && arg.kind() != 0 {
		p.faults.add(faultType, msgOperandType("size", arg.kind().String()))
	}
	return operand{value: size}
}
