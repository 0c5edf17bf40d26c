package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

var opNames = map[expr.KeyOp]string{
	expr.KeyEqual: "=", expr.KeyLess: "<", expr.KeyLessOrEqual: "<=", expr.KeyGreater: ">", expr.KeyGreaterOrEqual: ">=",
	expr.KeyBetween: "between", expr.KeyBeginsWith: "begins",
}

// Each line: a key condition, => and its terms as name, operator, value and upper bound.
func TestKeyConditionsParse(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
		PK = :s => PK = hello
		#s = :s => s = hello
		PK = :s AND SK < :two => PK = hello; SK < 2
		SK >= :one AND PK = :s => SK >= 1; PK = hello
		PK = :s AND :one <= SK => PK = hello; SK >= 1
		:s = PK and :one > SK => PK = hello; SK < 1
		(PK = :s) AND (SK BETWEEN :one AND :two) => PK = hello; SK between 1 2
		(PK = :s AND begins_with (SK, :he)) => PK = hello; SK begins he
		a = :one AND b = :one AND c > :one => a = 1; b = 1; c > 1
	`), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		keys, err := expr.ParseKeyCondition(src, expr.NewSubs(names, item(t, values)))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		var terms []string
		for _, term := range keys.Terms {
			shown := fmt.Sprintf("%s %s %s %s", term.Name, opNames[term.Op], term.Value.Text(), term.High.Text())
			terms = append(terms, strings.TrimSpace(shown))
		}
		if got := strings.Join(terms, "; "); got != want {
			t.Errorf("%s has terms %s, want %s", src, got, want)
		}
	}
}

// Each line: a key condition, => and why it is refused.
func TestKeyConditionRefusals(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
		PK = :s OR SK = :s => Invalid operator used in KeyConditionExpression: OR
		NOT PK = :s => Invalid operator used in KeyConditionExpression: NOT
		PK = :s AND SK IN (:s) => Invalid operator used in KeyConditionExpression: IN
		PK <> :s => Invalid operator used in KeyConditionExpression: <>
		PK = :s AND attribute_exists(SK) => Invalid operator used in KeyConditionExpression: attribute_exists
		attribute_not_exists(SK) => Invalid operator used in KeyConditionExpression: attribute_not_exists
		contains(SK, :s) => Invalid operator used in KeyConditionExpression: contains
		attribute_type(SK, :t) => Invalid operator used in KeyConditionExpression: attribute_type
		PK = :s AND SK = :s AND SK = :s => KeyConditionExpressions must only contain one condition per key
		PK = SK => Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition
		:s = :he => Invalid condition in KeyConditionExpression: No key attribute specified
		PK.x = :s => KeyConditionExpressions cannot have conditions on nested attributes
		PK[0] = :s => KeyConditionExpressions cannot have conditions on nested attributes
		size(PK) = :one => KeyConditionExpressions cannot contain nested operations
		:one BETWEEN PK AND SK => Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand
		begins_with(:s, PK) => Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand
		SK BETWEEN :two AND :one => Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}
		((PK = :s)) => Invalid KeyConditionExpression: The expression has redundant parentheses;
		PK = :v => Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; attribute value: :v
		PK => Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "PK"
	`), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		_, err := expr.ParseKeyCondition(src, expr.NewSubs(names, item(t, values)))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", src, err, want)
		}
	}
}

func TestKeyTermsMatch(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"k = :two": "2", "k < :two": "1", "k <= :two": "1 2", "k > :two": "3", "k >= :two": "2 3", "k BETWEEN :one AND :two": "1 2",
		"begins_with(k, :he)": "hello",
	} {
		keys, err := expr.ParseKeyCondition(src, expr.NewSubs(nil, item(t, values)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range []value.Value{value.Int(1), value.Int(2), value.Int(3), value.String("hello")} {
			if keys.Terms[0].Matches(v) {
				got = append(got, v.Text())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s matches %v, want %s", src, got, want)
		}
	}
}

func FuzzKeyCondition(f *testing.F) {
	for _, seed := range []string{"PK = :s AND SK BETWEEN :one AND :two", ":s=#n", "begins_with(SK,:he)", "(PK = :s)and(:one<SK)", "size(PK) = :one"} {
		f.Add(seed)
	}
	subs := item(f, values)
	f.Fuzz(func(t *testing.T, src string) {
		keys, err := expr.ParseKeyCondition(src, expr.NewSubs(names, subs))
		if err != nil {
			return
		}
		for _, term := range keys.Terms {
			if term.Name == "" || term.Value.IsZero() || (term.Op == expr.KeyBetween) == term.High.IsZero() {
				t.Errorf("%q gives %+v", src, term)
			}
		}
	})
}
