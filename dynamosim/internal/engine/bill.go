package engine

import "github.com/dynafin/dynafin/capacity"

// billKind says which extra member the consumed capacity of a call carries.
type billKind string

const (
	plainBill billKind = ""
	// Transactions name their units a second time, as reads or as writes.
	writeBill billKind = "WriteCapacityUnits"
	readBill  billKind = "ReadCapacityUnits"
)

// bill is what one call consumed on one table. Only indexes that were really touched have an arm.
type bill struct {
	table *table
	kind  billKind
	base  capacity.Units
	arms  []arm
}

type arm struct {
	index *index
	units capacity.Units
}

func (b *bill) chargeIndex(ix *index, units capacity.Units) {
	for i := range b.arms {
		if b.arms[i].index == ix {
			b.arms[i].units += units
			return
		}
	}
	b.arms = append(b.arms, arm{ix, units})
}

// chargeChange adds a write. The factor, 2 in a transaction, applies to the table alone.
func (b *bill) chargeChange(c *change, factor int) {
	b.base += capacity.Whole(factor * c.writeUnits())
	for _, d := range c.indexes {
		b.chargeIndex(d.index, capacity.Whole(d.units))
	}
}

func (b *bill) total() capacity.Units {
	sum := b.base
	for _, a := range b.arms {
		sum += a.units
	}
	return sum
}

// bills are the bills of a call that may touch several tables, in the order the tables were first charged.
type bills struct {
	kind billKind
	list []*bill
}

func (bs *bills) of(t *table) *bill {
	for _, b := range bs.list {
		if b.table == t {
			return b
		}
	}
	b := &bill{table: t, kind: bs.kind}
	bs.list = append(bs.list, b)
	return b
}

// capacityLevel is a request's ReturnConsumedCapacity.
type capacityLevel struct {
	ReturnConsumedCapacity *string
}

func (l capacityLevel) wants() (total, indexes bool) {
	if l.ReturnConsumedCapacity == nil {
		return false, false
	}
	indexes = *l.ReturnConsumedCapacity == "INDEXES"
	return indexes || *l.ReturnConsumedCapacity == "TOTAL", indexes
}

// writeBill adds the ConsumedCapacity of a call on one table.
func (w *writer) bill(l capacityLevel, b *bill) {
	total, indexes := l.wants()
	if total {
		w.key("ConsumedCapacity")
		w.consumed(b, indexes)
	}
}

// bills adds the ConsumedCapacity list of a call on several tables.
func (w *writer) bills(l capacityLevel, bs *bills) {
	total, indexes := l.wants()
	if !total {
		return
	}
	w.openList("ConsumedCapacity")
	for _, b := range bs.list {
		w.consumed(b, indexes)
	}
	w.closeList()
}

func (w *writer) consumed(b *bill, indexes bool) {
	w.open()
	w.text("TableName", b.table.name)
	w.arm(b.kind, b.total())
	if indexes {
		w.key("Table")
		w.open()
		w.arm(b.kind, b.base)
		w.close()
		w.arms("GlobalSecondaryIndexes", b, false)
		w.arms("LocalSecondaryIndexes", b, true)
	}
	w.close()
}

func (w *writer) arm(kind billKind, units capacity.Units) {
	w.units("CapacityUnits", units)
	if kind != plainBill {
		w.units(string(kind), units)
	}
}

func (w *writer) arms(member string, b *bill, local bool) {
	opened := false
	for _, a := range b.arms {
		if a.index.local != local {
			continue
		}
		if !opened {
			w.key(member)
			w.open()
			opened = true
		}
		w.key(a.index.name)
		w.open()
		w.arm(b.kind, a.units)
		w.close()
	}
	if opened {
		w.close()
	}
}
