package update_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/update"
)

func TestAnExpressionSaysWhatWasAskedOfIt(t *testing.T) {
	t.Parallel()
	one := &types.AttributeValueMemberN{Value: "1"}
	var e update.Expression
	e.Require("version", one)
	e.RequireNone("lease")
	e.When(e.Name("due") + " < " + e.Value(one))
	e.Set("version", one)
	if got, want := e.Update(), "SET #n0 = :v2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	e.Assign(e.Name("list") + " = " + e.Name("other"))
	e.Remove("lease", "a#b")
	if got, want := e.Update(), "SET #n0 = :v2, #n3 = #n4 REMOVE #n1, #n5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := e.Condition(), "#n0 = :v0 AND attribute_not_exists(#n1) AND #n2 < :v1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(e.Names()) != 6 || e.Names()["#n5"] != "a#b" || len(e.Values()) != 3 {
		t.Errorf("%v, %v", e.Names(), e.Values())
	}
}
