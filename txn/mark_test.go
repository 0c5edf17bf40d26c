package txn_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/txn"
)

func TestUpdatesAreMarkedWhateverTheirClauses(t *testing.T) {
	nm := func(name string) expression.NameBuilder { return expression.Name(name) }
	v := expression.Value
	for name, update := range map[string]expression.UpdateBuilder{
		"set":    expression.Set(nm("set"), v(1)),
		"add":    expression.Add(nm("n"), v(1)),
		"remove": expression.Remove(nm("r")),
		"all":    expression.Set(nm("a"), v(1)).Add(nm("n"), v(1)).Remove(nm("r")).Delete(nm("d"), v(&types.AttributeValueMemberSS{Value: []string{"x"}})),
	} {
		_, client, _, err := commit(t, []txn.Part{txn.Update(orders, item("a"), update)}, ok)
		if err != nil {
			t.Fatal(err)
		}
		sent := client.sent[0].TransactItems[0].Update
		if got := strings.Count(*sent.UpdateExpression, "SET "); got != 1 {
			t.Errorf("%s: %d SET clauses in %q", name, got, *sent.UpdateExpression)
		}
		if !strings.Contains(*sent.UpdateExpression, "SET txnUpdate = :txnMark") {
			t.Errorf("%s: no mark in %q", name, *sent.UpdateExpression)
		}
	}
}

func TestTheKeywordSetIsFoundWithoutSpaces(t *testing.T) {
	for update, want := range map[string]string{
		"SET#a = :a":                "SET txnUpdate = :txnMark,#a = :a",
		"REMOVE b[0]set c = :a":     "REMOVE b[0]set txnUpdate = :txnMark, c = :a",
		"REMOVE #SET, :set, a_set ": "SET txnUpdate = :txnMark REMOVE #SET, :set, a_set ",
		"ADD offset :a":             "SET txnUpdate = :txnMark ADD offset :a",
		"REMOVE settled":            "SET txnUpdate = :txnMark REMOVE settled",
	} {
		part := txn.NewPart("p", txn.Write{Action: txn.ActionUpdate, Table: orders, Key: item("a"), Update: update})
		_, client, _, err := commit(t, []txn.Part{part}, ok)
		if err != nil {
			t.Fatal(err)
		}
		if got := *client.sent[0].TransactItems[0].Update.UpdateExpression; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
