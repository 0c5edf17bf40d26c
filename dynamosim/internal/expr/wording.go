package expr

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// The texts of the service, in one place, because they change from time to time. Those found while an expression is read
// get the prefix "Invalid <parameter>: "; the others stand as they are.
const (
	msgEmpty       = "The expression can not be empty;"
	msgParens      = "The expression has redundant parentheses;"
	msgPathInvalid = "The document path provided in the update expression is invalid for update"
	msgNoAttribute = "The provided expression refers to an attribute that does not exist in the item"
	msgWrongType   = "An operand in the update expression has an incorrect data type"
	msgNesting     = "Nesting Levels have exceeded supported limits"
	msgItemSize    = "Item size to update has exceeded the maximum allowed size"

	msgNestedOperation = "KeyConditionExpressions cannot contain nested operations"
	msgNestedPath      = "KeyConditionExpressions cannot have conditions on nested attributes"
	msgOnePerKey       = "KeyConditionExpressions must only contain one condition per key"
	msgManyNames       = "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
	msgNoName          = "Invalid condition in KeyConditionExpression: No key attribute specified"

	msgSubsTooLarge = "ExpressionAttributeNames and ExpressionAttributeValues exceed the maximum allowed size"
)

// anyType is how the service names the type of an operand that is not known before evaluation.
const anyType = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"

func msgPrefix(kind Kind) string { return "Invalid " + kind.String() + ": " }

func msgSize(bytes int) string {
	return fmt.Sprintf("Expression size has exceeded the maximum allowed size; expression size: %d", bytes)
}

func msgSyntax(token, near string) string {
	return `Syntax error; token: "` + token + `", near: "` + near + `"`
}

func msgReserved(name string) string {
	return "Attribute name is a reserved keyword; reserved keyword: " + name
}

func msgUndefinedName(name string) string {
	return "An expression attribute name used in the document path is not defined; attribute name: " + name
}

func msgUndefinedValue(name string) string {
	return "An expression attribute value used in expression is not defined; attribute value: " + name
}

func msgUnused(parameter string, keys []string) string {
	return "Value provided in " + parameter + " unused in expressions: keys: {" + strings.Join(keys, ", ") + "}"
}

func msgInvalidKey(parameter, key string) string {
	return parameter + ` contains invalid key: Syntax error; key: "` + key + `"`
}

func msgInvalidValue(parameter, reason, key string) string {
	return parameter + " contains invalid value: " + reason + " for key " + key
}

func msgUnknownFunction(name string) string { return "Invalid function name; function: " + name }

func msgMisusedFunction(name string) string {
	return "The function is not allowed to be used this way in an expression; function: " + name
}

func msgOperandCount(function string, count int) string {
	return fmt.Sprintf("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", function, count)
}

func msgOperandType(function, kind string) string {
	return "Incorrect operand type for operator or function; operator or function: " + function + ", operand type: " + kind
}

// msgActionType is msgOperandType for the actions ADD and DELETE, which spell types out.
func msgActionType(action string, kind value.Kind) string {
	spelt := map[value.Kind]string{
		value.S: "STRING", value.N: "NUMBER", value.B: "BINARY", value.BOOL: "BOOLEAN", value.NULL: "NULL",
		value.L: "LIST", value.M: "MAP",
	}
	return "Incorrect operand type for operator or function; operator: " + action + ", operand type: " + spelt[kind]
}

func msgNeedsPath(function string) string {
	return "Operator or function requires a document path; operator or function: " + function
}

func msgDistinct(operator string, p path) string {
	return "The first operand must be distinct from the remaining operands for this operator or function; operator: " +
		operator + ", first operand: " + p.String()
}

func msgTypeName(name string) string {
	return "Invalid attribute type name found; type: " + name + ", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
}

func msgBetweenTypes(low, high value.Value) string {
	return "The BETWEEN operator requires same data type for lower and upper bounds; " + bounds(low, high)
}

func msgBetweenOrder(low, high value.Value) string {
	return "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; " + bounds(low, high)
}

func bounds(low, high value.Value) string {
	return "lower bound operand: AttributeValue: " + shown(low) + ", upper bound operand: AttributeValue: " + shown(high)
}

func shown(v value.Value) string {
	text := v.Text()
	if v.Kind() == value.B {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return "{" + v.Kind().String() + ":" + text + "}"
}

func msgInOperands(count int) string {
	return fmt.Sprintf("The IN operator is provided with too many operands; number of operands: %d", count)
}

func msgOperators(count int) string {
	return fmt.Sprintf("The expression contains too many operators or functions; number of operators: %d", count)
}

func msgListIndex(index string) string {
	return "List index is not within the allowable range; index: [" + index + "]"
}

func msgSection(name string) string {
	return `The "` + name + `" section can only be used once in an update expression;`
}

func msgOverlap(one, two path) string {
	return "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: " +
		one.String() + ", path two: " + two.String()
}

func msgConflict(one, two path) string {
	return "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: " +
		one.String() + ", path two: " + two.String()
}

func msgKeyOperator(operator string) string {
	return "Invalid operator used in KeyConditionExpression: " + operator
}

func msgKeyFirst(operator string) string {
	return "Invalid condition in KeyConditionExpression: " + operator + " operator must have the key attribute as its first operand"
}
