package expr

import (
	"strconv"
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Limits of one expression.
const (
	maxExpressionBytes = 4096
	maxOperators       = 300
	maxInOperands      = 100
)

// parser holds what the grammars share: two tokens of look-ahead, substitution, paths, and the faults found so far.
type parser struct {
	lexer
	subs      *Subs
	last      token // the token before tok
	tok       token
	ahead     token
	faults    faults
	paths     []path // every path read, in order
	operators int
}

// newParser checks the text as a whole and reads the first tokens.
func newParser(kind Kind, src string, subs *Subs) (*parser, error) {
	p := &parser{lexer: lexer{src: src, kind: kind}, subs: subs}
	switch {
	case strings.TrimLeft(src, " \t\r\n") == "":
		return nil, p.fail(msgEmpty)
	case len(src) > maxExpressionBytes:
		return nil, p.fail(msgSize(len(src)))
	}
	p.tok, p.ahead = p.next(), p.next()
	p.last = token{start: p.tok.start, end: p.tok.start}
	return p, nil
}

// done ends an expression: nothing may follow, and the worst fault, if any, is its error.
func (p *parser) done() error {
	if p.tok.kind != tokenEnd {
		return p.syntaxError()
	}
	if p.operators > maxOperators {
		p.faults.add(faultLimit, msgOperators(p.operators))
	}
	if message := p.faults.worst(); message != "" {
		return p.fail(message)
	}
	return nil
}

func (p *parser) fail(message string) error { return &Error{msgPrefix(p.kind) + message} }

// syntaxError refuses the current token and shows it between its neighbours.
func (p *parser) syntaxError() error {
	shown, end := p.text(p.tok), p.ahead.end
	if p.ahead.kind == tokenEnd {
		end = p.tok.end
	}
	if p.tok.kind == tokenEnd {
		shown, end = "<EOF>", p.last.end
	}
	return p.fail(msgSyntax(shown, p.src[p.last.start:end]))
}

func (p *parser) text(t token) string { return p.src[t.start:t.end] }

func (p *parser) advance() { p.last, p.tok, p.ahead = p.tok, p.ahead, p.next() }

// accept steps over a token of a kind, if it is there.
func (p *parser) accept(kind tokenKind) bool {
	if p.tok.kind != kind {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(kind tokenKind) error {
	if !p.accept(kind) {
		return p.syntaxError()
	}
	return nil
}

// path reads name.name[0].#name and remembers it.
func (p *parser) path() (path, error) {
	first, err := p.name()
	if err != nil {
		return nil, err
	}
	steps, err := p.pathTail(append(make(path, 0, 2), first))
	if err != nil {
		return nil, err
	}
	p.paths = append(p.paths, steps)
	return steps, nil
}

// pathTail reads the .name and [0] that follow a path.
func (p *parser) pathTail(steps path) (path, error) {
	for {
		switch {
		case p.accept('.'):
			s, err := p.name()
			if err != nil {
				return nil, err
			}
			steps = append(steps, s)
		case p.accept('['):
			digits := p.text(p.tok)
			if err := p.expect(tokenNumber); err != nil {
				return nil, err
			}
			index, err := strconv.ParseInt(digits, 10, 32)
			if err != nil {
				p.faults.add(faultOperand, msgListIndex(digits))
			}
			if err := p.expect(']'); err != nil {
				return nil, err
			}
			steps = append(steps, step{index: int(index), isIndex: true})
		default:
			return steps, nil
		}
	}
}

// name reads one name of a path and resolves it.
func (p *parser) name() (step, error) {
	word := p.text(p.tok)
	switch p.tok.kind {
	case tokenName:
		if isReserved(word) {
			p.faults.add(p.reservedRank(), msgReserved(word))
		}
	case tokenNameRef:
		name, ok := p.subs.name(word)
		if !ok {
			p.faults.add(faultNameRef, msgUndefinedName(word))
		}
		word = name
	default:
		return step{}, p.syntaxError()
	}
	p.advance()
	return step{name: word}, nil
}

// reservedRank: an update reports reserved words first, a condition only after its functions.
func (p *parser) reservedRank() rank {
	if p.kind == UpdateExpression || p.kind == ProjectionExpression {
		return faultReservedUpdate
	}
	return faultReserved
}

// value reads a :value, which is the current token. An undefined one is the zero Value and a fault.
func (p *parser) value() value.Value {
	ref := p.text(p.tok)
	v, ok := p.subs.value(ref)
	if !ok {
		p.faults.add(p.valueRank(), msgUndefinedValue(ref))
	}
	p.advance()
	return v
}

// valueRank: in an update, every undefined name counts before every undefined value; in a condition the first of either.
func (p *parser) valueRank() rank {
	if p.kind == UpdateExpression {
		return faultValueRef
	}
	return faultNameRef
}

// checkDisjoint refuses paths of which one holds another, and paths that contradict each other. An overlap counts more.
func (p *parser) checkDisjoint(paths []path) {
	for i, two := range paths {
		for _, one := range paths[:i] {
			switch relate(one, two) {
			case overlap:
				p.faults.add(faultOverlap, msgOverlap(one, two))
				return
			case conflict:
				if p.faults[faultConflict] == "" {
					p.faults.add(faultConflict, msgConflict(one, two))
				}
			}
		}
	}
}
