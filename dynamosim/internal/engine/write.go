package engine

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// writeInput is a PutItem, UpdateItem or DeleteItem request.
type writeInput struct {
	TableName *string
	Item      *value.Item
	Key       *value.Item
	expressions
	capacityLevel
	collectionMetrics
	ReturnValues        *string
	Expected            json.RawMessage
	AttributeUpdates    json.RawMessage
	ConditionalOperator json.RawMessage
}

func (e *Engine) putItem(now time.Time, body []byte) (*writer, *failure) {
	return e.write(now, verbPut, body)
}

func (e *Engine) updateItem(now time.Time, body []byte) (*writer, *failure) {
	return e.write(now, verbUpdate, body)
}

func (e *Engine) deleteItem(now time.Time, body []byte) (*writer, *failure) {
	return e.write(now, verbDelete, body)
}

// write serves the three single writes.
func (e *Engine) write(now time.Time, v verb, body []byte) (*writer, *failure) {
	in, a, f := beginWrite(v, body)
	if f != nil {
		return nil, e.counted(f)
	}
	if a.table, f = e.table(*in.TableName); f != nil {
		return nil, f
	}
	if f := a.admit(e.config.Seed); f != nil {
		return nil, f
	}
	c, f := e.apply(now, a)
	if f != nil {
		return nil, f
	}
	return in.answer(a, c), nil
}

// apply executes an admitted action that is no part of a transaction.
func (e *Engine) apply(now time.Time, a *action) (change, *failure) {
	if f := e.free(now, a); f != nil {
		return change{}, f
	}
	c, f := e.evaluate(a)
	if f != nil {
		return c, e.chargeRefused(now, a, f)
	}
	if f := e.room().take(&c); f != nil {
		return c, f
	}
	if f := e.charge(now, e.demands(a, &c, 1)...); f != nil {
		return c, f
	}
	e.commit(now, c)
	e.busy.occupy(now, a, 0, e.config.Service.Write)
	return c, nil
}

// chargeRefused charges an action for its failed condition and returns what its client is told.
func (e *Engine) chargeRefused(now time.Time, a *action, f *failure) *failure {
	if f.exception != conditionalCheckFailed {
		return f
	}
	if throttled := e.charge(now, e.attempt(a, 1)...); throttled != nil {
		return throttled
	}
	e.unreported += a.attempted()
	return f
}

// beginWrite reads a request as far as it can be judged without looking at any table.
func beginWrite(v verb, body []byte) (*writeInput, *action, *failure) {
	in := &writeInput{}
	if f := decode(body, in); f != nil {
		return nil, nil, f
	}
	if f := in.checkModel(v); f != nil {
		return nil, nil, f
	}
	item := in.Key
	if v == verbPut {
		item = in.Item
	}
	if f := in.checkStyle(v); f != nil {
		return nil, nil, f
	}
	if v != verbUpdate && in.ReturnValues != nil && *in.ReturnValues != "NONE" && *in.ReturnValues != "ALL_OLD" {
		return nil, nil, invalid(msgReturnValuesPut)
	}
	if v != verbUpdate {
		in.UpdateExpression = nil
	}
	a, f := in.expressions.begin(v, *item)
	return in, a, f
}

func (in *writeInput) checkModel(v verb) *failure {
	var c checks
	if v == verbPut {
		c.name("tableName", in.TableName)
		c.required("item", in.Item != nil)
	} else {
		c.required("key", in.Key != nil)
		c.name("tableName", in.TableName)
	}
	c.oneOf("returnConsumedCapacity", in.ReturnConsumedCapacity, consumedCapacityEnum)
	c.oneOf("returnItemCollectionMetrics", in.ReturnItemCollectionMetrics, collectionMetricsEnum)
	c.oneOf("returnValues", in.ReturnValues, returnValuesEnum)
	c.oneOf("returnValuesOnConditionCheckFailure", in.ReturnValuesOnConditionCheckFailure, conditionFailureEnum)
	return c.failure()
}

func (in *writeInput) checkStyle(v verb) *failure {
	modern := []parameter{{"ConditionExpression", in.ConditionExpression != nil}}
	if v == verbUpdate {
		modern = append(modern, parameter{"UpdateExpression", in.UpdateExpression != nil})
	}
	return refuseLegacy([]parameter{
		{"AttributeUpdates", v == verbUpdate && in.AttributeUpdates != nil},
		{"Expected", in.Expected != nil},
		{"ConditionalOperator", in.ConditionalOperator != nil},
	}, modern)
}

// answer renders a successful write.
func (in *writeInput) answer(a *action, c change) *writer {
	w := newWriter()
	w.open()
	if attributes := in.returned(a, c); !attributes.IsEmpty() {
		w.item("Attributes", attributes)
	}
	w.collection(in.collectionMetrics, a.table, a.item)
	b := bill{table: c.table}
	b.chargeChange(&c, 1)
	w.bill(in.capacityLevel, &b)
	w.close()
	return w
}

// returned is what ReturnValues asks for.
func (in *writeInput) returned(a *action, c change) value.Item {
	if in.ReturnValues == nil {
		return value.Item{}
	}
	switch {
	case *in.ReturnValues == "ALL_OLD":
		return c.before.item
	case *in.ReturnValues == "ALL_NEW":
		return c.after.item
	case *in.ReturnValues == "UPDATED_OLD" && a.update != nil:
		return a.update.Updated(c.before.item)
	case *in.ReturnValues == "UPDATED_NEW" && a.update != nil:
		return a.update.Updated(c.after.item)
	default:
		return value.Item{}
	}
}

// countsErrors tells the texts that single writes begin with a count of errors: all that judge the request alone, but
// not those that count already and not those of the decoder.
func countsErrors(message string) bool {
	return !strings.Contains(message, "detected: ") && !strings.HasPrefix(message, "Supplied AttributeValue")
}
