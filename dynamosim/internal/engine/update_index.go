package engine

import (
	"slices"
	"strings"
	"time"
)

// name is the index that an update names, "" if the update has no action.
func (u indexUpdate) name() string {
	switch {
	case u.Create != nil:
		return *u.Create.IndexName
	case u.Update != nil:
		return *u.Update.IndexName
	case u.Delete != nil:
		return *u.Delete.IndexName
	}
	return ""
}

// actions counts the members that are set.
func (u indexUpdate) actions() int {
	n := 0
	for _, set := range []bool{u.Create != nil, u.Update != nil, u.Delete != nil} {
		if set {
			n++
		}
	}
	return n
}

// createsOrDeletes counts the updates that build or remove an index.
func (in *updateInput) createsOrDeletes() int {
	n := 0
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if u.Update == nil {
			n++
		}
	}
	return n
}

// checkIndexActions checks what needs no table: one action an entry, one entry an index.
func (in *updateInput) checkIndexActions() *failure {
	seen := map[string]bool{}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		switch u.actions() {
		case 0:
			return invalid(msgIndexActionMissing)
		case 1:
		default:
			return invalid(msgIndexActionMany)
		}
		if seen[u.name()] {
			return invalid(msgIndexUpdatedTwice(u.name()))
		}
		seen[u.name()] = true
	}
	return nil
}

// checkIndexUpdates checks every index update against the table.
func (in *updateInput) checkIndexUpdates(t *table, now time.Time) *failure {
	if in.createsOrDeletes() > 1 {
		return &failure{exception: limitExceeded, message: msgOneOnlineIndex}
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if f := t.checkWork(u); f != nil {
			return f
		}
		var f *failure
		switch {
		case u.Create != nil:
			f = in.checkIndexCreation(t, *u.Create)
		case u.Delete != nil:
			f = t.checkGlobal(u.name(), "delete")
		default:
			f = in.checkIndexThroughput(t, u.Update, now)
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// checkWork refuses an update of an index that is being created or deleted, and a second creation or deletion beside it.
func (t *table) checkWork(u indexUpdate) *failure {
	switch {
	case t.work == nil:
		return nil
	case u.name() != *t.work.definition.IndexName:
		if u.Update != nil {
			return nil
		}
		return &failure{exception: limitExceeded, message: msgOneOnlineIndex}
	case t.work.phase == workDeleting:
		return inUse(msgIndexBusy("deleted", t.name, u.name()))
	case u.Create != nil:
		return invalid(msgIndexExists)
	case t.work.phase == workAllocating && u.Delete != nil:
		return inUse(msgIndexAllocating(t.name, u.name()))
	case t.work.phase == workAllocating:
		return inUse(msgIndexBusy("created", t.name, u.name()))
	}
	return nil
}

// checkGlobal refuses what is no global index of the table.
func (t *table) checkGlobal(name, action string) *failure {
	if t.globalDefinition(name) != nil {
		return nil
	}
	if ix := t.index(name); ix != nil {
		return invalid(msgIndexNotGlobal(action, name))
	}
	return &failure{exception: resourceNotFound, message: msgIndexNotFound(t.name, name)}
}

// checkIndexThroughput checks new throughput of an index.
func (in *updateInput) checkIndexThroughput(t *table, u *indexThroughput, now time.Time) *failure {
	if f := t.checkGlobal(*u.IndexName, "update"); f != nil {
		return f
	}
	if ix := t.index(*u.IndexName); ix != nil && ix.updating.After(now) {
		return inUse(msgIndexBusy("updated", t.name, ix.name))
	}
	wanted := u.ProvisionedThroughput
	if f := in.checkIndexMode(t, *u.IndexName, wanted, u.OnDemandThroughput != nil || u.WarmThroughput != nil); f != nil {
		return f
	}
	current := t.globalDefinition(*u.IndexName).ProvisionedThroughput
	if wanted != nil && current != nil && wanted.equal(current) {
		return invalid(msgThroughputSame("the index "+*u.IndexName, "index "+*u.IndexName, *wanted))
	}
	return nil
}

// checkIndexMode checks the throughput of an index against the billing mode that the table will have.
func (in *updateInput) checkIndexMode(t *table, name string, p *throughput, other bool) *failure {
	onDemand := in.mode(t) == modePayPerRequest
	switch {
	case onDemand && p != nil:
		return invalid(msgIndexThroughputMode(name))
	case p == nil && !onDemand && !other:
		return invalid(msgIndexThroughputBoth(name))
	case p == nil:
		return nil
	}
	return p.checkRange()
}

// checkIndexCreation checks a new index. That the name is taken is told before what else may be wrong.
func (in *updateInput) checkIndexCreation(t *table, ix indexDefinition) *failure {
	switch {
	case t.globalDefinition(*ix.IndexName) != nil || t.index(*ix.IndexName) != nil:
		return invalid(msgIndexExists)
	case in.AttributeDefinitions == nil:
		return invalid(msgIndexDefinitionsMissing(*ix.IndexName))
	}
	if f := in.checkIndexMode(t, *ix.IndexName, ix.ProvisionedThroughput, false); f != nil {
		return f
	}
	merged := t.definition
	merged.AttributeDefinitions = slices.Concat(in.AttributeDefinitions, merged.AttributeDefinitions)
	mode := in.mode(t)
	merged.BillingMode = &mode
	if f := merged.checkIndex(ix, false, map[string]bool{}); f != nil {
		return f
	}
	if f := in.checkRedefinition(t, ix); f != nil {
		return f
	}
	if len(t.definition.GlobalSecondaryIndexes) >= globalIndexesMax {
		return &failure{exception: limitExceeded, message: msgOneGlobalTooMany}
	}
	included := len(ix.Projection.NonKeyAttributes)
	for _, other := range slices.Concat(t.definition.GlobalSecondaryIndexes, t.definition.LocalSecondaryIndexes) {
		included += len(other.Projection.NonKeyAttributes)
	}
	if included > includedMax {
		return invalid(msgTooManyIncluded)
	}
	return nil
}

// checkRedefinition refuses a key attribute that the table knows with another type.
func (in *updateInput) checkRedefinition(t *table, ix indexDefinition) *failure {
	for _, k := range ix.KeySchema {
		known := t.definition.attribute(*k.AttributeName)
		for _, a := range in.AttributeDefinitions {
			if known != nil && *a.AttributeName == *k.AttributeName && *a.AttributeType != *known.AttributeType {
				return invalid(msgAttributeRedefined(*k.AttributeName, *known.AttributeType, *a.AttributeType, *k.KeyType))
			}
		}
	}
	return nil
}

// updateIndex applies one checked index update.
func (e *Engine) updateIndex(now time.Time, t *table, in *updateInput, u indexUpdate) {
	d := &t.definition
	switch {
	case u.Create != nil:
		for _, k := range u.Create.KeySchema {
			d.define(*k.AttributeName, in.AttributeDefinitions)
		}
		d.GlobalSecondaryIndexes = slices.Concat(d.GlobalSecondaryIndexes, []indexDefinition{*u.Create})
		e.start(now, t, &indexWork{definition: *u.Create, phase: workAllocating})
	case u.Delete != nil:
		definition := *t.globalDefinition(u.name())
		e.dropIndex(t, u.name())
		e.start(now, t, &indexWork{definition: definition, phase: workDeleting})
	case u.Update.ProvisionedThroughput != nil:
		t.globalDefinition(u.name()).ProvisionedThroughput = u.Update.ProvisionedThroughput
		if ix := t.index(u.name()); ix != nil {
			ix.updating = now.Add(e.config.UpdateStep)
		}
	}
}

// dropIndex takes an index out of service. It stays defined until its deletion is complete.
func (e *Engine) dropIndex(t *table, name string) {
	ix := t.index(name)
	if ix == nil {
		return
	}
	t.indexes = slices.DeleteFunc(slices.Clone(t.indexes), func(other *index) bool { return other == ix })
	e.backlog.forget(ix)
}

// globalDefinition is nil if the table has no such global index.
func (t *table) globalDefinition(name string) *indexDefinition {
	for i := range t.definition.GlobalSecondaryIndexes {
		if d := &t.definition.GlobalSecondaryIndexes[i]; *d.IndexName == name {
			return d
		}
	}
	return nil
}

// attribute is nil if the attribute is not defined.
func (d *definition) attribute(name string) *attributeDefinition {
	for i := range d.AttributeDefinitions {
		if a := &d.AttributeDefinitions[i]; *a.AttributeName == name {
			return a
		}
	}
	return nil
}

// define adds an attribute, as others define it, unless it is defined.
func (d *definition) define(name string, others []attributeDefinition) {
	if d.attribute(name) != nil {
		return
	}
	for _, a := range others {
		if *a.AttributeName == name {
			d.AttributeDefinitions = slices.Concat(d.AttributeDefinitions, []attributeDefinition{a})
			return
		}
	}
}

// undefine removes a global index and the attributes that no other key uses.
func (d *definition) undefine(name string) {
	d.GlobalSecondaryIndexes = slices.DeleteFunc(slices.Clone(d.GlobalSecondaryIndexes),
		func(ix indexDefinition) bool { return *ix.IndexName == name })
	used := map[string]bool{}
	schemas := [][]keyElement{d.KeySchema}
	for _, ix := range slices.Concat(d.GlobalSecondaryIndexes, d.LocalSecondaryIndexes) {
		schemas = append(schemas, ix.KeySchema)
	}
	for _, k := range slices.Concat(schemas...) {
		used[*k.AttributeName] = true
	}
	d.AttributeDefinitions = slices.DeleteFunc(slices.Clone(d.AttributeDefinitions),
		func(a attributeDefinition) bool { return !used[*a.AttributeName] })
}

// clearThroughput removes what provisioned mode needs.
func (d *definition) clearThroughput() {
	d.ProvisionedThroughput = nil
	d.GlobalSecondaryIndexes = slices.Clone(d.GlobalSecondaryIndexes)
	for i := range d.GlobalSecondaryIndexes {
		d.GlobalSecondaryIndexes[i].ProvisionedThroughput = nil
	}
}

func sortIndexes(indexes []*index) {
	slices.SortFunc(indexes, func(a, b *index) int { return strings.Compare(a.name, b.name) })
}
