package value

import (
	"encoding/base64"
	"strings"
)

// The texts of the service, in one place, because they change from time to time.
const (
	msgNoMember    = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgManyMembers = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"

	msgParameter      = "One or more parameter values were invalid: "
	msgNullFalse      = msgParameter + "Null attribute value types must have the value of true"
	msgEmptyStringSet = msgParameter + "An string set  may not be empty"
	msgEmptyNumberSet = msgParameter + "An number set  may not be empty"
	msgEmptyBinarySet = msgParameter + "Binary sets should not be empty"
	msgEmptyName      = msgParameter + "Attribute name is empty"
	msgLongName       = msgParameter + "Attribute name is too large, must be less than 65536 bytes"

	msgNumberEmpty    = "The parameter cannot be converted to a numeric value"
	msgNumberDigits   = "Attempting to store more than 38 significant digits in a Number"
	msgNumberOverflow = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgNumberTiny     = "Number underflow. Attempting to store a number with magnitude smaller than supported range"

	msgNesting = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"

	// Malformed requests. The service's own texts name Java types, so these only keep to their manner.
	msgNotJSON      = "The request is not valid JSON"
	msgNotUTF8      = "The request is not valid UTF-8"
	msgBase64       = "A member of type Blob is not valid Base64"
	msgList         = "Start of list found where not expected"
	msgStructure    = "Start of structure or map found where not expected."
	msgExpectedList = "Expected list or null"
	msgExpectedMap  = "Expected map or null"
	msgExpectedNull = "Expected null"
	typeTrue        = "TRUE_VALUE"
	typeNumber      = "NUMBER_VALUE"
	typeString      = "STRING_VALUE"
)

func msgNumberText(text string) string { return msgNumberEmpty + ": " + text }

func msgEmptySet(k Kind) string {
	switch k {
	case SS:
		return msgEmptyStringSet
	case NS:
		return msgEmptyNumberSet
	default:
		return msgEmptyBinarySet
	}
}

// msgDuplicates shows the collection as the request had it.
func msgDuplicates(k Kind, shown []string) string {
	switch k {
	case NS:
		return "Input collection contains duplicates"
	case BS:
		encoded := make([]string, len(shown))
		for i, raw := range shown {
			encoded[i] = base64.StdEncoding.EncodeToString([]byte(raw))
		}
		return msgParameter + "Input collection [" + strings.Join(encoded, ", ") + "]of type BS contains duplicates."
	default:
		return msgParameter + "Input collection [" + strings.Join(shown, ", ") + "] contains duplicates."
	}
}

// msgWrongType is for a JSON scalar of another type than the member wants.
func msgWrongType(found, want string) string { return found + " cannot be converted to " + want }
