package engine

import (
	"strconv"
	"time"
)

// listTablesMax is the largest page of ListTables, and its default.
const listTablesMax = 100

func (e *Engine) describeTable(now time.Time, body []byte) (*writer, *failure) {
	t, f := e.namedTable(body)
	if f != nil {
		return nil, f
	}
	return tableAnswer("Table", e.describe(t, now)), nil
}

func (e *Engine) deleteTable(now time.Time, body []byte) (*writer, *failure) {
	t, f := e.namedTable(body)
	if f != nil {
		return nil, f
	}
	switch {
	case t.deleteGuard:
		return nil, invalid(msgProtected)
	case t.busyIndexes(now):
		return nil, inUse(msgDeleteWaitsForIndex)
	case t.updating.After(now):
		return nil, inUse(msgTableUpdating(t.name))
	}
	e.tables.Delete(t.name)
	e.backlog.forget(t.indexes...)
	e.disableStream(now, t)
	d := e.describe(t, now)
	d.TableStatus = "DELETING"
	return tableAnswer("TableDescription", d), nil
}

// describeLimits tells the default quotas of throughput. None of them is enforced.
func (e *Engine) describeLimits(time.Time, []byte) (*writer, *failure) {
	w := newWriter()
	w.open()
	w.number("AccountMaxReadCapacityUnits", 80_000)
	w.number("AccountMaxWriteCapacityUnits", 80_000)
	w.number("TableMaxReadCapacityUnits", 40_000)
	w.number("TableMaxWriteCapacityUnits", 40_000)
	w.close()
	return w, nil
}

// namedTable reads a request that holds nothing but a table's name.
func (e *Engine) namedTable(body []byte) (*table, *failure) {
	var in struct{ TableName *string }
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	switch {
	case in.TableName == nil:
		return nil, invalid(msgTableNameMissing)
	case len(*in.TableName) < nameMin || len(*in.TableName) > nameMax:
		return nil, invalid(msgTableNameLength)
	}
	var c checks
	c.name("tableName", in.TableName)
	if f := c.failure(); f != nil {
		return nil, f
	}
	t, ok := e.tables.Get(*in.TableName)
	if !ok {
		return nil, &failure{exception: resourceNotFound, message: msgTableNotFound(*in.TableName)}
	}
	return t, nil
}

func (e *Engine) listTables(_ time.Time, body []byte) (*writer, *failure) {
	var in struct {
		ExclusiveStartTableName *string
		Limit                   *int64
	}
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	var c checks
	if in.ExclusiveStartTableName != nil {
		c.name("exclusiveStartTableName", in.ExclusiveStartTableName)
	}
	c.minValue("limit", in.Limit, 1)
	c.maxValue("limit", in.Limit, listTablesMax)
	if f := c.failure(); f != nil {
		return nil, f
	}
	limit := listTablesMax
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	start := ""
	if in.ExclusiveStartTableName != nil {
		start = *in.ExclusiveStartTableName + "\x00"
	}
	var names []string
	e.tables.Ascend(start, func(name string, _ *table) bool {
		names = append(names, name)
		return len(names) <= limit
	})
	w := newWriter()
	w.open()
	w.openList("TableNames")
	for _, name := range names[:min(limit, len(names))] {
		w.comma()
		w.buf = strconv.AppendQuote(w.buf, name)
	}
	w.closeList()
	if len(names) > limit {
		w.text("LastEvaluatedTableName", names[limit-1])
	}
	w.close()
	return w, nil
}
