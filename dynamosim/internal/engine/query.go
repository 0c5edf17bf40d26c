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

// queryInput is a Query request.
type queryInput struct {
	TableName *string
	IndexName *string
	substitutions
	capacityLevel
	KeyConditionExpression *string
	FilterExpression       *string
	ProjectionExpression   *string
	ExclusiveStartKey      *value.Item
	Limit                  *int64
	Select                 *string
	ConsistentRead         bool
	ScanIndexForward       *bool
	KeyConditions          json.RawMessage
	QueryFilter            json.RawMessage
	AttributesToGet        json.RawMessage
	ConditionalOperator    json.RawMessage
}

// queryPlan is a Query after parsing.
type queryPlan struct {
	table      *table
	index      *index // nil: the table itself
	source     *tree
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

func (e *Engine) query(_ time.Time, body []byte) (*writer, *failure) {
	var in queryInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if f := in.checkModel(); f != nil {
		return nil, f
	}
	terms, plan, f := in.begin()
	if f != nil {
		return nil, f
	}
	if f := e.resolve(&in, plan, terms); f != nil {
		return nil, f
	}
	page, f := plan.read()
	if f != nil {
		return nil, f
	}
	return in.answer(plan, page), nil
}

func (in *queryInput) checkModel() *failure {
	var c checks
	c.name("tableName", in.TableName)
	if in.IndexName != nil {
		c.indexName("indexName", *in.IndexName)
	}
	if in.Limit != nil && *in.Limit < 1 {
		c.add("Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1")
	}
	c.oneOf("select", in.Select, selectEnum)
	c.oneOf("returnConsumedCapacity", in.ReturnConsumedCapacity, consumedCapacityEnum)
	return c.failure()
}

// begin parses the expressions and checks what needs no table.
func (in *queryInput) begin() ([]expr.KeyTerm, *queryPlan, *failure) {
	f := refuseLegacy([]parameter{
		{"AttributesToGet", in.AttributesToGet != nil},
		{"QueryFilter", in.QueryFilter != nil},
		{"ConditionalOperator", in.ConditionalOperator != nil},
		{"KeyConditions", in.KeyConditions != nil},
	}, []parameter{
		{"ProjectionExpression", in.ProjectionExpression != nil},
		{"FilterExpression", in.FilterExpression != nil},
		{"KeyConditionExpression", in.KeyConditionExpression != nil},
	})
	if f != nil {
		return nil, nil, f
	}
	if f := in.checkSelect(); f != nil {
		return nil, nil, f
	}
	subs, f := in.substitutions.begin(
		in.KeyConditionExpression != nil || in.FilterExpression != nil || in.ProjectionExpression != nil)
	if f != nil {
		return nil, nil, f
	}
	if in.KeyConditionExpression == nil {
		return nil, nil, invalid(msgKeyConditionMissing)
	}
	plan := &queryPlan{
		strong:     in.ConsistentRead,
		descending: in.ScanIndexForward != nil && !*in.ScanIndexForward,
		count:      in.Select != nil && *in.Select == selectCount,
	}
	if in.Limit != nil {
		plan.limit = int(*in.Limit)
	}
	condition, err := expr.ParseKeyCondition(*in.KeyConditionExpression, subs)
	if err != nil {
		return nil, nil, refused(err)
	}
	if in.FilterExpression != nil {
		if plan.filter, err = expr.ParseCondition(expr.FilterExpression, *in.FilterExpression, subs); err != nil {
			return nil, nil, refused(err)
		}
	}
	if in.ProjectionExpression != nil {
		if plan.projection, err = expr.ParseProjection(*in.ProjectionExpression, subs); err != nil {
			return nil, nil, refused(err)
		}
	}
	return condition.Terms, plan, refused(subs.Unused())
}

// checkSelect checks Select against the projection.
func (in *queryInput) checkSelect() *failure {
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

// resolve finds the table and index, and checks the plan against their schemas.
func (e *Engine) resolve(in *queryInput, p *queryPlan, terms []expr.KeyTerm) *failure {
	var f *failure
	if p.table, f = e.table(*in.TableName); f != nil {
		return f
	}
	p.source = &p.table.tree
	if in.IndexName != nil {
		if f := p.useIndex(*in.IndexName, in.Select); f != nil {
			return f
		}
	}
	if p.bounds, f = newBounds(p.source.keys, e.config.Seed, terms); f != nil {
		return f
	}
	if p.filter != nil {
		for _, name := range p.filter.Names() {
			if p.source.keys.has(name) {
				return invalid(msgFilterKey(name))
			}
		}
	}
	if in.ExclusiveStartKey != nil {
		if p.start, f = e.startKey(p, *in.ExclusiveStartKey); f != nil {
			return f
		}
	}
	return nil
}

// useIndex directs the plan to an index and decides whether that index has what the query asks for.
func (p *queryPlan) useIndex(name string, selected *string) *failure {
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

// startKey checks an ExclusiveStartKey and returns its ordering key.
func (e *Engine) startKey(p *queryPlan, key value.Item) (string, *failure) {
	names := p.startNames()
	fits := key.Len() == len(names) && p.source.keys.presentIn(key) && p.table.keys.presentIn(key)
	if !fits {
		return "", invalid(msgStartKeyInvalid)
	}
	for _, a := range append(p.table.keys.attrs(), p.source.keys.attrs()...) {
		if v, _ := key.Get(a.name); emptyText(v) {
			return "", invalid(msgEmptyKey(a.name, v.Kind()))
		}
	}
	start := string(p.table.keys.encode(e.config.Seed, key))
	if p.index != nil {
		start, _, _ = p.index.entry(e.config.Seed, start, key)
	}
	return start, p.bounds.checkStart(p.source.keys, start, key)
}

// startNames are the attributes of a LastEvaluatedKey: the table's keys and the index's.
func (p *queryPlan) startNames() []string {
	names := append(p.table.keys.names(), p.source.keys.names()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// answer renders a page.
func (in *queryInput) answer(p *queryPlan, page queryPage) *writer {
	w := newWriter()
	w.open()
	if !p.count {
		w.openList("Items")
		for _, item := range page.items {
			w.element(item)
		}
		w.closeList()
	}
	w.number("Count", page.count)
	w.number("ScannedCount", page.scanned)
	if !page.last.IsEmpty() {
		w.item("LastEvaluatedKey", page.last)
	}
	b := bill{table: p.table}
	read := capacity.ReadUnits(page.bytes, consistency(p.strong))
	if p.index != nil {
		b.chargeIndex(p.index, read)
		b.base = page.fetched
	} else {
		b.base = read
	}
	w.bill(in.capacityLevel, &b)
	w.close()
	return w
}
