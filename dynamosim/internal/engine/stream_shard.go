package engine

import (
	"slices"
	"time"
)

// settle gives the records that may be read by now their places.
func (s *stream) settle(now time.Time, slot uint64) {
	for _, r := range s.waiting.take(now, slot) {
		s.place(now, r)
	}
}

// place appends a record to the open shard of its item.
func (s *stream) place(now time.Time, r waitingRecord) {
	s.tidy(now)
	sh := s.openFor(r.hash)
	if limit := s.config.SplitAfter; limit > 0 && sh.taken >= limit {
		s.succeed(sh, now, 2)
		sh = s.openFor(r.hash)
	}
	s.given++
	r.number = s.given
	sh.records = append(sh.records, r.record)
	sh.taken++
	s.next = earlier(s.next, millis(r.created).Add(streamRetention))
}

// openFor returns the open shard of a partition hash.
func (s *stream) openFor(hash uint64) *shard {
	i, _ := slices.BinarySearchFunc(s.open, hash, func(sh *shard, hash uint64) int {
		if sh.high < hash {
			return -1
		}
		return 1
	})
	return s.open[i]
}

// succeed closes a shard and opens its children: one for the same range, or two that divide it.
func (s *stream) succeed(sh *shard, now time.Time, children int) {
	s.close(now, sh)
	at := slices.Index(s.open, sh)
	if children == 1 || sh.low == sh.high || len(s.open) >= openShardsMax {
		s.open[at] = s.newShard(now, sh.id, sh.low, sh.high)
		return
	}
	middle := sh.low + (sh.high-sh.low)/2
	s.open[at] = s.newShard(now, sh.id, sh.low, middle)
	s.open = slices.Insert(s.open, at+1, s.newShard(now, sh.id, middle+1, sh.high))
}

func (s *stream) close(now time.Time, sh *shard) {
	sh.end, sh.closed = sh.last(), now
	s.next = earlier(s.next, now.Add(streamRetention))
}

// tidy closes the shards that have reached their age, and trims what is older than the retention. Nothing happens by
// itself: whatever touches a stream first brings it up to date.
func (s *stream) tidy(now time.Time) {
	if now.Before(s.next) {
		return
	}
	if life := s.config.ShardLife; life > 0 {
		for _, sh := range slices.Clone(s.open) {
			if !now.Before(sh.opened.Add(life)) {
				s.succeed(sh, now, 1)
			}
		}
	}
	horizon := now.Add(-streamRetention)
	s.next = now.Add(streamRetention)
	kept := s.shards[:0]
	for _, sh := range s.shards {
		sh.trim(horizon)
		if sh.end > 0 && len(sh.records) == 0 && !sh.closed.After(horizon) {
			continue
		}
		kept = append(kept, sh)
		for _, at := range sh.deadlines(s.config.ShardLife) {
			s.next = earlier(s.next, at)
		}
	}
	clear(s.shards[len(kept):])
	s.shards = kept
}

// trim removes the records that are not younger than the horizon.
func (sh *shard) trim(horizon time.Time) {
	n := 0
	for n < len(sh.records) && !millis(sh.records[n].created).After(horizon) {
		n++
	}
	if n == 0 {
		return
	}
	sh.trimmed = sh.records[n-1].number
	clear(sh.records[:n])
	sh.records = sh.records[n:]
}

// deadlines are the next moments at which a shard needs tidying.
func (sh *shard) deadlines(life time.Duration) []time.Time {
	var at []time.Time
	if len(sh.records) > 0 {
		at = append(at, millis(sh.records[0].created).Add(streamRetention))
	}
	if sh.end > 0 {
		return append(at, sh.closed.Add(streamRetention))
	}
	if life > 0 {
		at = append(at, sh.opened.Add(life))
	}
	return at
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func millis(ms int64) time.Time { return time.UnixMilli(ms) }
