package usage

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

type inputKey struct{}

// Keep is an API option of clients in front of a Meter: it lets the meter read the SDK's input, rather than decode what the SDK has
// encoded from it. What comes without it is counted as unknown.
func Keep(stack *middleware.Stack) error {
	keep := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		return next.HandleInitialize(context.WithValue(ctx, inputKey{}, in.Parameters), in)
	}
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("usage.Keep", keep), middleware.After)
}

// consumed is a list in the answers of transactions and batches, and one object in all others.
type consumed []struct {
	TableName              string
	CapacityUnits          float64
	Table                  struct{ CapacityUnits float64 }
	GlobalSecondaryIndexes map[string]struct{ CapacityUnits float64 }
	ReadCapacityUnits      float64
}

func (c *consumed) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	type list consumed
	return json.Unmarshal(data, (*list)(c))
}

// consumedIn finds what an answer says was consumed, without decoding the items beside it. A text in them has its quotes escaped, so that
// it cannot be taken for the name; and no attribute of the brokerage is called so.
func consumedIn(answer []byte) (used consumed, err error) {
	if _, said, ok := bytes.Cut(answer, []byte(`"ConsumedCapacity":`)); ok {
		err = json.NewDecoder(bytes.NewReader(said)).Decode(&used)
	}
	return used, err
}

func text(item map[string]types.AttributeValue, name string) string {
	if v, ok := item[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func keyOf(item map[string]types.AttributeValue) (pk, sk string) {
	return text(item, "PK"), text(item, "SK")
}

var operand = regexp.MustCompile(`(#?\w+)[^:#]*(:\w+)`)

// conditions are the values that a key condition names: the partition key's, and the first of the sort key's.
func conditions(expression string, values map[string]types.AttributeValue) (pk, sk string) {
	for i, found := range operand.FindAllStringSubmatch(expression, 2) {
		switch i {
		case 0:
			pk = text(values, found[2])
		case 1:
			sk = text(values, found[2])
		}
	}
	return pk, sk
}
