package engine

import (
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Limits of BatchGetItem.
const (
	batchGetKeysMax           = 100
	batchGetBytesMax          = 16 * 1024 * 1024
	batchGetPartitionBytesMax = 1024 * 1024
)

// keysInput are the keys of one table in a BatchGetItem request.
type keysInput struct {
	Keys []value.Item
	projectionInput
	ConsistentRead bool
}

type batchGetInput struct {
	RequestItems map[string]*keysInput
	capacityLevel
}

// batchGetPart is the work on one table.
type batchGetPart struct {
	input       *keysInput
	table       *table
	projection  *expr.Projection
	keys        []string
	found       []value.Item
	unprocessed []value.Item
	throttled   *failure
}

func (e *Engine) batchGetItem(now time.Time, body []byte) (*writer, *failure) {
	var in batchGetInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if f := in.checkModel(); f != nil {
		return nil, f
	}
	parts := make([]*batchGetPart, 0, len(in.RequestItems))
	for _, name := range sortedKeys(in.RequestItems) {
		part, f := e.beginBatchGet(name, in.RequestItems[name])
		if f != nil {
			return nil, f
		}
		parts = append(parts, part)
	}
	var total bills
	replyBytes := 0
	var throttled *failure
	unprocessed, keys := 0, 0
	for _, part := range parts {
		replyBytes = e.readPart(now, part, replyBytes, total.of(part.table))
		unprocessed, keys = unprocessed+len(part.unprocessed), keys+len(part.keys)
		if throttled == nil {
			throttled = part.throttled
		}
	}
	if throttled != nil && unprocessed == keys {
		return nil, throttled
	}
	return in.answer(parts, &total), nil
}

func (in *batchGetInput) checkModel() *failure {
	var c checks
	c.required("requestItems", in.RequestItems != nil)
	if in.RequestItems != nil && len(in.RequestItems) == 0 {
		c.add("Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	keys := 0
	for _, name := range sortedKeys(in.RequestItems) {
		path := "RequestItems." + name + ".member.Keys"
		part := in.RequestItems[name]
		c.mapName("requestItems", name)
		if part == nil || part.Keys == nil {
			c.required(path, false)
			continue
		}
		keys += len(part.Keys)
		switch {
		case len(part.Keys) == 0:
			c.add("Value at '%s' failed to satisfy constraint: Member must have length greater than or equal to 1", path)
		case len(part.Keys) > batchGetKeysMax:
			c.add("Value at '%s' failed to satisfy constraint: Member must have length less than or equal to %d", path, batchGetKeysMax)
		}
	}
	c.oneOf("returnConsumedCapacity", in.ReturnConsumedCapacity, consumedCapacityEnum)
	if f := c.failure(); f != nil {
		return f
	}
	if keys > batchGetKeysMax {
		return invalid(msgTooManyKeys)
	}
	return nil
}

func (e *Engine) beginBatchGet(name string, in *keysInput) (*batchGetPart, *failure) {
	p := &batchGetPart{input: in}
	var f *failure
	if p.projection, f = in.projectionInput.begin(); f != nil {
		return nil, f
	}
	if p.table, f = e.table(name); f != nil {
		return nil, f
	}
	seen := make(map[string]bool, len(in.Keys))
	for _, key := range in.Keys {
		if f := p.table.keys.checkKey(key); f != nil {
			return nil, f
		}
		text := string(p.table.keys.encode(e.config.Seed, key))
		if seen[text] {
			return nil, invalid(msgDuplicateKeys)
		}
		seen[text] = true
		p.keys = append(p.keys, text)
	}
	return p, nil
}

// readPart collects items until the reply, or what one partition may add to it, is full; the rest stays unprocessed, and
// so do the items of a partition key that is too hot. It returns the size of the reply so far.
func (e *Engine) readPart(now time.Time, p *batchGetPart, replyBytes int, b *bill) int {
	strong := p.input.ConsistentRead
	partitions := map[string]int{}
	for i, key := range p.keys {
		r := e.past.row(&p.table.tree, key, e.past.moment(now, strong))
		partition := p.table.partitionOf(p.input.Keys[i])
		tooMuch := partitions[partition] > 0 && partitions[partition]+r.size > batchGetPartitionBytesMax
		if tooMuch || replyBytes+r.size > batchGetBytesMax {
			p.unprocessed = append(p.unprocessed, p.input.Keys[i])
			continue
		}
		units := capacity.ReadUnits(r.size, consistency(strong))
		if f := e.chargeRead(now, p.table, nil, p.input.Keys[i], units); f != nil {
			p.unprocessed, p.throttled = append(p.unprocessed, p.input.Keys[i]), f
			continue
		}
		partitions[partition] += r.size
		replyBytes += r.size
		b.base += units
		if r.exists() {
			p.found = append(p.found, projected(p.projection, r.item))
		}
	}
	return replyBytes
}

// partitionOf identifies the partition key of a valid key.
func (t *table) partitionOf(key value.Item) string {
	v, _ := key.Get(t.keys.hash.name)
	return string(value.AppendKey(nil, v))
}

func (in *batchGetInput) answer(parts []*batchGetPart, total *bills) *writer {
	w := newWriter()
	w.open()
	w.key("Responses")
	w.open()
	for _, p := range parts {
		w.openList(p.table.name)
		for _, item := range p.found {
			w.element(item)
		}
		w.closeList()
	}
	w.close()
	w.key("UnprocessedKeys")
	w.open()
	for _, p := range parts {
		if len(p.unprocessed) > 0 {
			p.writeUnprocessed(w)
		}
	}
	w.close()
	w.bills(in.capacityLevel, total)
	w.close()
	return w
}

// writeUnprocessed repeats the part of the request that is left to do, ready to be sent again.
func (p *batchGetPart) writeUnprocessed(w *writer) {
	w.key(p.table.name)
	w.open()
	w.openList("Keys")
	for _, key := range p.unprocessed {
		w.element(key)
	}
	w.closeList()
	if p.input.ProjectionExpression != nil {
		w.text("ProjectionExpression", *p.input.ProjectionExpression)
	}
	if len(p.input.ExpressionAttributeNames) > 0 {
		w.key("ExpressionAttributeNames")
		w.open()
		for _, name := range sortedKeys(p.input.ExpressionAttributeNames) {
			w.userKey(name)
			w.buf = value.AppendJSONString(w.buf, p.input.ExpressionAttributeNames[name])
		}
		w.close()
	}
	if p.input.ConsistentRead {
		w.boolean("ConsistentRead", true)
	}
	w.close()
}
