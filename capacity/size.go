package capacity

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Fixed parts of sizes, and limits, in bytes.
const (
	// ListOverhead and MapOverhead are charged for a list or a map, empty ones too.
	ListOverhead = 3
	MapOverhead  = 3
	// ElementOverhead is charged for each element of a list and each entry of a map.
	ElementOverhead = 1
	// FlagBytes is the size of a BOOL or a NULL.
	FlagBytes = 1
	// MaxItemBytes is the largest item that DynamoDB stores.
	MaxItemBytes = 400 * 1024
	// MaxTransactionBytes is the largest sum of items in one transaction.
	MaxTransactionBytes = 4 * 1024 * 1024
)

// ItemSize returns the size of an item in bytes: of every attribute, the name and the value.
func ItemSize(item map[string]types.AttributeValue) int {
	size := 0
	for name, value := range item {
		size += len(name) + ValueSize(value)
	}
	return size
}

// ValueSize returns the size of a value in bytes, without a name. A nil or unknown value, or a nil pointer
// as a value, has none.
func ValueSize(value types.AttributeValue) int {
	if value == nil || reflect.ValueOf(value).IsNil() {
		return 0
	}
	size := 0
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		size = len(v.Value)
	case *types.AttributeValueMemberN:
		size = NumberSize(v.Value)
	case *types.AttributeValueMemberB:
		size = len(v.Value)
	case *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		size = FlagBytes
	case *types.AttributeValueMemberSS:
		for _, element := range v.Value {
			size += len(element)
		}
	case *types.AttributeValueMemberNS:
		for _, element := range v.Value {
			size += NumberSize(element)
		}
	case *types.AttributeValueMemberBS:
		for _, element := range v.Value {
			size += len(element)
		}
	case *types.AttributeValueMemberL:
		size = ListOverhead
		for _, element := range v.Value {
			size += ElementOverhead + ValueSize(element)
		}
	case *types.AttributeValueMemberM:
		size = MapOverhead + len(v.Value)*ElementOverhead + ItemSize(v.Value)
	}
	return size
}
