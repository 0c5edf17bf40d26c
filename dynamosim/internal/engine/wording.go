package engine

import (
	"fmt"
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// The texts of the service, in one place, because they change from time to time. Spelling and spacing are the service's.
const (
	msgInvalidParameter = "One or more parameter values were invalid: "
	msgNotValid         = "One or more parameter values are not valid. "
	msgEmptyKeyValue    = "The AttributeValue for a key attribute cannot contain an empty %s value."

	msgTableMissing    = "Requested resource not found"
	msgKeyMismatch     = "The provided key element does not match the schema"
	msgHashKeySize     = msgInvalidParameter + "Size of hashkey has exceeded the maximum size limit of2048 bytes"
	msgSortKeySize     = msgInvalidParameter + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
	msgItemSize        = "Item size has exceeded the maximum allowed size"
	msgUpdatedItemSize = "Item size to update has exceeded the maximum allowed size"
	msgUpdatedIndexKey = msgNotValid + "The update expression attempted to update a secondary index key to a value that is not supported. "
	msgUpdatedKeySize  = "The update expression attempted to update the secondary index key beyond allowed size limits"

	msgReturnValuesPut    = "ReturnValues can only be ALL_OLD or NONE"
	msgNamesEmpty         = "ExpressionAttributeNames must not be empty"
	msgValuesEmpty        = "ExpressionAttributeValues must not be empty"
	msgNamesNoExpression  = "ExpressionAttributeNames can only be specified when using expressions"
	msgValuesNoExpression = "ExpressionAttributeValues can only be specified when using expressions"

	msgKeyConditionMissing   = "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
	msgKeyConditionOperator  = "Query key condition not supported"
	msgKeyConditionType      = msgInvalidParameter + "Condition parameter type does not match schema type"
	msgConsistentIndexRead   = "Consistent reads are not supported on global secondary indexes"
	msgStartKeyInvalid       = "The provided starting key is invalid"
	msgStartKeyOutside       = "The provided starting key is outside query boundaries based on provided conditions"
	msgStartKeyRange         = "The provided starting key does not match the range key predicate"
	msgTotalSegmentsMissing  = "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"
	msgSegmentMissing        = "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"
	msgSelectCount           = "Cannot specify the ProjectionExpression when choosing to get only the Count"
	msgSelectAll             = "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"
	msgSelectAllProjected    = "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES"
	msgSelectSpecific        = "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
	msgSelectProjectedNeedIx = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"

	msgDuplicateKeys     = "Provided list of item keys contains duplicates"
	msgTooManyKeys       = "Too many items requested for the BatchGetItem call"
	msgTooManyWrites     = "Too many items requested for the BatchWriteItem call"
	msgWriteRequestEmpty = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgWriteRequestBoth  = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"

	msgActionMissing       = "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
	msgActionMany          = "TransactItems can only contain one of Check, Put, Update or Delete"
	msgOneItemTwice        = "Transaction request cannot include multiple operations on one item"
	msgTransactionTooLarge = "Transaction payload size exceeded: the aggregate size of the items in the transaction cannot exceed 4 MB"
	msgTokenMismatch       = "The provided client token was used before with other parameters"
	msgInProgress          = "The transaction with this client token is still in progress"

	msgThrottled = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or " +
		"index so please try again shortly."
	msgThrottledIndex = "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically " +
		"scaling your index so please try again shortly."
	msgProvisioned = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your " +
		"provisioning level with the UpdateTable API."
	msgProvisionedIndex = "The level of configured provisioned throughput for one or more global secondary indexes of the table was " +
		"exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API"
	msgInternal = "The request processing has failed because of an internal error"
	msgTooLarge = "The request body is larger than 16 MB"

	msgTableNameMissing = "The parameter 'TableName' is required but was not present in the request"
	msgTableNameLength  = "TableName must be at least 3 characters long and at most 255 characters long"
	msgTooManyTables    = "Subscriber limit exceeded: There is a limit of 2500 tables per subscriber"
	msgProtected        = "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first."

	msgFirstNotHash      = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
	msgSecondNotRange    = "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
	msgKeyUndefined      = "Invalid KeySchema: Some index key attribute have no definition"
	msgDefinitionsUnused = msgInvalidParameter +
		"Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"
	msgThroughputOnDemand = msgInvalidParameter +
		"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
	msgThroughputMissing = msgInvalidParameter +
		"ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
	msgIncludeMissing  = msgInvalidParameter + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
	msgLocalNeedsRange = msgInvalidParameter +
		"Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
	msgTooManyGlobal   = msgInvalidParameter + "GlobalSecondaryIndex count exceeds the per-table limit of 20"
	msgTooManyLocal    = msgInvalidParameter + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"
	msgTooManyIncluded = msgInvalidParameter +
		"Total number of NonKeyAttributes over all indexes exceeds the per-table limit of 100"
)

func msgCanceled(codes []string) string {
	return "Transaction cancelled, please refer cancellation reasons for specific reasons [" + joinCodes(codes) + "]"
}

func msgMissingKey(name string) string {
	return msgInvalidParameter + "Missing the key " + name + " in the item"
}

func msgKeyType(name string, want, got value.Kind) string {
	return fmt.Sprintf("%sType mismatch for key %s expected: %s actual: %s", msgInvalidParameter, name, want, got)
}

func msgEmptyKey(name string, kind value.Kind) string {
	return msgNotValid + fmt.Sprintf(msgEmptyKeyValue, kindWord(kind)) + " Key: " + name
}

func msgIndexKeyType(index, name string, want, got value.Kind) string {
	return fmt.Sprintf("%sType mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", msgInvalidParameter, name, want, got, index)
}

func msgEmptyIndexKey(index, name string, kind value.Kind) string {
	return msgNotValid + "A value specified for a secondary index key is not supported. " +
		fmt.Sprintf(msgEmptyKeyValue, kindWord(kind)) + " IndexName: " + index + ", IndexKey: " + name
}

func msgUpdatedEmptyIndexKey(kind value.Kind) string {
	return msgUpdatedIndexKey + fmt.Sprintf(msgEmptyKeyValue, kindWord(kind))
}

func kindWord(kind value.Kind) string {
	if kind == value.B {
		return "binary"
	}
	return "string"
}

func msgKeyUpdated(name string) string {
	return msgInvalidParameter + "Cannot update attribute " + name + ". This attribute is part of the key"
}

func msgBothStyles(legacy, expressions []string) string {
	return "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {" +
		strings.Join(legacy, ", ") + "} Expression parameters: {" + strings.Join(expressions, ", ") + "}"
}

func msgLegacy(parameter string) string {
	return "The legacy parameter " + parameter + " is not supported by dynamosim; use an expression"
}

func msgKeyConditionMissed(name string) string {
	return "Query condition missed key schema element: " + name
}

func msgFilterKey(name string) string {
	return "Filter Expression can only contain non-primary key attributes: Primary key attribute: " + name
}

func msgBetween(low, high value.Value) string {
	return fmt.Sprintf("Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower "+
		"bound; lower bound operand: AttributeValue: {%s:%s}, upper bound operand: AttributeValue: {%s:%s}",
		low.Kind(), low.Text(), high.Kind(), high.Text())
}

func msgBeginsWithType(kind value.Kind) string {
	return "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, " +
		"operand type: " + kind.String()
}

func msgIndexMissing(name string) string {
	return "The table does not have the specified index: " + name
}

func msgSelectNotProjected(index string) string {
	return msgInvalidParameter + "Select type ALL_ATTRIBUTES is not supported for global secondary index " + index +
		" because its projection type is not ALL"
}

func msgNotProjected(index string, names []string) string {
	return msgInvalidParameter + "Global secondary index " + index + " does not project [" + strings.Join(names, ", ") + "]"
}

func msgKeyNotScalar(kind, name string) string {
	return "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: " + kind + ": " + name
}

func msgSegmentRange(segment, total int64) string {
	return fmt.Sprintf("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than "+
		"TotalSegments: %d", segment, total)
}

func msgStartKeySegment(segment, total int64) string {
	return fmt.Sprintf("%s: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d",
		msgStartKeyInvalid, total, segment)
}

func msgTableExists(name string) string { return "Table already exists: " + name }

func msgTableNotFound(name string) string {
	return "Requested resource not found: Table: " + name + " not found"
}

func msgIndexKeysUndefined(missing, defined []string) string {
	return msgInvalidParameter + "Some index key attributes are not defined in AttributeDefinitions. Keys: [" +
		strings.Join(missing, ", ") + "], AttributeDefinitions: [" + strings.Join(defined, ", ") + "]"
}

func msgIndexDefinitionsUnused(defined, used []string) string {
	return msgInvalidParameter + "Some AttributeDefinitions are not used. AttributeDefinitions: [" + strings.Join(defined, ", ") +
		"], keys used: [" + strings.Join(used, ", ") + "]"
}

func msgAttributeTwice(name string) string { return "Attribute Name is duplicated: " + name }

func msgProjectedTwice(name string) string {
	return msgInvalidParameter + "Duplicate element in NonKeyAttributes: " + name
}

func msgIndexThroughputNone(index string) string {
	return msgInvalidParameter + "ProvisionedThroughput is not specified for index: " + index
}

func msgIndexesEmpty(member string) string {
	return msgInvalidParameter + "List of " + member + " is empty"
}

func msgProjectionUnknown() string { return msgInvalidParameter + "Unknown ProjectionType: null" }

func msgProjectionExtra(kind string) string {
	return msgInvalidParameter + "ProjectionType is " + kind + ", but NonKeyAttributes is specified"
}

func msgIndexDuplicate(name string) string {
	return msgInvalidParameter + "Duplicate index name: " + name
}

func msgLocalHash(index, got, want string) string {
	return msgInvalidParameter + "Index KeySchema does not have the same leading hash key as table KeySchema for index: " + index +
		". index hash key: " + got + ", table hash key: " + want
}

func msgLocalRange(index string) string {
	return msgInvalidParameter + "Index KeySchema does not have a range key for index: " + index
}

func msgIndexThroughputOnDemand(index string) string {
	return msgInvalidParameter + "ProvisionedThroughput should not be specified for index: " + index +
		" when BillingMode is PAY_PER_REQUEST"
}

func msgThroughputRange(value int64, name string) string {
	return fmt.Sprintf("Given value %d for %s is out of bounds", value, name)
}
