package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/dynafin/dynafin/internal/keys"
)

// Action is a permission of DynamoDB. TransactWriteItems and TransactGetItems have none of their own: each write in one needs
// the permission of its kind, and each check ConditionCheck.
type Action string

// The actions that primitives need.
const (
	GetItem            Action = "GetItem"
	Query              Action = "Query"
	PutItem            Action = "PutItem"
	UpdateItem         Action = "UpdateItem"
	DeleteItem         Action = "DeleteItem"
	ConditionCheckItem Action = "ConditionCheckItem"
	// Scan reads a whole table and carries no keys. No primitive needs it; see [ScanRuns].
	Scan Action = "Scan"
)

// Role is what one kind of program does with a table: it becomes statements of an IAM policy.
type Role struct {
	// Name is that of the primitive and of the work, for example "outbox.relay".
	Name   string
	Grants []Grant
}

// Grant allows actions on the items whose partition keys match.
type Grant struct {
	// Index is the index that is queried, "" for the table.
	Index   string
	Actions []Action
	// Keys are patterns of partition keys for the operator StringLike, such as "TEN#*#REQ#*". Scan alone has none.
	Keys []string
	// InTransaction allows the actions inside TransactWriteItems or TransactGetItems only.
	InTransaction bool
	// Deny forbids them instead, whatever else allows them.
	Deny bool
}

// Scope says where a policy holds.
type Scope struct {
	// Partition is "aws" by default.
	Partition string
	// Region is the deployment's home by default, and required without one.
	Region string
	// Account is the twelve digits of the account. Required.
	Account string
	// Tenant limits keys that begin with a tenant to this one. "" is all tenants. Keys of events, consumers and projections
	// do not begin with one.
	Tenant string
}

// Policy is an IAM policy document.
type Policy struct {
	// Version is that of the policy language, Statement what is allowed and denied.
	Version   string
	Statement []Statement
}

// Statement is one statement of a policy.
type Statement struct {
	// Sid and Effect are its name and whether it allows or denies.
	Sid, Effect string
	// Action and Resource are what it is about.
	Action, Resource []string
	// Condition holds operators, each with keys and their values.
	Condition map[string]map[string][]string `json:",omitempty"`
}

// JSON returns the document as it is given to IAM.
//
// The error is that of encoding/json; a policy of [Deployment.Policy] has none.
func (p Policy) JSON() ([]byte, error) { return marshal(p) }

// VerifyRole is the role of whoever calls [Deployment.Verify]. It exists for every table.
const VerifyRole = "schema.verify"

var describes = []Action{"DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups"}

// Roles returns the names of the roles of all tables, sorted.
func (d Deployment) Roles() []string {
	names := map[string]bool{VerifyRole: true}
	for _, t := range d.Tables {
		for _, r := range t.Roles {
			names[r.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Policy returns the policy of a program that has the given roles: what they do, on the keys that they do it to, and nothing
// else.
//
// Errors: [ErrInvalid], once for each fault of the deployment, the scope and the roles.
func (d Deployment) Policy(scope Scope, roles ...string) (Policy, error) {
	d, err := d.Plan()
	if err != nil {
		return Policy{}, err
	}
	scope.Partition, scope.Region = cmp.Or(scope.Partition, "aws"), cmp.Or(scope.Region, d.HomeRegion)
	errs := scope.check()
	p := Policy{Version: "2012-10-17"}
	for _, name := range roles {
		if !slices.Contains(d.Roles(), name) {
			errs = append(errs, &InvalidError{Field: "role " + name, Reason: "does not exist"})
		}
		n := 0
		for _, t := range d.Tables {
			for _, grant := range t.grants(name) {
				n++
				statement, err := scope.statement(t, grant, fmt.Sprintf("%s%d", sid(name), n))
				p.Statement, errs = append(p.Statement, statement), append(errs, err)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Policy{}, err
	}
	return p, nil
}

func (t Table) grants(role string) (grants []Grant) {
	if role == VerifyRole {
		return []Grant{{Actions: describes}}
	}
	for _, r := range t.Roles {
		if r.Name == role {
			grants = append(grants, r.Grants...)
		}
	}
	return grants
}

func (s Scope) check() []error {
	var errs []error
	rule := func(ok bool, field, reason string) {
		if !ok {
			errs = append(errs, &InvalidError{Field: "Scope." + field, Reason: reason})
		}
	}
	rule(len(s.Account) == 12 && strings.Trim(s.Account, "0123456789") == "", "Account", "is not twelve digits")
	rule(isRegion(s.Region), "Region", "is missing, or is no Region")
	rule(strings.Trim(s.Partition, "abcdefghijklmnopqrstuvwxyz-") == "", "Partition", "is no partition")
	return errs
}

const (
	leadingKeys        = "dynamodb:LeadingKeys"
	enclosingOperation = "dynamodb:EnclosingOperation"
)

// statement writes one grant. ForAllValues alone would hold for a request without keys, hence the Null.
func (s Scope) statement(t Table, g Grant, sid string) (Statement, error) {
	resource := fmt.Sprintf("arn:%s:dynamodb:%s:%s:table/%s", s.Partition, s.Region, s.Account, t.Name)
	if g.Index != "" {
		resource += "/index/" + g.Index
	}
	statement := Statement{Sid: sid, Effect: "Allow", Resource: []string{resource}, Condition: map[string]map[string][]string{}}
	keyless := len(g.Keys) == 0 && !g.Deny
	for _, action := range g.Actions {
		statement.Action = append(statement.Action, "dynamodb:"+string(action))
		keyless = keyless && (action == Scan || slices.Contains(describes, action))
	}
	if keyless {
		return statement, nil
	}
	patterns := s.keys(g.Keys)
	if len(patterns) == 0 || slices.Contains(patterns, "") {
		return statement, &InvalidError{Table: t.Name, Field: sid, Reason: "grants something without saying on which keys"}
	}
	if g.Deny { // of every tenant, because another policy may reach further
		statement.Effect = "Deny"
		statement.Condition["ForAnyValue:StringLike"] = map[string][]string{leadingKeys: g.Keys}
		return statement, nil
	}
	statement.Condition["ForAllValues:StringLike"] = map[string][]string{leadingKeys: patterns}
	statement.Condition["Null"] = map[string][]string{leadingKeys: {"false"}}
	if g.InTransaction {
		enclosing := "TransactWriteItems"
		if slices.Contains(g.Actions, GetItem) {
			enclosing = "TransactGetItems"
		}
		statement.Condition["StringEquals"] = map[string][]string{enclosingOperation: {enclosing}}
	}
	return statement, nil
}

// anyTenant begins the patterns of keys that have a tenant.
const anyTenant = "TEN#*#"

func (s Scope) keys(patterns []string) []string {
	if s.Tenant == "" {
		return patterns
	}
	var narrowed []string
	for _, pattern := range patterns {
		if rest, ok := strings.CutPrefix(pattern, anyTenant); ok {
			pattern = tenantPrefix(s.Tenant) + rest
		}
		narrowed = append(narrowed, pattern)
	}
	return narrowed
}

// sid makes a name of letters and digits: outbox.relay becomes OutboxRelay.
func sid(role string) string {
	var b strings.Builder
	upper := true
	for _, c := range role {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(c))
			upper = false
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// marshal writes JSON that people read: indented, signs as they are.
func marshal(v any) ([]byte, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// tenantPrefix is how the keys of a tenant begin, as a pattern.
func tenantPrefix(tenant string) string {
	order := keys.Pattern("Order", tenant) // TEN#tenant#ORDER#*
	return strings.TrimSuffix(order, "ORDER#*")
}
