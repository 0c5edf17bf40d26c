package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/schema"
)

// request is what IAM sees of one access: an action on a resource, with the values of condition keys. A key that a request does
// not carry is absent.
type request struct {
	action, resource string
	context          map[string][]string
}

func (r request) String() string { return fmt.Sprintf("%s on %s %v", r.action, r.resource, r.context) }

// allows judges a request as IAM does: a Deny wins, else an Allow is needed. It knows what the policies of this package use,
// and fails the test at anything else.
func allows(t *testing.T, document []byte, r request) bool {
	t.Helper()
	var policy schema.Policy
	if err := json.Unmarshal(document, &policy); err != nil || policy.Version != "2012-10-17" {
		t.Fatalf("%v in %s", err, document)
	}
	allowed := false
	for _, s := range policy.Statement {
		if !slices.ContainsFunc(s.Action, func(pattern string) bool { return like(pattern, r.action) }) ||
			!slices.ContainsFunc(s.Resource, func(pattern string) bool { return like(pattern, r.resource) }) || !holds(t, s, r) {
			continue
		}
		switch s.Effect {
		case "Deny":
			return false
		case "Allow":
			allowed = true
		default:
			t.Fatalf("%s has the effect %q", s.Sid, s.Effect)
		}
	}
	return allowed
}

// holds says whether all conditions of a statement hold. A set operator asks of all values or of any; without values all of
// them match, which is why statements also ask that there are some.
func holds(t *testing.T, s schema.Statement, r request) bool {
	t.Helper()
	for operator, keys := range s.Condition {
		for key, patterns := range keys {
			values := r.context[key]
			match := func(value string) bool {
				return slices.ContainsFunc(patterns, func(pattern string) bool { return like(pattern, value) })
			}
			var ok bool
			switch operator {
			case "ForAllValues:StringLike":
				ok = !slices.ContainsFunc(values, func(value string) bool { return !match(value) })
			case "ForAnyValue:StringLike":
				ok = slices.ContainsFunc(values, match)
			case "StringEquals":
				ok = len(values) == 1 && slices.Contains(patterns, values[0])
			case "Null":
				ok = (len(values) == 0) == (patterns[0] == "true")
			default:
				t.Fatalf("%s has the operator %q", s.Sid, operator)
			}
			if !ok {
				return false
			}
		}
	}
	return true
}

// like is StringLike: an asterisk is any text, a question mark any sign, and ${*}, ${?} and ${$} are themselves.
func like(pattern, value string) bool {
	switch {
	case pattern == "":
		return value == ""
	case strings.HasPrefix(pattern, "${") && len(pattern) >= 4 && pattern[3] == '}':
		return value != "" && value[0] == pattern[2] && like(pattern[4:], value[1:])
	case pattern[0] == '*':
		return like(pattern[1:], value) || value != "" && like(pattern, value[1:])
	case value == "":
		return false
	}
	return (pattern[0] == '?' || pattern[0] == value[0]) && like(pattern[1:], value[1:])
}

func TestTheEvaluatorJudgesAsIAMDoes(t *testing.T) {
	t.Parallel()
	const table = "arn:aws:dynamodb:eu-west-1:123456789012:table/Orders"
	document := []byte(`{"Version":"2012-10-17","Statement":[
		{"Sid":"A","Effect":"Allow","Action":["dynamodb:PutItem"],"Resource":["` + table + `"],"Condition":{
			"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["TEN#*#REQ#*","A${*}"]},"Null":{"dynamodb:LeadingKeys":["false"]},
			"StringEquals":{"dynamodb:EnclosingOperation":["TransactWriteItems"]}}},
		{"Sid":"B","Effect":"Deny","Action":["dynamodb:PutItem"],"Resource":["` + table + `"],"Condition":{
			"ForAnyValue:StringLike":{"dynamodb:LeadingKeys":["TEN#bad#*"]}}}]}`)
	in := []string{"TransactWriteItems"}
	for _, c := range []struct {
		action, resource string
		keys, enclosing  []string
		want             bool
	}{
		{"PutItem", table, []string{"TEN#a#REQ#1"}, in, true},
		{"PutItem", table, []string{"A*"}, in, true},
		{"PutItem", table, []string{"AB"}, in, false},
		{"PutItem", table, []string{"TEN#a#REQ#1", "TEN#a#ORDER#1"}, in, false},
		{"PutItem", table, []string{"TEN#a#REQ#1"}, nil, false},
		{"PutItem", table, nil, in, false},
		{"PutItem", table + "/index/GSI1", []string{"TEN#a#REQ#1"}, in, false},
		{"PutItem", table, []string{"TEN#bad#REQ#1"}, in, false},
		{"UpdateItem", table, []string{"TEN#a#REQ#1"}, in, false},
	} {
		r := request{"dynamodb:" + c.action, c.resource, map[string][]string{"dynamodb:LeadingKeys": c.keys, "dynamodb:EnclosingOperation": c.enclosing}}
		if got := allows(t, document, r); got != c.want {
			t.Errorf("%s: %v", r, got)
		}
	}
}
