package idempotency

import (
	"container/list"
	"sync"
	"time"
)

// Cache keeps completed results of one process in memory, so that a repeat that comes soon asks nobody. Only results that
// were read from a completed record and checked against their digest are kept; a completed record never changes, so none
// of them is stale. A fingerprint is compared here as on every other path. It is safe for concurrent use; a nil Cache
// keeps nothing.
type Cache struct {
	entriesMax, bytesMax int

	mu      sync.Mutex
	entries map[cacheKey]*list.Element
	recent  *list.List // of *Record, the most recently used first
	bytes   int
}

type cacheKey struct{ tenant, key string }

// NewCache returns a cache of at most so many results, and of about so many bytes of their keys, bodies and effects. The
// least recently used ones make room. Numbers below 1 keep nothing. One Cache serves one table.
func NewCache(entriesMax, bytesMax int) *Cache {
	return &Cache{entriesMax: entriesMax, bytesMax: bytesMax, entries: map[cacheKey]*list.Element{}, recent: list.New()}
}

// answer returns the replay or the mismatch that the cache knows of, nil if it knows nothing. What may have been cleaned
// up by now is forgotten: the key may be new again.
func (c *Cache) answer(id *identity, now time.Time) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[cacheKey{id.tenant, id.key}]
	if !ok {
		return nil
	}
	rec := element.Value.(*Record)
	if rec.expiresAt != 0 && now.Unix() >= rec.expiresAt {
		c.drop(element)
		return nil
	}
	c.recent.MoveToFront(element)
	if err := id.mismatch(rec); err != nil {
		return err
	}
	return rec.verdict(now)
}

// keep stores a completed record that was read.
func (c *Cache) keep(rec *Record) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[cacheKey{rec.Tenant, rec.Key}]; ok {
		c.drop(old)
	}
	kept := *rec
	kept.Result = rec.Result.clone()
	c.entries[cacheKey{rec.Tenant, rec.Key}] = c.recent.PushFront(&kept)
	c.bytes += cost(&kept)
	for c.recent.Len() > max(0, c.entriesMax) || c.bytes > max(0, c.bytesMax) {
		c.drop(c.recent.Back())
	}
}

func (c *Cache) drop(element *list.Element) {
	rec := c.recent.Remove(element).(*Record)
	delete(c.entries, cacheKey{rec.Tenant, rec.Key})
	c.bytes -= cost(rec)
}

// cost is about what an entry takes, beside its fixed part.
func cost(rec *Record) int {
	n := len(rec.Tenant) + len(rec.Key) + len(rec.Operation) + len(rec.Result.Code) + len(rec.Result.Body)
	for name, value := range rec.Result.Effect {
		n += len(name) + len(value)
	}
	return n
}
