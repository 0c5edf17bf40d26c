package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Consistency is how the copies of a table in several Regions agree.
type Consistency string

// The modes. A table's mode cannot be changed after it was created.
const (
	// EventualConsistency copies each item after it was written; the last writer wins. Transactions hold where they were
	// written and nowhere else.
	EventualConsistency Consistency = "EVENTUAL"
	// StrongConsistency lets three Regions agree on each item. It has neither transactions nor TTL nor local indexes, so the
	// primitives cannot work on it.
	StrongConsistency Consistency = "STRONG"
)

// RecoveryDaysMax is how far back a point-in-time recovery can reach, and the default.
const RecoveryDaysMax = 35

// Deployment is a set of tables and how they are run: on demand, with point-in-time recovery and protected from deletion.
type Deployment struct {
	// Name names the templates and models, "" is "dynafin".
	Name string
	// Tables are the tables. Several values with one name are merged, so that primitives can share a table.
	Tables []Table
	// HomeRegion is the one Region in which the tables are written, for example "eu-west-1". "" says nothing about Regions.
	HomeRegion string
	// Replicas are other Regions that get a copy. They are for reading and for disaster recovery; home is not among them.
	Replicas []string
	// Consistency of the replicas. Default: EventualConsistency.
	Consistency Consistency
	// RecoveryDays is how far back a point-in-time recovery reaches, 1 to 35. Default: RecoveryDaysMax.
	RecoveryDays int
	// Disposable takes off what protects the tables from deletion, for tests.
	Disposable bool
	// Tags are set on each table.
	Tags map[string]string
}

func (d Deployment) withDefaults() Deployment {
	d.Name = cmp.Or(d.Name, "dynafin")
	d.RecoveryDays = cmp.Or(d.RecoveryDays, RecoveryDaysMax)
	d.Consistency = cmp.Or(d.Consistency, EventualConsistency)
	return d
}

// Plan returns the deployment with defaults and merged tables, in order of their names. The error joins an *InvalidError for
// everything that DynamoDB would refuse, and for what the primitives cannot work on: multi-Region strong consistency rules
// out transactions and TTL.
func (d Deployment) Plan() (Deployment, error) {
	d = d.withDefaults()
	tables, err := Merge(d.Tables...)
	if err != nil {
		return Deployment{}, err
	}
	slices.SortFunc(tables, func(a, b Table) int { return strings.Compare(a.Name, b.Name) })
	var errs []error
	for _, t := range tables {
		errs = append(errs, t.check()...)
		errs = append(errs, d.strong(t)...)
	}
	d.Tables = tables
	if err := errors.Join(append(errs, d.check()...)...); err != nil {
		return Deployment{}, err
	}
	return d, nil
}

// strong returns what multi-Region strong consistency rules out.
func (d Deployment) strong(t Table) (errs []error) {
	if d.Consistency != StrongConsistency {
		return nil
	}
	if t.Transactions {
		errs = append(errs, &InvalidError{Table: t.Name, Field: "Consistency",
			Reason: "is STRONG, but the table is written in transactions, which multi-Region strong consistency refuses"})
	}
	if t.TTL != "" {
		errs = append(errs, &InvalidError{Table: t.Name, Field: "Consistency",
			Reason: fmt.Sprintf("is STRONG, but items expire by %s, and multi-Region strong consistency has no TTL", t.TTL)})
	}
	return errs
}

func (d Deployment) check() (errs []error) {
	rule := func(ok bool, field, reason string) {
		if !ok {
			errs = append(errs, &InvalidError{Field: field, Reason: reason})
		}
	}
	rule(len(d.Tables) > 0, "Tables", "are missing")
	rule(d.RecoveryDays >= 1 && d.RecoveryDays <= RecoveryDaysMax, "RecoveryDays", "is outside 1 to 35")
	rule(d.Consistency == EventualConsistency || d.Consistency == StrongConsistency, "Consistency", "is neither EVENTUAL nor STRONG")
	rule(len(d.Replicas) == 0 || d.HomeRegion != "", "HomeRegion", "is missing; with copies elsewhere it must be said where to write")
	rule(!slices.Contains(d.Replicas, d.HomeRegion) || d.HomeRegion == "", "Replicas", "have the home Region among them")
	rule(d.Consistency != StrongConsistency || len(d.Replicas) == 2, "Replicas", "are not two; strong consistency takes three Regions with home")
	sorted := slices.Sorted(slices.Values(d.Replicas))
	rule(len(slices.Compact(sorted)) == len(d.Replicas), "Replicas", "have a Region twice")
	for _, region := range append(slices.Clone(d.Replicas), d.HomeRegion) {
		rule(region == "" && d.HomeRegion == "" || isRegion(region), "Region", fmt.Sprintf("%q is no Region", region))
	}
	seen := map[string]string{}
	for _, t := range d.Tables {
		id := strings.ToLower(logicalID(t.Name))
		rule(seen[id] == "" || seen[id] == t.Name, "Tables", fmt.Sprintf("%q and %q differ only in signs or case, which templates drop", seen[id], t.Name))
		seen[id] = t.Name
	}
	for _, key := range slices.Sorted(maps.Keys(d.Tags)) {
		rule(key != "" && len(key) <= 128 && len(d.Tags[key]) <= 256 && !strings.HasPrefix(strings.ToLower(key), "aws:"), "Tags",
			fmt.Sprintf("%q is no tag", key))
	}
	return errs
}

func isRegion(region string) bool {
	return region != "" && strings.Count(region, "-") >= 2 && strings.Trim(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// logicalID returns a name that templates accept: letters and digits.
func logicalID(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, name) + "Table"
}
