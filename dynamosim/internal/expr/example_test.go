package expr_test

import (
	"fmt"

	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

func Example() {
	stored, _ := value.DecodeItem([]byte(`{"PK":{"S":"balance"},"status":{"S":"OPEN"},"available":{"N":"100.10"}}`))
	values, _ := value.DecodeItem([]byte(`{":amount":{"N":"0.1"},":open":{"S":"OPEN"}}`))
	subs := expr.NewSubs(map[string]string{"#s": "status"}, values)

	cond, err := expr.ParseCondition(expr.ConditionExpression, "#s = :open AND available >= :amount", subs)
	if err != nil {
		fmt.Println(err)
		return
	}
	update, err := expr.ParseUpdate("SET available = available - :amount", subs)
	if err != nil {
		fmt.Println(err)
		return
	}
	ok, _ := cond.Eval(stored)
	after, _ := update.Apply(stored)
	fmt.Println(ok, string(update.Updated(after).AppendJSON(nil)), subs.Unused())
	// Output: true {"available":{"N":"100"}} <nil>
}
