package engine

import "fmt"

// The texts of UpdateTable and of the time to live.
const (
	msgNothingToUpdate = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, " +
		"SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, " +
		"DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
	msgOnDemandAlone        = msgInvalidParameter + "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
	msgStreamWithThroughput = msgInvalidParameter + "You cannot modify stream status while updating table IOPS"
	msgIndexWithThroughput  = msgInvalidParameter + "You cannot create or delete index while updating table IOPS"
	msgIndexWithStream      = msgInvalidParameter + "You cannot create or delete index while changing stream status"
	msgThroughputOfMode     = msgInvalidParameter + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"

	msgIndexActionMissing = msgInvalidParameter + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " +
		"GlobalSecondaryIndexUpdate.Delete must not be null"
	msgIndexActionMany = msgInvalidParameter +
		"Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
	msgIndexExists      = "Attempting to create an index which already exists"
	msgOneOnlineIndex   = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
	msgOneGlobalTooMany = "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20"

	msgInUse               = "Attempt to change a resource which is still in use: "
	msgDeleteWaitsForIndex = msgInUse + "Cannot delete table while indexes are being created, updated, or deleted."

	msgTTLEnabled  = "TimeToLive is already enabled"
	msgTTLDisabled = "TimeToLive is already disabled"
	msgTTLTooSoon  = "Time to live has been modified multiple times within a fixed interval"
)

func msgOnlyOperation(what string) string {
	return msgInvalidParameter + what + " must be the only operation in the request"
}

func msgOneRegion(parameter string) string {
	return "The parameter " + parameter + " is not supported by dynamosim; a database is one Region"
}

func msgTableUpdating(table string) string { return msgInUse + "Table is being updated: " + table }

func msgIndexWaitsForThroughput(table string) string {
	return msgInUse + "Can't create or delete indexes while table IOPS are being updated. Table: " + table
}

func msgThroughputWaitsForIndex(table, index, participle string) string {
	return fmt.Sprintf("%sCan't change table IOPS when an index is being %s. Table: %s Indexes: [%s]", msgInUse, participle, table, index)
}

func msgStreamWaitsForIndex(participle string) string {
	return msgInUse + "Can't change stream status when an index is being " + participle
}

func msgIndexBusy(participle, table, index string) string {
	return fmt.Sprintf("%sIndex is being %s. Table: %s Index: %s", msgInUse, participle, table, index)
}

func msgIndexAllocating(table, index string) string {
	return fmt.Sprintf("%sIndex creation is in resource allocation phase. Retry deletion during backfilling phase or when the index is "+
		"active. Table: %s Index: %s", msgInUse, table, index)
}

func msgIndexBackfilling(index string) string {
	return "Cannot read from backfilling global secondary index: " + index
}

func msgIndexNotFound(table, index string) string {
	return fmt.Sprintf("Requested resource not found: Index %s for table %s", index, table)
}

func msgIndexNotGlobal(action, index string) string {
	return "Cannot " + action + " an index that is not a GlobalSecondaryIndex: " + index
}

func msgIndexUpdatedTwice(index string) string {
	return msgInvalidParameter + "Only one global secondary index update per index is allowed simultaneously. Index: " + index
}

func msgIndexDefinitionsMissing(index string) string {
	return msgInvalidParameter + "AttributeDefinitions is not specified for index: " + index
}

func msgIndexThroughputMissing(indexes string) string {
	return msgInvalidParameter + "ProvisionedThroughput must be specified for index: " + indexes
}

func msgIndexThroughputMode(index string) string {
	return msgInvalidParameter + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: " + index +
		" when BillingMode is PAY_PER_REQUEST"
}

func msgIndexThroughputBoth(index string) string {
	return msgInvalidParameter + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: " + index
}

func msgThroughputSame(subject, provisioned string, p throughput) string {
	return fmt.Sprintf("The provisioned throughput for %s will not change. The requested value equals the current value. "+
		"Current ReadCapacityUnits provisioned for %s: %[3]d. Requested ReadCapacityUnits: %[3]d. "+
		"Current WriteCapacityUnits provisioned for %[2]s: %[4]d. Requested WriteCapacityUnits: %[4]d. "+
		"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
		subject, provisioned, *p.ReadCapacityUnits, *p.WriteCapacityUnits)
}

func msgAttributeRedefined(name, was, is, keyType string) string {
	return fmt.Sprintf("%sAttributes cannot be redefined. Please check that your attribute has the same type as previously defined. "+
		"Existing schema: Schema:[SchemaElement: key{%s:%s:%s}] New schema: Schema:[SchemaElement: key{%[2]s:%[5]s:%[4]s}]",
		msgInvalidParameter, name, was, keyType, is)
}

func msgTTLOtherAttribute(name string) string {
	return "TimeToLive is active on a different AttributeName: current AttributeName is " + name
}
