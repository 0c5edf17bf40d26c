package expr_test

import (
	"bytes"
	"fmt"
	"math/big"
	"reflect"
	"sort"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
	"pgregory.net/rapid"
)

// The naive evaluator: the same conditions, built as Go closures over the SDK's types while they are written as text. It
// shares no code with the parser, the values or their order.

type sdkItem = map[string]types.AttributeValue

// naiveOperand is an operand's text and what it stands for; nil is nothing.
type naiveOperand struct {
	text string
	get  func(sdkItem) types.AttributeValue
}

// naiveCondition is a condition's text, how tightly its top operator binds, and its meaning.
type naiveCondition struct {
	text  string
	binds int // 0 OR, 1 AND, 2 NOT, 3 anything else
	holds func(sdkItem) bool
}

// inside is the text as an operand of an operator that binds so tightly, with parentheses only where they are needed.
func (c naiveCondition) inside(binds int) string {
	if c.binds < binds {
		return "(" + c.text + ")"
	}
	return c.text
}

func naivePath(text string, steps ...any) naiveOperand {
	return naiveOperand{text, func(it sdkItem) types.AttributeValue {
		var v types.AttributeValue = &types.AttributeValueMemberM{Value: it}
		for _, s := range steps {
			switch doc := v.(type) {
			case *types.AttributeValueMemberM:
				name, _ := s.(string)
				v = doc.Value[name]
			case *types.AttributeValueMemberL:
				i, isIndex := s.(int)
				if !isIndex || i >= len(doc.Value) {
					return nil
				}
				v = doc.Value[i]
			default:
				return nil
			}
		}
		return v
	}}
}

var naivePaths = []naiveOperand{
	naivePath("n", "n"), naivePath("#s", "s"), naivePath("m.x", "m", "x"), naivePath("m . y . k", "m", "y", "k"),
	naivePath("l[0]", "l", 0), naivePath("l[1]", "l", 1), naivePath("ss", "ss"), naivePath("ns", "ns"),
	naivePath("b", "b"), naivePath("t", "t"), naivePath("z", "z"), naivePath("l", "l"), naivePath("m", "m"), naivePath("gone", "gone"),
}

// order compares two S, N or B; any other pair has none.
func naiveOrder(a, b types.AttributeValue) (int, bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, ok := b.(*types.AttributeValueMemberS); ok {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberB:
		if b, ok := b.(*types.AttributeValueMemberB); ok {
			return bytes.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, ok := b.(*types.AttributeValueMemberN); ok {
			return ratOf(a.Value).Cmp(ratOf(b.Value)), true
		}
	}
	return 0, false
}

func ratOf(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}

func naiveEqual(a, b types.AttributeValue) bool {
	if a == nil || b == nil {
		return false
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

// plain turns a value into Go data that reflect compares by content: numbers as fractions, sets sorted.
func plain(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		return "N" + ratOf(v.Value).RatString()
	case *types.AttributeValueMemberNS:
		var out []string
		for _, n := range v.Value {
			out = append(out, ratOf(n).RatString())
		}
		sort.Strings(out)
		return []any{"NS", out}
	case *types.AttributeValueMemberSS:
		out := append([]string(nil), v.Value...)
		sort.Strings(out)
		return []any{"SS", out}
	case *types.AttributeValueMemberL:
		out := []any{"L"}
		for _, e := range v.Value {
			out = append(out, plain(e))
		}
		return out
	case *types.AttributeValueMemberM:
		out := map[string]any{}
		for name, e := range v.Value {
			out[name] = plain(e)
		}
		return out
	default:
		return v
	}
}

func naiveSize(v types.AttributeValue) types.AttributeValue {
	var size int
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		size = len(utf16.Encode([]rune(v.Value)))
	case *types.AttributeValueMemberB:
		size = len(v.Value)
	case *types.AttributeValueMemberL:
		size = len(v.Value)
	case *types.AttributeValueMemberM:
		size = len(v.Value)
	case *types.AttributeValueMemberSS:
		size = len(v.Value)
	case *types.AttributeValueMemberNS:
		size = len(v.Value)
	default:
		return nil
	}
	return &types.AttributeValueMemberN{Value: fmt.Sprint(size)}
}

func naiveContains(v, part types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		p, ok := part.(*types.AttributeValueMemberS)
		return ok && strings.Contains(v.Value, p.Value)
	case *types.AttributeValueMemberB:
		p, ok := part.(*types.AttributeValueMemberB)
		return ok && bytes.Contains(v.Value, p.Value)
	case *types.AttributeValueMemberSS:
		for _, e := range v.Value {
			if naiveEqual(&types.AttributeValueMemberS{Value: e}, part) {
				return true
			}
		}
	case *types.AttributeValueMemberNS:
		for _, e := range v.Value {
			if naiveEqual(&types.AttributeValueMemberN{Value: e}, part) {
				return true
			}
		}
	case *types.AttributeValueMemberL:
		for _, e := range v.Value {
			if naiveEqual(e, part) {
				return true
			}
		}
	}
	return false
}

func naiveBegins(v, prefix types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		p, ok := prefix.(*types.AttributeValueMemberS)
		return ok && strings.HasPrefix(v.Value, p.Value)
	case *types.AttributeValueMemberB:
		p, ok := prefix.(*types.AttributeValueMemberB)
		return ok && bytes.HasPrefix(v.Value, p.Value)
	default:
		return false
	}
}

func naiveCompare(op string, a, b types.AttributeValue) bool {
	if a == nil || b == nil {
		return op == "<>"
	}
	switch op {
	case "=":
		return naiveEqual(a, b)
	case "<>":
		return !naiveEqual(a, b)
	}
	order, ok := naiveOrder(a, b)
	return ok && map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]
}

// drawOperand draws a path, a size or a :value, which it adds to values.
func drawOperand(t *rapid.T, values sdkItem) naiveOperand {
	path := rapid.SampledFrom(naivePaths).Draw(t, "path")
	switch rapid.IntRange(0, 5).Draw(t, "operand") {
	case 0, 1:
		ref := fmt.Sprintf(":v%d", len(values))
		v := rapid.SampledFrom(naiveConstants).Draw(t, "constant")
		values[ref] = v
		return naiveOperand{ref, func(sdkItem) types.AttributeValue { return v }}
	case 2:
		return naiveOperand{"size(" + path.text + ")", func(it sdkItem) types.AttributeValue { return naiveSize(path.get(it)) }}
	default:
		return path
	}
}

var naiveConstants = []types.AttributeValue{
	&types.AttributeValueMemberN{Value: "1"}, &types.AttributeValueMemberN{Value: "2.50"}, &types.AttributeValueMemberN{Value: "-10"},
	&types.AttributeValueMemberS{Value: "he"}, &types.AttributeValueMemberS{Value: "hello"}, &types.AttributeValueMemberS{Value: ""},
	&types.AttributeValueMemberB{Value: []byte{1}}, &types.AttributeValueMemberSS{Value: []string{"b", "he"}},
	&types.AttributeValueMemberNS{Value: []string{"1", "2.5"}},
}

var stringTypes = []string{"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"}

func drawCondition(t *rapid.T, values sdkItem, depth int) naiveCondition {
	operand := func() naiveOperand { return drawOperand(t, values) }
	kinds := 6
	if depth > 0 {
		kinds = 10
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "condition") {
	case 0:
		a, b, op := operand(), operand(), rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="}).Draw(t, "op")
		return naiveCondition{a.text + " " + op + " " + b.text, 3, func(it sdkItem) bool { return naiveCompare(op, a.get(it), b.get(it)) }}
	case 1:
		a, low, high := operand(), operand(), operand()
		return naiveCondition{a.text + " BETWEEN " + low.text + " AND " + high.text, 3, func(it sdkItem) bool {
			v, l, h := a.get(it), low.get(it), high.get(it)
			return v != nil && l != nil && h != nil && naiveCompare(">=", v, l) && naiveCompare("<=", v, h)
		}}
	case 2:
		a, one, two := operand(), operand(), operand()
		return naiveCondition{a.text + " IN (" + one.text + "," + two.text + ")", 3, func(it sdkItem) bool {
			return naiveEqual(a.get(it), one.get(it)) || naiveEqual(a.get(it), two.get(it))
		}}
	case 3:
		a, want := rapid.SampledFrom(naivePaths).Draw(t, "tested"), rapid.Bool().Draw(t, "exists")
		return naiveCondition{map[bool]string{true: "attribute_exists", false: "attribute_not_exists"}[want] + "(" + a.text + ")", 3,
			func(it sdkItem) bool { return (a.get(it) != nil) == want }}
	case 4:
		a, b := operand(), operand()
		if rapid.Bool().Draw(t, "begins") {
			return naiveCondition{"begins_with(" + a.text + ", " + b.text + ")", 3, func(it sdkItem) bool { return naiveBegins(a.get(it), b.get(it)) }}
		}
		return naiveCondition{"contains(" + a.text + ", " + b.text + ")", 3, func(it sdkItem) bool { return naiveContains(a.get(it), b.get(it)) }}
	case 5:
		a, kind := rapid.SampledFrom(naivePaths).Draw(t, "typed"), rapid.SampledFrom(stringTypes).Draw(t, "type")
		ref := fmt.Sprintf(":v%d", len(values))
		values[ref] = &types.AttributeValueMemberS{Value: kind}
		return naiveCondition{"attribute_type(" + a.text + "," + ref + ")", 3, func(it sdkItem) bool {
			v := a.get(it)
			return v != nil && strings.HasSuffix(reflect.TypeOf(v).Elem().Name(), "Member"+kind)
		}}
	case 6:
		c := drawCondition(t, values, depth-1)
		return naiveCondition{"NOT " + c.inside(2), 2, func(it sdkItem) bool { return !c.holds(it) }}
	case 7:
		a, b := drawCondition(t, values, depth-1), drawCondition(t, values, depth-1)
		return naiveCondition{a.inside(0) + " OR " + b.inside(1), 0, func(it sdkItem) bool { return a.holds(it) || b.holds(it) }}
	default:
		a, b := drawCondition(t, values, depth-1), drawCondition(t, values, depth-1)
		return naiveCondition{a.inside(1) + " AND " + b.inside(2), 1, func(it sdkItem) bool { return a.holds(it) && b.holds(it) }}
	}
}

func drawItem(t *rapid.T) sdkItem {
	scalar := rapid.SampledFrom(append([]types.AttributeValue{
		&types.AttributeValueMemberN{Value: "2.5"}, &types.AttributeValueMemberB{Value: []byte{1, 0}}, &types.AttributeValueMemberBOOL{Value: true},
		&types.AttributeValueMemberNULL{Value: true}, &types.AttributeValueMemberS{Value: "😀he"},
	}, naiveConstants...))
	it := sdkItem{}
	for _, name := range []string{"n", "s", "b", "t", "z", "ss", "ns"} {
		if rapid.IntRange(0, 3).Draw(t, "has") > 0 {
			it[name] = scalar.Draw(t, name)
		}
	}
	it["l"] = &types.AttributeValueMemberL{Value: rapid.SliceOfN(scalar, 0, 3).Draw(t, "l")}
	it["m"] = &types.AttributeValueMemberM{Value: sdkItem{"x": scalar.Draw(t, "x"), "y": &types.AttributeValueMemberM{Value: sdkItem{"k": scalar.Draw(t, "k")}}}}
	return it
}

func TestConditionsAgreeWithTheNaiveEvaluator(t *testing.T) {
	t.Parallel()
	refusals := []string{"Incorrect operand type", "must be distinct", "The BETWEEN operator requires"}
	rapid.Check(t, func(t *rapid.T) {
		values := sdkItem{}
		naive := drawCondition(t, values, 3)
		subs, err := value.FromSDK(values)
		if err != nil {
			t.Fatal(err)
		}
		cond, err := expr.ParseCondition(expr.ConditionExpression, naive.text, expr.NewSubs(map[string]string{"#s": "s"}, subs))
		if err != nil {
			for _, allowed := range refusals {
				if strings.Contains(err.Error(), allowed) {
					return
				}
			}
			t.Fatalf("%s: %v", naive.text, err)
		}
		for range 3 {
			sdk := drawItem(t)
			it, err := value.FromSDK(sdk)
			if err != nil {
				t.Fatal(err)
			}
			got, err := cond.Eval(it)
			if want := naive.holds(sdk); err != nil || got != want {
				t.Fatalf("%s on %s is %t, %v, want %t", naive.text, it.AppendJSON(nil), got, err, want)
			}
		}
	})
}
