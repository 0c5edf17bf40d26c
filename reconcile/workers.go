package reconcile

import (
	"context"
	"iter"
)

// groupsPerTask is how many keys a worker takes at a time.
const groupsPerTask = 256

// task is some keys on their way through a worker.
type task struct {
	groups   []keyed
	outcomes []Outcome
	err      error
	done     chan struct{}
}

func (t *task) run(m *matcher) {
	defer close(t.done)
	for _, g := range t.groups {
		for _, side := range []struct {
			side Side
			rows []Row
		}{{Left, g.left}, {Right, g.right}} {
			if id, ok := uniqueIDs(side.rows); !ok {
				t.err = &SourceError{Side: side.side, ID: id, Reason: "is the ID of two different rows of one key"}
				return
			}
		}
		outcomes, err := m.group(g.left, g.right)
		if err != nil {
			t.err = &SourceError{Side: Right, ID: firstKey(g), Reason: "is a key whose amounts add up beyond 38 digits", Err: err}
			return
		}
		t.outcomes = append(t.outcomes, outcomes...)
	}
	t.groups = nil
}

func firstKey(g keyed) string {
	if len(g.left) > 0 {
		return g.left[0].Key
	}
	return g.right[0].Key
}

// decided has workers match the groups and gives the outcomes in the order of the keys. Tasks wait in a queue of fixed
// length, so that slow takers stop the readers and memory stays bounded.
func (c *Comparison) decided(ctx context.Context, m *matcher) iter.Seq2[[]Outcome, error] {
	return func(yield func([]Outcome, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		queue := make(chan *task, 2*c.options.Workers)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer close(queue)
			c.feed(ctx, m, queue)
		}()
		defer func() { // nobody outlives the iteration
			stop()
			for t := range queue {
				<-t.done
			}
			<-ended
		}()
		for t := range queue {
			<-t.done
			if !yield(t.outcomes, t.err) || t.err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// feed cuts the groups into tasks, starts each as soon as a worker is free, and queues it in its order.
func (c *Comparison) feed(ctx context.Context, m *matcher, queue chan<- *task) {
	free := make(chan struct{}, c.options.Workers)
	send := func(t *task) bool {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		go func() {
			defer func() { <-free }()
			t.run(m)
		}()
		queue <- t // the taker empties the queue to its end
		return ctx.Err() == nil
	}
	t := &task{done: make(chan struct{})}
	for g, err := range c.groups(ctx) {
		if err != nil {
			t.err = err
			break
		}
		if t.groups = append(t.groups, g); len(t.groups) == groupsPerTask {
			if !send(t) {
				return
			}
			t = &task{done: make(chan struct{})}
		}
	}
	if t.err != nil {
		// What was read before the fault is decided, and then the fault ends it.
		failed := &task{err: t.err, done: make(chan struct{})}
		close(failed.done)
		t.err = nil
		if send(t) {
			queue <- failed
		}
		return
	}
	send(t)
}
