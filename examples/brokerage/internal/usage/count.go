package usage

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
)

// action is one thing that a request does: to one item, or a read of many.
type action struct {
	table, index, pk, sk string
	reads, query         bool
	key                  map[string]types.AttributeValue // or the whole item
	bytes                int                             // of the item, -1 if it is not in the request
}

// count adds a request that was carried out.
func (m *Meter) count(operation string, input any, used consumed) {
	var a action
	switch in := input.(type) {
	case *dynamodb.TransactWriteItemsInput:
		m.transaction(in.TransactItems, used)
		return
	case *dynamodb.GetItemInput:
		a = action{table: aws.ToString(in.TableName), key: in.Key, reads: true}
	case *dynamodb.QueryInput:
		a = action{table: aws.ToString(in.TableName), index: aws.ToString(in.IndexName), reads: true, query: true}
	case *dynamodb.PutItemInput:
		a = action{table: aws.ToString(in.TableName), key: in.Item}
	case *dynamodb.UpdateItemInput:
		a = action{table: aws.ToString(in.TableName), key: in.Key}
	case *dynamodb.DeleteItemInput:
		a = action{table: aws.ToString(in.TableName), key: in.Key}
	default: // a Scan, what reads or writes in bulk, and what was not kept
		m.mu.Lock()
		defer m.mu.Unlock()
		m.unknown[operation]++
		return
	}
	a.pk, a.sk = keyOf(a.key)
	if in, ok := input.(*dynamodb.QueryInput); ok {
		a.pk, a.sk = conditions(aws.ToString(in.KeyConditionExpression), in.ExpressionAttributeValues)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	served := map[string]bool{}
	for _, c := range used {
		if a.reads {
			m.serve(served, a, capacity.FromWire(c.CapacityUnits))
			continue
		}
		m.serve(served, a, capacity.FromWire(c.Table.CapacityUnits))
		m.indexes(served, c.GlobalSecondaryIndexes, []action{a})
	}
}

// transaction divides what each table reports among its items, by their sizes.
func (m *Meter) transaction(items []types.TransactWriteItem, used consumed) {
	actions := map[string][]action{}
	for _, t := range items {
		var a action
		switch {
		case t.Put != nil:
			a = action{table: aws.ToString(t.Put.TableName), key: t.Put.Item, bytes: capacity.ItemSize(t.Put.Item)}
		case t.Update != nil:
			a = action{table: aws.ToString(t.Update.TableName), key: t.Update.Key, bytes: -1}
		case t.Delete != nil:
			a = action{table: aws.ToString(t.Delete.TableName), key: t.Delete.Key, bytes: -1}
		case t.ConditionCheck != nil:
			a = action{table: aws.ToString(t.ConditionCheck.TableName), key: t.ConditionCheck.Key, bytes: -1}
		}
		a.pk, a.sk = keyOf(a.key)
		actions[a.table] = append(actions[a.table], a)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	served := map[string]bool{}
	for _, c := range used {
		if c.ReadCapacityUnits > 0 { // the repeat of a transaction that was carried out before
			m.repeats += capacity.FromWire(c.ReadCapacityUnits)
			continue
		}
		units, left := m.divide(actions[c.TableName], capacity.FromWire(c.Table.CapacityUnits))
		for i, a := range actions[c.TableName] {
			m.serve(served, a, units[i])
		}
		m.unexplained += left
		m.indexes(served, c.GlobalSecondaryIndexes, actions[c.TableName])
	}
}

// divide gives each item its units. One whose size is not in the request has at least a unit's worth: if that adds up, it is so;
// if it is the only one, the rest is its own; else sizes are asked for. What is left is explained by nothing.
func (m *Meter) divide(actions []action, all capacity.Units) (units []capacity.Units, left capacity.Units) {
	var open []int
	left = all
	for i, a := range actions {
		units = append(units, transacted(a.bytes))
		left -= units[i]
		if a.bytes < 0 {
			open = append(open, i)
		}
	}
	switch {
	case left <= 0 || len(open) == 0:
	case len(open) == 1:
		units[open[0]], left = units[open[0]]+left, 0
	case m.size != nil:
		for _, i := range open {
			is := transacted(m.size(actions[i].table, map[string]types.AttributeValue{
				"PK": &types.AttributeValueMemberS{Value: actions[i].pk}, "SK": &types.AttributeValueMemberS{Value: actions[i].sk},
			}))
			left += units[i] - is
			units[i] = is
		}
	}
	return units, left
}

// transacted are the units of an item in a transaction.
func transacted(bytes int) capacity.Units {
	return capacity.Whole(2 * capacity.WriteUnits(max(bytes, 0)))
}

// indexes counts what writes to a table did to its indexes: the pattern that an index serves pays for it.
func (m *Meter) indexes(served map[string]bool, used map[string]struct{ CapacityUnits float64 }, actions []action) {
	for index, c := range used {
		units := capacity.FromWire(c.CapacityUnits)
		route, ok := m.behind(index, actions)
		if !ok {
			m.unknown[fmt.Sprintf("index %s of %s", index, actions[0].table)]++
			m.unexplained += units
			continue
		}
		m.taken[route.ID]++
		m.pattern(route.Pattern, served).Write += units
	}
}

// behind is the route by which an index shows what was written. An outbox shows its events in one index, parked or ready.
func (m *Meter) behind(index string, actions []action) (Route, bool) {
	for _, a := range actions {
		base, ok := m.route(a)
		if !ok {
			continue
		}
		for _, r := range m.routes {
			if r.Index == index && follows[base.ID] == r.ID || r.Index == index && followsToo[base.ID] == r.ID {
				return r, true
			}
		}
	}
	return Route{}, false
}

// follows names the index routes of what is stored under a base route.
var (
	follows = map[string]string{
		"IDX01": "IDX02", "IDX04": "IDX05", "IDX14": "IDX15", "IDX16": "IDX17", "IDX08": "IDX19", "LED04": "LED05",
	}
	followsToo = map[string]string{"IDX01": "IDX03", "IDX04": "IDX06", "LED04": "LED06"}
)

// serve counts an operation for its route and pattern.
func (m *Meter) serve(served map[string]bool, a action, units capacity.Units) {
	route, ok := m.route(a)
	if !ok {
		m.unknown[fmt.Sprintf("%s %s: %s, %s", a.table, a.index, a.pk, a.sk)]++
		m.unexplained += units
		return
	}
	m.taken[route.ID]++
	id := route.Pattern
	if a.reads && route.Reads != "" {
		id = route.Reads
	}
	p := m.pattern(id, served)
	p.Operations++
	if a.reads {
		p.Reads++
		p.Read += units
	} else {
		p.Write += units
		p.Base += units
	}
}

// pattern is the count of a pattern; a request counts once for each that it serves.
func (m *Meter) pattern(id string, served map[string]bool) *Pattern {
	p := m.patterns[id]
	if p == nil {
		p = &Pattern{ID: id}
		m.patterns[id] = p
	}
	if !served[id] {
		served[id] = true
		p.Requests++
	}
	return p
}

// route finds the route of an action. A query with bounds that are no keys takes the first one of its partition.
func (m *Meter) route(a action) (found Route, ok bool) {
	for _, r := range m.routes {
		switch {
		case r.takes(a.index, a.pk, a.sk, a.query):
			return r, true
		case a.query && !ok && r.takes(a.index, a.pk, "", true):
			found, ok = r, true
		}
	}
	return found, ok
}
