package expr

import (
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// operand is a :value, a document path, or the size of what is at a path. An operand with neither path nor value is an
// undefined :value, which is a fault already.
type operand struct {
	path   path
	value  value.Value
	sizeOf bool
}

// kind is the operand's type as far as it is known before evaluation; 0 if it is not.
func (o operand) kind() value.Kind {
	if o.sizeOf {
		return value.N
	}
	return o.value.Kind()
}

// resolve returns the operand's value for an item, or none: no such path, or a size of what has none.
func (o operand) resolve(item value.Item) (value.Value, bool) {
	if o.path == nil {
		return o.value, true
	}
	v, ok := o.path.resolve(item)
	if ok && o.sizeOf {
		return sizeOf(v)
	}
	return v, ok
}

// sizeOf measures a string in UTF-16 code units, a binary in bytes, and a document or set in elements. Numbers, booleans
// and nulls have no size.
func sizeOf(v value.Value) (value.Value, bool) {
	switch v.Kind() {
	case value.N, value.BOOL, value.NULL, 0:
		return value.Value{}, false
	case value.S:
		units := 0
		for _, r := range v.Text() {
			units++
			if r >= 0x10000 {
				units++
			}
		}
		return value.Int(int64(units)), true
	default:
		return value.Int(int64(v.Len())), true
	}
}
