package expr

// Kind says which parameter of a request an expression came in; it is named in every error text.
type Kind uint8

// The five expressions of the API.
const (
	ConditionExpression Kind = iota + 1
	FilterExpression
	KeyConditionExpression
	ProjectionExpression
	UpdateExpression
)

// String returns the parameter's name: "ConditionExpression".
func (k Kind) String() string {
	switch k {
	case ConditionExpression:
		return "ConditionExpression"
	case FilterExpression:
		return "FilterExpression"
	case KeyConditionExpression:
		return "KeyConditionExpression"
	case ProjectionExpression:
		return "ProjectionExpression"
	case UpdateExpression:
		return "UpdateExpression"
	default:
		return "Expression"
	}
}

// startsUnderscore reports whether a bare name may begin with an underscore; in conditions it may not.
func (k Kind) startsUnderscore() bool { return k == ProjectionExpression || k == UpdateExpression }
