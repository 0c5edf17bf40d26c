package engine

import (
	"slices"
	"time"
)

// indexWork is the creation or deletion of a global index of a table that exists. A table does one at a time.
//
//	create ──▶ allocating ──(a step)──▶ backfilling ──(a step)──▶ active
//	delete ──▶ deleting ──(a step)──▶ gone
//
// Until it is backfilling an index does not exist for writes. From then on it receives them, and what cannot be
// indexed is refused; it is read when it is active. What was stored before and cannot be indexed is left out.
type indexWork struct {
	definition indexDefinition
	phase      workPhase
	until      time.Time
}

type workPhase int

const (
	workAllocating workPhase = iota
	workBackfilling
	workDeleting
)

func (p workPhase) participle() string {
	if p == workDeleting {
		return "deleted"
	}
	return "created"
}

// start begins the work.
func (e *Engine) start(now time.Time, t *table, w *indexWork) {
	w.until = now.Add(e.config.UpdateStep)
	t.work = w
	e.working = append(e.working, t)
}

// settle completes all work whose time has come.
func (e *Engine) settle(now time.Time) {
	for _, t := range slices.Clone(e.working) {
		e.settleTable(now, t)
	}
	e.sweepDue(now)
}

func (e *Engine) settleTable(now time.Time, t *table) {
	for t.work != nil && !now.Before(t.work.until) {
		switch t.work.phase {
		case workAllocating:
			e.backfill(t, t.work.definition)
			t.work.phase = workBackfilling
			t.work.until = t.work.until.Add(e.config.UpdateStep)
			continue
		case workDeleting:
			t.definition.undefine(*t.work.definition.IndexName)
		}
		t.work = nil
		e.working = slices.DeleteFunc(e.working, func(other *table) bool { return other == t })
	}
}

// backfill puts a new index into service, with an entry for every stored item that it can hold.
func (e *Engine) backfill(t *table, d indexDefinition) {
	ix := newIndex(t.keys, d, t.definition.kinds(), false)
	t.rows.Scan(func(key string, r row) bool {
		if at, entry, ok := ix.entry(e.config.Seed, key, r.item); ok {
			ix.rows.Set(at, entry)
			ix.bytes += entry.size
		}
		return true
	})
	t.indexes = append(slices.Clone(t.indexes), ix)
	sortIndexes(t.indexes)
}

// status is what a description says about the table.
func (t *table) status(now time.Time) string {
	if t.updating.After(now) || t.work != nil && t.work.phase != workBackfilling {
		return "UPDATING"
	}
	return "ACTIVE"
}

// indexStatus is what a description says about a global index, and whether it is backfilling, nil if it is not new.
func (t *table) indexStatus(name string, now time.Time) (status string, backfilling *bool) {
	if w := t.work; w != nil && *w.definition.IndexName == name {
		if w.phase == workDeleting {
			return "DELETING", nil
		}
		filling := w.phase == workBackfilling
		return "CREATING", &filling
	}
	if ix := t.index(name); ix != nil && ix.updating.After(now) {
		return "UPDATING", nil
	}
	return "ACTIVE", nil
}

// readable refuses reads of an index that is being built.
func (t *table) readable(name string) *failure {
	if w := t.work; w != nil && w.phase != workDeleting && *w.definition.IndexName == name {
		return invalid(msgIndexBackfilling(name))
	}
	return nil
}

// busyIndexes reports whether any global index of the table is changing.
func (t *table) busyIndexes(now time.Time) bool {
	return t.work != nil || slices.ContainsFunc(t.indexes, func(ix *index) bool { return ix.updating.After(now) })
}
