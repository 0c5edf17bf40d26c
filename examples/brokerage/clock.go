package main

import (
	"context"
	"sync"
	"time"
)

// The business day. It is the same in every run, so that a day that is fed again is the same day.
var (
	dayOpens     = time.Date(2026, time.November, 27, 8, 0, 0, 0, time.UTC)
	ordersComeIn = time.Date(2026, time.November, 27, 18, 30, 0, 0, time.UTC)
	marketCloses = time.Date(2026, time.November, 27, 21, 0, 0, 0, time.UTC)
	nightBegins  = time.Date(2026, time.November, 27, 23, 0, 0, 0, time.UTC)
)

// clock is the time by which the firm does business: what reservations expire by, and when the night's work is due. It jumps from one
// part of the day to the next. In between it runs, in a database of our own faster than any other clock, so that leases end and
// indexes catch up while one looks; or it stands still, and moves when it is told to.
type clock struct {
	speed int             // how often faster than other clocks; 0: it stands
	moved func(time.Time) // told when it jumps; may be nil

	mu      sync.Mutex
	at      time.Time
	started time.Time
}

func newClock(at time.Time, speed int) *clock {
	return &clock{speed: speed, at: at, started: time.Now()}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at.Add(time.Since(c.started) * time.Duration(c.speed))
}

// reach jumps to a time, unless it is over.
func (c *clock) reach(at time.Time) {
	now := c.now()
	c.mu.Lock()
	if at.After(now) {
		c.at, c.started = at, time.Now()
	}
	c.mu.Unlock()
	if c.moved != nil {
		c.moved(c.now())
	}
}

// pass lets time go by.
func (c *clock) pass(d time.Duration) { c.reach(c.now().Add(d)) }

// sleep waits, or lets the time go by if the clock stands.
func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	if c.speed == 0 {
		c.pass(d)
		return ctx.Err()
	}
	timer := time.NewTimer(d / time.Duration(c.speed))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
