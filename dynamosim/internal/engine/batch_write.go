package engine

import (
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// batchWritesMax is the largest number of requests in one BatchWriteItem.
const batchWritesMax = 25

type writeRequest struct {
	PutRequest    *struct{ Item *value.Item }
	DeleteRequest *struct{ Key *value.Item }
}

type batchWriteInput struct {
	RequestItems map[string][]writeRequest
	capacityLevel
	collectionMetrics
}

// batchWriteItem writes every item on its own: the batch is no unit, but nothing is written unless all of it is valid.
func (e *Engine) batchWriteItem(now time.Time, body []byte) (*writer, *failure) {
	var in batchWriteInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if f := in.checkModel(); f != nil {
		return nil, f
	}
	var actions []*action
	for _, name := range sortedKeys(in.RequestItems) {
		t, f := e.table(name)
		if f != nil {
			return nil, f
		}
		for _, request := range in.RequestItems[name] {
			a, f := request.action(t, e.config.Seed)
			if f != nil {
				return nil, f
			}
			actions = append(actions, a)
		}
	}
	if anySameItem(actions) {
		return nil, invalid(msgDuplicateKeys)
	}
	if e.config.Service.BatchConflict == BatchRefused {
		for _, a := range actions {
			if f := e.free(now, a); f != nil {
				return nil, f
			}
		}
	}
	var total bills
	var done, left []*action
	var throttled *failure
	for _, a := range actions {
		c, f := e.apply(now, a)
		switch {
		case f == nil:
			done = append(done, a)
			total.of(a.table).chargeChange(&c, 1)
		case f.exception == transactionConflict:
			left = append(left, a)
		case f.throttles != nil:
			left, throttled = append(left, a), f
		default:
			return nil, f
		}
	}
	if throttled != nil && len(left) == len(actions) {
		return nil, throttled
	}
	w := newWriter()
	w.open()
	w.unprocessed(left)
	w.collections(in.collectionMetrics, done)
	w.bills(in.capacityLevel, &total)
	w.close()
	return w, nil
}

// unprocessed repeats the part of the request that is left to do, ready to be sent again.
func (w *writer) unprocessed(left []*action) {
	w.key("UnprocessedItems")
	w.open()
	for i, a := range left {
		if i == 0 || a.table != left[i-1].table {
			w.openList(a.table.name)
		}
		request, member := "PutRequest", "Item"
		if a.verb == verbDelete {
			request, member = "DeleteRequest", "Key"
		}
		w.open()
		w.key(request)
		w.open()
		w.item(member, a.item)
		w.close()
		w.close()
		if i == len(left)-1 || a.table != left[i+1].table {
			w.closeList()
		}
	}
	w.close()
}

func (in *batchWriteInput) checkModel() *failure {
	var c checks
	c.required("requestItems", in.RequestItems != nil)
	c.oneOf("returnConsumedCapacity", in.ReturnConsumedCapacity, consumedCapacityEnum)
	c.oneOf("returnItemCollectionMetrics", in.ReturnItemCollectionMetrics, collectionMetricsEnum)
	writes := 0
	for _, name := range sortedKeys(in.RequestItems) {
		c.mapName("requestItems", name)
		size := len(in.RequestItems[name])
		writes += size
		if size == 0 || size > batchWritesMax {
			c.add("Value at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have "+
				"length less than or equal to %d, Member must have length greater than or equal to 1]", batchWritesMax)
		}
	}
	if f := c.failure(); f != nil {
		return f
	}
	switch {
	case len(in.RequestItems) == 0:
		return invalid("The requestItems parameter is required for BatchWriteItem")
	case writes > batchWritesMax:
		return invalid(msgTooManyWrites)
	}
	return nil
}

// action is the admitted action of one request.
func (r writeRequest) action(t *table, seed uint64) (*action, *failure) {
	put, remove := r.PutRequest, r.DeleteRequest
	a := &action{table: t}
	switch {
	case put != nil && remove != nil:
		return nil, invalid(msgWriteRequestBoth)
	case put != nil && put.Item != nil:
		a.verb, a.item = verbPut, *put.Item
		if !t.keys.presentIn(a.item) {
			return nil, invalid(msgKeyMismatch)
		}
	case remove != nil && remove.Key != nil:
		a.verb, a.item = verbDelete, *remove.Key
	default:
		return nil, invalid(msgWriteRequestEmpty)
	}
	return a, a.admit(seed)
}
