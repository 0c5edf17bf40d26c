package engine

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// waiting holds records that cannot be read yet: their delay is not over, or writes to come may still overtake them.
type waiting struct {
	list []waitingRecord
	// last is the latest waiting record of each chain; the chain's next record stays behind it.
	last map[string]waitingRecord
	// counted is the number of records so far.
	counted uint64
	// full is the length at which a write, and not only a reader, looks for what may be placed.
	full int
}

// waitingRecord is a record with the moment it may be read and its place among the others: by slot, then by id. The
// records of one chain keep their order.
type waitingRecord struct {
	record
	hash  uint64
	chain string
	due   time.Time
	slot  uint64
}

// follow keeps a record behind another one.
func (r *waitingRecord) follow(earlier waitingRecord) {
	if r.due.Before(earlier.due) {
		r.due = earlier.due
	}
	r.slot = max(r.slot, earlier.slot)
}

func (w *waiting) add(r waitingRecord) {
	if earlier, ok := w.last[r.chain]; ok {
		r.follow(earlier)
	}
	if w.last == nil {
		w.last = map[string]waitingRecord{}
	}
	w.last[r.chain] = r
	w.list = append(w.list, r)
}

// take removes and returns, in their order, the records that are due and whose slot no record to come can get.
func (w *waiting) take(now time.Time, slot uint64) []waitingRecord {
	var ready []waitingRecord
	kept := w.list[:0]
	for _, r := range w.list {
		if r.due.After(now) || r.slot > slot {
			kept = append(kept, r)
			continue
		}
		ready = append(ready, r)
		if w.last[r.chain].id == r.id {
			delete(w.last, r.chain)
		}
	}
	clear(w.list[len(kept):])
	w.list = kept
	slices.SortFunc(ready, func(a, b waitingRecord) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.id, b.id))
	})
	return ready
}

// takeAll removes and returns everything, due or not.
func (w *waiting) takeAll() []waitingRecord {
	for i := range w.list {
		w.list[i].due = time.Time{}
	}
	return w.take(time.Time{}, math.MaxUint64)
}

// record notes a committed change. A table without a stream, or with a disabled one, records nothing.
func (s *stream) record(now time.Time, c *change) {
	if !s.enabled() {
		return
	}
	s.waiting.counted++
	r := waitingRecord{record: s.newRecord(now, c), hash: binary.BigEndian.Uint64([]byte(c.key[:8])), due: now}
	if s.config.Delay <= 0 && !s.config.Interleave {
		s.place(now, r)
		return
	}
	r.slot = r.id
	if s.config.Interleave {
		r.chain = c.key
		r.slot += s.draw(r.id, drawSlot) % (interleaveSpan + 1)
	}
	if s.config.Delay > 0 {
		r.due = now.Add(time.Duration(s.draw(r.id, drawDelay) % (uint64(s.config.Delay) + 1)))
	}
	s.waiting.add(r)
	if len(s.waiting.list) > s.waiting.full {
		s.settle(now, s.waiting.counted)
		s.waiting.full = max(4*interleaveSpan, 2*len(s.waiting.list))
	}
}

// newRecord keeps of a change what the stream's view shows.
func (s *stream) newRecord(now time.Time, c *change) record {
	r := record{id: s.waiting.counted, created: now.UnixMilli(), origin: c.origin, event: "MODIFY"}
	item := c.after.item
	switch {
	case !c.before.exists():
		r.event = "INSERT"
	case !c.after.exists():
		r.event = "REMOVE"
		item = c.before.item
	}
	r.keys = item.Pick(s.schema.names()...)
	if s.view == viewOld || s.view == viewBoth {
		r.before = c.before.item
	}
	if s.view == viewNew || s.view == viewBoth {
		r.after = c.after.item
	}
	r.size = r.keys.Size() + r.before.Size() + r.after.Size()
	return r
}
