package txn_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/txn"
)

func puts(n int) []txn.Part {
	parts := make([]txn.Part, n)
	for i := range parts {
		parts[i] = txn.Put(orders, item(fmt.Sprint("order-", i)), txn.Label(fmt.Sprint("part-", i)))
	}
	return parts
}

// TestNothingIsSentThatBreaksARule: each row breaks one rule; the error names the parts and nothing reaches the client.
func TestNothingIsSentThatBreaksARule(t *testing.T) {
	big := func(pk string, bytes int) txn.Part {
		return txn.Put(orders, item(pk, "x", strings.Repeat("y", bytes)), txn.Label(pk))
	}
	var bigs []txn.Part
	for i := range 12 {
		bigs = append(bigs, big(fmt.Sprint("big-", i), 350<<10))
	}
	exists := txn.If(expression.AttributeExists(expression.Name("PK")))
	set := expression.Set(expression.Name("x"), expression.Value(1))
	broken := errors.New("no such event")

	for _, row := range []struct {
		name  string
		parts []txn.Part
		named []string
		rule  string
	}{
		{"no parts", nil, nil, "at least one part"},
		{"no writes", []txn.Part{txn.NewPart("empty")}, []string{"empty"}, "at least one write"},
		{"101 items", puts(101), nil, "at most 100"},
		{"over 4 MiB", bigs, nil, "at most 4194304"},
		{"an item over 400 KiB", []txn.Part{big("fat", 400<<10)}, []string{"fat"}, "at most 409600"},
		{"an item that only the mark lifts over 400 KiB", []txn.Part{big("brim", 400<<10-20)}, []string{"brim"}, "at most 409600"},
		{"two writes on one item", []txn.Part{puts(1)[0], txn.Check(orders, item("order-0"), exists, txn.Label("check"))}, []string{"part-0", "check"}, "two writes on one item, Orders[order-0 / META]"},
		{"a part that could not be built", []txn.Part{puts(1)[0], txn.BadPart("AP16.create", broken)}, []string{"AP16.create"}, "no such event"},
		{"an empty partition key", []txn.Part{txn.Put(orders, item(""), txn.Label("p"))}, []string{"p"}, "PK of an item of Orders is empty"},
		{"an empty sort key", []txn.Part{txn.Put(orders, txn.Item{"PK": s("a"), "SK": s("")}, txn.Label("p"))}, []string{"p"}, "SK of an item of Orders is empty"},
		{"a partition key of 2049 bytes", []txn.Part{txn.Put(orders, item(strings.Repeat("k", 2049)), txn.Label("p"))}, []string{"p"}, "PK of an item of Orders has 2049 bytes; DynamoDB takes at most 2048"},
		{"a sort key of 1025 bytes", []txn.Part{txn.Delete(orders, orders.Key("a", strings.Repeat("k", 1025)), txn.Label("p"))}, []string{"p"}, "SK of an item of Orders has 1025 bytes; DynamoDB takes at most 1024"},
		{"a missing key", []txn.Part{txn.Put(orders, txn.Item{"PK": s("a")}, txn.Label("p"))}, []string{"p"}, "lacks the key attribute SK"},
		{"a key of a type that cannot be one", []txn.Part{txn.Put(orders, txn.Item{"PK": s("a"), "SK": &types.AttributeValueMemberBOOL{}}, txn.Label("p"))}, []string{"p"}, "neither text, number nor binary"},
		{"a key with more than the key", []txn.Part{txn.Delete(orders, item("a", "x", "y"), txn.Label("p"))}, []string{"p"}, "has 3 attributes, want 2"},
		{"no table", []txn.Part{txn.Put(txn.Table{}, item("a"), txn.Label("p"))}, []string{"p"}, "without a table name"},
		{"no action", []txn.Part{txn.NewPart("p", txn.Write{Table: orders, Item: item("a")})}, []string{"p"}, "without an action"},
		{"an update of nothing", []txn.Part{txn.NewPart("p", txn.Write{Action: txn.ActionUpdate, Table: orders, Key: item("a")})}, []string{"p"}, "without an update expression"},
		{"a check of nothing", []txn.Part{txn.Check(orders, item("a"), txn.Label("p"))}, []string{"p"}, "without a condition"},
		{"an expression that cannot be built", []txn.Part{txn.Update(orders, item("a"), expression.UpdateBuilder{}, txn.Label("p"))}, []string{"p"}, "could not be built"},
		{"txn's own substitution", []txn.Part{txn.NewPart("p", txn.Write{Action: txn.ActionPut, Table: orders, Item: item("a"),
			Condition: "x = :txnMark", Values: txn.Item{":txnMark": s("z")}})}, []string{"p"}, ":txnMark is txn's own"},
		{"a mark instead of the key", []txn.Part{txn.Put(txn.Table{Name: "Orders", SK: txn.MarkAttribute}, item("a", txn.MarkAttribute, "x"), txn.Label("p"))}, []string{"p"}, "txnMark is txn's own attribute"},
		{"a fence without a condition", []txn.Part{txn.NewPart("p", txn.Write{Action: txn.ActionPut, Table: orders, Item: item("a"), Fence: true})}, []string{"p"}, "a fence on Orders[a / META] without a write on condition"},
		{"a fence that writes nothing", []txn.Part{txn.NewPart("p", txn.Write{Action: txn.ActionCheck, Table: orders, Key: item("a"),
			Condition: "attribute_exists(PK)", Fence: true})}, []string{"p"}, "without a write on condition"},
		{"a bad part that gives no reason", []txn.Part{puts(1)[0], txn.BadPart("p", nil)}, []string{"p"}, "no reason was given"},
		{"the second of two writes of one part", []txn.Part{txn.NewPart("p", txn.Write{Action: txn.ActionPut, Table: orders, Item: item("a")},
			txn.Write{Action: txn.ActionPut, Table: orders, Item: item("a")})}, []string{"p", "p"}, "two writes on one item"},
		{"one item under two spellings of its table", []txn.Part{txn.Put(orders, item("a"), txn.Label("p")),
			txn.Update(txn.Table{Name: "Orders", PK: "PK", SK: "SK"}, item("a"), set, txn.Label("q"))}, []string{"p", "q"}, "two writes on one item"},
	} {
		t.Run(row.name, func(t *testing.T) {
			client := &script{t: t}
			_, err := txn.Commit(t.Context(), client, row.parts...)
			var invalid *txn.InvalidError
			if !errors.As(err, &invalid) || !errors.Is(err, txn.ErrInvalid) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(err.Error(), row.rule) {
				t.Errorf("got %q, want it to say %q", err, row.rule)
			}
			if row.named != nil && !slices.Equal(invalid.Parts, row.named) {
				t.Errorf("parts %q, want %q", invalid.Parts, row.named)
			}
			if len(client.sent) > 0 {
				t.Error("it was sent all the same")
			}
		})
	}
	if _, _, _, err := commit(t, puts(100), ok); err != nil {
		t.Errorf("100 items are allowed: %v", err)
	}
	longest := orders.Key(strings.Repeat("k", 2048), strings.Repeat("k", 1024))
	if _, _, _, err := commit(t, []txn.Part{txn.Delete(orders, longest)}, ok); err != nil {
		t.Errorf("keys of 2048 and 1024 bytes are allowed: %v", err)
	}
	if _, err := txn.Commit(t.Context(), &script{t: t}, txn.BadPart("p", broken)); !errors.Is(err, broken) {
		t.Errorf("the reason of a bad part is lost in %v", err)
	}
}

func TestATableWithoutASortKeyHasKeysOfOneAttribute(t *testing.T) {
	accounts := txn.Table{Name: "Accounts", PK: "id", SK: txn.NoSortKey}
	parts := []txn.Part{
		txn.Put(accounts, txn.Item{"id": s("a"), "SK": s("")}),
		txn.Delete(accounts, accounts.Key("b", "")),
	}
	if _, _, _, err := commit(t, parts, ok); err != nil {
		t.Error(err)
	}
}

func TestAMarkThatCannotBeARequestTokenIsRefused(t *testing.T) {
	for _, mark := range []string{"", strings.Repeat("m", 37), "a b", "ä"} {
		client := &script{t: t}
		_, err := txn.New(client, txn.Config{NewMark: func() string { return mark }}).Commit(t.Context(), puts(1)...)
		if !errors.Is(err, txn.ErrInvalid) {
			t.Errorf("%q: got %v", mark, err)
		}
	}
}

func TestErrorsNameThePartsAndNeverThePayload(t *testing.T) {
	secret := item("order-7", "iban", "DE00SECRET")
	parts := []txn.Part{txn.Put(orders, secret, txn.IfAbsent(), txn.Label("AP01.create"))}
	for name, answers := range map[string][]answer{
		"canceled":   {cancels(reason(failed, secret))},
		"contention": slices.Repeat([]answer{cancels(reason("TransactionConflict"))}, 8),
		"ambiguous":  slices.Repeat([]answer{lost}, 8),
		"refused":    {code("ValidationException")},
	} {
		_, _, _, err := commit(t, parts, answers...)
		for _, want := range []string{"txn: commit", "AP01.create", "[DFN-12"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", name, err, want)
			}
		}
		if n := strings.Count(err.Error(), "[DFN-"); n != 1 {
			t.Errorf("%s: %d codes in %q", name, n, err)
		}
		if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the payload is in %q", name, err)
		}
	}
}

// A hundred parts make one line of a log; the fields of the error hold all their labels.
func TestAnErrorOfAHundredPartsIsShort(t *testing.T) {
	t.Parallel()
	_, err := txn.Commit(t.Context(), &script{t: t}, puts(txn.MaxItems+1)...)
	var invalid *txn.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Parts) != txn.MaxItems+1 || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "91 more") {
		t.Errorf("%v", err)
	}
}
