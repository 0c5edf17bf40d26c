package txn

import (
	"reflect"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
)

// What keeps a value from being stored as it is. The SDK leaves a missing element of a list out of the request, and sends
// other text in place of invalid UTF-8, which could even be the key of another item.
const (
	noValue   = "has no value"
	notUTF8   = "is not valid UTF-8"
	notNumber = "is not a number"
)

// flaw returns what is wrong with the first attribute that could not be stored as it is, and the attribute's name.
func flaw(item Item) (name, reason string) {
	for name, value := range item {
		reason = textFlaw(name)
		if reason == "" {
			reason = valueFlaw(value)
		}
		if reason != "" {
			return name, reason
		}
	}
	return "", ""
}

func valueFlaw(value types.AttributeValue) string {
	if missing(value) {
		return noValue
	}
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return textFlaw(v.Value)
	case *types.AttributeValueMemberN:
		return numberFlaw(v.Value)
	case *types.AttributeValueMemberSS:
		return textFlaw(v.Value...)
	case *types.AttributeValueMemberNS:
		return numberFlaw(v.Value...)
	case *types.AttributeValueMemberL:
		for _, element := range v.Value {
			if reason := valueFlaw(element); reason != "" {
				return reason
			}
		}
	case *types.AttributeValueMemberM:
		_, reason := flaw(v.Value)
		return reason
	}
	return ""
}

// missing says whether there is no value: a nil interface, or a nil pointer in one.
func missing(value types.AttributeValue) bool {
	return value == nil || reflect.ValueOf(value).IsNil()
}

// numberFlaw is here because DynamoDB's own refusal of a malformed number repeats it, and no payload belongs in a message.
func numberFlaw(texts ...string) string {
	for _, text := range texts {
		if !capacity.IsNumber(text) {
			return notNumber
		}
	}
	return ""
}

func textFlaw(texts ...string) string {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return notUTF8
		}
	}
	return ""
}
