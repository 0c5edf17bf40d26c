package dynamosim_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// show writes an item as "a=1 b=2", names sorted.
func show(item attrs) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		words = append(words, name+"="+text(item[name]))
	}
	return strings.Join(words, " ")
}

// stored is what a strong read shows.
func (b backend) stored(t *testing.T, item attrs) string {
	t.Helper()
	out, err := b.GetItem(ctx, &dynamodb.GetItemInput{TableName: b.table, Key: item, ConsistentRead: aws.Bool(true)})
	return show(must(t, out, err).Item)
}

func TestUpdateReturnsTheValuesThatWereAskedFor(t *testing.T) {
	for want, c := range map[types.ReturnValue]struct{ existing, created string }{
		types.ReturnValueNone:       {"", ""},
		types.ReturnValueAllOld:     {"a=1 b=2 pk=p sk=s", ""},
		types.ReturnValueAllNew:     {"a=10 b=2 c=3 pk=p sk=s", "a=10 c=3 pk=p sk=s"},
		types.ReturnValueUpdatedOld: {"a=1", ""},
		types.ReturnValueUpdatedNew: {"a=10 c=3", "a=10 c=3"},
	} {
		b := newBackend(t)
		update := func() string {
			out, err := b.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: b.table, Key: key("p", "s"), UpdateExpression: aws.String("SET a = :a, c = :c"),
				ExpressionAttributeValues: attrs{":a": n("10"), ":c": n("3")}, ReturnValues: want,
			})
			return show(must(t, out, err).Attributes)
		}
		if want != types.ReturnValueAllOld { // what ALL_OLD shows of an item that was not there is not documented
			if got := update(); got != c.created {
				t.Errorf("%s of a new item: %q, want %q", want, got, c.created)
			}
		}
		b.alone(t, write{put: with(key("p", "s"), "a", n("1"), "b", n("2"))})
		if got := update(); got != c.existing {
			t.Errorf("%s: %q, want %q", want, got, c.existing)
		}
	}
}

func TestPutAndDeleteReturnTheOldItem(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: with(key("p", "s"), "a", n("1"))})
	put, err := b.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: b.table, Item: with(key("p", "s"), "a", n("2")), ReturnValues: types.ReturnValueAllOld,
	})
	if got := show(must(t, put, err).Attributes); got != "a=1 pk=p sk=s" {
		t.Errorf("put returned %q", got)
	}
	deleted, err := b.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: b.table, Key: key("p", "s"), ReturnValues: types.ReturnValueAllOld,
	})
	if got := show(must(t, deleted, err).Attributes); got != "a=2 pk=p sk=s" {
		t.Errorf("delete returned %q", got)
	}
	if got := b.stored(t, key("p", "s")); got != "" {
		t.Errorf("still stored: %q", got)
	}
}

func TestAFailedConditionShowsTheStoredItemAndChangesNothing(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: with(key("p", "s"), "a", n("1"))})
	_, err := b.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: b.table, Item: with(key("p", "s"), "a", n("2")), ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityIndexes,
	})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || failed.ErrorMessage() != "The conditional request failed" {
		t.Fatalf("error is %v", err)
	}
	if got := show(failed.Item); got != "a=1 pk=p sk=s" {
		t.Errorf("error shows %q", got)
	}
	_, err = b.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: b.table, Key: key("p", "none"), ConditionExpression: aws.String("attribute_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if !errors.As(err, &failed) || failed.Item != nil {
		t.Errorf("a missing item has nothing to show: %v", err)
	}
	if got := b.stored(t, key("p", "s")); got != "a=1 pk=p sk=s" {
		t.Errorf("stored is %q", got)
	}
}

func TestUpdateCreatesAMissingItem(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{update: "ADD hits :one", values: attrs{":one": n("1")}})
	b.alone(t, write{update: "ADD hits :one", values: attrs{":one": n("1")}})
	if got := b.stored(t, key("p", "s")); got != "hits=2 pk=p sk=s" {
		t.Errorf("stored is %q", got)
	}
	_, err := b.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: b.table, Key: key("p", "bare")})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.stored(t, key("p", "bare")); got != "pk=p sk=bare" {
		t.Errorf("an update without expression stored %q", got)
	}
}

func TestNumbersComeBackNormalised(t *testing.T) {
	b := newBackend(t)
	for in, want := range map[string]string{
		"0042": "42", "1.200": "1.2", "+5": "5", "-0": "0", "1E3": "1000", "1.5e-3": "0.0015",
		"12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
	} {
		b.alone(t, write{put: with(key("p", "s"), "n", n(in))})
		if got := b.stored(t, key("p", "s")); got != "n="+want+" pk=p sk=s" {
			t.Errorf("%s came back as %q, want %s", in, got, want)
		}
	}
}

func TestItemsEndAt400KB(t *testing.T) {
	b := newBackend(t)
	body := func(bytes int) attrs { return with(key("p", "s"), "b", s(strings.Repeat("x", bytes))) }
	const overhead = 7 // pk p sk s b
	b.alone(t, write{put: body(409600 - overhead)})
	_, err := b.PutItem(ctx, &dynamodb.PutItemInput{TableName: b.table, Item: body(409600 - overhead + 1)})
	wantCode(t, err, "ValidationException")
	_, err = b.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: b.table, Key: key("p", "s"), UpdateExpression: aws.String("SET c = :c"),
		ExpressionAttributeValues: attrs{":c": s(strings.Repeat("x", 1000))},
	})
	wantCode(t, err, "ValidationException")
}
