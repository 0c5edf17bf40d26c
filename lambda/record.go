package lambda

import (
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Record returns a record of a stream in the SDK's types, for package attributevalue and for readers that are not Lambda
// functions. Values are exact: numbers keep their text. The time has whole seconds, as DynamoDB gives it. The error is an
// [InvalidError] that names the first attribute without a value; the record then has everything else.
func Record(r events.DynamoDBEventRecord) (streams.Record, error) {
	c := converter{}
	record := streams.Record{
		AwsRegion: aws.String(r.AWSRegion), EventID: aws.String(r.EventID), EventName: streams.OperationType(r.EventName),
		EventSource: aws.String(r.EventSource), EventVersion: aws.String(r.EventVersion),
		Dynamodb: &streams.StreamRecord{
			Keys:     c.item("Keys", r.Change.Keys),
			NewImage: c.item("NewImage", r.Change.NewImage),
			OldImage: c.item("OldImage", r.Change.OldImage),

			SequenceNumber: aws.String(r.Change.SequenceNumber), SizeBytes: aws.Int64(r.Change.SizeBytes),
			StreamViewType: streams.StreamViewType(r.Change.StreamViewType),
		},
	}
	if at := r.Change.ApproximateCreationDateTime.Time; !at.IsZero() {
		record.Dynamodb.ApproximateCreationDateTime = &at
	}
	if who := r.UserIdentity; who != nil {
		record.UserIdentity = &streams.Identity{Type: aws.String(who.Type), PrincipalId: aws.String(who.PrincipalID)}
	}
	return record, c.err
}

// converter keeps the first fault.
type converter struct{ err error }

// item converts one of the record's items. A fault names its attribute and nothing below it: the names of a map's entries may
// be data.
func (c *converter) item(field string, from map[string]events.DynamoDBAttributeValue) map[string]streams.AttributeValue {
	if from == nil {
		return nil
	}
	item := make(map[string]streams.AttributeValue, len(from))
	for name, value := range from {
		var ok bool
		if item[name], ok = convert(value); !ok && c.err == nil {
			c.err = &InvalidError{Field: field + "." + name, Reason: "has no value"}
		}
	}
	return item
}

// convert returns the value, or false if it, or one inside, has none.
func convert(v events.DynamoDBAttributeValue) (streams.AttributeValue, bool) {
	if v.IsNull() && v.DataType() != events.DataTypeNull {
		return nil, false // the accessors would panic
	}
	switch v.DataType() {
	case events.DataTypeString:
		return &streams.AttributeValueMemberS{Value: v.String()}, true
	case events.DataTypeNumber:
		return &streams.AttributeValueMemberN{Value: v.Number()}, true
	case events.DataTypeBinary:
		return &streams.AttributeValueMemberB{Value: v.Binary()}, true
	case events.DataTypeBoolean:
		return &streams.AttributeValueMemberBOOL{Value: v.Boolean()}, true
	case events.DataTypeNull:
		return &streams.AttributeValueMemberNULL{Value: true}, true
	case events.DataTypeStringSet:
		return &streams.AttributeValueMemberSS{Value: v.StringSet()}, true
	case events.DataTypeNumberSet:
		return &streams.AttributeValueMemberNS{Value: v.NumberSet()}, true
	case events.DataTypeBinarySet:
		return &streams.AttributeValueMemberBS{Value: v.BinarySet()}, true
	case events.DataTypeList:
		list, whole := make([]streams.AttributeValue, len(v.List())), true
		for i, element := range v.List() {
			var ok bool
			list[i], ok = convert(element)
			whole = whole && ok
		}
		return &streams.AttributeValueMemberL{Value: list}, whole
	case events.DataTypeMap:
		entries, whole := make(map[string]streams.AttributeValue, len(v.Map())), true
		for name, entry := range v.Map() {
			var ok bool
			entries[name], ok = convert(entry)
			whole = whole && ok
		}
		return &streams.AttributeValueMemberM{Value: entries}, whole
	}
	return nil, false
}
