package planted

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/invariant"
)

// The handlers of this package speak to DynamoDB without the library, so that each mistake can be made. This file only
// shortens the writing.

const table = "Things"

// item is an item without its key: attribute names and values, numbers as text.
type item = map[string]string

// values are substitutions, by name without the colon: int becomes a number, string text.
type values = map[string]any

// store is a client.
type store struct{ *dynamodb.Client }

func of(p *invariant.Process) store   { return store{p.Client()} }
func behind(w *invariant.World) store { return store{w.Client()} }
func key(pk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": text(pk), "SK": text("-")}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func attribute(v any) types.AttributeValue {
	if n, ok := v.(int); ok {
		return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
	}
	return text(v.(string))
}

func plain(stored map[string]types.AttributeValue) item {
	if stored == nil {
		return nil
	}
	out := item{}
	for name, value := range stored {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			out[name] = v.Value
		case *types.AttributeValueMemberN:
			out[name] = v.Value
		}
	}
	return out
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// get reads an item with a strong read; nil if there is none.
func (s store) get(ctx context.Context, pk string) (item, error) {
	out, err := s.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: key(pk), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return plain(out.Item), nil
}

// write is one write: a put if update is "", else an update, or a check if check is set.
type write struct {
	pk, update, when string
	with             values // of a put: the attributes; else the substitutions
	put, delete      bool
}

func put(pk string, with values) write { return write{pk: pk, with: with, put: true} }
func create(pk string, with values) write {
	return write{pk: pk, with: with, put: true, when: "attribute_not_exists(PK)"}
}
func update(pk, update string, with values) write { return write{pk: pk, update: update, with: with} }
func remove(pk string) write                      { return write{pk: pk, delete: true} }

// If adds a condition with its substitutions; only an update has others.
func (w write) If(condition string, with values) write {
	w.when = condition
	if !w.put {
		with = merged(w.with, with)
		w.with = with
	}
	return w
}

func merged(a, b values) values {
	out := maps.Clone(a)
	if out == nil {
		out = values{}
	}
	maps.Copy(out, b)
	return out
}

func substitutions(with values, used ...string) map[string]types.AttributeValue {
	var out map[string]types.AttributeValue
	for name, value := range with {
		if strings.Contains(strings.Join(used, " ")+" ", ":"+name) {
			if out == nil {
				out = map[string]types.AttributeValue{}
			}
			out[":"+name] = attribute(value)
		}
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (w write) item() map[string]types.AttributeValue {
	stored := key(w.pk)
	for name, value := range w.with {
		stored[name] = attribute(value)
	}
	return stored
}

// do sends one write by itself. A failed condition brings the stored item: see refused.
func (s store) do(ctx context.Context, w write) error {
	name, old := aws.String(table), types.ReturnValuesOnConditionCheckFailureAllOld
	var err error
	switch {
	case w.put:
		_, err = s.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: w.item(), ConditionExpression: optional(w.when), ReturnValuesOnConditionCheckFailure: old})
	case w.delete:
		_, err = s.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: key(w.pk), ConditionExpression: optional(w.when),
			ExpressionAttributeValues: substitutions(w.with, w.when), ReturnValuesOnConditionCheckFailure: old})
	default:
		_, err = s.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name, Key: key(w.pk), UpdateExpression: &w.update, ConditionExpression: optional(w.when),
			ExpressionAttributeValues: substitutions(w.with, w.update, w.when), ReturnValuesOnConditionCheckFailure: old})
	}
	return err
}

// together sends writes in one transaction, with a request token if it is not "".
func (s store) together(ctx context.Context, token string, writes ...write) error {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: optional(token)}
	name, old := aws.String(table), types.ReturnValuesOnConditionCheckFailureAllOld
	for _, w := range writes {
		if w.put {
			in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: name, Item: w.item(),
				ConditionExpression: optional(w.when), ReturnValuesOnConditionCheckFailure: old}})
			continue
		}
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Update: &types.Update{TableName: name, Key: key(w.pk), UpdateExpression: aws.String(w.update),
			ConditionExpression: optional(w.when), ExpressionAttributeValues: substitutions(w.with, w.update, w.when), ReturnValuesOnConditionCheckFailure: old}})
	}
	_, err := s.TransactWriteItems(ctx, in)
	return err
}

// refused says whether a single write's condition failed, and against which item; nil if there was none.
func refused(err error) (old item, ok bool) {
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, false
	}
	return plain(failed.Item), true
}

// reasons are the codes and old items of a cancelled transaction, by position; nil if err is no cancellation.
func reasons(err error) (codes []string, old []item) {
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		return nil, nil
	}
	for _, reason := range canceled.CancellationReasons {
		codes, old = append(codes, aws.ToString(reason.Code)), append(old, plain(reason.Item))
	}
	return codes, old
}

const conditionFailed = "ConditionalCheckFailed"

// failedAt returns the position of the first failed condition and its old item.
func failedAt(err error) (at int, old item, ok bool) {
	codes, items := reasons(err)
	if at = slices.Index(codes, conditionFailed); at < 0 {
		return 0, nil, false
	}
	return at, items[at], true
}
