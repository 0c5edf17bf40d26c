package outbox

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynafin/dynafin/txn"
)

// batch is a number of events that a relay claims under one journal and publishes together.
type batch struct {
	relay *Relay
	claim string    // the token of every claim of the batch
	lease time.Time // of the claims; of the journal until it is renewed
	taken []candidate

	held      []*held
	journals  []time.Time // the leases under which the journal is stored
	unsettled atomic.Bool // some request has no definite answer, so the journal must stay

	completed []string // events
	round     Round
}

// held is an event that the batch has claimed.
type held struct {
	seen
	record Record
	err    error // why the record cannot be published
}

func (b *batch) journal() journal {
	j := journal{claim: b.claim, owner: b.relay.config.Owner, lease: b.lease}
	for _, c := range b.taken {
		j.events = append(j.events, journalEntry{c.EventID, c.Version})
	}
	return j
}

// process takes the batch through all of its steps. Publishing ends with publish, everything else with work.
func (b *batch) process(publish, work context.Context) {
	if err := b.begin(work); err != nil {
		return // nothing is claimed
	}
	b.claimAll(work)
	results := b.publish(publish, work)
	b.settle(publish, work, results)
	if !b.unsettled.Load() {
		for _, lease := range b.journals {
			_ = b.drop(work, lease) // if it stays, another relay finds nothing to do for it, and drops it
		}
	}
}

// begin writes the journal.
func (b *batch) begin(ctx context.Context) error {
	err := b.relay.try(ctx, "AP16.journal", func(ctx context.Context) error {
		return b.relay.events.putJournal(ctx, b.relay.client, b.journal())
	})
	b.journals = []time.Time{b.lease}
	return err
}

func (b *batch) drop(ctx context.Context, lease time.Time) error {
	return b.relay.try(ctx, "AP16.journal.drop", func(ctx context.Context) error {
		return b.relay.events.dropJournal(ctx, b.relay.client, b.claim, lease)
	})
}

// send makes a change. It says whether it was applied; without a definite answer the batch is unsettled.
func (b *batch) send(ctx context.Context, c *change) (stored txn.Item, applied bool) {
	err := b.relay.try(ctx, "AP16."+string(c.step), func(ctx context.Context) (err error) {
		stored, err = b.relay.events.apply(ctx, b.relay.client, c)
		return err
	})
	var met *StaleError
	switch {
	case err == nil && c.step == stepClaim:
		b.relay.remember(c.eventID, c.version+1)
	case errors.As(err, &met):
		b.relay.remember(c.eventID, met.Version)
	case err != nil && !refused(err):
		b.unsettled.Store(true)
	}
	return stored, err == nil
}

// refused says that the condition of a change failed. No copy of the request that is still on its way can be applied any
// more: it names a version, and versions only rise.
func refused(err error) bool {
	return errors.Is(err, ErrStale) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt)
}

// claimAll claims the events of the batch.
func (b *batch) claimAll(ctx context.Context) {
	got := make([]*held, len(b.taken))
	each(len(b.taken), func(i int) {
		s := b.taken[i].seen()
		stored, ok := b.send(ctx, b.relay.events.claim(s, b.relay.config.Owner, b.claim, b.lease))
		if !ok {
			return
		}
		s.version, s.attempt, s.claim, s.lease = s.version+1, s.attempt+1, b.claim, b.lease
		h := &held{seen: s}
		h.record, h.err = b.relay.events.decode(s.eventID, stored)
		got[i] = h
	})
	for _, h := range got {
		if h != nil {
			b.held = append(b.held, h)
		}
	}
	b.round.Claimed = len(b.held)
	if !b.unsettled.Load() {
		b.round.Lost = len(b.taken) - len(b.held)
	}
}

var (
	errLeaseOver = errors.New("the lease ended before the event was published")
	errNoResult  = errors.New("the publisher returned no result for the event")
)

// publish hands the events to the publisher and returns a result for each.
func (b *batch) publish(publish, work context.Context) []Result {
	results := make([]Result, len(b.held))
	var messages []Message
	var place []int // of each message in results
	now := b.relay.config.Now()
	for i, h := range b.held {
		results[i].Err = h.err
		switch {
		case h.err != nil:
		case !now.Before(h.lease):
			results[i].Err = errLeaseOver // somebody else may have it already
		default:
			messages, place = append(messages, Message{Event: h.record.Event, Attempt: h.attempt}), append(place, i)
		}
	}
	if len(messages) == 0 {
		return results
	}
	answers := b.hand(publish, work, messages)
	for n, i := range place {
		if n < len(answers) {
			results[i] = answers[n]
		} else {
			results[i].Err = errNoResult
		}
	}
	return results
}

// hand calls the publisher and keeps the leases meanwhile. A publisher that does not heed its context is left behind while the
// leases last, so that it holds up nothing but its own batch: without a result, the events are tried again.
func (b *batch) hand(publish, work context.Context, messages []Message) []Result {
	ctx, cancel := context.WithCancel(publish)
	defer cancel()
	waiting, leave := context.WithCancel(work)
	answered := make(chan []Result, 1)
	go func() {
		defer close(answered) // also if Publish ends its goroutine
		answered <- b.relay.publisher.Publish(ctx, messages)
	}()
	var keeping sync.WaitGroup
	keeping.Go(func() {
		third := b.relay.config.Lease / 3
		for range b.relay.config.Renewals {
			if b.relay.config.Sleep(ctx, third) != nil {
				return
			}
			b.renew(work)
		}
		if b.relay.config.Sleep(ctx, third) != nil {
			return
		}
		cancel()
		if b.relay.config.Sleep(waiting, third) == nil {
			leave()
		}
	})
	var answers []Result
	select {
	case answers = <-answered:
	case <-waiting.Done():
	}
	leave()
	cancel()
	keeping.Wait()
	return answers
}

// renew moves the leases forward: first a journal under the new end, so that at every moment each event is named by a
// journal that ends no later than its lease.
func (b *batch) renew(ctx context.Context) {
	lease := b.relay.config.Now().Add(b.relay.config.Lease)
	if !lease.After(b.lease) {
		return // the clock was set back; leases never are
	}
	j := b.journal()
	j.lease = lease
	err := b.relay.try(ctx, "AP16.journal", func(ctx context.Context) error {
		return b.relay.events.putJournal(ctx, b.relay.client, j)
	})
	b.journals = append(b.journals, lease)
	if err != nil {
		return
	}
	b.lease = lease
	each(len(b.held), func(i int) {
		if _, ok := b.send(ctx, b.relay.events.renew(b.held[i].seen, lease)); ok {
			b.held[i].lease = lease
		}
	})
}

// settle stores what became of each event.
func (b *batch) settle(publish, work context.Context, results []Result) {
	now := b.relay.config.Now()
	stopping := publish.Err() != nil
	changes := make([]*change, len(b.held))
	for i, h := range b.held {
		changes[i] = b.ending(h, results[i], now, stopping)
	}
	applied := make([]bool, len(changes))
	each(len(changes), func(i int) { _, applied[i] = b.send(work, changes[i]) })
	for i, yes := range applied {
		if !yes {
			continue
		}
		switch transitions[changes[i].step].to {
		case Completed:
			b.round.Completed++
			b.completed = append(b.completed, changes[i].eventID)
		case Parked:
			b.round.Parked++
		default:
			b.round.Retried++
		}
	}
}

// ending is the last step of an event in this batch. An attempt that the relay's own end cut short parks nothing.
func (b *batch) ending(h *held, result Result, now time.Time, stopping bool) *change {
	events, config := b.relay.events, b.relay.config
	switch {
	case result.Err == nil:
		var expires time.Time
		if config.Retention > 0 {
			expires = now.Add(config.Retention)
		}
		return events.complete(h.seen, result.Ack, now, expires)
	case stopping && !result.Final:
		return events.retry(h.seen, result.Err.Error(), now, now)
	case result.Final || h.attempt >= int64(config.MaxAttempts):
		return events.park(h.seen, result.Err.Error(), now)
	default:
		return events.retry(h.seen, result.Err.Error(), now, now.Add(b.relay.backoff(h.attempt)))
	}
}

// backoff is the wait before the attempt after the n-th.
func (r *Relay) backoff(attempt int64) time.Duration {
	wait := r.config.RetryMin
	for n := int64(1); n < attempt && wait < r.config.RetryMax; n++ {
		wait *= 2
	}
	wait = min(wait, r.config.RetryMax)
	return wait/2 + r.jitter(wait-wait/2)
}
