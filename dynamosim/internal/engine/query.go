package engine

import (
	"encoding/json"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/expr"
)

// queryInput is a Query request.
type queryInput struct {
	readInput
	KeyConditionExpression *string
	ScanIndexForward       *bool
	KeyConditions          json.RawMessage
	QueryFilter            json.RawMessage
}

func (e *Engine) query(now time.Time, body []byte) (*writer, *failure) {
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
	if f := e.find(&in.readInput, plan); f != nil {
		return nil, f
	}
	if f := e.narrow(&in, plan, terms); f != nil {
		return nil, f
	}
	return e.answer(&in.readInput, plan, now)
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
func (in *queryInput) begin() ([]expr.KeyTerm, *readPlan, *failure) {
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
	condition, err := expr.ParseKeyCondition(*in.KeyConditionExpression, subs)
	if err != nil {
		return nil, nil, refused(err)
	}
	p, f := in.plan(subs)
	if f != nil {
		return nil, nil, f
	}
	p.descending = in.ScanIndexForward != nil && !*in.ScanIndexForward
	return condition.Terms, p, nil
}

// narrow limits the plan to what the key condition selects, behind the start key if there is one.
func (e *Engine) narrow(in *queryInput, p *readPlan, terms []expr.KeyTerm) *failure {
	var f *failure
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
	if in.ExclusiveStartKey == nil {
		return nil
	}
	key := *in.ExclusiveStartKey
	if key.Len() != len(p.startNames()) || !p.source.keys.presentIn(key) || !p.table.keys.presentIn(key) {
		return invalid(msgStartKeyInvalid)
	}
	if p.start, f = e.startKey(p, key); f != nil {
		return f
	}
	return p.bounds.checkStart(p.source.keys, p.start, key)
}
