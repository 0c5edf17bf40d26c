package txn

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// throttledFactor stretches the waits after throttling: a partition refills by the second, a conflict ends in milliseconds.
const throttledFactor = 8

// policy is full jitter over an exponential ceiling, with a budget of attempts and of time.
type policy struct {
	ceiling   *backoff.ExponentialBackOff
	jitter    func(time.Duration) time.Duration
	maxDelay  time.Duration
	retries   int
	throttled *bool
}

func (c *Config) policy(ctx context.Context, throttled *bool) backoff.BackOff {
	ceiling := &backoff.ExponentialBackOff{
		InitialInterval: c.BaseDelay, Multiplier: 2, MaxInterval: c.MaxDelay,
		MaxElapsedTime: c.MaxElapsed, Stop: backoff.Stop, Clock: clock(c.Now),
	}
	ceiling.Reset()
	return backoff.WithContext(&policy{
		ceiling: ceiling, jitter: c.Jitter, maxDelay: c.MaxDelay, retries: c.MaxAttempts - 1, throttled: throttled,
	}, ctx)
}

// NextBackOff implements backoff.BackOff.
func (p *policy) NextBackOff() time.Duration {
	if p.retries == 0 {
		return backoff.Stop
	}
	p.retries--
	limit := p.ceiling.NextBackOff()
	if limit == backoff.Stop {
		return backoff.Stop
	}
	if *p.throttled {
		limit = min(limit*throttledFactor, max(p.maxDelay, limit))
	}
	return p.jitter(limit)
}

// Reset implements backoff.BackOff. A policy serves one Commit, so there is nothing to go back to.
func (p *policy) Reset() {}

type clock func() time.Time

func (c clock) Now() time.Time { return c() }
