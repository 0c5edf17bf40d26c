package change

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
)

// Fields are what a condition may ask of an item. Numbers and durations are written as Go writes them.
type Fields map[string]string

// condition is one of --where: a field, an operator and a value.
type condition struct{ field, op, value string }

// operators, the longer before those that begin alike.
var operators = []string{"!=", "<=", ">=", "=", "~", "<", ">"}

// parseWhere reads conditions such as topic=trades, cause~timeout, attempt>=3 and age>1h. The fields are those that the command knows: one
// that is misspelt must neither match everything nor nothing.
func parseWhere(where, fields []string) ([]condition, error) {
	var all []condition
	for _, s := range where {
		at, op := len(s), ""
		for _, o := range operators {
			if i := strings.Index(s, o); i >= 0 && i < at {
				at, op = i, o
			}
		}
		c := condition{field: strings.TrimSpace(s[:at]), op: op, value: strings.TrimSpace(s[min(len(s), at+len(op)):])}
		if op == "" || !slices.Contains(fields, c.field) {
			return nil, app.Usage("--where %q: write FIELD=VALUE with = != ~ < > <= or >=; the fields are %s", s, strings.Join(fields, ", "))
		}
		all = append(all, c)
	}
	return all, nil
}

// holds says whether an item satisfies the condition. A number or a duration is compared as such, anything else as text.
func (c condition) holds(of Fields) bool {
	have := of[c.field]
	switch c.op {
	case "=":
		return have == c.value
	case "!=":
		return have != c.value
	case "~":
		return strings.Contains(have, c.value)
	}
	order := compare(have, c.value)
	return strings.HasPrefix(c.op, "<") && order < 0 || strings.HasPrefix(c.op, ">") && order > 0 || strings.HasSuffix(c.op, "=") && order == 0
}

func compare(a, b string) int {
	if x, err := strconv.ParseInt(a, 10, 64); err == nil {
		if y, err := strconv.ParseInt(b, 10, 64); err == nil {
			return cmp.Compare(x, y)
		}
	}
	if x, err := time.ParseDuration(a); err == nil {
		if y, err := time.ParseDuration(b); err == nil {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(a, b)
}

func match(all []condition, of Fields) bool {
	return !slices.ContainsFunc(all, func(c condition) bool { return !c.holds(of) })
}
