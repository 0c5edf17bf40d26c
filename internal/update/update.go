// Package update writes the expressions of a conditional update. Attributes get placeholders by their place, because a
// configured name may be anything, a reserved word too.
package update

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Expression collects what an update changes and on which condition. The zero value is empty.
type Expression struct {
	names               map[string]string // placeholder -> attribute
	values              map[string]types.AttributeValue
	sets, removes, when []string
}

// Name returns the placeholder of an attribute.
func (e *Expression) Name(attribute string) string {
	for placeholder, known := range e.names {
		if known == attribute {
			return placeholder
		}
	}
	if e.names == nil {
		e.names = map[string]string{}
	}
	placeholder := "#n" + strconv.Itoa(len(e.names))
	e.names[placeholder] = attribute
	return placeholder
}

// Value returns a placeholder for a value.
func (e *Expression) Value(v types.AttributeValue) string {
	if e.values == nil {
		e.values = map[string]types.AttributeValue{}
	}
	placeholder := ":v" + strconv.Itoa(len(e.values))
	e.values[placeholder] = v
	return placeholder
}

// Set gives an attribute a value.
func (e *Expression) Set(attribute string, v types.AttributeValue) {
	e.Assign(e.Name(attribute) + " = " + e.Value(v))
}

// Assign adds an assignment that was made of placeholders.
func (e *Expression) Assign(assignment string) { e.sets = append(e.sets, assignment) }

// Remove takes attributes away.
func (e *Expression) Remove(attributes ...string) {
	for _, attribute := range attributes {
		e.removes = append(e.removes, e.Name(attribute))
	}
}

// Require demands that an attribute has a value.
func (e *Expression) Require(attribute string, v types.AttributeValue) {
	e.When(e.Name(attribute) + " = " + e.Value(v))
}

// RequireNone demands that there is no such attribute.
func (e *Expression) RequireNone(attribute string) {
	e.When("attribute_not_exists(" + e.Name(attribute) + ")")
}

// When adds a clause that was made of placeholders; all clauses must hold.
func (e *Expression) When(clause string) { e.when = append(e.when, clause) }

// Update is the update expression.
func (e *Expression) Update() string {
	update := "SET " + strings.Join(e.sets, ", ")
	if len(e.removes) > 0 {
		update += " REMOVE " + strings.Join(e.removes, ", ")
	}
	return update
}

// Condition is the condition expression.
func (e *Expression) Condition() string { return strings.Join(e.when, " AND ") }

// Names and Values are the substitutions of both expressions.
func (e *Expression) Names() map[string]string { return e.names }

// Values are those of [Expression.Names].
func (e *Expression) Values() map[string]types.AttributeValue { return e.values }
