package dynamosim_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (b backend) writeBatch(requests ...types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error) {
	return b.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		RequestItems:           map[string][]types.WriteRequest{*b.table: requests},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	})
}

func putRequest(item attrs) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: item}}
}

func deleteRequest(item attrs) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: item}}
}

func TestBatchWritePutsAndDeletes(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: key("p", "s")})
	out, err := b.writeBatch(
		putRequest(with(key("p", "1"), "gk", s("g"), "gs", n("1"))), putRequest(key("p", "2")), deleteRequest(key("p", "s")),
	)
	if got := bill(&must(t, out, err).ConsumedCapacity[0]); got != "4 = t3 g1" {
		t.Errorf("consumed %s, want 4 = t3 g1", got)
	}
	if got := b.sortKeys(t, "pk = :p", attrs{":p": s("p")}); got != "1 2" {
		t.Errorf("the table holds %q", got)
	}
}

func TestABadBatchWritesNothing(t *testing.T) {
	b := newBackend(t)
	var tooMany []types.WriteRequest
	for i := range 26 {
		tooMany = append(tooMany, putRequest(key("p", strconv.Itoa(i))))
	}
	good := putRequest(key("p", "good"))
	for name, requests := range map[string][]types.WriteRequest{
		"26 requests":    tooMany,
		"one item twice": {good, deleteRequest(key("p", "good"))},
		"missing key":    {good, putRequest(attrs{"pk": s("p")})},
		"bad index key":  {good, putRequest(with(key("p", "bad"), "gk", n("1")))},
		"no request":     {},
	} {
		if _, err := b.writeBatch(requests...); err == nil {
			t.Errorf("%s was accepted", name)
		} else {
			wantCode(t, err, "ValidationException")
		}
	}
	if got := b.sortKeys(t, "pk = :p", attrs{":p": s("p")}); got != "" {
		t.Errorf("the table holds %q", got)
	}
}

func TestBatchGetReturnsWhatIsThere(t *testing.T) {
	b := newBackend(t)
	for i := range 3 {
		b.alone(t, write{put: with(key("p", strconv.Itoa(i)), "a", n(strconv.Itoa(i)))})
	}
	out, err := b.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{*b.table: {
		Keys:                     []attrs{key("p", "2"), key("p", "none"), key("p", "0")},
		ProjectionExpression:     aws.String("#a"),
		ExpressionAttributeNames: map[string]string{"#a": "a"},
	}}})
	must(t, out, err)
	sum := 0
	for _, item := range out.Responses[*b.table] {
		i, _ := strconv.Atoi(text(item["a"]))
		sum += i
		if len(item) != 1 {
			t.Errorf("projected item is %v", item)
		}
	}
	if sum != 2 || len(out.Responses[*b.table]) != 2 || len(out.UnprocessedKeys) != 0 {
		t.Errorf("responses are %v, unprocessed %v", out.Responses, out.UnprocessedKeys)
	}
}

func TestBatchGetStopsAt16MBAndSaysWhatIsLeft(t *testing.T) {
	b := newBackend(t)
	keys := map[string]bool{}
	var ask []attrs
	for i := range 50 {
		item := key(fmt.Sprint("p", i), "s")
		if _, err := b.PutItem(ctx, &dynamodb.PutItemInput{TableName: b.table, Item: with(item, "body", s(strings.Repeat("x", 380_000)))}); err != nil {
			t.Fatal(err)
		}
		ask = append(ask, item)
	}
	rounds := 0
	first := types.KeysAndAttributes{
		Keys: ask, ConsistentRead: aws.Bool(true),
		ProjectionExpression: aws.String("#p"), ExpressionAttributeNames: map[string]string{"#p": "pk"},
	}
	for next := map[string]types.KeysAndAttributes{*b.table: first}; len(next) > 0; rounds++ {
		out, err := b.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: next})
		for _, item := range must(t, out, err).Responses[*b.table] {
			keys[text(item["pk"])] = true
		}
		next = out.UnprocessedKeys
		if left, ok := next[*b.table]; ok && (!*left.ConsistentRead || left.ExpressionAttributeNames["#p"] != "pk") {
			t.Errorf("the rest forgets what was asked: %+v", left)
		}
	}
	if rounds != 2 || len(keys) != 50 {
		t.Errorf("%d items in %d rounds", len(keys), rounds)
	}
}
