package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Limits of a transaction.
const (
	transactActionsMax = 100
	tokenLengthMax     = 36
	factorTransaction  = 2
)

// transactAction is one action of TransactWriteItems as it comes in.
type transactAction struct {
	TableName *string
	Item      *value.Item
	Key       *value.Item
	expressions
}

// transactWriteItem must have exactly one member.
type transactWriteItem struct {
	ConditionCheck, Put, Delete, Update *transactAction
}

type transactWriteInput struct {
	TransactItems []transactWriteItem
	capacityLevel
	collectionMetrics
	ClientRequestToken *string
}

// transactWriteItems executes a transaction in one step: every action is judged by what is stored before the first,
// and either all changes are committed or none.
func (e *Engine) transactWriteItems(now time.Time, body []byte) (*writer, *failure) {
	var in transactWriteInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if f := in.checkModel(); f != nil {
		return nil, f
	}
	actions, f := e.beginTransaction(&in)
	if f != nil {
		return nil, f
	}
	admitted := admitAll(actions, e.config.Seed)
	switch {
	case anySameItem(actions):
		return nil, invalidRequest(msgOneItemTwice)
	case transactionBytes(actions) > capacity.MaxTransactionBytes:
		return nil, invalidRequest(msgTransactionTooLarge)
	}
	token := e.token(&in)
	if known, ok := e.tokens.find(token, now); ok {
		return e.repeat(now, &in, token, known)
	}
	completes := now.Add(e.config.Service.Transaction)
	changes, f := e.evaluateAll(now, actions, admitted)
	if f != nil {
		if f.exception == transactionCanceled {
			e.chargeCanceled(now, actions, f.reasons)
			if e.config.CanceledKeepsToken {
				e.tokens.remember(token, tokenRecord{completes: completes, canceled: f}, now)
			}
		}
		return nil, f
	}
	e.commit(now, changes...)
	for _, a := range actions {
		e.busy.occupy(now, a, e.config.Service.Transaction+e.config.Service.Linger, e.config.Service.Transaction)
	}
	e.tokens.remember(token, tokenRecord{completes: completes, replay: replayBills(changes)}, now)
	return in.answer(writeBills(actions, changes), actions), nil
}

func (in *transactWriteInput) checkModel() *failure {
	var c checks
	c.transactItems(len(in.TransactItems), in.TransactItems != nil)
	c.oneOf("returnConsumedCapacity", in.ReturnConsumedCapacity, consumedCapacityEnum)
	c.oneOf("returnItemCollectionMetrics", in.ReturnItemCollectionMetrics, collectionMetricsEnum)
	if in.ClientRequestToken != nil {
		c.minLength("clientRequestToken", *in.ClientRequestToken, len(*in.ClientRequestToken), 1)
		c.maxLength("clientRequestToken", *in.ClientRequestToken, len(*in.ClientRequestToken), tokenLengthMax)
	}
	for i, item := range in.TransactItems {
		item.checkModel(&c, "transactItems."+strconv.Itoa(i+1)+".member.")
	}
	return c.failure()
}

// transactItems checks the number of actions.
func (c *checks) transactItems(count int, present bool) {
	c.required("transactItems", present)
	if present && count == 0 {
		c.minLength("transactItems", "[]", 0, 1)
	}
	if count > transactActionsMax {
		c.add("Value at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to %d", transactActionsMax)
	}
}

func (item *transactWriteItem) checkModel(c *checks, path string) {
	if a := item.ConditionCheck; a != nil {
		a.checkModel(c, path+"conditionCheck.", "key", a.Key)
		c.required(path+"conditionCheck.conditionExpression", a.ConditionExpression != nil)
	}
	if a := item.Put; a != nil {
		a.checkModel(c, path+"put.", "item", a.Item)
	}
	if a := item.Delete; a != nil {
		a.checkModel(c, path+"delete.", "key", a.Key)
	}
	if a := item.Update; a != nil {
		a.checkModel(c, path+"update.", "key", a.Key)
		c.required(path+"update.updateExpression", a.UpdateExpression != nil)
	}
}

func (a *transactAction) checkModel(c *checks, path, itemMember string, item *value.Item) {
	c.name(path+"tableName", a.TableName)
	c.required(path+itemMember, item != nil)
	c.oneOf(path+"returnValuesOnConditionCheckFailure", a.ReturnValuesOnConditionCheckFailure, conditionFailureEnum)
}

// only returns the one member that is set.
func (item *transactWriteItem) only() (verb, *transactAction, *failure) {
	members := []*transactAction{item.Put, item.Update, item.Delete, item.ConditionCheck}
	found := -1
	for i, a := range members {
		switch {
		case a == nil:
		case found >= 0:
			return 0, nil, invalidRequest(msgActionMany)
		default:
			found = i
		}
	}
	if found < 0 {
		return 0, nil, invalidRequest(msgActionMissing)
	}
	return []verb{verbPut, verbUpdate, verbDelete, verbCheck}[found], members[found], nil
}

// beginTransaction parses all actions and finds their tables.
func (e *Engine) beginTransaction(in *transactWriteInput) ([]*action, *failure) {
	actions := make([]*action, len(in.TransactItems))
	for i := range in.TransactItems {
		v, source, f := in.TransactItems[i].only()
		if f != nil {
			return nil, f
		}
		item := source.Key
		if v == verbPut {
			item = source.Item
		}
		if v != verbUpdate {
			source.UpdateExpression = nil
		}
		if actions[i], f = source.expressions.begin(v, *item); f != nil {
			return nil, f
		}
	}
	for i, a := range actions {
		_, source, _ := in.TransactItems[i].only()
		var f *failure
		if a.table, f = e.table(*source.TableName); f != nil {
			return nil, f
		}
	}
	return actions, nil
}

// admitAll checks every action against its schema.
func admitAll(actions []*action, seed uint64) []*failure {
	failures := make([]*failure, len(actions))
	for i, a := range actions {
		failures[i] = a.admit(seed)
	}
	return failures
}

// evaluateAll judges every action, even after one has failed, so that each gets its own reason. What the keys can take
// is only asked for once everything else is right with an action.
func (e *Engine) evaluateAll(now time.Time, actions []*action, failures []*failure) ([]change, *failure) {
	changes := make([]change, len(actions))
	price, room := e.claim(now), e.room()
	for i, a := range actions {
		if failures[i] == nil {
			failures[i] = e.free(now, a)
		}
		if failures[i] == nil {
			changes[i], failures[i] = e.evaluate(a)
		}
		if failures[i] == nil {
			failures[i] = room.take(&changes[i])
		}
		switch {
		case failures[i] == nil:
			failures[i] = e.afford(price, e.demands(a, &changes[i], factorTransaction)...)
		case failures[i].exception == conditionalCheckFailed: // to judge it costs the key what a write costs
			if throttled := e.afford(price, e.attempt(a, factorTransaction)...); throttled != nil {
				failures[i] = throttled
			}
		}
		if failures[i] != nil && failures[i].wholeRequest {
			return nil, failures[i]
		}
	}
	if slices.ContainsFunc(failures, func(f *failure) bool { return f != nil }) {
		reasons := make([]reason, len(failures))
		for i, f := range failures {
			reasons[i] = f.reason()
		}
		return nil, canceled(reasons)
	}
	price.take()
	return changes, nil
}

// transactionBytes is the size of a transaction: of each item the larger of what is stored and what is sent.
func transactionBytes(actions []*action) int {
	bytes := 0
	for _, a := range actions {
		bytes += max(a.item.Size(), a.table.item(a.key).size)
	}
	return bytes
}

// chargeCanceled counts what a cancelled transaction consumed: the full price of its actions on their tables. Only keys
// that were free and could take it feel it.
func (e *Engine) chargeCanceled(now time.Time, actions []*action, reasons []reason) {
	price := e.claim(now)
	for i, a := range actions {
		e.unreported += factorTransaction * a.attempted()
		if code := reasons[i].code; code == "" || code == reasonConditionFailed {
			price.add(e.attempt(a, factorTransaction)...)
		}
	}
	price.take()
}

// writeBills is what a committed transaction consumed.
func writeBills(actions []*action, changes []change) *bills {
	total := &bills{kind: writeBill}
	for i := range changes {
		total.of(actions[i].table).chargeChange(&changes[i], factorTransaction)
	}
	return total
}

// replayBills is what a repeat of a committed transaction will consume: it reads what the first request wrote.
func replayBills(changes []change) *bills {
	total := &bills{kind: readBill}
	for _, c := range changes {
		total.of(c.table).base += capacity.ReadUnits(max(c.before.size, c.after.size), capacity.Transactional)
	}
	return total
}

// answer renders a transaction that committed; one that had before wrote nothing and has no actions.
func (in *transactWriteInput) answer(total *bills, actions []*action) *writer {
	w := newWriter()
	w.open()
	w.collections(in.collectionMetrics, actions)
	w.bills(in.capacityLevel, total)
	w.close()
	return w
}
