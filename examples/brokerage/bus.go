package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/reconcile/ready"
)

// deliveriesMax is how often a message is delivered before the queue gives up.
const deliveriesMax = 10

// queue delivers what is put into it to workers: at least once, and in no promised order. It lives in the process, and what it
// holds ends with it; a real broker keeps it.
type queue[T any] struct {
	handle func(context.Context, T) error
	begin  func(ctx context.Context, message T, attempt int) (context.Context, *life) // the life of who handles it

	mu            sync.Mutex
	changed       sync.Cond
	waiting, late []delivery[T]
	busy          int
	closed        bool
	failed        error // of the messages that were given up
}

type delivery[T any] struct {
	message  T
	attempts int
}

func newQueue[T any](handle func(context.Context, T) error, begin func(context.Context, T, int) (context.Context, *life)) *queue[T] {
	q := &queue[T]{handle: handle, begin: begin}
	q.changed.L = &q.mu
	return q
}

// put adds a message. A late one is delivered when nothing else waits.
func (q *queue[T]) put(message T, late bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if late {
		q.late = append(q.late, delivery[T]{message: message})
	} else {
		q.waiting = append(q.waiting, delivery[T]{message: message})
	}
	q.changed.Broadcast()
}

// work delivers messages until the queue is closed. What is not handled is delivered again.
func (q *queue[T]) work(ctx context.Context) {
	for {
		d, ok := q.take()
		if !ok {
			return
		}
		q.settle(d, q.try(ctx, d))
	}
}

// try handles a message, once. A worker that dies in the midst of it acknowledges nothing.
func (q *queue[T]) try(ctx context.Context, d delivery[T]) error {
	ctx, one := q.begin(ctx, d.message, d.attempts)
	err := q.handle(ctx, d.message)
	if one.over() {
		return errDead
	}
	return err
}

// once delivers one message, and returns false if there is none.
func (q *queue[T]) once(ctx context.Context) bool {
	q.mu.Lock()
	d, ok := q.next()
	q.mu.Unlock()
	if ok {
		q.settle(d, q.try(ctx, d))
	}
	return ok
}

func (q *queue[T]) take() (d delivery[T], ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && len(q.late) == 0 && !q.closed {
		q.changed.Wait()
	}
	return q.next()
}

// next removes a message from a queue that is locked.
func (q *queue[T]) next() (d delivery[T], ok bool) {
	from := &q.waiting
	if len(q.waiting) == 0 {
		from = &q.late
	}
	if len(*from) == 0 {
		return d, false
	}
	d, *from = (*from)[0], (*from)[1:]
	d.attempts++
	q.busy++
	return d, true
}

func (q *queue[T]) settle(d delivery[T], err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
	switch {
	case err == nil:
	case d.attempts < deliveriesMax:
		q.late = append(q.late, d)
	default:
		q.failed = errors.Join(q.failed, err)
	}
	q.changed.Broadcast()
}

// idle waits until everything is handled, and returns the errors of what was given up.
func (q *queue[T]) idle() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting)+len(q.late)+q.busy > 0 {
		q.changed.Wait()
	}
	return q.failed
}

func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}

// bus is the in-process broker, as a publisher of relays. It does what brokers do on a bad day: it delivers a part of the
// messages twice, a part late, and of a part it takes the message and loses the answer, so that the relay sends it again.
// Which ones follows from the event's ID.
type bus struct {
	deliver func(e outbox.Event, late bool)
	lose    float64 // the share of answers that are lost
	seed    uint64
	log     *busLog
	relay   *life // whose publisher it is
	story   *story

	unanswered func() // told when an answer is lost
}

// busLog is what the broker says at night that it took.
type busLog struct {
	mu    sync.Mutex
	taken []ready.Receipt
}

func (l *busLog) note(e outbox.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = append(l.taken, ready.Receipt{EventID: e.ID, Ack: ackOf(e), At: e.OccurredAt})
}

func ackOf(e outbox.Event) string { return "bus-" + e.ID }

var errNoAnswer = errors.New("no answer from the bus")

// Publish takes a batch.
func (b *bus) Publish(_ context.Context, batch []outbox.Message) []outbox.Result {
	results := make([]outbox.Result, len(batch))
	dies, sent := b.relay.all.relayDies(batch)
	if dies && !sent {
		b.relay.die()
		return results
	}
	for i, m := range batch {
		twice, late := b.draw("twice", m)%16 == 0, b.draw("late", m)%8 == 0
		b.log.note(m.Event)
		b.deliver(m.Event, late)
		if twice {
			b.deliver(m.Event, false)
		}
		if lost := float64(b.draw("lose", m)%1000) < b.lose*1000; lost && m.Attempt == 1 {
			results[i].Err = errNoAnswer
			b.unanswered()
			b.story.published(m, true)
			continue
		}
		b.story.published(m, false)
		results[i].Ack = ackOf(m.Event)
	}
	if dies {
		b.relay.die()
	}
	return results
}

// draw is a number that follows from what it is for, the seed and the event.
func (b *bus) draw(purpose string, m outbox.Message) uint64 {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s %d %s", purpose, b.seed, m.Event.ID)
	return sum.Sum64() >> 16
}
