package txn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/txn"
)

// TestWhatWouldBeStoredOtherwiseIsRefused: the SDK panics over a nil pointer, leaves a nil element of a list out, and sends
// other text in place of invalid UTF-8, by which two keys become one.
func TestWhatWouldBeStoredOtherwiseIsRefused(t *testing.T) {
	list := func(elements ...types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberL{Value: elements}
	}
	with := func(value types.AttributeValue) []txn.Write {
		put := item("a")
		put["x"] = value
		return []txn.Write{
			{Action: txn.ActionPut, Table: orders, Item: put},
			{Action: txn.ActionPut, Table: orders, Item: item("a"), Condition: "y = :x", Values: txn.Item{":x": value}},
			{Action: txn.ActionUpdate, Table: orders, Key: item("a"), Update: "SET y = :x", Values: txn.Item{":x": value}},
			{Action: txn.ActionCheck, Table: orders, Key: item("a"), Condition: "y = :x", Values: txn.Item{":x": value}},
			{Action: txn.ActionDelete, Table: orders, Key: txn.Item{"PK": s("a"), "SK": value}},
		}
	}
	var nilText *types.AttributeValueMemberS
	var nilMap *types.AttributeValueMemberM
	for name, row := range map[string]struct {
		writes []txn.Write
		reason string
	}{
		"no value":                    {with(nil), "has no value"},
		"a nil pointer":               {with(nilText), "has no value"},
		"a nil pointer to a map":      {with(nilMap), "has no value"},
		"no value in a list":          {with(list(s("1"), nil, s("3"))), "has no value"},
		"no value deep down":          {with(&types.AttributeValueMemberM{Value: txn.Item{"m": list(list(nilText))}}), "has no value"},
		"invalid UTF-8":               {with(s("a\xff")), "is not valid UTF-8"},
		"a malformed number":          {with(n("12,50")), "is not a number"},
		"a malformed number in a set": {with(&types.AttributeValueMemberNS{Value: []string{"1", "NaN"}}), "is not a number"},
		"invalid UTF-8 in a set":      {with(&types.AttributeValueMemberSS{Value: []string{"a", "\xff"}}), "is not valid UTF-8"},
		"invalid UTF-8 in a list":     {with(list(s("\xc0\x80"))), "is not valid UTF-8"},
		"an attribute's name":         {with(&types.AttributeValueMemberM{Value: txn.Item{"\xff": s("a")}}), "is not valid UTF-8"},
		"a substituted name": {[]txn.Write{{Action: txn.ActionCheck, Table: orders, Key: item("a"), Condition: "#x = :x",
			Names: map[string]string{"#x": "\xff"}, Values: txn.Item{":x": s("a")}}}, "is not valid UTF-8"},
	} {
		for _, write := range row.writes {
			client := &script{t: t}
			_, err := txn.Commit(t.Context(), client, txn.NewPart("p", write))
			if !errors.Is(err, txn.ErrInvalid) || !strings.Contains(err.Error(), row.reason) || len(client.sent) > 0 {
				t.Errorf("%s in a %s: got %v after %d requests", name, write.Action, err, len(client.sent))
			}
		}
	}
}

func TestKeysInMessagesStayOnOneLine(t *testing.T) {
	for pk, want := range map[string]string{
		"TEN#acme#ORDER#é":     "Orders[TEN#acme#ORDER#é / META]",
		"a / b":                "Orders[a / b / META]",
		"a\nERROR all is lost": `Orders["a\nERROR all is lost" / META]`,
		"a\x00\u202eb":         `Orders["a\x00\u202eb" / META]`,
	} {
		_, _, _, err := commit(t, []txn.Part{txn.Put(orders, item(pk), txn.IfAbsent())}, cancels(reason(failed, item(pk))))
		if !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x00\u202e") {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
}

func TestNoValueCanSpellAnothersKey(t *testing.T) {
	segment := rapid.StringOf(rapid.SampledFrom([]rune("a#%235")))
	segments := rapid.SliceOfN(segment, 1, 4)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := segments.Draw(rt, "a"), segments.Draw(rt, "b")
		if (txn.JoinKey(a...) == txn.JoinKey(b...)) != slices.Equal(a, b) {
			rt.Fatalf("%q and %q give %q and %q", a, b, txn.JoinKey(a...), txn.JoinKey(b...))
		}
	})
	if got, want := txn.JoinKey("TEN", "a#b", "ORDER", "100%"), "TEN#a%23b#ORDER#100%25"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
