package dynamosim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

type attrs = map[string]types.AttributeValue

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func n(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }

// key is the table key of an item in the test tables.
func key(pk, sk string) attrs { return attrs{"pk": s(pk), "sk": s(sk)} }

// with returns a copy of an item with more attributes, given as name, value, name, value.
func with(item attrs, more ...any) attrs {
	out := attrs{}
	for name, v := range item {
		out[name] = v
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1].(types.AttributeValue)
	}
	return out
}

// text shows an attribute value in short.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	default:
		return fmt.Sprintf("%T", v)
	}
}

// testTable is a table pk/sk with a global index on (gk, gs) that includes "proj", and a local index on ls with everything.
func testTable(name string) *dynamodb.CreateTableInput {
	element := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind}
	}
	define := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	return &dynamodb.CreateTableInput{
		TableName: aws.String(name),
		AttributeDefinitions: []types.AttributeDefinition{
			define("pk", "S"), define("sk", "S"), define("gk", "S"), define("gs", "N"), define("ls", "S"),
		},
		KeySchema: []types.KeySchemaElement{element("pk", "HASH"), element("sk", "RANGE")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("byGroup"),
			KeySchema:  []types.KeySchemaElement{element("gk", "HASH"), element("gs", "RANGE")},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"proj"}},
		}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName:  aws.String("byLocal"),
			KeySchema:  []types.KeySchemaElement{element("pk", "HASH"), element("ls", "RANGE")},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		BillingMode: types.BillingModePayPerRequest,
	}
}

// must fails the test on an error.
func must[T any](t testing.TB, out T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wantCode fails the test unless err is an API error with a code.
func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Fatalf("error is %v, want code %s", err, code)
	}
}

var ctx = context.Background()

// wantMessage fails the test unless err is an API error with a message.
func wantMessage(t testing.TB, err error, message string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorMessage() != message {
		t.Errorf("error is %v, want message %q", err, message)
	}
}
