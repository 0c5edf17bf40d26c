package engine

import (
	"strings"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// pageBytesMax is how much one Query or Scan evaluates before it returns a page, before filter and projection.
const pageBytesMax = 1024 * 1024

// bounds is a contiguous range of ordering keys: from low up to but not including high, where "" is no end. The range of
// a Query lies within one partition.
type bounds struct {
	low, high string
	partition string
	hash      value.Value
	sort      *expr.KeyTerm
}

// newBounds turns the terms of a key condition into a range, after checking them against the schema.
func newBounds(k keySchema, seed uint64, terms []expr.KeyTerm) (bounds, *failure) {
	hash := termOf(terms, k.hash.name)
	if hash == nil {
		return bounds{}, invalid(msgKeyConditionMissed(k.hash.name))
	}
	if hash.Op != expr.KeyEqual {
		return bounds{}, invalid(msgKeyConditionOperator)
	}
	if hash.Value.Kind() != k.hash.kind {
		return bounds{}, invalid(msgKeyConditionType)
	}
	partition := string(k.partition(seed, hash.Value))
	b := bounds{low: partition, high: afterPrefix(partition), partition: partition, hash: hash.Value}
	if len(terms) == 1 {
		return b, nil
	}
	b.sort = termOf(terms, k.sort.name)
	switch {
	case !k.hasSort():
		return bounds{}, invalid(msgKeyConditionOperator)
	case b.sort == nil:
		return bounds{}, invalid(msgKeyConditionMissed(k.sort.name))
	}
	return b, b.narrow(k.sort)
}

func termOf(terms []expr.KeyTerm, name string) *expr.KeyTerm {
	for i := range terms {
		if terms[i].Name == name {
			return &terms[i]
		}
	}
	return nil
}

// narrow reduces the range to what the sort key's term allows. The key bytes of a value are no prefix of those of
// another, so "everything that starts with the bytes of v" is "everything whose sort key is v".
func (b *bounds) narrow(sort keyAttr) *failure {
	t := b.sort
	if t.Op == expr.KeyBeginsWith && t.Value.Kind() == value.N {
		return invalid(msgBeginsWithType(t.Value.Kind()))
	}
	if t.Value.Kind() != sort.kind || t.Op == expr.KeyBetween && t.High.Kind() != sort.kind {
		return invalid(msgKeyConditionType)
	}
	at := b.partition + string(value.AppendKey(nil, t.Value))
	switch t.Op {
	case expr.KeyEqual:
		b.low, b.high = at, afterPrefix(at)
	case expr.KeyLess:
		b.high = at
	case expr.KeyLessOrEqual:
		b.high = afterPrefix(at)
	case expr.KeyGreater:
		b.low = afterPrefix(at)
	case expr.KeyGreaterOrEqual:
		b.low = at
	case expr.KeyBetween:
		if order, _ := value.Compare(t.Value, t.High); order > 0 {
			return invalid(msgBetween(t.Value, t.High))
		}
		b.low = at
		b.high = afterPrefix(b.partition + string(value.AppendKey(nil, t.High)))
	case expr.KeyBeginsWith:
		b.low = b.partition + string(value.AppendKeyPrefix(nil, t.Value))
		b.high = afterPrefix(b.low)
	}
	return nil
}

// checkStart refuses a start key outside the range, in words that tell the partition from the sort key.
func (b *bounds) checkStart(k keySchema, start string, key value.Item) *failure {
	if !strings.HasPrefix(start, b.partition) {
		return invalid(msgStartKeyOutside)
	}
	if b.sort != nil {
		if v, _ := key.Get(k.sort.name); !b.sort.Matches(v) {
			return invalid(msgStartKeyRange)
		}
	}
	return nil
}

// page is what one Query or Scan found.
type page struct {
	items          []value.Item
	count, scanned int
	bytes          int
	fetched        capacity.Units
	last           value.Item
}

// read evaluates rows until the limit, the size of a page or the end of the range. The key of the last evaluated row
// is part of the page unless the range is known to be exhausted.
func (p *readPlan) read() (page, *failure) {
	var found page
	var last row
	var wrong *failure
	cut := false
	p.walk(func(r row) bool {
		if found.scanned > 0 && found.bytes+r.size > pageBytesMax {
			cut = true
			return false
		}
		found.scanned++
		found.bytes += r.size
		last = r
		wrong = p.take(&found, r)
		cut = found.scanned == p.limit
		return !cut && wrong == nil
	})
	if cut {
		found.last = last.item.Pick(p.startNames()...)
	}
	return found, wrong
}

// take adds a row to the page if the filter lets it pass.
func (p *readPlan) take(found *page, r row) *failure {
	item := r.item
	if p.fetches {
		stored, _ := p.base.rows.Get(r.base)
		found.fetched += capacity.ReadUnits(stored.size, consistency(p.strong))
		item = stored.item
	}
	if p.filter != nil {
		ok, err := p.filter.Eval(item)
		if err != nil || !ok {
			return refused(err)
		}
	}
	found.count++
	if !p.count {
		found.items = append(found.items, projected(p.projection, item))
	}
	return nil
}

// walk visits the rows of the range in the wanted direction, behind the start key if there is one.
func (p *readPlan) walk(visit func(row) bool) {
	if p.descending {
		p.walkBack(visit)
		return
	}
	from := p.bounds.low
	if p.start != "" {
		from = p.start
	}
	p.source.rows.Ascend(from, func(key string, r row) bool {
		if key == p.start {
			return true
		}
		return (p.bounds.high == "" || key < p.bounds.high) && visit(r)
	})
}

func (p *readPlan) walkBack(visit func(row) bool) {
	before := p.bounds.high
	if p.start != "" {
		before = p.start
	}
	step := func(key string, r row) bool {
		if before != "" && key >= before {
			return true
		}
		return key >= p.bounds.low && visit(r)
	}
	if before == "" {
		p.source.rows.Reverse(step)
	} else {
		p.source.rows.Descend(before, step)
	}
}
