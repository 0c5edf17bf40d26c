package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Values of Select.
const (
	selectAll       = "ALL_ATTRIBUTES"
	selectProjected = "ALL_PROJECTED_ATTRIBUTES"
	selectSpecific  = "SPECIFIC_ATTRIBUTES"
	selectCount     = "COUNT"
)

// readInput are the members that Query and Scan share.
type readInput struct {
	TableName *string
	IndexName *string
	substitutions
	capacityLevel
	FilterExpression     *string
	ProjectionExpression *string
	ExclusiveStartKey    *value.Item
	Limit                *int64
	Select               *string
	ConsistentRead       bool
	AttributesToGet      json.RawMessage
	ConditionalOperator  json.RawMessage
}

// readPlan is a Query or a Scan after parsing: the rows of one contiguous range, in pages.
type readPlan struct {
	table      *table
	index      *index // nil: the table itself
	source     *tree  // the rows to read
	base       *tree  // the table's rows
	bounds     bounds
	filter     *expr.Condition
	projection *expr.Projection
	start      string
	limit      int
	descending bool
	strong     bool
	// fetches: a local index does not hold all that is asked for, so the table is read as well.
	fetches bool
	count   bool
}

// checkSelect checks Select against the projection.
func (in *readInput) checkSelect() *failure {
	if in.Select == nil {
		return nil
	}
	hasProjection := in.ProjectionExpression != nil
	message := ""
	switch {
	case *in.Select == selectCount && hasProjection:
		message = msgSelectCount
	case *in.Select == selectAll && hasProjection:
		message = msgSelectAll
	case *in.Select == selectProjected && hasProjection:
		message = msgSelectAllProjected
	case *in.Select == selectSpecific && !hasProjection:
		message = msgSelectSpecific
	case *in.Select == selectProjected && in.IndexName == nil:
		message = msgSelectProjectedNeedIx
	default:
		return nil
	}
	return invalid("1 validation error detected: " + message)
}

// plan parses what Query and Scan share.
func (in *readInput) plan(subs *expr.Subs) (*readPlan, *failure) {
	p := &readPlan{strong: in.ConsistentRead, count: in.Select != nil && *in.Select == selectCount}
	if in.Limit != nil {
		p.limit = int(*in.Limit)
	}
	var err error
	if in.FilterExpression != nil {
		if p.filter, err = expr.ParseCondition(expr.FilterExpression, *in.FilterExpression, subs); err != nil {
			return nil, refused(err)
		}
	}
	if in.ProjectionExpression != nil {
		if p.projection, err = expr.ParseProjection(*in.ProjectionExpression, subs); err != nil {
			return nil, refused(err)
		}
	}
	return p, refused(subs.Unused())
}

// find directs the plan to the table or the index that the request names.
func (e *Engine) find(in *readInput, p *readPlan) *failure {
	var f *failure
	if p.table, f = e.table(*in.TableName); f != nil {
		return f
	}
	p.source = &p.table.tree
	if in.IndexName != nil {
		return p.useIndex(*in.IndexName, in.Select)
	}
	return nil
}

// useIndex directs the plan to an index and decides whether that index has what the request asks for.
func (p *readPlan) useIndex(name string, selected *string) *failure {
	if f := p.table.readable(name); f != nil {
		return f
	}
	p.index = p.table.index(name)
	if p.index == nil {
		return invalid(msgIndexMissing(name))
	}
	p.source = &p.index.tree
	wantsAll := selected != nil && *selected == selectAll && !p.index.projectsAll()
	var missing []string
	if p.projection != nil {
		missing = slices.DeleteFunc(slices.Clone(p.projection.Names()), p.index.projects)
	}
	switch {
	case p.index.local:
		p.fetches = wantsAll || len(missing) > 0
	case p.strong:
		return invalid(msgConsistentIndexRead)
	case wantsAll:
		return invalid(msgSelectNotProjected(name))
	case len(missing) > 0:
		return invalid(msgNotProjected(name, missing))
	}
	return nil
}

// checkScalars refuses paths that reach into key attributes.
func (p *readPlan) checkScalars() *failure {
	var nested []string
	if p.filter != nil {
		nested = append(nested, p.filter.Nested()...)
	}
	if p.projection != nil {
		nested = append(nested, p.projection.Nested()...)
	}
	for _, name := range nested {
		switch {
		case p.table.keys.has(name):
			return invalid(msgKeyNotScalar("Key", name))
		case p.source.keys.has(name):
			return invalid(msgKeyNotScalar("IndexKey", name))
		}
	}
	return nil
}

// startKey returns the ordering key that an ExclusiveStartKey of the right schema stands for.
func (e *Engine) startKey(p *readPlan, key value.Item) (string, *failure) {
	for _, keys := range []keySchema{p.table.keys, p.source.keys} {
		for _, a := range keys.attrs() {
			v, _ := key.Get(a.name)
			if f := keys.checkValue(a, v); f != nil {
				return "", f
			}
		}
	}
	start := string(p.table.keys.encode(e.config.Seed, key))
	if p.index != nil {
		start, _, _ = p.index.entry(e.config.Seed, start, key)
	}
	return start, nil
}

// startNames are the attributes of a LastEvaluatedKey: the table's keys and the index's.
func (p *readPlan) startNames() []string {
	names := append(p.table.keys.names(), p.source.keys.names()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// answer reads a page and renders it.
func (e *Engine) answer(in *readInput, p *readPlan, now time.Time) (*writer, *failure) {
	if f := p.checkScalars(); f != nil {
		return nil, f
	}
	at := e.past.moment(now, p.strong || p.index != nil && !p.index.local)
	p.base, p.source = e.past.tree(&p.table.tree, at), e.past.tree(p.source, at)
	found, f := p.read()
	if f != nil {
		return nil, f
	}
	read := capacity.ReadUnits(found.bytes, consistency(p.strong))
	if f := e.chargePage(now, p, read+found.fetched); f != nil {
		return nil, f
	}
	w := newWriter()
	w.open()
	if !p.count {
		w.openList("Items")
		for _, item := range found.items {
			w.element(item)
		}
		w.closeList()
	}
	w.number("Count", found.count)
	w.number("ScannedCount", found.scanned)
	if !found.last.IsEmpty() {
		w.item("LastEvaluatedKey", found.last)
	}
	b := bill{table: p.table}
	if p.index != nil {
		b.chargeIndex(p.index, read)
		b.base = found.fetched
	} else {
		b.base = read
	}
	w.bill(in.capacityLevel, &b)
	w.close()
	return w, nil
}
