package engine

import (
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// demand is what one request wants of one partition key value.
type demand struct {
	id    spotID
	table *table
	hash  value.Value
	units capacity.Units
	write bool
}

// demandOn is a demand on the partition of an index, or of the table if the index is nil or local. The item has the
// partition key, for example because it is a row or a key.
func demandOn(t *table, ix *index, item value.Item, units capacity.Units, write bool) demand {
	d := demand{table: t, id: spotID{table: t.name}, units: units, write: write}
	keys := t.keys
	if ix != nil && !ix.local {
		keys, d.id.index = ix.keys, ix.name
	}
	d.hash, _ = item.Get(keys.hash.name)
	d.id.key = string(value.AppendKey(nil, d.hash))
	return d
}

// attempt is what an action wants that a failed condition keeps from happening.
func (e *Engine) attempt(a *action, factor int) []demand {
	if e.heat == nil {
		return nil
	}
	return []demand{demandOn(a.table, nil, a.item, capacity.Units(factor)*a.attempted(), true)}
}

// demands is what a change wants of the table, and of the indexes that hear of it: an index that cannot take a write
// does not let the table have it either. A moved entry leaves one partition and enters another.
func (e *Engine) demands(a *action, c *change, factor int) []demand {
	if e.heat == nil {
		return nil
	}
	list := []demand{demandOn(c.table, nil, a.item, capacity.Whole(factor*c.writeUnits()), true)}
	for _, d := range c.indexes {
		if d.before.exists() && d.after.exists() && d.beforeKey != d.afterKey {
			list = append(list,
				demandOn(c.table, d.index, d.before.item, capacity.Whole(capacity.WriteUnits(d.before.size)), true),
				demandOn(c.table, d.index, d.after.item, capacity.Whole(capacity.WriteUnits(d.after.size)), true))
			continue
		}
		entry := d.after.item
		if entry.IsEmpty() {
			entry = d.before.item
		}
		list = append(list, demandOn(c.table, d.index, entry, capacity.Whole(d.units), true))
	}
	return list
}

// claim collects the demands of one request before any of it is consumed.
type claim struct {
	heat   *heat
	now    time.Time
	wanted []demand
	at     map[claimKey]int
}

type claimKey struct {
	id    spotID
	write bool
}

func (e *Engine) claim(now time.Time) *claim {
	c := &claim{heat: e.heat, now: now}
	if e.heat != nil {
		c.at = map[claimKey]int{}
	}
	return c
}

// add accepts demands if all of them fit beside those accepted before. Otherwise it accepts none and returns the first
// that does not fit.
func (c *claim) add(more ...demand) *demand {
	if c.heat == nil {
		return nil
	}
	for i := range more {
		d := &more[i]
		c.sum(d, d.units)
		g := c.heat.gauge(c.now, d)
		if c.heat.fits(g, d.write, c.wanted[c.at[claimKey{d.id, d.write}]].units) {
			continue
		}
		g.Throttled++
		for j := range more[:i+1] {
			c.sum(&more[j], -more[j].units)
		}
		return d
	}
	return nil
}

func (c *claim) sum(d *demand, units capacity.Units) {
	key := claimKey{d.id, d.write}
	at, ok := c.at[key]
	if !ok {
		at = len(c.wanted)
		c.at[key] = at
		c.wanted = append(c.wanted, *d)
		c.wanted[at].units = 0
	}
	c.wanted[at].units += units
}

// take consumes what was accepted.
func (c *claim) take() {
	for i := range c.wanted {
		d := &c.wanted[i]
		if d.units > 0 {
			c.heat.take(c.heat.gauge(c.now, d), d.write, d.units)
		}
	}
}

// afford adds demands to a claim; if one does not fit it refuses them.
func (e *Engine) afford(c *claim, wanted ...demand) *failure {
	if lacking := c.add(wanted...); lacking != nil {
		return e.throttled(lacking)
	}
	return nil
}

// charge consumes demands, or refuses them all if one does not fit.
func (e *Engine) charge(now time.Time, wanted ...demand) *failure {
	if len(wanted) == 0 {
		return nil
	}
	c := e.claim(now)
	if f := e.afford(c, wanted...); f != nil {
		return f
	}
	c.take()
	return nil
}

// chargePage consumes what a page of one partition costs. A Scan goes over many partitions and is not charged to any.
func (e *Engine) chargePage(now time.Time, p *readPlan, units capacity.Units) *failure {
	if p.bounds.hash.IsZero() {
		return nil
	}
	key := value.NewItem(value.Attr{Name: p.source.keys.hash.name, Value: p.bounds.hash})
	return e.chargeRead(now, p.table, p.index, key, units)
}

// chargeRead consumes what a read of one partition costs.
func (e *Engine) chargeRead(now time.Time, t *table, ix *index, key value.Item, units capacity.Units) *failure {
	if e.heat == nil {
		return nil
	}
	return e.charge(now, demandOn(t, ix, key, units, false))
}
