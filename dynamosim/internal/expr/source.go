package expr

import (
	"errors"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// source is the right-hand side of an action.
type source interface {
	from(item value.Item) (value.Value, error)
}

type (
	valueSource       struct{ value value.Value }
	pathSource        struct{ path path }
	ifNotExistsSource struct {
		path     path
		fallback source
	}
	listAppendSource struct{ head, tail source }
	sumSource        struct {
		left, right source
		minus       bool
	}

	// faultySource stands where a fault was found; an expression with a fault is never applied.
	faultySource struct{}
)

func (s valueSource) from(value.Item) (value.Value, error)  { return s.value, nil }
func (s faultySource) from(value.Item) (value.Value, error) { return value.Value{}, nil }

func (s *pathSource) from(item value.Item) (value.Value, error) {
	v, ok := s.path.resolve(item)
	if !ok {
		return value.Value{}, &Error{msgNoAttribute}
	}
	return v, nil
}

func (s *ifNotExistsSource) from(item value.Item) (value.Value, error) {
	if v, ok := s.path.resolve(item); ok {
		return v, nil
	}
	return s.fallback.from(item)
}

func (s *listAppendSource) from(item value.Item) (value.Value, error) {
	head, tail, err := both(item, s.head, s.tail)
	if err != nil {
		return value.Value{}, err
	}
	list, ok := value.Append(head, tail)
	if !ok {
		return value.Value{}, &Error{msgWrongType}
	}
	if list.Size() > maxItemBytes {
		return value.Value{}, &Error{msgItemSize}
	}
	return list, nil
}

func (s *sumSource) from(item value.Item) (value.Value, error) {
	left, right, err := both(item, s.left, s.right)
	if err != nil {
		return value.Value{}, err
	}
	return sum(left, right, s.minus)
}

func both(item value.Item, a, b source) (left, right value.Value, err error) {
	if left, err = a.from(item); err != nil {
		return left, right, err
	}
	right, err = b.from(item)
	return left, right, err
}

// sum adds or subtracts two numbers exactly.
func sum(left, right value.Value, minus bool) (value.Value, error) {
	if left.Kind() != value.N || right.Kind() != value.N {
		return value.Value{}, &Error{msgWrongType}
	}
	op := value.Add
	if minus {
		op = value.Sub
	}
	total, err := op(left, right)
	var refused *value.Error
	if errors.As(err, &refused) {
		return value.Value{}, &Error{refused.Message}
	}
	return total, err
}
