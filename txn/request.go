package txn

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// request builds a fresh input. It is built once for each attempt: the SDK writes into the input it is given, and a struct
// that is used again could carry something over from one logical operation to the next.
func request(all []step, mark, token string) *dynamodb.TransactWriteItemsInput {
	items := make([]types.TransactWriteItem, len(all))
	for i := range all {
		items[i] = all[i].request(mark)
	}
	return &dynamodb.TransactWriteItemsInput{
		ClientRequestToken:     aws.String(token),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		TransactItems:          items,
	}
}

func (s *step) request(mark string) types.TransactWriteItem {
	onFailure := types.ReturnValuesOnConditionCheckFailureNone
	var condition *string
	if s.Condition != "" {
		onFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		condition = &s.Condition
	}
	switch s.Action {
	case ActionPut:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: &s.Table.Name, Item: marked(s.Item, mark),
			ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: onFailure,
			ExpressionAttributeNames: s.Names, ExpressionAttributeValues: s.Values,
		}}
	case ActionUpdate:
		update, values := markedUpdate(s.Update, s.Values, mark)
		return types.TransactWriteItem{Update: &types.Update{
			TableName: &s.Table.Name, Key: s.Key, UpdateExpression: &update,
			ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: onFailure,
			ExpressionAttributeNames: s.Names, ExpressionAttributeValues: values,
		}}
	case ActionDelete:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.Table.Name, Key: s.Key,
			ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: onFailure,
			ExpressionAttributeNames: s.Names, ExpressionAttributeValues: s.Values,
		}}
	default: // steps lets no other action through
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &s.Table.Name, Key: s.Key,
			ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: onFailure,
			ExpressionAttributeNames: s.Names, ExpressionAttributeValues: s.Values,
		}}
	}
}
