package dynamosim_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

func (b backend) transact(actions ...types.TransactWriteItem) error {
	_, err := b.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	return err
}

func (b backend) putAction(item attrs) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: b.table, Item: item}}
}

func (b backend) checkAction(item attrs, condition string) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: b.table, Key: item, ConditionExpression: &condition,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

func (b backend) updateAction(item attrs, update string, values attrs) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: b.table, Key: item, UpdateExpression: &update, ExpressionAttributeValues: values,
	}}
}

// reasons shows the reasons of a cancelled transaction, one a line: code, message, item.
func reasons(t *testing.T, err error) string {
	t.Helper()
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatalf("error is %v, want a cancelled transaction", err)
	}
	var lines []string
	for _, r := range canceled.CancellationReasons {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(*r.Code, " ", aws.ToString(r.Message), " ", show(r.Item))))
	}
	return strings.Join(lines, "\n")
}

func TestACanceledTransactionExplainsEveryActionInOrder(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: with(key("p", "s"), "a", s("text"))})
	err := b.transact(
		b.putAction(key("p", "new")),
		b.checkAction(key("p", "s"), "attribute_not_exists(pk)"),
		b.checkAction(key("p", "none"), "attribute_exists(pk)"),
		b.updateAction(key("p", "other"), "SET z = nothere + :one", attrs{":one": n("1")}),
		b.updateAction(key("p", "third"), "SET gk = :one", attrs{":one": n("1")}),
		b.checkAction(attrs{"pk": s("p")}, "attribute_exists(pk)"),
	)
	want := `None
ConditionalCheckFailed The conditional request failed a=text pk=p sk=s
ConditionalCheckFailed The conditional request failed
ValidationError The provided expression refers to an attribute that does not exist in the item
ValidationError One or more parameter values were invalid: Type mismatch for Index Key gk Expected: S Actual: N IndexName: byGroup
ValidationError The provided key element does not match the schema`
	if got := reasons(t, err); got != want {
		t.Errorf("reasons are\n%s\nwant\n%s", got, want)
	}
	var canceled *types.TransactionCanceledException
	errors.As(err, &canceled)
	text := "Transaction cancelled, please refer cancellation reasons for specific reasons " +
		"[None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError, ValidationError, ValidationError]"
	if canceled.ErrorMessage() != text {
		t.Errorf("message is %q", canceled.ErrorMessage())
	}
	if got := b.stored(t, key("p", "new")); got != "" {
		t.Errorf("half a transaction was applied: %q", got)
	}
}

func TestATransactionCommitsAllActionsTogether(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: with(key("p", "s"), "a", n("1"))})
	b.alone(t, write{put: key("p", "s")})
	err := b.transact(
		b.putAction(with(key("p", "new"), "gk", s("g"), "gs", n("1"))),
		b.updateAction(key("p", "count"), "ADD hits :two", attrs{":two": n("2")}),
		types.TransactWriteItem{Delete: &types.Delete{TableName: b.table, Key: key("p", "s")}},
		b.checkAction(key("p", "none"), "attribute_not_exists(pk)"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.sortKeys(t, "pk = :p", attrs{":p": s("p")}); got != "count new" {
		t.Errorf("the table holds %q", got)
	}
}

func TestWhatIsWrongWithTheRequestIsNoCancellation(t *testing.T) {
	b := newBackend(t)
	large := s(strings.Repeat("x", 410_000))
	half := s(strings.Repeat("x", 300_000))
	many := func(count int, more ...any) (actions []types.TransactWriteItem) {
		for i := range count {
			actions = append(actions, b.putAction(with(key("p", strconv.Itoa(i)), more...)))
		}
		return actions
	}
	for name, c := range map[string]struct {
		actions []types.TransactWriteItem
		code    string
	}{
		"no actions":           {[]types.TransactWriteItem{}, "ValidationException"},
		"101 actions":          {many(101), "ValidationException"},
		"one item twice":       {[]types.TransactWriteItem{b.putAction(key("p", "s")), b.checkAction(key("p", "s"), "attribute_exists(pk)")}, "ValidationException"},
		"empty action":         {[]types.TransactWriteItem{{}}, "ValidationException"},
		"empty key value":      {many(1, "sk", s("")), "ValidationException"},
		"empty index key":      {many(1, "gk", s("")), "ValidationException"},
		"item over 400 KB":     {many(1, "body", large), "ValidationException"},
		"syntax error":         {[]types.TransactWriteItem{b.checkAction(key("p", "s"), "a = ")}, "ValidationException"},
		"undefined value":      {[]types.TransactWriteItem{b.checkAction(key("p", "s"), "a = :a")}, "ValidationException"},
		"unknown table":        {[]types.TransactWriteItem{{Put: &types.Put{TableName: aws.String("no-such-table"), Item: key("p", "s")}}}, "ResourceNotFoundException"},
		"more than 4 MB in it": {many(15, "body", half), "ValidationException"},
	} {
		err := b.transact(c.actions...)
		var canceled *types.TransactionCanceledException
		if errors.As(err, &canceled) {
			t.Errorf("%s: cancelled: %v", name, err)
			continue
		}
		wantCode(t, err, c.code)
	}
}

func TestTransactGetItemsAnswersInOrder(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: with(key("p", "s"), "a", n("1"), "b", n("2"))})
	get := func(sk string, projection *string) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: b.table, Key: key("p", sk), ProjectionExpression: projection}}
	}
	out, err := b.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{get("none", nil), get("s", aws.String("a, pk"))},
	})
	responses := must(t, out, err).Responses
	if len(responses) != 2 || responses[0].Item != nil || responses[1].Item["a"] == nil || responses[1].Item["b"] != nil {
		t.Errorf("responses are %v", responses)
	}
	_, err = b.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{get("s", nil), {Get: &types.Get{TableName: b.table, Key: attrs{"pk": s("p")}}}},
	})
	if got := reasons(t, err); got != "None\nValidationError The provided key element does not match the schema" {
		t.Errorf("reasons are %s", got)
	}
}

// tokenBackend is a simulator with a clock of its own.
func tokenBackend(t *testing.T, opts dynamosim.Options) (backend, *time.Time) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	opts.Now = func() time.Time { return now }
	b := backend{dynamosim.New(t, opts).Client(), aws.String("tokens")}
	if _, err := b.CreateTable(ctx, testTable("tokens")); err != nil {
		t.Fatal(err)
	}
	return b, &now
}

// add posts an amount under a token and returns the consumed capacity.
func (b backend) add(token, amount string) (*types.ConsumedCapacity, error) {
	out, err := b.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: &token,
		TransactItems: []types.TransactWriteItem{
			b.updateAction(key("p", "balance"), "ADD posted :amount SET memo = :label", attrs{":amount": n(amount), ":label": s("x")}),
		},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return nil, err
	}
	return &out.ConsumedCapacity[0], nil
}

func TestATokenMakesARepeatHarmlessForTenMinutes(t *testing.T) {
	b, now := tokenBackend(t, dynamosim.Options{})
	first, err := b.add("order-1", "10")
	if must(t, first, err); *first.CapacityUnits != 2 || first.WriteCapacityUnits == nil {
		t.Errorf("the first request writes: %v units", *first.CapacityUnits)
	}
	*now = now.Add(10*time.Minute - time.Nanosecond)
	repeat, err := b.add("order-1", "10.0")
	if must(t, repeat, err); *repeat.ReadCapacityUnits != 2 || repeat.WriteCapacityUnits != nil {
		t.Errorf("the repeat reads: %v", repeat)
	}
	_, err = b.add("order-1", "11")
	wantCode(t, err, "IdempotentParameterMismatchException")
	if got := b.stored(t, key("p", "balance")); got != "memo=x pk=p posted=10 sk=balance" {
		t.Errorf("stored is %q", got)
	}
	*now = now.Add(time.Nanosecond)
	if _, err := b.add("order-1", "11"); err != nil {
		t.Errorf("after ten minutes the token is new: %v", err)
	}
	if got := b.stored(t, key("p", "balance")); got != "memo=x pk=p posted=21 sk=balance" {
		t.Errorf("stored is %q", got)
	}
}

func TestTokenPoliciesCoverWhatIsNotPromised(t *testing.T) {
	ignoring, _ := tokenBackend(t, dynamosim.Options{TokenPolicy: dynamosim.IgnoreTokens})
	for range 2 {
		if _, err := ignoring.add("order-1", "10"); err != nil {
			t.Fatal(err)
		}
	}
	if got := ignoring.stored(t, key("p", "balance")); got != "memo=x pk=p posted=20 sk=balance" {
		t.Errorf("ignored tokens: stored is %q", got)
	}
	strict, _ := tokenBackend(t, dynamosim.Options{TokenPolicy: dynamosim.MismatchOnRepeat})
	if _, err := strict.add("order-1", "10"); err != nil {
		t.Fatal(err)
	}
	_, err := strict.add("order-1", "10")
	wantCode(t, err, "IdempotentParameterMismatchException")
}

func TestACanceledTransactionMayKeepItsToken(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		b, _ := tokenBackend(t, dynamosim.Options{CanceledKeepsToken: keeps})
		reserve := func() error {
			_, err := b.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				ClientRequestToken: aws.String("order-1"),
				TransactItems:      []types.TransactWriteItem{b.checkAction(key("p", "limit"), "attribute_exists(pk)")},
			})
			return err
		}
		wantCode(t, reserve(), "TransactionCanceledException")
		b.alone(t, write{put: key("p", "limit")})
		if err := reserve(); (err != nil) != keeps {
			t.Errorf("token kept: %v, repeat gives %v", keeps, err)
		}
	}
}

func TestAReplayIsChargedAsReads(t *testing.T) {
	b, _ := tokenBackend(t, dynamosim.Options{})
	for _, c := range []struct {
		bytes         int
		first, repeat float64
	}{{1500, 4, 2}, {9000, 18, 6}} {
		in := func() *dynamodb.TransactWriteItemsInput {
			return &dynamodb.TransactWriteItemsInput{
				ClientRequestToken:     aws.String(strconv.Itoa(c.bytes)),
				TransactItems:          []types.TransactWriteItem{b.putAction(with(key("p", "s"), "b", s(strings.Repeat("x", c.bytes))))},
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			}
		}
		b.alone(t, write{delete: true})
		first, err := b.TransactWriteItems(ctx, in())
		must(t, first, err)
		repeat, err := b.TransactWriteItems(ctx, in())
		must(t, repeat, err)
		if *first.ConsumedCapacity[0].WriteCapacityUnits != c.first || *repeat.ConsumedCapacity[0].ReadCapacityUnits != c.repeat {
			t.Errorf("%d bytes: %v then %v units, want %v then %v", c.bytes,
				*first.ConsumedCapacity[0].CapacityUnits, *repeat.ConsumedCapacity[0].CapacityUnits, c.first, c.repeat)
		}
	}
}
