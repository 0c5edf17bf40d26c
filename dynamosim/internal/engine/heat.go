package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dynafin/dynafin/capacity"
)

// Heat is what one partition key value can take in a second.
type Heat struct {
	Write, Read capacity.Units
	// BurstSeconds is how many seconds of unused capacity a key keeps.
	BurstSeconds int64
}

// heatKeysMax bounds the memory. When twice as many partition keys are known, so many are kept, those that consumed most;
// the others are forgotten, and count as fresh again.
const heatKeysMax = 32 * 1024

// heat knows what every partition key consumed. It is nil if keys have no limit.
type heat struct {
	limits Heat
	spots  map[spotID]*spot
}

// spotID identifies a partition key value of a table or a global index. The entries of a local index stand in the
// table's partitions.
type spotID struct {
	table, index, key string
}

// spot is one partition key value.
type spot struct {
	key         string // as a client reads it
	write, read gauge
}

// gauge is what one key consumed in one direction. A second has a budget; what is left of it goes to the burst, and what
// is owed is taken from the next.
type gauge struct {
	second int64
	used   capacity.Units // of this second's budget, more than it if something is owed
	saved  capacity.Units // burst
	spent  capacity.Units // in this second, from wherever
	Consumption
}

// Consumption is what a partition key value consumed in one direction.
type Consumption struct {
	// Total and the largest amount in one second of the clock.
	Total, Peak capacity.Units
	// Throttled is how many requests it could not take.
	Throttled int
}

func newHeat(limits *Heat) *heat {
	if limits == nil {
		return nil
	}
	return &heat{limits: *limits, spots: map[spotID]*spot{}}
}

// limit is the budget of a second.
func (h *heat) limit(write bool) capacity.Units {
	if write {
		return h.limits.Write
	}
	return h.limits.Read
}

// gauge returns the gauge of a key at a moment.
func (h *heat) gauge(now time.Time, d *demand) *gauge {
	s, ok := h.spots[d.id]
	if !ok {
		h.makeRoom()
		s = &spot{key: strings.Clone(d.hash.Text()), write: h.rested(now, true), read: h.rested(now, false)}
		h.spots[d.id] = s
	}
	g := &s.read
	if d.write {
		g = &s.write
	}
	g.roll(now.Unix(), h.limit(d.write), h.limits.BurstSeconds)
	return g
}

// rested is the gauge of a key of which nothing is known: it has all its burst.
func (h *heat) rested(now time.Time, write bool) gauge {
	return gauge{second: now.Unix(), saved: h.burst(write)}
}

// burst is the most that a key can save.
func (h *heat) burst(write bool) capacity.Units {
	return capacity.Units(h.limits.BurstSeconds) * h.limit(write)
}

// roll moves the gauge to a second. A clock that goes back changes nothing.
func (g *gauge) roll(second int64, limit capacity.Units, burst int64) {
	passed := second - g.second
	if passed <= 0 {
		return
	}
	// More than this refills everything that can be owed or saved, and far less overflows.
	passed = min(passed, burst+int64(g.used/max(limit, 1))+2)
	unused := capacity.Units(passed)*limit - g.used
	g.second, g.spent, g.used = second, 0, max(-unused, 0)
	g.saved = min(g.saved+max(unused, 0), capacity.Units(burst)*limit)
}

// fits reports whether a key can take so much now. What is more than it can ever take fits when it is fully rested, and
// leaves it in debt: otherwise such a request could never be served.
func (h *heat) fits(g *gauge, write bool, units capacity.Units) bool {
	return g.used+units <= h.limit(write)+g.saved || g.used == 0 && g.saved == h.burst(write)
}

// take consumes.
func (h *heat) take(g *gauge, write bool, units capacity.Units) {
	g.used += units
	if over := min(g.used-h.limit(write), g.saved); over > 0 {
		g.used, g.saved = g.used-over, g.saved-over
	}
	g.spent += units
	g.Total += units
	g.Peak = max(g.Peak, g.spent)
}

// makeRoom forgets the keys that consumed least if there are too many.
func (h *heat) makeRoom() {
	if len(h.spots) < 2*heatKeysMax {
		return
	}
	for _, id := range h.hottest()[heatKeysMax:] {
		delete(h.spots, id)
	}
}

// hottest orders the keys by what they consumed, most first.
func (h *heat) hottest() []spotID {
	ids := make([]spotID, 0, len(h.spots))
	for id := range h.spots {
		ids = append(ids, id)
	}
	total := func(id spotID) capacity.Units { s := h.spots[id]; return s.write.Total + s.read.Total }
	slices.SortFunc(ids, func(a, b spotID) int {
		return cmp.Or(cmp.Compare(total(b), total(a)),
			cmp.Compare(a.table, b.table), cmp.Compare(a.index, b.index), cmp.Compare(a.key, b.key))
	})
	return ids
}

// throttled refuses a request that wants more of a key than there is.
func (e *Engine) throttled(d *demand) *failure {
	resource, place, direction := e.tableARN(d.table.name), "Table", "Read"
	f := &failure{exception: throttlingException, message: msgThrottled}
	if !d.table.definition.onDemand() {
		f.exception, f.message = provisionedExceeded, msgProvisioned
	}
	if d.id.index != "" {
		resource, place, f.message = resource+"/index/"+d.id.index, "Index", msgThrottledIndex
		if f.exception == provisionedExceeded {
			f.message = msgProvisionedIndex
		}
	}
	if d.write {
		direction = "Write"
	}
	f.throttles = []throttle{{place + direction + "KeyRangeThroughputExceeded", resource}}
	return f
}

// KeyHeat is what one partition key value of a table, or of an index, consumed.
type KeyHeat struct {
	Table, Index, Key string
	Write, Read       Consumption
}

// Hottest returns the n keys that consumed most, the hottest first; all known ones if n is negative.
func (e *Engine) Hottest(n int) []KeyHeat {
	if e.heat == nil {
		return nil
	}
	ids := e.heat.hottest()
	if n >= 0 {
		ids = ids[:min(n, len(ids))]
	}
	list := make([]KeyHeat, len(ids))
	for i, id := range ids {
		s := e.heat.spots[id]
		list[i] = KeyHeat{Table: id.table, Index: id.index, Key: s.key, Write: s.write.Consumption, Read: s.read.Consumption}
	}
	return list
}
