package dynamosim_test

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"
)

func (d drawer) get() func(backend) (any, error) {
	key, projection, consistent, capacity := d.key(), d.projection(), d.chance("consistent", 50), d.capacity()
	return func(b backend) (any, error) {
		return b.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: b.table, Key: key, ProjectionExpression: projection, ConsistentRead: &consistent, ReturnConsumedCapacity: capacity,
		})
	}
}

func (d drawer) projection() *string {
	return d.maybe("whole", func() string {
		return strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y.k", "z[0]", "z[1]", "pk", "proj", "gs"}), 1, 3, rapid.ID[string]).Draw(d.T, "projection"), ", ")
	})
}

func (d drawer) put() func(backend) (any, error) {
	var e expressions
	item, condition := d.item(d.key()), d.maybe("unconditional", func() string { return d.condition(&e, 2) })
	returns := pick(d, "returns", types.ReturnValueNone, types.ReturnValueAllOld)
	capacity, onFailure := d.capacity(), d.oldOnFailure()
	return func(b backend) (any, error) {
		return b.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: b.table, Item: item, ConditionExpression: condition, ExpressionAttributeValues: e.values, ReturnValues: returns,
			ReturnConsumedCapacity: capacity, ReturnValuesOnConditionCheckFailure: onFailure,
		})
	}
}

func (d drawer) delete() func(backend) (any, error) {
	var e expressions
	key, condition := d.key(), d.maybe("unconditional", func() string { return d.condition(&e, 2) })
	returns := pick(d, "returns", types.ReturnValueNone, types.ReturnValueAllOld)
	capacity, onFailure := d.capacity(), d.oldOnFailure()
	return func(b backend) (any, error) {
		return b.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: b.table, Key: key, ConditionExpression: condition, ExpressionAttributeValues: e.values, ReturnValues: returns,
			ReturnConsumedCapacity: capacity, ReturnValuesOnConditionCheckFailure: onFailure,
		})
	}
}

// remove deletes an item whatever it is.
func (d drawer) remove(key attrs) func(backend) (any, error) {
	return func(b backend) (any, error) {
		return b.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: b.table, Key: key})
	}
}

func (d drawer) update() func(backend) (any, error) {
	var e expressions
	key := d.key()
	update, condition := d.updateExpression(&e, key, append(drawnTargets, "pk")), d.maybe("unconditional", func() string { return d.condition(&e, 1) })
	returns := pick(d, "returns", types.ReturnValueNone, types.ReturnValueAllOld, types.ReturnValueAllNew, types.ReturnValueUpdatedOld, types.ReturnValueUpdatedNew)
	capacity, onFailure := d.capacity(), d.oldOnFailure()
	return func(b backend) (any, error) {
		return b.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: b.table, Key: key, UpdateExpression: &update, ConditionExpression: condition, ExpressionAttributeValues: e.values,
			ReturnValues: returns, ReturnConsumedCapacity: capacity, ReturnValuesOnConditionCheckFailure: onFailure,
		})
	}
}

var drawnTargets = []string{"x", "y", "z", "proj", "gk", "gs", "ls", "x.k", "z[0]"}

// updateExpression has each clause at most once, and one to four actions.
func (d drawer) updateExpression(e *expressions, key attrs, targets []string) string {
	clauses := map[string][]string{}
	for _, path := range rapid.SliceOfNDistinct(rapid.SampledFrom(targets), 1, 4, rapid.ID[string]).Draw(d.T, "targets") {
		switch pick(d, "clause", "SET", "SET", "SET", "REMOVE", "ADD", "DELETE") {
		case "SET":
			clauses["SET"] = append(clauses["SET"], path+" = "+d.setValue(e, key, path))
		case "REMOVE":
			clauses["REMOVE"] = append(clauses["REMOVE"], path)
		case "ADD":
			clauses["ADD"] = append(clauses["ADD"], path+" "+e.value(pick[types.AttributeValue](d, "added", n("1"), n("-2.5"), &types.AttributeValueMemberSS{Value: []string{"a", "z"}})))
		default:
			clauses["DELETE"] = append(clauses["DELETE"], path+" "+e.value(pick[types.AttributeValue](d, "deleted", &types.AttributeValueMemberSS{Value: []string{"a", "b"}}, &types.AttributeValueMemberNS{Value: []string{"1"}})))
		}
	}
	var text []string
	for _, clause := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		if actions := clauses[clause]; len(actions) > 0 {
			text = append(text, clause+" "+strings.Join(actions, ", "))
		}
	}
	return strings.Join(text, " ")
}

func (d drawer) setValue(e *expressions, key attrs, path string) string {
	switch path { // index keys keep their types, most of the time
	case "gk":
		return e.value(s(pick(d, "gk", "g", "h")))
	case "gs":
		return e.value(d.groupSort(key))
	case "ls":
		return e.value(d.localSort(key))
	}
	switch pick(d, "set", "value", "path", "if absent", "plus", "minus", "append") {
	case "path":
		return d.path()
	case "if absent":
		return "if_not_exists(" + d.path() + ", " + e.value(d.value(1)) + ")"
	case "plus":
		return pick(d, "augend", "x", "y", "if_not_exists(x, "+e.value(n("0"))+")") + " + " + e.value(n(pick(d, "addend", "1", "0.5", "-1e3")))
	case "minus":
		return d.path() + " - " + e.value(n("1"))
	case "append":
		return "list_append(" + d.path() + ", " + e.value(&types.AttributeValueMemberL{Value: []types.AttributeValue{s("tail")}}) + ")"
	default:
		return e.value(d.value(2))
	}
}

func (d drawer) query() func(backend) (any, error) {
	var e expressions
	in := dynamodb.QueryInput{ConsistentRead: aws.Bool(d.chance("consistent", 30)), ReturnConsumedCapacity: d.capacity(), ScanIndexForward: aws.Bool(d.chance("forward", 60))}
	partition, sort, from, to := "pk", "sk", s(pick(d, "from", drawnSorts...)), s(pick(d, "to", drawnSorts...))
	switch pick(d, "source", "table", "byGroup", "byLocal") {
	case "byGroup":
		in.IndexName, partition, sort, from, to = aws.String("byGroup"), "gk", "gs", n("5"), n("31")
	case "byLocal":
		in.IndexName, sort, from, to = aws.String("byLocal"), "ls", s("l2"), s("m3")
	}
	condition := partition + " = " + e.value(s(pick(d, "partition", "a", "b", "g", "h")))
	switch pick(d, "sort", "any", "any", "=", "<", ">=", "between", "begins") {
	case "=":
		condition += " AND " + sort + " = " + e.value(from)
	case "<":
		condition += " AND " + sort + " < " + e.value(to)
	case ">=":
		condition += " AND " + e.value(from) + " <= " + sort
	case "between":
		condition += " AND " + sort + " BETWEEN " + e.value(from) + " AND " + e.value(to)
	case "begins":
		condition += " AND begins_with(" + sort + ", " + e.value(from) + ")"
	}
	in.KeyConditionExpression, in.ProjectionExpression = &condition, d.projection()
	in.FilterExpression = d.maybe("unfiltered", func() string { return d.condition(&e, 1) })
	in.ExpressionAttributeValues = e.values
	if d.chance("limited", 40) {
		in.Limit = aws.Int32(rapid.Int32Range(1, 4).Draw(d.T, "limit"))
	}
	if in.ProjectionExpression == nil && d.chance("count", 20) {
		in.Select = types.SelectCount
	}
	return func(b backend) (any, error) {
		asked := in
		asked.TableName = b.table
		return b.Query(ctx, &asked)
	}
}

func (d drawer) scan() func(backend) (any, error) {
	var e expressions
	in := dynamodb.ScanInput{ConsistentRead: aws.Bool(d.chance("consistent", 30)), ReturnConsumedCapacity: d.capacity(), ProjectionExpression: d.projection()}
	if source := pick(d, "source", "", "byGroup", "byLocal"); source != "" {
		in.IndexName = &source
	}
	in.FilterExpression = d.maybe("unfiltered", func() string { return d.condition(&e, 1) })
	in.ExpressionAttributeValues = e.values
	return func(b backend) (any, error) {
		asked := in
		asked.TableName = b.table
		return b.Scan(ctx, &asked)
	}
}

// everything reads all that is stored, in every order.
func (d drawer) everything() (all []operation) {
	for _, index := range []*string{nil, aws.String("byGroup"), aws.String("byLocal")} {
		all = append(all, operation{"scan", func(b backend) (any, error) {
			return b.Scan(ctx, &dynamodb.ScanInput{TableName: b.table, IndexName: index})
		}})
	}
	return all
}

func (d drawer) batchGet() func(backend) (any, error) {
	keys, projection, consistent, capacity := d.keys(6), d.projection(), d.chance("consistent", 50), d.capacity()
	return func(b backend) (any, error) {
		return b.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{ReturnConsumedCapacity: capacity, RequestItems: map[string]types.KeysAndAttributes{
			*b.table: {Keys: keys, ProjectionExpression: projection, ConsistentRead: &consistent},
		}})
	}
}

func (d drawer) batchWrite() func(backend) (any, error) {
	var requests []types.WriteRequest
	for _, key := range d.keys(5) {
		if d.chance("put", 70) {
			requests = append(requests, putRequest(d.item(key)))
		} else {
			requests = append(requests, deleteRequest(key))
		}
	}
	capacity := d.capacity()
	return func(b backend) (any, error) {
		return b.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			ReturnConsumedCapacity: capacity, RequestItems: map[string][]types.WriteRequest{*b.table: requests},
		})
	}
}

func (d drawer) transactGet() func(backend) (any, error) {
	keys, projection, capacity := d.keys(4), d.projection(), d.capacity()
	return func(b backend) (any, error) {
		in := &dynamodb.TransactGetItemsInput{ReturnConsumedCapacity: capacity}
		for _, key := range keys {
			in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: b.table, Key: key, ProjectionExpression: projection}})
		}
		return b.TransactGetItems(ctx, in)
	}
}

func (d drawer) transactWrite() func(backend) (any, error) {
	var actions []func(table *string) types.TransactWriteItem
	for _, key := range d.keys(4) {
		actions = append(actions, d.action(key))
	}
	capacity := d.capacity()
	return func(b backend) (any, error) {
		in := &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: capacity}
		for _, action := range actions {
			in.TransactItems = append(in.TransactItems, action(b.table))
		}
		return b.TransactWriteItems(ctx, in)
	}
}

func (d drawer) action(key attrs) func(table *string) types.TransactWriteItem {
	var e expressions
	kind, onFailure := pick(d, "action", "put", "update", "delete", "check"), d.oldOnFailure()
	var item attrs
	var update string
	switch kind {
	case "put":
		item = d.item(key)
	case "update":
		update = d.updateExpression(&e, key, drawnTargets)
	}
	condition := d.maybe("unconditional", func() string { return d.condition(&e, 1) })
	return func(table *string) types.TransactWriteItem {
		switch kind {
		case "put":
			return types.TransactWriteItem{Put: &types.Put{TableName: table, Item: item, ConditionExpression: condition,
				ExpressionAttributeValues: e.values, ReturnValuesOnConditionCheckFailure: onFailure}}
		case "update":
			return types.TransactWriteItem{Update: &types.Update{TableName: table, Key: key, UpdateExpression: &update, ConditionExpression: condition,
				ExpressionAttributeValues: e.values, ReturnValuesOnConditionCheckFailure: onFailure}}
		case "delete":
			return types.TransactWriteItem{Delete: &types.Delete{TableName: table, Key: key, ConditionExpression: condition,
				ExpressionAttributeValues: e.values, ReturnValuesOnConditionCheckFailure: onFailure}}
		default:
			check := aws.String("attribute_exists(pk)")
			if condition != nil {
				check = condition
			}
			return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: table, Key: key, ConditionExpression: check,
				ExpressionAttributeValues: e.values, ReturnValuesOnConditionCheckFailure: onFailure}}
		}
	}
}
