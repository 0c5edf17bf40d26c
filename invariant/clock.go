package invariant

import "time"

// Inside a testing/synctest bubble the process's clock is the bubble's: it starts at midnight UTC of 1 January 2000 and
// moves only when every goroutine waits. These are the only places where this package asks for it.

func now() time.Time { return time.Now() }

func sleep(d time.Duration) { time.Sleep(d) }

func after(d time.Duration) <-chan time.Time { return time.After(d) }
