package engine

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names of tables and indexes, in characters.
const (
	nameMin = 3
	nameMax = 255
)

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`)

// An enum is a member's set of values in the order the service lists them.
type enum []string

var (
	consumedCapacityEnum  = enum{"INDEXES", "TOTAL", "NONE"}
	collectionMetricsEnum = enum{"SIZE", "NONE"}
	conditionFailureEnum  = enum{"ALL_OLD", "NONE"}
	returnValuesEnum      = enum{"ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW", "NONE"}
	selectEnum            = enum{"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"}
	keyTypeEnum           = enum{"HASH", "RANGE"}
	attributeTypeEnum     = enum{"B", "N", "S"}
	billingModeEnum       = enum{"PROVISIONED", "PAY_PER_REQUEST"}
	projectionEnum        = enum{"ALL", "INCLUDE", "KEYS_ONLY"}
	streamViewEnum        = enum{viewNew, viewOld, viewBoth, viewKeys}
	tableClassEnum        = enum{"STANDARD", "STANDARD_INFREQUENT_ACCESS"}
)

// checks collects what a request breaks of its model, before anything else is looked at. The service reports all of it
// in one exception.
type checks struct {
	found []string
}

func (c *checks) add(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *checks) failure() *failure {
	if len(c.found) == 0 {
		return nil
	}
	noun := "errors"
	if len(c.found) == 1 {
		noun = "error"
	}
	return invalidRequest(fmt.Sprintf("%d validation %s detected: %s", len(c.found), noun, strings.Join(c.found, "; ")))
}

func (c *checks) required(path string, present bool) {
	if !present {
		c.add("Value null at '%s' failed to satisfy constraint: Member must not be null", path)
	}
}

// oneOf checks a member that may be absent.
func (c *checks) oneOf(path string, got *string, allowed enum) {
	if got != nil && !slices.Contains(allowed, *got) {
		c.add("Value '%s' at '%s' failed to satisfy constraint: Member must satisfy enum value set: [%s]",
			*got, path, strings.Join(allowed, ", "))
	}
}

// minLength and maxLength take the size of what shown describes.
func (c *checks) minLength(path, shown string, size, limit int) {
	if size < limit {
		c.add("Value '%s' at '%s' failed to satisfy constraint: Member must have length greater than or equal to %d", shown, path, limit)
	}
}

func (c *checks) maxLength(path, shown string, size, limit int) {
	if size > limit {
		c.add("Value '%s' at '%s' failed to satisfy constraint: Member must have length less than or equal to %d", shown, path, limit)
	}
}

func (c *checks) minValue(path string, got *int64, limit int64) {
	if got != nil && *got < limit {
		c.add("Value '%d' at '%s' failed to satisfy constraint: Member must have value greater than or equal to %d", *got, path, limit)
	}
}

func (c *checks) maxValue(path string, got *int64, limit int64) {
	if got != nil && *got > limit {
		c.add("Value '%d' at '%s' failed to satisfy constraint: Member must have value less than or equal to %d", *got, path, limit)
	}
}

// name checks the required name of a table or an index.
func (c *checks) name(path string, got *string) {
	c.required(path, got != nil)
	if got == nil {
		return
	}
	if *got == "" {
		c.add("Value at '%s' failed to satisfy constraint: Member must have length greater than or equal to 1", path)
		return
	}
	if !namePattern.MatchString(*got) {
		c.add("Value '%s' at '%s' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+", *got, path)
	}
	size := utf8.RuneCountInString(*got)
	c.minLength(path, *got, size, nameMin)
	c.maxLength(path, *got, size, nameMax)
}

// indexName checks the name of an index on a read; an unknown one is found out later.
func (c *checks) indexName(path, got string) {
	size := utf8.RuneCountInString(got)
	c.minLength(path, got, size, nameMin)
	c.maxLength(path, got, size, nameMax)
}

// mapName checks a table's name that is the key of a map.
func (c *checks) mapName(path, got string) {
	size := utf8.RuneCountInString(got)
	if size < nameMin || size > nameMax || !namePattern.MatchString(got) {
		c.add("Value '%s' at '%s' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than "+
			"or equal to %d, Member must have length greater than or equal to %d, Member must satisfy regular expression pattern: "+
			"[a-zA-Z0-9_.-]+]", got, path, nameMax, nameMin)
	}
}

// sortedKeys makes every walk over a map the same walk.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
