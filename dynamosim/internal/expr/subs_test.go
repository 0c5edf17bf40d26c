package expr_test

import (
	"strings"
	"testing"

	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

func TestUnusedSubstitutionsAreRefused(t *testing.T) {
	t.Parallel()
	subs := expr.NewSubs(map[string]string{"#a": "a", "#z": "z", "#y": "y"}, item(t, `{":v":{"N":"1"},":x":{"N":"1"}}`))
	parse := func(src string) {
		t.Helper()
		if _, err := expr.ParseCondition(expr.ConditionExpression, src, subs); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want string) {
		t.Helper()
		got := ""
		if err := subs.Unused(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Fatalf("Unused() = %q, want %q", got, want)
		}
	}
	parse("#a = :v AND #a = :v")
	expect("Value provided in ExpressionAttributeNames unused in expressions: keys: {#y, #z}")
	if _, err := expr.ParseProjection("#y, #z", subs); err != nil {
		t.Fatal(err)
	}
	expect("Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}")
	parse("b <> :x")
	expect("")
}

// Each case: names, values, and the refusal.
func TestSubstitutionKeysAreChecked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 255)
	for _, tc := range []struct {
		names  map[string]string
		values string
		want   string
	}{
		{map[string]string{"#a_1": "a"}, `{":_9z":{"N":"1"}}`, ""},
		{map[string]string{"a": "a"}, `{}`, `ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		{map[string]string{"#": "a", "#x-y": "a"}, `{}`, `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		{map[string]string{"#" + long: "a"}, `{}`, `ExpressionAttributeNames contains invalid key: Syntax error; key: "#` + long + `"`},
		{map[string]string{"#a": ""}, `{}`, `ExpressionAttributeNames contains invalid value: Attribute name must not be empty for key #a`},
		{nil, `{"v":{"N":"1"}}`, `ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`},
		{nil, `{":a:b":{"N":"1"}}`, `ExpressionAttributeValues contains invalid key: Syntax error; key: ":a:b"`},
		{nil, `{":v":{"S":"` + strings.Repeat("x", 2<<20) + `"}}`, `ExpressionAttributeNames and ExpressionAttributeValues exceed the maximum allowed size`},
	} {
		err := expr.NewSubs(tc.names, item(t, tc.values)).Check()
		if got := ""; err != nil {
			got = err.Error()
			if got != tc.want {
				t.Errorf("Check() = %s, want %s", got, tc.want)
			}
		} else if tc.want != "" {
			t.Errorf("Check() = nil, want %s", tc.want)
		}
	}
}

func TestEveryReservedWordNeedsAName(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"ABORT", "abort", "Zone", "names", "URL", "localtimestamp", "sqlexception"} {
		_, err := expr.ParseProjection(word, expr.NewSubs(nil, value.Item{}))
		if want := "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: " + word; err == nil || err.Error() != want {
			t.Errorf("%s: error = %v", word, err)
		}
	}
	for _, word := range []string{"PK", "abortion", "v", "localtimestamps", "x"} {
		if _, err := expr.ParseProjection(word, expr.NewSubs(nil, value.Item{})); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
}
