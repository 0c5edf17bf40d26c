package watch

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ask returns a copy of a request that asks for its consumed capacity, unless it does already, DynamoDB's name of the
// call, and the tables that it names.
func ask(in any) (asked any, call string, tables []string) {
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		c := *in
		total(&c.ReturnConsumedCapacity)
		return &c, "GetItem", one(c.TableName)
	case *dynamodb.QueryInput:
		c := *in
		total(&c.ReturnConsumedCapacity)
		return &c, "Query", one(c.TableName)
	case *dynamodb.ScanInput:
		c := *in
		total(&c.ReturnConsumedCapacity)
		return &c, "Scan", one(c.TableName)
	case *dynamodb.PutItemInput:
		c := *in
		total(&c.ReturnConsumedCapacity)
		return &c, "PutItem", one(c.TableName)
	case *dynamodb.UpdateItemInput:
		c := *in
		total(&c.ReturnConsumedCapacity)
		return &c, "UpdateItem", one(c.TableName)
	case *dynamodb.DeleteItemInput:
		c := *in
		total(&c.ReturnConsumedCapacity)
		return &c, "DeleteItem", one(c.TableName)
	case *dynamodb.TransactGetItemsInput:
		c := *in
		total(&c.ReturnConsumedCapacity)
		for _, item := range c.TransactItems {
			if item.Get != nil {
				tables = append(tables, one(item.Get.TableName)...)
			}
		}
		return &c, "TransactGetItems", tables
	case *dynamodb.TransactWriteItemsInput:
		c := *in
		total(&c.ReturnConsumedCapacity)
		for _, item := range c.TransactItems {
			tables = append(tables, written(item)...)
		}
		return &c, "TransactWriteItems", tables
	default:
		return in, "", nil
	}
}

func total(asks *types.ReturnConsumedCapacity) {
	if *asks == "" || *asks == types.ReturnConsumedCapacityNone {
		*asks = types.ReturnConsumedCapacityTotal
	}
}

func one(table *string) []string {
	if table == nil {
		return nil
	}
	return []string{*table}
}

func written(item types.TransactWriteItem) []string {
	switch {
	case item.Put != nil:
		return one(item.Put.TableName)
	case item.Update != nil:
		return one(item.Update.TableName)
	case item.Delete != nil:
		return one(item.Delete.TableName)
	case item.ConditionCheck != nil:
		return one(item.ConditionCheck.TableName)
	default:
		return nil
	}
}
