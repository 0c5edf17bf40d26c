package engine

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// MaxRequestBytes is the largest request body the service accepts.
const MaxRequestBytes = 16 * 1024 * 1024

// decode reads a request. Members it does not know are ignored, as the service does.
func decode(body []byte, into any) *failure {
	err := json.Unmarshal(body, into)
	if err == nil {
		return nil
	}
	var badValue *value.Error
	if errors.As(err, &badValue) {
		if badValue.Class == value.Serialization {
			return &failure{exception: serializationException, message: badValue.Message, wholeRequest: true}
		}
		return invalidRequest(badValue.Message)
	}
	f := &failure{exception: serializationException, wholeRequest: true}
	var badType *json.UnmarshalTypeError
	if errors.As(err, &badType) {
		f.message = msgWrongType(badType.Value, badType.Type)
	}
	return f
}

// msgWrongType is how the service's own decoder complains about JSON of the wrong type.
func msgWrongType(got string, want reflect.Type) string {
	name := map[reflect.Kind]string{
		reflect.String: "String", reflect.Bool: "Boolean", reflect.Int64: "Integer",
	}[want.Kind()]
	switch {
	case got == "object":
		return "Start of structure or map found where not expected"
	case name == "":
		return "Unexpected field type"
	case got == "array":
		return "Unrecognized collection type class java.lang." + name
	case got == "bool":
		return "TRUE_VALUE cannot be converted to " + name
	case got == "string" && name == "Boolean":
		return "Unexpected token received from parser"
	case got == "string":
		return "STRING_VALUE cannot be converted to " + name
	default:
		return "NUMBER_VALUE cannot be converted to " + name
	}
}

// substitutions are the placeholders shared by all expressions of one request or action.
type substitutions struct {
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues *value.Item
}

// begin checks the substitutions as such and returns them ready for parsing. used: the request has an expression.
func (in *substitutions) begin(used bool) (*expr.Subs, *failure) {
	switch {
	case in.ExpressionAttributeNames != nil && !used:
		return nil, invalidRequest(msgNamesNoExpression)
	case in.ExpressionAttributeValues != nil && !used:
		return nil, invalidRequest(msgValuesNoExpression)
	case in.ExpressionAttributeNames != nil && len(in.ExpressionAttributeNames) == 0:
		return nil, invalidRequest(msgNamesEmpty)
	case in.ExpressionAttributeValues != nil && in.ExpressionAttributeValues.IsEmpty():
		return nil, invalidRequest(msgValuesEmpty)
	}
	var values value.Item
	if in.ExpressionAttributeValues != nil {
		values = *in.ExpressionAttributeValues
	}
	subs := expr.NewSubs(in.ExpressionAttributeNames, values)
	return subs, refused(subs.Check())
}

// refused turns the refusal of an expression's text into that of the whole request.
func refused(err error) *failure {
	if err == nil {
		return nil
	}
	return invalidRequest(err.Error())
}

// parameter is an optional request member by name, for telling expressions from legacy parameters.
type parameter struct {
	name    string
	present bool
}

// refuseLegacy refuses the parameters that expressions replaced: with the service's words where both styles are mixed,
// and with its own where the legacy style stands alone, which this simulator does not implement.
func refuseLegacy(legacy, expressions []parameter) *failure {
	old, modern := presentNames(legacy), presentNames(expressions)
	if len(old) == 0 {
		return nil
	}
	if len(modern) > 0 {
		return invalidRequest(msgBothStyles(old, modern))
	}
	return invalidRequest(msgLegacy(old[0]))
}

func presentNames(params []parameter) []string {
	var names []string
	for _, p := range params {
		if p.present {
			names = append(names, p.name)
		}
	}
	return names
}
