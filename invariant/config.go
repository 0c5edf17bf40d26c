package invariant

import (
	"slices"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
)

// Config says what may happen in a history. The zero value lets everything happen.
type Config struct {
	// Fates are what may befall a request besides being delivered. Default: all that a [dynamosim.Gate] knows.
	Fates []dynamosim.Fate
	// Crashes is how many times workers die in one history at most. Default: 3; negative: never.
	Crashes int
	// Faults is how many requests of one history meet a fate other than delivery at most, crashes included. Default: 16.
	Faults int
	// Steps is after how many steps [World.Run] leaves the rest to [World.Settle]; a step is a request that is released, or a
	// wait until there is one. Default: 300.
	Steps int
	// SettleSteps and SettleTime bound, in steps and in virtual time, how long unfinished work may take once the faults
	// have stopped. Defaults: 2,000 and 1 hour.
	SettleSteps int
	SettleTime  time.Duration
	// SkewMax bounds how far a worker's clock is off, to either side. Default: 1 minute; negative: clocks are right.
	SkewMax time.Duration
	// IndexLag bounds how far global indexes are behind their tables; a history draws none of it, a tenth or all. Default:
	// they are never behind.
	IndexLag time.Duration
	// Copies is how many clients send one command at the same time at most. Default: 2.
	Copies int
	// SDKAttempts is how often the SDK sends a request by itself. Default: 1, its retries are off. With more, waits
	// come from the history's own chance. Package txn switches the SDK's retries off for its requests in any case.
	SDKAttempts int
	// Timeout is how long a life of a worker has for one run; then its context ends, and requests that wait become late
	// ones. Default: no limit.
	Timeout time.Duration
	// Tokens are the treatments of request tokens that a history draws from. Default: all three.
	Tokens []dynamosim.TokenPolicy
	// Staleness bounds how old what a process reads without ConsistentRead may be. Default: it is the present.
	Staleness time.Duration
	// SometimesAfter is how many histories a [Check] must have before a kind of fault that never happened fails it.
	// Default: 100.
	SometimesAfter int
}

func (c Config) withDefaults() Config {
	if c.Fates == nil {
		c.Fates = dynamosim.Fates()
	}
	c.Fates = slices.DeleteFunc(slices.Clone(c.Fates), func(f dynamosim.Fate) bool { return f == dynamosim.Deliver })
	for _, number := range []struct {
		value     *int
		otherwise int
	}{
		{&c.Crashes, 3}, {&c.Faults, 16}, {&c.Steps, 300}, {&c.SettleSteps, 2000}, {&c.Copies, 2}, {&c.SDKAttempts, 1},
		{&c.SometimesAfter, 100},
	} {
		if *number.value == 0 {
			*number.value = number.otherwise
		}
	}
	if c.SettleTime == 0 {
		c.SettleTime = time.Hour
	}
	if c.SkewMax == 0 {
		c.SkewMax = time.Minute
	}
	if c.Tokens == nil {
		c.Tokens = []dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}
	}
	return c
}
