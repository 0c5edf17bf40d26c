package loadtest

import (
	"container/heap"
	"context"
	"time"
)

// clock runs processes one at a time, in the order of virtual time; those of one instant in the order in which they were
// scheduled. A process gives way when it sleeps or ends, so nothing of a run happens at the same time as anything else.
type clock struct {
	now     time.Time
	events  events
	count   int
	current *process
	gaveWay chan struct{}
	stopped bool
}

type process struct{ resume chan struct{} }

func newClock(now time.Time) *clock { return &clock{now: now, gaveWay: make(chan struct{})} }

// Now is the clock as the simulator and the primitives take it.
func (c *clock) Now() time.Time { return c.now }

// at schedules a process.
func (c *clock) at(when time.Time, run func()) { c.schedule(event{at: when, run: run}) }

func (c *clock) schedule(e event) {
	c.count++
	e.number = c.count
	heap.Push(&c.events, e)
}

// sleep lets the others go on until d has passed for the process that calls it. Outside of a process time just passes. In a
// run that is over it returns an error at once, so that processes come to an end.
func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	p := c.current
	if p == nil {
		c.now = c.now.Add(d)
		return ctx.Err()
	}
	if !c.stopped {
		c.schedule(event{at: c.now.Add(d), process: p})
		c.gaveWay <- struct{}{}
		<-p.resume
	}
	if c.stopped {
		return context.Canceled
	}
	return ctx.Err()
}

// run lets all happen that is due before the end.
func (c *clock) run(end time.Time) {
	for len(c.events) > 0 && c.events[0].at.Before(end) {
		e := heap.Pop(&c.events).(event)
		c.now = e.at
		c.step(e)
	}
	c.now = end
}

// stop ends the processes that sleep. Nothing new begins.
func (c *clock) stop() {
	c.stopped = true
	for len(c.events) > 0 {
		if e := heap.Pop(&c.events).(event); e.process != nil {
			c.step(e)
		}
	}
}

// step lets one process go on, or begin, until it gives way.
func (c *clock) step(e event) {
	c.current = e.process
	if c.current != nil {
		c.current.resume <- struct{}{}
	} else {
		c.current = &process{resume: make(chan struct{})}
		go func() {
			defer func() { c.gaveWay <- struct{}{} }()
			e.run()
		}()
	}
	<-c.gaveWay
	c.current = nil
}

// event is a process that goes on, or one that begins.
type event struct {
	at      time.Time
	number  int
	process *process
	run     func()
}

// events are a heap, the next one first.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if e[i].at.Equal(e[j].at) {
		return e[i].number < e[j].number
	}
	return e[i].at.Before(e[j].at)
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = event{}
	*e = (*e)[:last]
	return x
}
