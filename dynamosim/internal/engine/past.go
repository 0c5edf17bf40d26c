package engine

import "time"

// past is what lets an eventually consistent read of a table see it as it was a moment ago: the rows that were replaced
// within the bound, oldest first.
type past struct {
	bound    time.Duration
	chance   chance
	replaced []replacedRow
}

// replacedRow says that until a moment a tree had this row under this key; an empty row is none.
type replacedRow struct {
	until time.Time
	tree  *tree
	key   string
	row   row
}

func newPast(bound time.Duration, seed uint64) past {
	return past{bound: bound, chance: newChance(seed, chanceStaleness)}
}

// keep remembers rows that are about to be replaced.
func (p *past) keep(now time.Time, t *tree, keys ...string) {
	if p.bound <= 0 {
		return
	}
	for _, key := range keys {
		old, _ := t.rows.Get(key)
		p.replaced = append(p.replaced, replacedRow{until: now, tree: t, key: key, row: old})
	}
}

// forget drops what lies beyond the bound.
func (p *past) forget(now time.Time) {
	horizon, n := now.Add(-p.bound), 0
	for n < len(p.replaced) && !p.replaced[n].until.After(horizon) {
		n++
	}
	clear(p.replaced[:n])
	p.replaced = p.replaced[n:]
}

// moment draws the moment that a read sees. A strong read sees now.
func (p *past) moment(now time.Time, strong bool) time.Time {
	if strong || p.bound <= 0 {
		return now
	}
	return now.Add(-time.Duration(p.chance.upTo(int64(p.bound))))
}

// row is what a tree had under a key at a moment.
func (p *past) row(t *tree, key string, at time.Time) row {
	for _, old := range p.replaced {
		if old.until.After(at) && old.tree == t && old.key == key {
			return old.row
		}
	}
	r, _ := t.rows.Get(key)
	return r
}

// tree is all that a tree had at a moment.
func (p *past) tree(t *tree, at time.Time) *tree {
	seen := t
	for i := len(p.replaced) - 1; i >= 0 && p.replaced[i].until.After(at); i-- {
		old := p.replaced[i]
		if old.tree != t {
			continue
		}
		if seen == t {
			seen = &tree{keys: t.keys, rows: *t.rows.Copy()}
		}
		if old.row.exists() {
			seen.rows.Set(old.key, old.row)
		} else {
			seen.rows.Delete(old.key)
		}
	}
	return seen
}
