package lambda_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/lambda"
)

// wire is DynamoDB's own JSON of a value.
func wire(value streams.AttributeValue) any {
	switch v := value.(type) {
	case *streams.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *streams.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *streams.AttributeValueMemberB:
		return map[string]any{"B": base64.StdEncoding.EncodeToString(v.Value)}
	case *streams.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *streams.AttributeValueMemberNULL:
		return map[string]any{"NULL": v.Value}
	case *streams.AttributeValueMemberSS:
		return map[string]any{"SS": v.Value}
	case *streams.AttributeValueMemberNS:
		return map[string]any{"NS": v.Value}
	case *streams.AttributeValueMemberBS:
		var texts []string
		for _, b := range v.Value {
			texts = append(texts, base64.StdEncoding.EncodeToString(b))
		}
		return map[string]any{"BS": texts}
	case *streams.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i := range v.Value {
			list[i] = wire(v.Value[i])
		}
		return map[string]any{"L": list}
	case *streams.AttributeValueMemberM:
		return map[string]any{"M": wireItem(v.Value)}
	}
	panic("no such value")
}

func wireItem(item map[string]streams.AttributeValue) map[string]any {
	if item == nil {
		return nil
	}
	all := map[string]any{}
	for name, value := range item {
		all[name] = wire(value)
	}
	return all
}

// wireRecord is the record as Lambda delivers it.
func wireRecord(arn string, r streams.Record) map[string]any {
	change := map[string]any{
		"Keys": wireItem(r.Dynamodb.Keys), "SequenceNumber": *r.Dynamodb.SequenceNumber, "SizeBytes": *r.Dynamodb.SizeBytes,
		"StreamViewType": r.Dynamodb.StreamViewType,
	}
	if at := r.Dynamodb.ApproximateCreationDateTime; at != nil {
		change["ApproximateCreationDateTime"] = at.Unix()
	}
	for name, image := range map[string]map[string]streams.AttributeValue{"NewImage": r.Dynamodb.NewImage, "OldImage": r.Dynamodb.OldImage} {
		if image != nil {
			change[name] = wireItem(image)
		}
	}
	record := map[string]any{
		"awsRegion": *r.AwsRegion, "eventID": *r.EventID, "eventName": r.EventName, "eventSource": *r.EventSource,
		"eventVersion": *r.EventVersion, "eventSourceARN": arn, "dynamodb": change,
	}
	if who := r.UserIdentity; who != nil {
		record["userIdentity"] = map[string]any{"type": *who.Type, "principalId": *who.PrincipalId}
	}
	return record
}

// toLambda makes the event of Lambda out of records of the SDK, by way of JSON.
func toLambda(arn string, records []streams.Record) (events.DynamoDBEvent, error) {
	all := make([]any, len(records))
	for i, r := range records {
		all[i] = wireRecord(arn, r)
	}
	var e events.DynamoDBEvent
	text, err := json.Marshal(map[string]any{"Records": all})
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	return e, err
}

// anyNumber are numbers that a float, or a careless parser, would change.
var anyNumber = []string{
	"0", "-0", "1.10", "0.1", "9007199254740993", "-9223372036854775809", "99999999999999999999999999999999999999",
	"1E-130", "9.9999999999999999999999999999999999999E+125", "0.00000000000000000000000000000000000001", "1e2",
}

func anyValue() *rapid.Generator[streams.AttributeValue] {
	below := rapid.Deferred(anyValue)
	number, text, bytes := rapid.SampledFrom(anyNumber), rapid.String(), rapid.SliceOf(rapid.Byte())
	value := func(v streams.AttributeValue) streams.AttributeValue { return v }
	return rapid.OneOf(
		rapid.Map(text, func(s string) streams.AttributeValue {
			return value(&streams.AttributeValueMemberS{Value: strings.ToValidUTF8(s, "")})
		}),
		rapid.Map(number, func(n string) streams.AttributeValue { return value(&streams.AttributeValueMemberN{Value: n}) }),
		rapid.Map(bytes, func(b []byte) streams.AttributeValue { return value(&streams.AttributeValueMemberB{Value: b}) }),
		rapid.Map(rapid.Bool(), func(b bool) streams.AttributeValue { return value(&streams.AttributeValueMemberBOOL{Value: b}) }),
		rapid.Just(value(&streams.AttributeValueMemberNULL{Value: true})),
		rapid.Map(rapid.SliceOfN(number, 1, 3), func(n []string) streams.AttributeValue { return value(&streams.AttributeValueMemberNS{Value: n}) }),
		rapid.Map(rapid.SliceOfN(rapid.StringMatching("[a-zäö]{1,4}"), 1, 3), func(s []string) streams.AttributeValue { return value(&streams.AttributeValueMemberSS{Value: s}) }),
		rapid.Map(rapid.SliceOfN(bytes, 1, 3), func(b [][]byte) streams.AttributeValue { return value(&streams.AttributeValueMemberBS{Value: b}) }),
		rapid.Map(rapid.SliceOfN(below, 0, 3), func(l []streams.AttributeValue) streams.AttributeValue {
			return value(&streams.AttributeValueMemberL{Value: l})
		}),
		rapid.Map(rapid.MapOfN(rapid.StringMatching("[a-z]{0,3}"), below, 0, 3), func(m map[string]streams.AttributeValue) streams.AttributeValue {
			return value(&streams.AttributeValueMemberM{Value: m})
		}),
	)
}

var anyItem = rapid.MapOfN(rapid.StringMatching("[a-zA-Z]{1,5}"), anyValue(), 1, 4)

// Whatever DynamoDB stores arrives as it is, by way of Lambda's JSON and types; numbers as text.
func TestRecordsArriveExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		region, id, name, source, version, sequence := "eu-west-1", "e-1", streams.OperationTypeModify, "aws:dynamodb", "1.1", "100000000000000000000"
		size := int64(rapid.IntRange(0, 1<<20).Draw(rt, "size"))
		want := streams.Record{
			AwsRegion: &region, EventID: &id, EventName: name, EventSource: &source, EventVersion: &version,
			Dynamodb: &streams.StreamRecord{
				Keys: anyItem.Draw(rt, "keys"), NewImage: anyItem.Draw(rt, "new"), SequenceNumber: &sequence, SizeBytes: &size,
				StreamViewType: streams.StreamViewTypeNewAndOldImages,
			},
		}
		if rapid.Bool().Draw(rt, "old") {
			want.Dynamodb.OldImage = anyItem.Draw(rt, "old image")
		}
		if rapid.Bool().Draw(rt, "by the service") {
			who, principal := "Service", "dynamodb.amazonaws.com"
			want.UserIdentity = &streams.Identity{Type: &who, PrincipalId: &principal}
		}
		e, err := toLambda("arn", []streams.Record{want})
		if err != nil {
			rt.Fatal(err)
		}
		got, err := lambda.Record(e.Records[0])
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("got  %+v\nwant %+v\n%v", wireRecord("arn", got), wireRecord("arn", want), err)
		}
	})
}

// A record as Lambda delivers it: what DynamoDB deleted because its time had come.
const expired = `{"Records":[{
	"eventID": "c4ca4238a0b923820dcc509a6f75849b", "eventName": "REMOVE", "eventVersion": "1.1", "eventSource": "aws:dynamodb",
	"awsRegion": "eu-west-1", "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
	"dynamodb": {
		"ApproximateCreationDateTime": 1800000000, "Keys": {"PK": {"S": "CONSUMER#portfolio"}, "SK": {"S": "EVENT#e-1"}},
		"OldImage": {"amount": {"N": "12345678901234567890.10"}, "tags": {"SS": ["a", "b"]}, "raw": {"B": "AAE="}, "none": {"NULL": true}},
		"SequenceNumber": "4421584500000000017450439091", "SizeBytes": 113, "StreamViewType": "NEW_AND_OLD_IMAGES"
	},
	"eventSourceARN": "arn:aws:dynamodb:eu-west-1:000000000000:table/Inbox/stream/2026-11-29T00:00:00.000"
}]}`

func TestAnExpiredRecordArrivesWithItsOldImage(t *testing.T) {
	t.Parallel()
	var e events.DynamoDBEvent
	if err := json.Unmarshal([]byte(expired), &e); err != nil {
		t.Fatal(err)
	}
	r, err := lambda.Record(e.Records[0])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]streams.AttributeValue{
		"amount": &streams.AttributeValueMemberN{Value: "12345678901234567890.10"},
		"tags":   &streams.AttributeValueMemberSS{Value: []string{"a", "b"}},
		"raw":    &streams.AttributeValueMemberB{Value: []byte{0, 1}},
		"none":   &streams.AttributeValueMemberNULL{Value: true},
	}
	if !reflect.DeepEqual(r.Dynamodb.OldImage, want) || r.Dynamodb.NewImage != nil || r.EventName != streams.OperationTypeRemove ||
		*r.UserIdentity.PrincipalId != "dynamodb.amazonaws.com" || r.Dynamodb.ApproximateCreationDateTime.Unix() != 1800000000 {
		t.Errorf("%+v", wireRecord("", r))
	}
}

// A value that is none is a fault of its attribute, found and not panicked about; entries of a map, which may be data, are not
// named.
func TestAnAttributeWithoutAValueIsPoison(t *testing.T) {
	t.Parallel()
	none := events.DynamoDBAttributeValue{}
	for _, value := range []events.DynamoDBAttributeValue{
		none, events.NewListAttribute([]events.DynamoDBAttributeValue{none}),
		events.NewMapAttribute(map[string]events.DynamoDBAttributeValue{secret: events.NewListAttribute([]events.DynamoDBAttributeValue{none})}),
	} {
		r := events.DynamoDBEventRecord{Change: events.DynamoDBStreamRecord{NewImage: map[string]events.DynamoDBAttributeValue{
			"payload": value, "id": events.NewStringAttribute("e-1"),
		}}}
		got, err := lambda.Record(r)
		var invalid *lambda.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "NewImage.payload" || strings.Contains(err.Error(), secret) || len(got.Dynamodb.NewImage) != 2 {
			t.Errorf("%v, %+v", err, got.Dynamodb.NewImage)
		}
	}
}

// The records of a stream are handled in the SDK's types; the first that fails is reported, and all after it come again.
func TestAStreamOfATableStopsAtItsFirstFailure(t *testing.T) {
	t.Parallel()
	var e events.DynamoDBEvent
	if err := json.Unmarshal([]byte(expired), &e); err != nil {
		t.Fatal(err)
	}
	e.Records = []events.DynamoDBEventRecord{e.Records[0], e.Records[0], e.Records[0]}
	for i := range e.Records {
		e.Records[i].Change.SequenceNumber = []string{"100", "101", "102"}[i]
	}
	tried := 0
	handler := lambda.DynamoDB(lambda.Config{DeadLetters: (&letters{}).put}, func(_ context.Context, r streams.Record) error {
		if tried++; *r.Dynamodb.SequenceNumber == "101" {
			return errClosed
		}
		return nil
	})
	again, err := call(t, t.Context(), handler, e)
	if err != nil || len(again) != 1 || again[0] != "101" || tried != 2 {
		t.Errorf("again %v, %v, %d tried", again, err, tried)
	}
}
