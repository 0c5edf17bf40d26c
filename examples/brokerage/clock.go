package main

import (
	"sync"
	"time"
)

// The business day. It is the same in every run, so that a day that is fed again is the same day.
var (
	dayOpens     = time.Date(2026, time.November, 27, 8, 0, 0, 0, time.UTC)
	ordersComeIn = time.Date(2026, time.November, 27, 20, 0, 0, 0, time.UTC)
	marketCloses = time.Date(2026, time.November, 27, 21, 0, 0, 0, time.UTC)
	nightBegins  = time.Date(2026, time.November, 27, 23, 0, 0, 0, time.UTC)
)

// clock is the time by which the firm does business: what reservations expire by, and when the night's work is due. It runs as
// any clock does, and jumps from one part of the day to the next.
type clock struct {
	mu      sync.Mutex
	at      time.Time
	started time.Time
}

func newClock(at time.Time) *clock { return &clock{at: at, started: time.Now()} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at.Add(time.Since(c.started))
}

// reach jumps to a time, unless it is over.
func (c *clock) reach(at time.Time) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(now) {
		c.at, c.started = at, time.Now()
	}
}

// pass lets time go by.
func (c *clock) pass(d time.Duration) { c.reach(c.now().Add(d)) }
