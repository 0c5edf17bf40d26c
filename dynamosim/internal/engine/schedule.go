package engine

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/btree"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// schedule orders the items of a table by the moment at which the service will delete them: eight bytes of
// nanoseconds since 1970, then the ordering key. The moment follows from the seed, the item's key and its expiry, so
// that it need not be stored with the item.
type schedule struct {
	entries btree.Set[string]
}

// momentBytes is the length of a moment in a schedule.
const momentBytes = 8

// entry is where an item stands in a schedule; "" is nowhere, because it does not expire in a foreseeable time.
func (e *Engine) entry(t *table, key string, item value.Item) string {
	v, ok := item.Get(t.ttl.attribute)
	if !ok || v.Kind() != value.N {
		return ""
	}
	whole, _, _ := strings.Cut(v.Text(), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 0 || seconds > time.Unix(0, 1<<63-1).Unix()-int64(e.config.SweepWithin/time.Second)-1 {
		return ""
	}
	delay := spread(e.config.Seed, binary.BigEndian.AppendUint64([]byte(key), uint64(seconds))) % uint64(e.config.SweepWithin+1)
	moment := uint64(time.Unix(seconds+1, 0).UnixNano()) + delay
	return string(binary.BigEndian.AppendUint64(nil, moment)) + key
}

// schedules reports whether the table's expired items are deleted without being asked for.
func (e *Engine) schedules(t *table) bool { return e.config.SweepWithin > 0 && t.ttl.enabled }

// scheduleAll makes the schedule of a table whose setting was changed.
func (e *Engine) scheduleAll(t *table) {
	if !e.schedules(t) {
		return
	}
	t.rows.Scan(func(key string, r row) bool {
		e.reschedule(t, key, value.Item{}, r.item)
		return true
	})
}

// reschedule keeps a schedule in step with a change.
func (e *Engine) reschedule(t *table, key string, before, after value.Item) {
	if !e.schedules(t) {
		return
	}
	was, is := e.entry(t, key, before), e.entry(t, key, after)
	if was == is {
		return
	}
	if was != "" {
		t.ttl.schedule.entries.Delete(was)
	}
	if is != "" {
		t.ttl.schedule.entries.Insert(is)
	}
}

// sweepDue deletes what the schedules say.
func (e *Engine) sweepDue(now time.Time) {
	if e.config.SweepWithin <= 0 {
		return
	}
	e.tables.Scan(func(_ string, t *table) bool {
		for e.window(t, now) != nil {
			first, ok := t.ttl.schedule.entries.Min()
			if !ok || binary.BigEndian.Uint64([]byte(first[:momentBytes])) > uint64(now.UnixNano()) {
				break
			}
			e.expire(now, t, first[momentBytes:])
			t.ttl.schedule.entries.Delete(first)
		}
		return true
	})
}
