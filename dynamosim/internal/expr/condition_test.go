package expr_test

import (
	"strings"
	"testing"

	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

func item(t testing.TB, src string) value.Item {
	t.Helper()
	it, err := value.DecodeItem([]byte(src))
	if err != nil {
		t.Fatalf("DecodeItem(%s): %v", src, err)
	}
	return it
}

// names lets every test write the same few references.
var names = map[string]string{"#n": "n", "#s": "s", "#dot": "a.b", "#status": "status"}

const values = `{":one":{"N":"1"},":two":{"N":"2"},":s":{"S":"hello"},":he":{"S":"he"},":t":{"S":"N"},":badType":{"S":"X"},
	":b":{"B":"AAE="},":true":{"BOOL":true},":null":{"NULL":true},":l":{"L":[{"N":"1"},{"S":"x"}]},":m":{"M":{"x":{"N":"1"}}},
	":ss":{"SS":["b","a"]},":ns":{"NS":["1","2"]},":bs":{"BS":["AAE="]},":empty":{"L":[]}}`

const stored = `{"PK":{"S":"p"},"n":{"N":"1"},"big":{"N":"12345678901234567890123456789012345678"},"s":{"S":"hello"},"wide":{"S":"a😀"},
	"b":{"B":"AAE="},"t":{"BOOL":true},"f":{"BOOL":false},"z":{"NULL":true},"l":{"L":[{"N":"1"},{"S":"x"},{"L":[{"S":"deep"}]}]},
	"m":{"M":{"x":{"N":"1"},"y":{"M":{"k":{"S":"v"}}}}},"ss":{"SS":["a","b"]},"ns":{"NS":["2","1"]},"bs":{"BS":["AAE=","AA=="]},
	"a.b":{"S":"dotted"},"status":{"S":"OPEN"}}`

func parseCondition(t testing.TB, src string) (*expr.Condition, error) {
	t.Helper()
	return expr.ParseCondition(expr.ConditionExpression, src, expr.NewSubs(names, item(t, values)))
}

// Each line: a condition on the stored item above, => and whether it holds.
const held = `
	n = :one => true
	:one = n => true
	n <> :one => false
	n < :two => true
	n <= :one => true
	n > :one => false
	n >= :one => true
	#n = :one => true
	#dot = :s => false
	s = :s => true
	s = :one => false
	s <> :one => true
	s < :one => false
	s >= :he => true
	absent = :one => false
	absent <> :one => true
	absent < :one => false
	absent = gone => false
	absent <> gone => true
	ss = :ss => true
	ns = :ns => true
	l = :l => false
	m.x = :one => true
	m.y.k <> :s => true
	l[0] = :one => true
	l[2][0] = :s => false
	l[9] = :one => false
	n.x = :one => false
	s[0] = :one => false
	t = :true => true
	z = :null => true
	n BETWEEN :one AND :two => true
	n between :two and :two => false
	s BETWEEN :he AND :s => true
	absent BETWEEN :one AND :two => false
	:one BETWEEN n AND big => true
	n IN (:two, :one) => true
	n in (:s) => false
	ss IN (:ss) => true
	absent IN (:one) => false
	attribute_exists(n) => true
	attribute_exists (absent) => false
	attribute_exists(m.y.k) => true
	attribute_not_exists(l[3]) => true
	attribute_type(n, :t) => true
	attribute_type(s, :t) => false
	attribute_type(absent, :t) => false
	begins_with(s, :he) => true
	begins_with(s, :b) => false
	begins_with(b, :b) => true
	begins_with(n, :he) => false
	contains(s, :he) => true
	contains(ss, :he) => false
	contains(ns, :one) => true
	contains(bs, :b) => true
	contains(l, :one) => true
	contains(n, :one) => false
	contains(absent, :one) => false
	size(s) > :two => true
	size(wide) > :two => true
	size(wide) = size(ss) => false
	size(b) = :two => true
	size(ss) = :two => true
	size(m) = :two => true
	size(n) = :one => false
	size(n) <> :one => true
	size(absent) = :one => false
	NOT n = :two => true
	NOT attribute_exists(n) OR n = :one => true
	NOT (attribute_exists(n) OR n = :one) => false
	NOT NOT n = :one => true
	n = :two AND n = :two OR n = :one => true
	n = :one OR n = :one AND n = :two => true
	(n = :one OR n = :one) AND n = :two => false
	(n) = (:one) => true
	(m).x = :one => true
	(m.y).k = :s => false
	((n = :one) AND (s = :s)) => true
	(size(s)) > :one => true
	aNd1 = :one or n=:one => true
`

func TestConditionsHold(t *testing.T) {
	t.Parallel()
	it := item(t, stored)
	for line := range strings.SplitSeq(strings.TrimSpace(held), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		cond, err := parseCondition(t, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got, err := cond.Eval(it); err != nil || got != (want == "true") {
			t.Errorf("%s is %t, %v, want %s", src, got, err, want)
		}
	}
}

// Each line: a condition, => and why it is refused.
func TestConditionRefusals(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
		a = = :one => Syntax error; token: "=", near: "= = :one"
		a => Syntax error; token: "<EOF>", near: "a"
		a = => Syntax error; token: "<EOF>", near: "="
		AND a = :one => Syntax error; token: "AND", near: "AND a"
		a AND b => Syntax error; token: "AND", near: "a AND b"
		a = :one b => Syntax error; token: "b", near: ":one b"
		(a = :one => Syntax error; token: "<EOF>", near: ":one"
		a = :one) => Syntax error; token: ")", near: ":one)"
		(a = :one) = :one => Syntax error; token: "=", near: ") = :one"
		a.1 = :one => Syntax error; token: "1", near: ".1 ="
		a[x] = :one => Syntax error; token: "x", near: "[x]"
		session-id = :one => Syntax error; token: "-", near: "session-id"
		!!! => Syntax error; token: "!", near: "!!"
		é = :one => Syntax error; token: "é", near: "é ="
		_a = :one => Syntax error; token: "_", near: "_a"
		# = :one => Syntax error; token: "#", near: "# ="
		a IN () => Syntax error; token: ")", near: "()"
		size() = :one => Syntax error; token: ")", near: "() ="
		a BETWEEN :one OR :two => Syntax error; token: "OR", near: ":one OR :two"
		((a = :one)) => The expression has redundant parentheses;
		a = ((b)) => The expression has redundant parentheses;
		b = :one AND ((a = :one OR a = :two)) => The expression has redundant parentheses;
		status = :one => Attribute name is a reserved keyword; reserved keyword: status
		a.Name = :one => Attribute name is a reserved keyword; reserved keyword: Name
		a = #x => An expression attribute name used in the document path is not defined; attribute name: #x
		a = :x => An expression attribute value used in expression is not defined; attribute value: :x
		a = :x AND #x = :one => An expression attribute value used in expression is not defined; attribute value: :x
		whatever(a) = :one => Invalid function name; function: whatever
		Attribute_Exists(a) => Invalid function name; function: Attribute_Exists
		attribute_exists(a, b) => Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2
		begins_with(a) => Incorrect number of operands for operator or function; operator or function: begins_with, number of operands: 1
		attribute_exists(:one) => Operator or function requires a document path; operator or function: attribute_exists
		attribute_not_exists(size(a)) => Operator or function requires a document path; operator or function: attribute_not_exists
		attribute_type(a, b) => Incorrect operand type for operator or function; operator or function: attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}
		attribute_type(a, :one) => Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N
		attribute_type(a, :badType) => Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}
		begins_with(a, :one) => Incorrect operand type for operator or function; operator or function: begins_with, operand type: N
		begins_with(a, size(b)) => Incorrect operand type for operator or function; operator or function: begins_with, operand type: N
		size(:one) = a => Incorrect operand type for operator or function; operator or function: size, operand type: N
		a < :true => Incorrect operand type for operator or function; operator or function: <, operand type: BOOL
		a BETWEEN :ss AND :ss => Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: SS
		a BETWEEN :one AND :s => The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:hello}
		a BETWEEN :two AND :one => The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}
		a.b = a.b => The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a, b]
		contains(a[1], a[1]) => The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a, [1]]
		size(a) => The function is not allowed to be used this way in an expression; function: size
		NOT size(a) => The function is not allowed to be used this way in an expression; function: size
		attribute_exists(a) = :true => The function is not allowed to be used this way in an expression; function: attribute_exists
		contains(a, begins_with(b, :s)) => The function is not allowed to be used this way in an expression; function: begins_with
		a[99999999999] = :one => List index is not within the allowable range; index: [99999999999]
		a < :true AND whatever(b) => Invalid function name; function: whatever
		a < :true AND status = :one => Attribute name is a reserved keyword; reserved keyword: status
	`), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		_, err := parseCondition(t, src)
		if err == nil || err.Error() != "Invalid ConditionExpression: "+want {
			t.Errorf("%s\n got %v\nwant Invalid ConditionExpression: %s", src, err, want)
		}
	}
}

func TestLimitsOfConditions(t *testing.T) {
	t.Parallel()
	repeat := func(n int, part, sep string) string { return strings.TrimSuffix(strings.Repeat(part+sep, n), sep) }
	for _, tc := range []struct{ name, src, want string }{
		{"empty", "", "The expression can not be empty;"},
		{"blank", " \n", "The expression can not be empty;"},
		{"4096 bytes", "n=:one" + strings.Repeat(" ", 4090), ""},
		{"4097 bytes", "n=:one" + strings.Repeat(" ", 4091), "Expression size has exceeded the maximum allowed size; expression size: 4097"},
		{"100 operands of IN", "n IN (" + repeat(100, ":one", ",") + ")", ""},
		{"101 operands of IN", "n IN (" + repeat(101, ":one", ",") + ")", "The IN operator is provided with too many operands; number of operands: 101"},
		{"299 operators", repeat(150, "n=:one", " OR "), ""},
		{"301 operators", repeat(151, "n=:one", " OR "), "The expression contains too many operators or functions; number of operators: 301"},
		{"deep parentheses", strings.Repeat("(", 4000), `Syntax error; token: "<EOF>", near: "("`},
		{"many NOTs", strings.Repeat("NOT ", 1000), `Syntax error; token: "<EOF>", near: "NOT"`},
	} {
		_, err := parseCondition(t, tc.src)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || err.Error() != "Invalid ConditionExpression: "+tc.want):
			t.Errorf("%s: error = %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestFilterIsNamedInItsErrors(t *testing.T) {
	t.Parallel()
	_, err := expr.ParseCondition(expr.FilterExpression, "", expr.NewSubs(nil, value.Item{}))
	if err == nil || err.Error() != "Invalid FilterExpression: The expression can not be empty;" {
		t.Errorf("error = %v", err)
	}
}

func TestNamesAreTheTopLevelAttributes(t *testing.T) {
	t.Parallel()
	cond, err := parseCondition(t, "m.x = :one AND (#n IN (l[0], m.y) OR NOT begins_with(s, :he)) AND size(z) > :one")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(cond.Names(), " "); got != "l m n s z" {
		t.Errorf("names = %q", got)
	}
}

func FuzzCondition(f *testing.F) {
	for _, seed := range []string{
		"n = :one AND NOT (s BETWEEN :he AND :s) OR #n IN (:one, m.x)", "attribute_type(l[2][0], :t)", "size((m).y) >= :two",
		"((a = :one))", "contains(ss, :s) or begins_with (#s, :he)", "a = #", "a[9999999999]", "é<>:one", "attribute_exists(:x)",
	} {
		f.Add(seed)
	}
	it, subs := item(f, stored), item(f, values)
	f.Fuzz(func(t *testing.T, src string) {
		cond, err := expr.ParseCondition(expr.ConditionExpression, src, expr.NewSubs(names, subs))
		if err != nil {
			return
		}
		first, _ := cond.Eval(it)
		cond.Eval(value.Item{})
		if again, _ := cond.Eval(it); again != first {
			t.Errorf("%q is %t, then %t", src, first, again)
		}
	})
}

func BenchmarkParseCondition(b *testing.B) {
	vals := item(b, `{":one":{"N":"1"},":s":{"S":"x"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expr.ParseCondition(expr.ConditionExpression, "attribute_not_exists(#n) OR #n = :one", expr.NewSubs(names, vals)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvalCondition(b *testing.B) {
	it := item(b, stored)
	cond, err := parseCondition(b, "attribute_exists(PK) AND (n >= :one AND status2 <> :s OR contains(ss, :he))")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if ok, _ := cond.Eval(it); !ok {
			b.Fatal("does not hold")
		}
	}
}
