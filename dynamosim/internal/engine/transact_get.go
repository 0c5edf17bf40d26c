package engine

import (
	"strconv"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

type transactGet struct {
	TableName *string
	Key       *value.Item
	projectionInput
}

type transactGetInput struct {
	TransactItems []struct{ Get *transactGet }
	capacityLevel
}

// transactGetPlan is one Get after its checks.
type transactGetPlan struct {
	table      *table
	key        string
	projection *expr.Projection
}

func (e *Engine) transactGetItems(now time.Time, body []byte) (*writer, *failure) {
	var in transactGetInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if f := in.checkModel(); f != nil {
		return nil, f
	}
	plans, f := e.planGets(&in)
	if f != nil {
		return nil, f
	}
	if f := e.judgeGets(now, &in, plans); f != nil {
		return nil, f
	}
	total := &bills{kind: readBill}
	w := newWriter()
	w.open()
	w.openList("Responses")
	bytes := 0
	for _, p := range plans {
		r := p.table.item(p.key)
		bytes += r.size
		total.of(p.table).base += capacity.ReadUnits(r.size, capacity.Transactional)
		w.open()
		if r.exists() {
			w.item("Item", projected(p.projection, r.item))
		}
		w.close()
	}
	if bytes > capacity.MaxTransactionBytes {
		return nil, invalid(msgTransactionTooLarge)
	}
	w.closeList()
	w.bills(in.capacityLevel, total)
	w.close()
	return w, nil
}

// judgeGets refuses to read items that are being written, and more than their partition keys can take.
func (e *Engine) judgeGets(now time.Time, in *transactGetInput, plans []transactGetPlan) *failure {
	reasons := make([]reason, len(plans))
	refused := false
	price := e.claim(now)
	for i, p := range plans {
		var f *failure
		if _, written := e.busy.with(now, p.table, p.key); written {
			f = conflict()
		} else if e.heat != nil {
			units := capacity.ReadUnits(p.table.item(p.key).size, capacity.Transactional)
			f = e.afford(price, demandOn(p.table, nil, *in.TransactItems[i].Get.Key, units, false))
		}
		reasons[i], refused = f.reason(), refused || f != nil
	}
	if refused {
		return canceled(reasons)
	}
	price.take()
	return nil
}

func (in *transactGetInput) checkModel() *failure {
	var c checks
	c.transactItems(len(in.TransactItems), in.TransactItems != nil)
	c.oneOf("returnConsumedCapacity", in.ReturnConsumedCapacity, consumedCapacityEnum)
	for i, item := range in.TransactItems {
		path := "transactItems." + strconv.Itoa(i+1) + ".member.get"
		c.required(path, item.Get != nil)
		if item.Get != nil {
			c.required(path+".key", item.Get.Key != nil)
			c.name(path+".tableName", item.Get.TableName)
		}
	}
	return c.failure()
}

// planGets checks every Get. A key that does not fit its table cancels the transaction, with a reason for each Get.
func (e *Engine) planGets(in *transactGetInput) ([]transactGetPlan, *failure) {
	plans := make([]transactGetPlan, len(in.TransactItems))
	reasons := make([]reason, len(plans))
	bad := false
	seen := map[transactGetPlan]bool{}
	for i, item := range in.TransactItems {
		p := &plans[i]
		var f *failure
		if p.projection, f = item.Get.projectionInput.begin(); f != nil {
			return nil, f
		}
		if p.table, f = e.table(*item.Get.TableName); f != nil {
			return nil, f
		}
		if f = p.table.keys.checkKey(*item.Get.Key); f != nil {
			reasons[i], bad = f.reason(), true
			continue
		}
		p.key = string(p.table.keys.encode(e.config.Seed, *item.Get.Key))
		place := transactGetPlan{table: p.table, key: p.key}
		if seen[place] {
			return nil, invalid(msgOneItemTwice)
		}
		seen[place] = true
	}
	if bad {
		return nil, canceled(reasons)
	}
	return plans, nil
}
