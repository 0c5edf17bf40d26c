package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dynafin/dynafin/internal/keys"
)

// Table is one table as data. Each primitive describes its own with its method Schema, under the names that it is configured
// with; a service adds its own indexes and routes. Several values with one name are one table, see [Deployment].
type Table struct {
	Name string
	// PK and SK are the names of the key attributes, which are text. SK is "" if the table has no sort key.
	PK, SK string
	// Indexes are global secondary indexes.
	Indexes []Index
	// TTL is the attribute with the time after which an item may be deleted, "" if nothing expires.
	TTL string
	// Stream is what the stream shows of each change, "" if nobody reads one.
	Stream StreamView
	// Transactions says that items are written with TransactWriteItems.
	Transactions bool
	// Routes are the keys that items and entries have.
	Routes []Route
	// Roles are what programs do with the table, for IAM.
	Roles []Role
}

// Index is one global secondary index. Its key attributes are text, and items without them are not in it.
type Index struct {
	Name   string
	PK, SK string
	// Project are the attributes that an entry has besides all keys. None are keys alone.
	Project []string
	// All projects every attribute.
	All bool
}

// StreamView is what a stream shows of a change.
type StreamView string

// The views.
const (
	StreamKeys      StreamView = "KEYS_ONLY"
	StreamNew       StreamView = "NEW_IMAGE"
	StreamOld       StreamView = "OLD_IMAGE"
	StreamNewAndOld StreamView = "NEW_AND_OLD_IMAGES"
)

// What one table takes.
const (
	maxIndexes        = 20
	maxProjected      = 100 // of all indexes together
	maxProjectedOfOne = 20
)

// Route is the form of the keys of one kind of item or entry: components stand in braces.
type Route struct {
	Name string
	// Index is where it leads, "" for the table itself.
	Index  string
	PK, SK string
}

// Routes returns routes of this library's key grammar by their names, such as "Request" or "OutboxReady". An index is where
// they lead, "" the table itself. The package documentation of each primitive shows its own; an unknown name gives a route without keys,
// which [Deployment.Plan] refuses.
func Routes(index string, names ...string) []Route {
	var all []Route
	for _, name := range names {
		key := keys.Template(name)
		all = append(all, Route{Name: name, Index: index, PK: key.PK, SK: key.SK})
	}
	return all
}

// Merge makes one table of all with the same name, in the order in which the names come. The error joins an
// *InvalidError for everything in which they contradict one another.
func Merge(tables ...Table) ([]Table, error) {
	var merged []Table
	var errs []error
	for _, t := range tables {
		at := slices.IndexFunc(merged, func(m Table) bool { return m.Name == t.Name })
		if at < 0 {
			merged = append(merged, t.clone())
			continue
		}
		errs = append(errs, merged[at].add(t))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return merged, nil
}

func (t Table) clone() Table {
	t.Indexes, t.Routes, t.Roles = slices.Clone(t.Indexes), slices.Clone(t.Routes), slices.Clone(t.Roles)
	return t
}

// add adds what another primitive needs of the same table.
func (t *Table) add(other Table) error {
	var errs []error
	fail := func(field, format string, args ...any) {
		errs = append(errs, &InvalidError{Table: t.Name, Field: field, Reason: fmt.Sprintf(format, args...)})
	}
	if t.PK != other.PK || t.SK != other.SK {
		fail("PK, SK", "are %q, %q for one and %q, %q for another", t.PK, t.SK, other.PK, other.SK)
	}
	if t.TTL != "" && other.TTL != "" && t.TTL != other.TTL {
		fail("TTL", "is %q for one and %q for another; a table has one", t.TTL, other.TTL)
	}
	if t.Stream != "" && other.Stream != "" && t.Stream != other.Stream {
		fail("Stream", "is %q for one and %q for another; a table has one", t.Stream, other.Stream)
	}
	t.TTL, t.Stream = cmp.Or(t.TTL, other.TTL), cmp.Or(t.Stream, other.Stream)
	t.Transactions = t.Transactions || other.Transactions
	for _, index := range other.Indexes {
		same, ok := t.index(index.Name)
		switch {
		case !ok:
			t.Indexes = append(t.Indexes, index)
		case !same.equal(index):
			fail("index "+index.Name, "is defined in two ways; give one of them another name")
		}
	}
	for _, route := range other.Routes {
		if !slices.Contains(t.Routes, route) {
			t.Routes = append(t.Routes, route)
		}
	}
	t.Roles = append(t.Roles, other.Roles...)
	return errors.Join(errs...)
}

func (t Table) index(name string) (Index, bool) {
	at := slices.IndexFunc(t.Indexes, func(i Index) bool { return i.Name == name })
	if at < 0 {
		return Index{}, false
	}
	return t.Indexes[at], true
}

func (i Index) equal(other Index) bool {
	return i.PK == other.PK && i.SK == other.SK && i.All == other.All &&
		slices.Equal(slices.Sorted(slices.Values(i.Project)), slices.Sorted(slices.Values(other.Project)))
}

// keyAttributes returns the names of all key attributes, each once, sorted.
func (t Table) keyAttributes() []string {
	names := []string{t.PK, t.SK}
	for _, i := range t.Indexes {
		names = append(names, i.PK, i.SK)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// check returns what DynamoDB would refuse.
func (t Table) check() []error {
	var errs []error
	rule := func(ok bool, field, reason string) {
		if !ok {
			errs = append(errs, &InvalidError{Table: t.Name, Field: field, Reason: reason})
		}
	}
	rule(isName(t.Name), "Name", "is not 3 to 255 letters, digits, dots, dashes or underscores")
	rule(t.PK != "", "PK", "is missing")
	rule(t.PK != t.SK, "SK", "is the partition key as well")
	rule(t.TTL == "" || !slices.Contains(t.keyAttributes(), t.TTL), "TTL", "is a key attribute")
	rule(slices.Contains([]StreamView{"", StreamKeys, StreamNew, StreamOld, StreamNewAndOld}, t.Stream), "Stream", "is no view of a stream")
	rule(len(t.Indexes) <= maxIndexes, "Indexes", "are more than 20")
	projected := 0
	for n, i := range t.Indexes {
		field := "index " + i.Name
		rule(isName(i.Name), field, "has no name of 3 to 255 letters, digits, dots, dashes or underscores")
		rule(i.PK != "", field, "has no partition key")
		rule(i.PK != i.SK, field, "has one attribute as both keys")
		rule(!i.All || len(i.Project) == 0, field, "projects all attributes and some")
		rule(len(i.Project) <= maxProjectedOfOne, field, "projects more than 20 attributes")
		rule(!slices.ContainsFunc(t.Indexes[:n], func(j Index) bool { return j.Name == i.Name }), field, "is there twice")
		rule(!slices.ContainsFunc(t.Indexes[:n], func(j Index) bool { return j.PK == i.PK && j.SK == i.SK && j.Name != i.Name }), field,
			"has the key attributes of another index, so every entry would be in both")
		projected += len(i.Project)
	}
	rule(projected <= maxProjected, "Indexes", "project more than 100 attributes together")
	for _, r := range t.Routes {
		rule(r.PK != "", "route "+r.Name, "has no partition key")
	}
	return errs
}

func isName(name string) bool {
	if len(name) < 3 || len(name) > 255 {
		return false
	}
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
