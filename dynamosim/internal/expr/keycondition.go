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

// KeyTerm is one comparison of a key attribute with a value; High is the upper bound of a BETWEEN.
type KeyTerm struct {
	Name  string
	Op    KeyOp
	Value value.Value
	High  value.Value
}

// KeyCondition is a parsed key condition: one or two terms in the order written. Which of them is the partition key,
// and whether the operators and types fit, is for the engine to check against the schema.
type KeyCondition struct {
	Terms []KeyTerm
}

// ParseKeyCondition parses the text of a KeyConditionExpression.
func ParseKeyCondition(src string, subs *Subs) (*KeyCondition, error) { return nil, nil }

// Matches reports whether a key value satisfies the term. Values of another type never do.
func (t KeyTerm) Matches(v value.Value) bool { return false }
