package value

import "fmt"

// The texts of the service, in one place, because they change from time to time.
const (
	msgNoMember       = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgManyMembers    = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
	msgParameter      = "One or more parameter values were invalid: "
	msgNullFalse      = msgParameter + "Null attribute value types must have the value of true"
	msgEmptyStringSet = msgParameter + "An string set  may not be empty"
	msgEmptyNumberSet = msgParameter + "An number set  may not be empty"
	msgEmptyBinarySet = msgParameter + "Binary sets should not be empty"
	msgNumberEmpty    = "The parameter cannot be converted to a numeric value"
	msgNumberDigits   = "Attempting to store more than 38 significant digits in a Number"
	msgNumberOverflow = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgNumberTiny     = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	msgNesting        = "Nesting Levels have exceeded supported limits"
	msgNotJSON        = "The request body is not valid JSON"
)

func msgNumberText(text string) string {
	return fmt.Sprintf("The parameter cannot be converted to a numeric value: %s", text)
}
