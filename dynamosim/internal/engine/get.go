package engine

import (
	"encoding/json"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// projectionInput are the members of reads that select attributes.
type projectionInput struct {
	ExpressionAttributeNames map[string]string
	ProjectionExpression     *string
	AttributesToGet          json.RawMessage
}

// begin parses the projection; nil means the whole item.
func (in *projectionInput) begin() (*expr.Projection, *failure) {
	legacy := []parameter{{"AttributesToGet", in.AttributesToGet != nil}}
	if f := refuseLegacy(legacy, []parameter{{"ProjectionExpression", in.ProjectionExpression != nil}}); f != nil {
		return nil, f
	}
	names := substitutions{ExpressionAttributeNames: in.ExpressionAttributeNames}
	subs, f := names.begin(in.ProjectionExpression != nil)
	if f != nil || in.ProjectionExpression == nil {
		return nil, f
	}
	p, err := expr.ParseProjection(*in.ProjectionExpression, subs)
	if err != nil {
		return nil, refused(err)
	}
	return p, refused(subs.Unused())
}

// projected applies a projection that may be nil.
func projected(p *expr.Projection, item value.Item) value.Item {
	if p == nil {
		return item
	}
	return p.Apply(item)
}

// getInput is a GetItem request.
type getInput struct {
	TableName *string
	Key       *value.Item
	projectionInput
	capacityLevel
	ConsistentRead bool
}

func (e *Engine) getItem(now time.Time, body []byte) (*writer, *failure) {
	var in getInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	var c checks
	c.required("key", in.Key != nil)
	c.name("tableName", in.TableName)
	c.oneOf("returnConsumedCapacity", in.ReturnConsumedCapacity, consumedCapacityEnum)
	if f := c.failure(); f != nil {
		return nil, f
	}
	projection, f := in.projectionInput.begin()
	if f != nil {
		return nil, f
	}
	t, f := e.table(*in.TableName)
	if f != nil {
		return nil, f
	}
	if f := t.keys.checkKey(*in.Key); f != nil {
		return nil, f
	}
	at := e.past.moment(now, in.ConsistentRead)
	stored := e.past.row(&t.tree, string(t.keys.encode(e.config.Seed, *in.Key)), at)
	units := capacity.ReadUnits(stored.size, consistency(in.ConsistentRead))
	if f := e.chargeRead(now, t, nil, *in.Key, units); f != nil {
		return nil, f
	}
	w := newWriter()
	w.open()
	if stored.exists() {
		w.item("Item", projected(projection, stored.item))
	}
	w.bill(in.capacityLevel, &bill{table: t, base: units})
	w.close()
	return w, nil
}

func consistency(strong bool) capacity.Consistency {
	if strong {
		return capacity.Strong
	}
	return capacity.Eventual
}
